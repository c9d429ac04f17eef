"""Laws from below and merged laws, against curves computed exactly from their atoms."""

import random
from fractions import Fraction

import numpy as np
import pytest
from mpmath import exp as precise_exp
from mpmath import mp, mpf

from letalone.privacy.loss import lattice_law
from letalone.privacy.loss.grids import merge_laws
from letalone.privacy.loss.lattice_law import LatticeLaw, law_above, law_below
from letalone.privacy.loss.pairs import Atoms, GaussianPair, LaplacePair, PoissonPair

ENDS = {"top": 1e-12, "bottom": 1e-12}
STEP = Fraction(1, 64)


def curve(losses, masses, infinite, epsilon):
    """delta(epsilon) of a law given by atoms, in 40 digits."""
    with mp.workdps(40):
        held = [(at, m) for at, m in zip(losses, masses, strict=True) if m and at > epsilon]
        told = sum(mpf(float(m)) * (1 - precise_exp(mpf(epsilon) - float(at))) for at, m in held)
        return told + mpf(infinite)


def curve_of(law: LatticeLaw, epsilon: float):
    losses = law.losses() - law.shift
    return curve(losses, law.masses, law.infinite, epsilon)


def two_atoms(seed: int) -> Atoms:
    """Random pairs of two outputs, some with a leak."""
    draw = random.Random(seed)
    low, high = -draw.uniform(0.05, 2), draw.uniform(0.05, 2)
    leak = draw.choice([0.0, 0.0, 0.1])
    # Masses p, r with p + r = 1 - leak and p e^-high + r e^-low = 1 - leak.
    share = (1 - np.exp(-low)) / (np.exp(-high) - np.exp(-low))
    masses = np.array([share, 1 - share]) * (1 - leak)
    return Atoms(np.array([high, low]), masses, leak)


def below_everywhere(atoms: Atoms, law: LatticeLaw) -> bool:
    return all(
        curve_of(law, epsilon) <= curve(atoms.losses, atoms.masses, atoms.infinite, epsilon)
        for epsilon in np.linspace(-2.5, 2.5, 101).tolist()
    )


@pytest.mark.parametrize("seed", range(25))
def test_two_atoms_moved_inwards_show_no_more_than_they_did(seed):
    atoms = two_atoms(seed)
    assert below_everywhere(atoms, law_below(atoms, STEP, **ENDS))


def test_two_atoms_moved_outwards_would_show_more(monkeypatch):
    """The power of the test above: one point of the grid too far on either side."""
    monkeypatch.setattr(lattice_law, "_slack", lambda *_: -float(STEP))
    found = [
        below_everywhere(two_atoms(n), law_below(two_atoms(n), STEP, **ENDS)) for n in range(9)
    ]
    assert not all(found)


@pytest.mark.parametrize("seed", range(10))
def test_two_atoms_moved_inwards_lose_little(seed):
    """The mean falls by less than half a step's worth of the largest loss."""
    atoms = two_atoms(seed)
    law = law_below(atoms, STEP, **ENDS)
    mean = float(law.masses @ law.losses())
    lost = float(atoms.masses @ atoms.losses) - mean
    assert 0 <= lost <= float(STEP) * float(np.abs(atoms.losses).max())


@pytest.mark.parametrize("seed", range(10))
def test_more_atoms_move_down_to_a_grid_that_starts_where_little_is_lost(seed):
    draw = np.random.default_rng(seed)
    losses, masses = draw.uniform(-2, 2, 5), draw.dirichlet(np.ones(5))
    atoms = Atoms(losses, masses)
    law = law_below(atoms, STEP, **ENDS)
    assert below_everywhere(atoms, law)
    assert law.lost < float(STEP)


@pytest.mark.parametrize("upper", [True, False])
def test_merged_laws_are_the_sums_of_losses_rounded_to_their_side(upper):
    atoms = [two_atoms(seed) for seed in range(20)]
    one_side = law_above if upper else law_below
    laws = [(one_side(each, Fraction(1, 2), **ENDS), 1) for each in atoms]
    [(law, count)] = merge_laws(laws, upper=upper)
    assert count == 1
    exact = [mpf(1)]
    for each, _ in laws:
        exact = _convolved(exact, [mpf(float(m)) for m in each.masses])
    assert len(exact) == law.masses.size
    sign = 1 if upper else -1
    for ours, truth in zip(law.masses.tolist(), exact, strict=True):
        assert sign * (mpf(ours) - truth) >= 0
        assert abs(mpf(ours) - truth) <= truth * mpf(2) ** -40
    assert law.first == sum(each.first for each, _ in laws)
    leak = 1 - np.prod([1 - each.infinite for each, _ in laws])
    assert law.infinite == pytest.approx(leak, rel=1e-12)


def _convolved(one, other):
    with mp.workdps(40):
        held = [(at, m) for at, m in enumerate(other) if m]
        total = [mpf(0)] * (len(one) + len(other) - 1)
        for at, m in held:
            for place, value in enumerate(one):
                total[place + at] += m * value
        return total


def test_what_is_run_twice_or_is_large_stays_as_it_is():
    small = law_below(two_atoms(1), STEP, **ENDS)
    laws = [(small, 2)] * 20
    assert merge_laws(laws, upper=False) == laws
    assert merge_laws(laws[:3], upper=True) == laws[:3]


PAIRS = [
    LaplacePair(1.0),
    PoissonPair(LaplacePair(250 / 153), 0.239, removed=True),
    PoissonPair(LaplacePair(1.0), 0.9, removed=False),
    GaussianPair(0.7),
    PoissonPair(GaussianPair(1.0), 0.3, removed=True),
]


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_lines_may_be_drawn_anywhere(pair, monkeypatch):
    """At random places, or all on the end of the losses, the law stays below its pair.

    An atom at the end may count as above a place on the end: then the last line falls below 0.
    """
    draw = random.Random(7)
    for step in (Fraction(1, 4), Fraction(1, 32)):
        for off in (0.1, 0.5, 2.0):
            chosen = _places_off_by(off * float(step), draw)
            monkeypatch.setattr(lattice_law, "to_right_end", chosen)
            law = law_below(pair, step, top=1e-9, bottom=1e-9)
            assert all(curve_of(law, at) <= _delta(pair, at) + 1e-12 for at in _looked_at(law))


def _places_off_by(width: float, draw: random.Random):
    def chosen(source, places, grid):
        off = np.array([draw.uniform(-width, width) for _ in places])
        end = min(lattice_law.ends_of(source)[1], float(grid[-1]))
        return np.sort(np.minimum(places + off, end))

    return chosen


def _looked_at(law: LatticeLaw) -> list[float]:
    losses = (law.losses() - law.shift).tolist()
    return [*losses[:: max(1, len(losses) // 6)], *losses[-3:]]


def _delta(pair, epsilon: float) -> float:
    tails = pair.tails(np.array([epsilon]))
    return float(tails.p[0] - np.exp(epsilon) * tails.q[0]) + pair.infinite
