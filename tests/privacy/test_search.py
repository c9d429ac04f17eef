"""Searches return what was checked, wherever the edge lies and however bad the guess."""

from math import inf, log, nextafter

import pytest

from letalone.privacy.search import LARGEST_FLOAT, crossing, edge, float_of, index_of, peak


@pytest.mark.parametrize("at", [5e-324, 1e-200, 0.3, 1.0, 1.5, 1e10, 1e300])
@pytest.mark.parametrize("guess", [None, 1e-9, 0.5, 7.0])
def test_the_edge_is_found_to_the_last_float(at, guess):
    seen = []

    def holds(x):
        seen.append(x)
        return x >= at

    gap = None if guess is None else lambda x: guess - x
    fails, first = edge(holds, gap=gap)
    assert (fails, first) == (nextafter(at, 0), at)
    assert fails in seen
    assert first in seen
    assert len(seen) < 1500


def test_the_ends():
    assert edge(lambda _: True) == (0.0, 0.0)
    fails, holds = edge(lambda _: False)
    assert LARGEST_FLOAT / 2 <= fails < holds == inf
    assert edge(lambda _: False, limit=100.0) == (128.0, inf)


def test_a_good_guess_saves_most_of_the_work():
    counts = []
    for gap in (None, lambda x: log(0.37 / max(x, 1e-9))):
        seen = []
        edge(lambda x, seen=seen: seen.append(x) or x >= 0.37, gap=gap)
        counts.append(len(seen))
    assert counts[1] < counts[0] / 3


def test_floats_are_ordered_like_their_positions():
    values = [0.0, 5e-324, 1e-300, 0.1, 1.0, 1e300, LARGEST_FLOAT]
    assert sorted(values, key=index_of) == values
    assert [float_of(index_of(x)) for x in values] == values


def test_crossing_and_peak_are_near():
    assert crossing(lambda x: 2 - x * x, 0.0, 10.0) == pytest.approx(2**0.5)
    assert peak(lambda x: -((x - 3) ** 2), 0.0, 10.0) == pytest.approx(3, abs=1e-6)
