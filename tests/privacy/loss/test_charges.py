"""Every error of the accountant is charged: put the largest one in and look who bears it.

Each input is as wrong as its interface allows, the truth is known, and the bound must hold.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from mpmath import exp, mp, mpf

from letalone.privacy import ApproxDP, DiscreteGaussianPrivacy
from letalone.privacy.loss.lattice_law import LatticeLaw, law_above, law_below
from letalone.privacy.loss.pairs import (
    ACCURACY,
    Atoms,
    GaussianPair,
    LaplacePair,
    LossTails,
    SplicedPair,
)
from letalone.privacy.loss.tilted import TiltedSum, _Spectrum, curve_of, tilted_sum

F = Fraction
STEP = F(1, 64)
ENDS = {"top": 1e-12, "bottom": 1e-12}


def delta(losses, masses, infinite, epsilon) -> mpf:
    """The curve of a law given by atoms, in 40 digits."""
    with mp.workdps(40):
        held = [(at, m) for at, m in zip(losses, masses, strict=True) if at > epsilon]
        return mpf(infinite) + sum((m * (1 - exp(mpf(epsilon) - at)) for at, m in held), mpf(0))


def of(law: LatticeLaw, epsilon: float, *, side: int) -> mpf:
    """A law's curve, its losses moved by what it charges."""
    losses = [mpf(at) + side * mpf(law.shift) for at in law.losses().tolist()]
    return delta(losses, map(mpf, law.masses.tolist()), law.infinite, epsilon)


# Laws on a grid.


@dataclass(frozen=True)
class Misplaced:
    """A Gaussian pair whose tails at l are those farther out, by as much as it states."""

    misplaced: float
    infinite: float = 0.0
    coarse: float = 0.0

    def tails(self, losses: np.ndarray) -> LossTails:
        return GaussianPair(0.7).tails(losses + self.misplaced * (1 + np.abs(losses)))


@pytest.mark.parametrize("misplaced", [1e-6, 1e-4], ids=["little", "much of a step"])
def test_a_law_above_is_above_though_its_tails_are_those_of_other_losses(misplaced):
    law = law_above(Misplaced(misplaced), F(1, 1024), **ENDS)
    for epsilon in (-0.5, 0.0, 0.1, 0.7, 2.0):
        tails = GaussianPair(0.7).tails(np.array([epsilon]))
        truth = float(tails.p[0]) - float(np.exp(epsilon)) * float(tails.q[0])
        gains = -np.expm1(np.minimum(epsilon - law.losses() - law.shift, 0.0))
        assert float(law.masses @ gains) + law.infinite >= truth * (1 - 1e-12)


def test_atoms_that_count_as_on_the_grid_though_they_are_below_it_are_lowered_by_as_much():
    step = float(STEP)
    losses = np.array([0.003, 0.003 + 10 * step * (1 - 4e-11), 0.003 - 7 * step * (1 + 5e-11)])
    masses = np.array([0.6, 0.25, 0.15])
    law = law_below(Atoms(losses, masses), STEP, **ENDS)
    assert np.count_nonzero(law.masses) == 3
    for epsilon in [*losses.tolist(), -0.5, 0.05]:
        truth = delta(map(mpf, losses.tolist()), map(mpf, masses.tolist()), 0, epsilon)
        assert of(law, epsilon, side=-1) <= truth


def test_masses_that_are_as_small_as_their_accuracy_allows_are_raised_above():
    losses = [0.375, 0.125, -0.25]
    true = [mpf("0.5"), mpf("0.3"), mpf("0.2")]
    masses = np.array([float(m * (1 - ACCURACY)) for m in true])
    law = law_above(Atoms(np.array(losses), masses, 0.0, F(1, 8)), F(1, 8), **ENDS)
    for epsilon in (-0.3, 0.0, 0.2, 0.29):
        assert of(law, epsilon, side=1) >= delta(map(mpf, losses), true, 0, epsilon)


