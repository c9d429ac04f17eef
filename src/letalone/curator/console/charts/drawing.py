"""Writes elements of SVG as text: coordinates are numbers, words escaped, looks are classes.

A mark is one number of an answer as it is drawn; its ends and words are those of the table beside
the chart: what is drawn is what is written. `figure` puts a caption and that table to a chart.

Across, a coordinate is a percentage of the chart's width; down, a number of pixels.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite

from markupsafe import Markup

from letalone.curator.console.directions import FIRST, LAST

ACROSS, DOWN = 1000, 240
MAX_LABEL_LENGTH = 16  # letters that fit beside a bar on a phone
KEPT = (FIRST, LAST)  # they are not seen, and keep directions apart


def svg(
    parts: Iterable[str], *, title: str, about: str, kind: str, height: float = 0, size: str = ""
) -> Markup:
    """A chart of this height in pixels, as wide as its place; or of another size.

    Title and description are what those hear who do not see it.
    """
    size = size or f'width="100%" height="{height:.0f}"'
    head = f'<svg class="chart {kind}" role="img" {size} xmlns="http://www.w3.org/2000/svg">'
    described = f"<title>{clean(title)}</title><desc>{clean(about)}</desc>"
    return Markup("".join([head, described, *parts, "</svg>"]))


def line(start: tuple[float, float], end: tuple[float, float], kind: str) -> str:
    """A line between two points."""
    (x1, y1), (x2, y2) = start, end
    ends = f'x1="{x1:.2f}%" y1="{y1:.1f}" x2="{x2:.2f}%" y2="{y2:.1f}"'
    return f'<line class="{kind}" {ends}/>'


def rectangle(left: float, right: float, *, top: float, bottom: float, kind: str) -> str:
    """A box; of no width it is still seen."""
    size = f'width="{max(right - left, 0.15):.2f}%" height="{max(bottom - top, 0):.1f}"'
    return f'<rect class="{kind}" x="{left:.2f}%" y="{top:.1f}" {size}/>'


def stretch(paths: Iterable[str], *, left: float, right: float) -> str:
    """Paths over `ACROSS` steps, which are as wide as the chart has room; lines stay as thin."""
    size = f'x="{left:.2f}%" width="{right - left:.2f}%" height="{DOWN}"'
    box = f'viewBox="0 0 {ACROSS} {DOWN}" preserveAspectRatio="none"'
    return f"<svg {size} {box}>{''.join(paths)}</svg>"


def path(points: Iterable[tuple[float, float]], kind: str, *, closed: bool = False) -> str:
    """A line through points, of a stretched drawing; or the part that it encloses."""
    steps = " ".join(f"{x:.4g},{y:.4g}" for x, y in points)
    name = "polygon" if closed else "polyline"
    return f'<{name} class="{kind}" points="{steps}"/>'


def dot(x: float, y: float, kind: str, *, radius: float = 3.5) -> str:
    """A round mark."""
    return f'<circle class="{kind}" cx="{x:.2f}%" cy="{y:.1f}" r="{radius}"/>'


def text(x: float, y: float, words: str, *, anchor: str = "start", kind: str = "") -> str:
    """Words that begin, end or have their middle at a point."""
    named = f"chart-label {kind}".strip()
    at = f'x="{x:.2f}%" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{named}" {at}>{clean(words)}</text>'


def with_tooltip(parts: Iterable[str], words: str) -> str:
    """Parts of a chart with words for who points at them."""
    return f"<g><title>{clean(words)}</title>{''.join(parts)}</g>"


def abbreviate(words: str, longest: int = MAX_LABEL_LENGTH) -> str:
    """Words in one line, cut where they are too long."""
    plain = " ".join(words.split()) or "(empty)"
    return plain if len(plain) <= longest else f"{plain[: longest - 1].rstrip()}…"


def clean(words: str) -> str:
    """Words as text of XML: no markup, and no signs that XML cannot hold."""
    letters = (letter if letter.isprintable() or letter in KEPT else " " for letter in words)
    return escape("".join(letters))


@dataclass(frozen=True, slots=True)
class ChartMark:
    """A number, the range in which the exact one probably is, and both in words."""

    estimate: float | None
    ends: tuple[float, float] | None
    words: str

    def places(self) -> list[float]:
        return [] if self.estimate is None else [self.estimate, *(self.ends or ())]


def make_mark(
    estimate: float | None, low: float | None, high: float | None, words: str
) -> ChartMark:
    """A number with its range; what is not finite is not there, and has no range."""
    if estimate is None or not isfinite(estimate):
        return ChartMark(None, None, words)
    if low is None or high is None or not isfinite(low) or not isfinite(high):
        return ChartMark(estimate, None, words)
    return ChartMark(estimate, (low, high), words)


def about_ranges(marks: Iterable[ChartMark], line: str, confidence: str) -> str:
    """What the lines over a chart are, and what it means where there is none."""
    known = [mark for mark in marks if mark.estimate is not None]
    words = ""
    if any(mark.ends is not None for mark in known):
        words += f" {line} is the range that holds the exact number {confidence} of the time."
    if any(mark.ends is None for mark in known):
        words += " Where there is no line, the error is not known."
    return words


def figure(
    chart: Markup, *, caption: str, heads: Sequence[str] = (), rows: Sequence[Sequence[str]] = ()
) -> Markup:
    """The chart; with rows, a table that opens, for whoever would rather read numbers."""
    table = _table(caption, heads, rows) if rows else Markup("")
    words = Markup("<figcaption>{}</figcaption>").format(caption)
    return Markup('<figure class="chart-figure">{}{}{}</figure>').format(chart, words, table)


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    first = Markup("").join(Markup('<th scope="col">{}</th>').format(cell) for cell in heads)
    lines = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(_cell(n, cell) for n, cell in enumerate(row)))
        for row in rows
    )
    return Markup(
        "<details><summary>The numbers as a table</summary>"
        '<div class="table-box" tabindex="0" role="region" aria-label="{}"><table>'
        '<caption class="unseen">{}</caption>'
        "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div></details>"
    ).format(caption, caption, first, lines)


def _cell(index: int, words: str) -> Markup:
    if index == 0:
        return Markup('<th scope="row">{}</th>').format(words)
    return Markup('<td class="number">{}</td>').format(words)
