"""What is told of a composition does not depend on what was asked before, or stays in line with it.

Curves that were computed are cached, and each is certified, but some are tighter than others.
"""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from math import inf, nextafter
from random import Random

import pytest

from letalone.privacy import ApproxDP, GaussianDP, LaplacePrivacy, Privacy, compose, composed_losses
from letalone.privacy.composed_losses import MOST_TOLD, Told
from letalone.privacy.loss import accountant
from stages import pick

CURVES = [
    LaplacePrivacy(0.1) * 10,
    LaplacePrivacy(0.1) * 300,
    GaussianDP(1).sampled(0.02) * 500,
    compose(LaplacePrivacy(0.2) * 30, GaussianDP(0.1) * 5, ApproxDP(0.1, 1e-14) * 20),
]
DELTAS = (1e-12, 9e-10, 1e-9, 1.1e-9, 1e-6, 1e-5, 1e-3, 0.1)
TIMES = (0.0, 0.03, 0.3, 0.6, 0.63, 0.7, 1.0, 1.001, 1.3, 2.0)
every_curve = pytest.mark.parametrize("curve", CURVES, ids=str)


@pytest.fixture(autouse=True)
def _nothing_was_asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(accountant, "CURVES", accountant.CurveCache())
    forget()
    yield
    forget()


def forget() -> None:
    accountant.CURVES = accountant.CurveCache()
    for cached in (composed_losses.epsilon_above, composed_losses._recall):
        cached.cache_clear()


@cache
def epsilons(curve: Privacy) -> list[float]:
    """In order, each with its neighbour; asked for the first time, it forgets all."""
    around = curve.epsilon(1e-6)
    forget()
    return [end for times in TIMES for end in (times * around, nextafter(times * around, inf))]


@every_curve
@pytest.mark.long  # others of this file stay
def test_an_epsilon_is_the_same_whatever_was_asked_before(curve: Privacy) -> None:
    alone: dict[float, float] = {}
    for delta in DELTAS:
        alone[delta] = curve.epsilon(delta)
        forget()
    for delta in (*DELTAS, *reversed(DELTAS)):
        curve.delta(alone[delta] * 0.99)
        composed_losses.epsilon_above.cache_clear()
        assert curve.epsilon(delta) == alone[delta]


@every_curve
@pytest.mark.parametrize("seed", range(pick(2, 6)))
def test_delta_never_rises_with_epsilon_in_whatever_order_it_is_asked(
    curve: Privacy, seed: int
) -> None:
    chance, places = Random(seed), epsilons(curve)
    for delta in chance.sample(DELTAS, 4):  # so that some curves are known, and others are not
        curve.epsilon(delta)
    order = places if seed == 0 else chance.sample(places, len(places))
    told = {epsilon: curve.delta_bounds(epsilon) for epsilon in order}
    assert all(lower <= upper for lower, upper in told.values())
    falling = [told[epsilon][1] for epsilon in sorted(told)]
    assert all(left >= right for left, right in pairwise(falling))
    assert falling == [curve.delta(epsilon) for epsilon in sorted(told)]


@every_curve
@pytest.mark.parametrize("seed", range(pick(2, 6)))
@pytest.mark.long  # others of this file stay
def test_at_an_epsilon_that_was_told_delta_is_no_more_whatever_was_asked_before(
    curve: Privacy, seed: int
) -> None:
    chance, places = Random(seed), epsilons(curve)
    for delta in chance.sample(DELTAS, len(DELTAS)):
        for epsilon in chance.sample(places, 3):
            curve.delta(epsilon)
        assert curve.delta(curve.epsilon(delta)) <= delta
    again = [curve.delta(epsilon) for epsilon in places]
    assert all(left >= right for left, right in pairwise(again))


def test_what_was_told_stays_in_line_when_there_is_no_room_for_all() -> None:
    told, chance, last = Told(), Random(1), dict[float, float]()
    for _ in range(3 * MOST_TOLD):
        epsilon = chance.random()
        last[epsilon] = told.put_in_line(epsilon, 1 - epsilon + 0.1 * chance.random())
        told.know(0.5, 0.4)
        assert (told.find(0.5) or 0) <= 0.4
    known = [delta for epsilon in sorted(last) if (delta := told.find(epsilon)) is not None]
    assert MOST_TOLD // 3 < len(known) <= MOST_TOLD
    assert all(left >= right for left, right in pairwise(known))
