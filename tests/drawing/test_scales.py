"""Scales: round numbers and moments, few of them, that hold all values; and their words."""

from datetime import UTC, datetime, timedelta
from math import nan

import pytest

from letalone.drawing.chart import AxisKind, ChartAxis
from letalone.drawing.scales import AxisScale, number, seconds, time_ticks

START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"),
        (1234.5, "1,234"),
        (-0.5, "−0.5"),
        (1.2e6, "1.2M"),
        (2e-9, "2e−9"),
        (nan, "no number"),
        (0.12345, "0.1235"),
    ],
)
def test_numbers_are_short_and_readable(value: float, words: str) -> None:
    assert number(value) == words


def test_ticks_are_round_and_hold_all_values() -> None:
    for low, high in ((0, 1), (-3, 17), (1e-9, 2e-9), (5, 5), (-1e300, 1e300), (0, 0)):
        scale = AxisScale.around(ChartAxis(), [low, high], between=(0, 100))
        assert scale.low <= min(low, 0) <= max(high, 0) <= scale.high
        assert 2 <= len(scale.ticks()) <= 8
        assert len({words for _, words in scale.ticks()}) == len(scale.ticks())


def test_ticks_between_given_ends_lie_within_them() -> None:
    scale = AxisScale.around(ChartAxis(), [2010.0, 2019.0], between=(0, 1), rounded=False)
    assert (scale.place(2010), scale.place(2019)) == (0, 1)
    assert all(2010 <= tick <= 2019 for tick, _ in scale.ticks())
    years = AxisScale.around(ChartAxis(parted=False), [2000, 2400], between=(0, 1), rounded=False)
    assert "2000" in [words for _, words in years.ticks()]


def test_on_an_axis_of_factors_equal_factors_are_equally_far_apart() -> None:
    axis = ChartAxis("", AxisKind.FACTORS)
    scale = AxisScale.around(axis, [1e-6, 1.0, 0.0, -1.0], between=(0, 6))
    assert [scale.place(10.0**-power) for power in range(7)] == pytest.approx([6, 5, 4, 3, 2, 1, 0])


@pytest.mark.parametrize(
    "passed",
    [timedelta(minutes=3), timedelta(hours=5), timedelta(days=2), timedelta(days=9),
     timedelta(days=100), timedelta(days=3000), timedelta(days=300_000)],
)  # fmt: skip
def test_moments_are_round_few_and_within(passed: timedelta) -> None:
    low, high = seconds(START), seconds(START + passed)
    found = time_ticks(low, high)
    assert 1 <= len(found) <= 5
    assert all(low <= at <= high for at, _ in found)
    assert len({words for _, words in found}) == len(found)
