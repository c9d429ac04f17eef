"""Draws the trade-off curve: how often who looks for a person must miss, or raise a false alarm.

Below the curve nobody can get, whatever they know: `Privacy.tradeoff` rounds down, and between
two points that are drawn the curve, which is convex, hangs by less than the line is thick.
"""

from collections.abc import Sequence
from math import nextafter

from markupsafe import Markup

from letalone.answers.promise import FALSE_ALARMS, at_most, best_guess, most_caught
from letalone.curator.console.charts.drawing import clean, path, svg
from letalone.privacy import Privacy

SIZE, LEFT, TOP, FOOT = 300, 62, 10, 46
WIDTH, HEIGHT = LEFT + SIZE + 14, TOP + SIZE + FOOT
POINTS = 30
SMALL = 0.15  # where both rates are less, the part that nobody reaches holds no words
Rates = Sequence[tuple[float, float]]


def trade_off(privacy: Privacy, *, name: str) -> Markup:
    """False alarms across, missed people up; the diagonal is blind guessing."""
    curve = rates(privacy)
    title = f"What nobody can do better than, at {name}"
    parts = [
        *_grid(), _path([*curve, (0.0, 0.0)], "chart-area", closed=True),
        _path(((0.0, 1.0), (1.0, 0.0)), "chart-guess"), _path(curve, "chart-line"),
        *_mark(privacy), *_names(max(min(point) for point in curve)),
    ]  # fmt: skip
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    return svg(parts, size=size, title=title, about=_about(privacy), kind="chart-trade-off")


def rates(privacy: Privacy) -> list[tuple[float, float]]:
    """Points of the curve: closer together where it is steep, and mirrored, as the curve is."""
    both = max(0.0, nextafter((1 - privacy.delta(0)) / 2, 0))  # where its slope is -1
    alarms = [both * (step / POINTS) ** 2 for step in range(POINTS)]
    first = [(alarm, privacy.tradeoff(alarm)) for alarm in alarms]
    return [*first, (both, both), *((missed, alarm) for alarm, missed in reversed(first))]


def _place(alarm: float, missed: float) -> tuple[float, float]:
    return LEFT + SIZE * alarm, TOP + SIZE * (1 - missed)


def _path(points: Rates, kind: str, *, closed: bool = False) -> str:
    return path((_place(*point) for point in points), kind, closed=closed)


def _grid() -> list[str]:
    parts = list[str]()
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        kind = "chart-axis" if tick == 0 else "chart-grid"
        parts += [_path(((0, tick), (1, tick)), kind), _path(((tick, 0), (tick, 1)), kind)]
        words = f"{100 * tick:.0f} %"
        parts.append(_text(LEFT - 6, TOP + SIZE * (1 - tick) + 4, words, anchor="end"))
        parts.append(_text(LEFT + SIZE * tick, TOP + SIZE + 17, words, anchor="middle"))
    return parts


def _mark(privacy: Privacy) -> list[str]:
    """The test with few false alarms, as a point."""
    x, y = _place(FALSE_ALARMS, privacy.tradeoff(FALSE_ALARMS))
    return [f'<circle class="chart-point" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>']


def _names(middle: float) -> list[str]:
    down, across = TOP + SIZE / 2, LEFT + SIZE / 2
    turned = f'transform="rotate(-90 12 {down:.0f})"'
    return [
        _text(across, HEIGHT - 6, "false alarms", anchor="middle"),
        f'<text class="chart-label" x="12" y="{down:.0f}" text-anchor="middle" {turned}>'
        "people missed</text>",
        _text(LEFT + SIZE - 8, TOP + 22, "just guessing: the dashed line", anchor="end"),
        *([_text(LEFT + 12, TOP + SIZE - 14, "nobody gets here")] if middle >= SMALL else []),
    ]


def _text(x: float, y: float, words: str, *, anchor: str = "start") -> str:
    at = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="chart-label" {at}>{clean(words)}</text>'


def _about(privacy: Privacy) -> str:
    return (
        "Whoever decides from the answers whether a person is in the data is wrong in two ways:"
        f" false alarms, and people missed. With 5 % false alarms they find"
        f" {at_most(most_caught(privacy), 'of people')}; a bet at even odds is won"
        f" {at_most(best_guess(privacy))}. Blind guessing: 5 % and 50 %."
    )
