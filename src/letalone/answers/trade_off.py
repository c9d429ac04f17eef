"""The trade-off curve as a chart: how often who looks for a person misses, or alarms falsely.

Below the curve nobody can get, whatever they know: `Privacy.tradeoff` rounds down, and between
two points that are drawn the curve, which is convex, hangs by less than the line is thick.

  Tested:   tests/answers/test_trade_off.py
"""

from math import nextafter

from letalone.answers.promise import FALSE_ALARMS, at_most, best_guess, most_caught
from letalone.drawing.chart import Chart, ChartAxis, ChartMark, Series, SeriesStyle
from letalone.privacy import Privacy

POINTS = 30
RATES = ((0.0, 1.0), (1.0, 0.0))


def draw_trade_off(privacy: Privacy, *, name: str) -> Chart:
    """False alarms across, missed people up; the diagonal is blind guessing."""
    alarms, missed = zip(*trade_off_points(privacy), strict=True)
    rate = float(FALSE_ALARMS)
    return Chart(
        f"What nobody can do better than, at {name}",
        ChartAxis("false alarms", ends=(0.0, 1.0), percent=True),
        ChartAxis("people missed", ends=(0.0, 1.0), percent=True),
        (
            Series("nobody gets here", alarms, missed, SeriesStyle.AREA),
            Series("just guessing", *RATES, SeriesStyle.BOUND),
        ),
        (ChartMark(rate, privacy.tradeoff(FALSE_ALARMS)),),
        about=_about(privacy),
        square=True,
    )


def trade_off_points(privacy: Privacy) -> list[tuple[float, float]]:
    """Points of the curve: closer together where it is steep, and mirrored, as the curve is."""
    both = max(0.0, nextafter((1 - privacy.delta(0)) / 2, 0))  # where its slope is -1
    alarms = [both * (step / POINTS) ** 2 for step in range(POINTS)]
    first = [(alarm, privacy.tradeoff(alarm)) for alarm in alarms]
    return [*first, (both, both), *((missed, alarm) for alarm, missed in reversed(first))]


def _about(privacy: Privacy) -> str:
    return (
        "Anyone who decides from the answers whether a person is in the data is wrong in two ways:"
        f" false alarms, and people missed. With 5 % false alarms they find"
        f" {at_most(most_caught(privacy), 'of people')}; a bet at even odds is won"
        f" {at_most(best_guess(privacy))}. Blind guessing: 5 % and 50 %."
    )
