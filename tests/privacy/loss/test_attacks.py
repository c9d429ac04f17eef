"""Jobs that once got a wrong number, a crash or a wide answer from the accountant."""

from fractions import Fraction
from math import exp, expm1, log1p

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.stats import binom

from letalone.privacy import (
    ApproxDP,
    GeometricPrivacy,
    LaplacePrivacy,
    PureDP,
    compose,
)
from letalone.privacy.curves.discrete_gaussian_curve import DiscreteGaussianPrivacy
from letalone.privacy.loss.grids import merge_laws
from letalone.privacy.loss.lattice_law import _chord, law_below
from letalone.privacy.loss.pairs import Atoms
from letalone.privacy.loss.tilted import _Spectrum, _values

F = Fraction


def test_a_curve_asked_700_above_its_middle_is_not_above_the_truth() -> None:
    """It was by 0.5 %, after a question near the middle: e^-loss had become 0."""
    count, release = 10**6, PureDP(1) * 10**6
    middle = release.epsilon_bounds(0.5)[0]
    told = 1 / (1 + exp(-1))
    places = np.arange(count + 1)
    losses = 2.0 * places - count
    for more in (750, 1200):
        low, high = release.delta_bounds(middle + more)
        gains = -np.expm1(np.minimum(middle + more - losses, 0.0))
        truth = float(binom.pmf(places, count, told) @ gains)
        assert low < truth * (1 + 1e-7)
        assert truth * (1 - 1e-7) < high < low * (1 + 1e-4)


@pytest.mark.parametrize("epsilon", [F(1, 10**6), F(1, 10**10)])
def test_tiny_losses_lose_no_digits(epsilon: Fraction) -> None:
    """delta is a millionth of each of the sums that it once was the difference of."""
    count, release = 40_000, PureDP(epsilon) * 40_000
    at = float(epsilon) * 600
    low, high = release.delta_bounds(at)
    truth = _binomial(epsilon, count, at)
    assert low <= truth <= high <= low * (1 + 1e-5)


def _binomial(epsilon: Fraction, count: int, at: float) -> Fraction:
    with mp.workdps(40):
        e = mpf(epsilon.numerator) / epsilon.denominator
        told, total = 1 / (1 + mp.exp(-e)), mpf(0)
        place = int(at / float(epsilon) + count) // 2 + 1
        term = mp.binomial(count, place) * told**place * (1 - told) ** (count - place)
        while place <= count and (total == 0 or term > total * mpf(10) ** -30):
            total -= term * mp.expm1(mpf(repr(at)) - (2 * place - count) * e)
            term *= mp.exp(e) * (count - place) / (place + 1)
            place += 1
        return Fraction(str(total))


def test_values_from_the_right_are_the_sums_they_stand_for() -> None:
    step, tilt = 0.7, 3.0
    weights = np.exp(-tilt * step * np.arange(900.0))
    told = np.cumsum(weights[::-1])[::-1]
    values = _values(told, step, tilt)
    for place in (0, 57, 149, 256):  # two of them just before the next block
        later = np.arange(place + 1, 900)
        expected = float(weights[later] @ -np.expm1(step * (place - later)))
        assert values[place] == pytest.approx(expected, rel=1e-12, abs=0)


def test_a_chord_never_holds_more_than_the_two_atoms() -> None:
    """With a grid point above their merged loss, it held 1.32."""
    atoms = (PureDP(2).sampled(F(1, 10**9)).losses() or ())[0]
    assert isinstance(atoms, Atoms)
    low, high = sorted(atoms.losses.tolist())
    step = (high - low) / 3
    for part in (-1e-9, 0.1, 0.4, 0.7, 1.0):  # the origin: as far above the lower atom
        law = _chord(atoms, F(step), (low + part * step) % step)
        assert float(law.masses.sum()) <= 1
        # Merged, the two show nothing: a law below them has no gain at epsilon 0 from all outputs.
        assert float(law.masses @ -np.expm1(-law.losses())) <= 1e-15


def test_rarely_sampled_atoms_have_losses_to_all_digits() -> None:
    """ln(1 - q + q/e^2) was rounded to a part of 1e-16, not of itself."""
    rate = F(1, 10**12)
    removed = (PureDP(2).sampled(rate).losses() or ())[0]
    assert isinstance(removed, Atoms)
    assert float(removed.losses.min()) == pytest.approx(log1p(1e-12 * expm1(-2)), rel=1e-14, abs=0)


def test_answers_too_rare_for_floats_are_kept_under_sampling() -> None:
    """Of P(800) the other answer has the mass e^-800 with the record, and 1 without."""
    low, high = (PureDP(800).sampled(F(1, 10)) * 3).delta_bounds(100)
    truth = 1 - 0.9**3  # one of three batches shows the record
    assert low <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= high <= truth * (1 + 1e-6)


def test_many_tiny_sampled_steps_do_not_overflow() -> None:
    low, high = (PureDP(2).sampled(F(1, 10**9)) * 10**7).epsilon_bounds(1e-7)
    assert 0.95 * high < low < high < 1.4e-5


def test_leaks_of_nearly_1_are_merged() -> None:
    """Together they leak all but 1e-268, which no float below 1 covers."""
    parts = [ApproxDP(F(k, 100), 1 - F(k, 10**15)) for k in range(1, 20)]
    assert compose(*parts, LaplacePrivacy(1)).delta_bounds(1)[1] == 1
    sure = law_below(Atoms(np.zeros(1), np.zeros(1), 1.0), F(1), top=0.0, bottom=0.0)
    full = Atoms(np.zeros(1), np.zeros(1), 1.0 + 2.0**-40)
    laws = [(sure, 1), (law_below(full, F(1), top=0.0, bottom=0.0), 1)] * 10
    assert merge_laws(laws, upper=True)[0][0].infinite >= 1


@pytest.mark.parametrize(
    "wide", [DiscreteGaussianPrivacy(1, 100), GeometricPrivacy(5000, 5000)], ids=["dg", "geometric"]
)
def test_one_release_with_thousands_of_losses_needs_no_table_of_shares(wide: object) -> None:
    """The table had as many rows as columns: gigabytes."""
    low, high = compose(wide, PureDP(F(1, 10))).epsilon_bounds(1e-6)  # type: ignore[arg-type]
    assert high * (1 - 1e-9) < low < high


def test_a_frequency_of_which_only_noise_is_known_is_charged_that_noise() -> None:
    """(|F| + e)^n - |F|^n is about e where F is 0; it was charged a multiple of |F|."""
    spectrum = _Spectrum(16)
    spectrum.multiply(np.full(16, 1 / 16), 0, 1)  # 0 but at the lowest frequency
    noise = np.exp(spectrum.most[1:])
    _, error = spectrum.inverted()
    assert noise.size == 8
    assert error >= 2 * float(noise.sum()) / 16 * (1 - 1e-9)
