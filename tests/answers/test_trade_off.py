"""The trade-off curve as it is drawn: it promises no more than the curve does."""

from math import exp

import pytest

from letalone.answers.trade_off import draw_trade_off, trade_off_points
from letalone.drawing import to_svg
from letalone.privacy import ApproxDP, GaussianDP, Privacy, PureDP


@pytest.mark.parametrize("privacy", [PureDP(1), ApproxDP(2, 0.01), GaussianDP(1)])
def test_the_trade_off_is_never_drawn_above_the_curve(privacy: Privacy) -> None:
    """Above would promise too much; a wrong curve, twice the epsilon, would be told apart."""
    drawn = trade_off_points(privacy)
    assert drawn[0] == (0.0, pytest.approx(1 - privacy.delta(100), abs=1e-9))
    for alarm, missed in drawn:
        assert missed <= privacy.tradeoff_bounds(alarm)[1] + 1e-12
        assert missed >= privacy.tradeoff_bounds(alarm)[0] - 1e-3
    corner = max(min(point) for point in trade_off_points(PureDP(1)))
    assert corner == pytest.approx(1 / (1 + exp(1)), abs=1e-12)


def test_the_chart_has_the_curve_the_diagonal_and_the_test_with_few_false_alarms() -> None:
    chart = draw_trade_off(PureDP(1), name="ε = 1")
    curve, guessing = chart.series
    assert list(zip(curve.xs, curve.ys, strict=True)) == trade_off_points(PureDP(1))
    assert (guessing.xs, guessing.ys) == ((0.0, 1.0), (1.0, 0.0))
    assert (chart.marks[0].x, chart.marks[0].y) == (0.05, PureDP(1).tradeoff(0.05))
    assert "nobody gets here" in to_svg(chart)