def test_what_lies_beyond_the_grid_is_infinite_above_and_left_out_below():
    pair, ends = GaussianPair(0.7), {"top": 1e-3, "bottom": 1e-12}
    above, below = law_above(pair, STEP, **ends), law_below(pair, STEP, **ends)
    for epsilon in (1.0, float(above.losses()[-1]), 4.0):
        tails = pair.tails(np.array([epsilon]))
        truth = float(tails.p[0]) - float(np.exp(epsilon)) * float(tails.q[0])
        assert of(below, epsilon, side=-1) <= truth <= of(above, epsilon, side=1)


# Sums.


def test_an_error_of_the_transforms_is_added_above_and_taken_off_below():
    """All masses of a window are off by the error that it states."""
    masses, error = np.array([0.1, 0.2, 0.4, 0.2, 0.1]), 1e-3
    for upper in (True, False):
        wrong = masses - error if upper else masses + error
        total = TiltedSum(0.5, -2, 0.0, wrong, error, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        curve = curve_of(total, upper=upper)
        for epsilon in (-0.7, 0.0, 0.3):
            truth = float(np.maximum(masses * -np.expm1(epsilon - total.losses(0)), 0).sum())
            off = curve.delta(epsilon) - truth
            assert off >= 0 if upper else off <= 0


@pytest.mark.parametrize("times", [3, 20])
def test_no_entry_of_a_sum_is_off_by_more_than_its_error(times):
    """Against a convolution in 40 digits; some entry is off, so that an error of 0 is noticed."""
    weights = np.random.default_rng(3).dirichlet(np.ones(9))
    spectrum = _Spectrum(512)
    spectrum.multiply(weights, 0, times)
    found, error = spectrum.inverted()
    with mp.workdps(40):
        exact, one = [mpf(1)], [mpf(w) for w in weights.tolist()]
        whole = sum(one)
        for _ in range(times):
            longer = [mpf(0)] * (len(exact) + 8)
            for place, mass in enumerate(exact):
                for more, weight in enumerate(one):
                    longer[place + more] += mass * weight / whole
            exact = longer
        exact += [mpf(0)] * (512 - len(exact))
        off = max(abs(a - b) for a, b in zip(found.tolist(), exact, strict=True))
    assert 0 < off <= error


def test_the_shift_of_a_law_is_charged_for_each_release():
    one = LatticeLaw(F(1, 8), -2, np.full(5, 0.2), shift=1e-3)
    other = LatticeLaw(F(1, 8), -1, np.full(3, 1 / 3), shift=1e-5)
    total = tilted_sum([(one, 70), (other, 300)], 0.5)
    assert total.shift >= (70 * 1e-3 + 300 * 1e-5) * (1 - 1e-12)
    assert curve_of(total, upper=True).shift >= total.shift


# Pairs.


def test_what_is_charged_for_the_tails_of_a_discrete_gaussian_is_not_claimed_below():
    """At 5000 delta is below e^-10^6; the 1e-300 that stands for tails is no leak."""
    release = DiscreteGaussianPrivacy(1, 1)
    assert [source.infinite for source in release.reached()] == [0.0]
    low, high = (release * 2).delta_bounds(5000)
    assert (low, high > 0) == (0.0, True)


def test_a_sampled_release_leaks_where_it_is_used_and_its_base_does():
    low, high = (ApproxDP(1, F(1, 10)).sampled(F(1, 2)) * 3).delta_bounds(50)
    truth = 1 - (1 - 0.05) ** 3
    assert low <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= high <= truth * (1 + 1e-6)


@pytest.mark.parametrize("base", [GaussianPair(1.0), LaplacePair(2.0)], ids=["gaussian", "laplace"])
def test_the_pair_of_a_batch_of_fixed_size_is_the_same_in_both_orders(base):
    """Replacing back is as good as replacing: P[L > -l] = Q[L <= l] but at atoms."""
    losses = np.array([0.05, 0.2, 0.4])
    pair = SplicedPair(base, 0.3)
    there, back = pair.tails(losses), pair.tails(-losses)
    assert np.allclose(back.p, there.q_below, rtol=1e-12)
    assert np.allclose(back.q, there.p_below, rtol=1e-12)
