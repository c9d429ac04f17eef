"""Elements of SVG as text: coordinates are numbers, words are escaped, looks are classes.

Across, a coordinate is a percentage of the chart's width; down, a number of pixels.
"""

from collections.abc import Iterable
from html import escape

from markupsafe import Markup

from letalone.curator.console.directions import FIRST, LAST

ACROSS, DOWN = 1000, 240
LONGEST = 16  # letters that fit beside a bar on a phone
KEPT = (FIRST, LAST)  # they are not seen, and keep directions apart


def svg(parts: Iterable[str], *, height: float, title: str, about: str, kind: str) -> Markup:
    """A chart of this height in pixels, as wide as its place."""
    head = (
        f'<svg class="chart {kind}" role="img" width="100%" height="{height:.0f}"'
        ' xmlns="http://www.w3.org/2000/svg">'
    )
    return Markup("".join([head, *describe(title, about), *parts, "</svg>"]))


def describe(title: str, about: str) -> list[str]:
    """What those hear who do not see the chart."""
    return [f"<title>{clean(title)}</title><desc>{clean(about)}</desc>"]


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


def shorten(words: str, longest: int = LONGEST) -> str:
    """Words in one line, cut where they are too long."""
    plain = " ".join(words.split()) or "(empty)"
    return plain if len(plain) <= longest else f"{plain[: longest - 1].rstrip()}…"


def clean(words: str) -> str:
    """Words as text of XML: no markup, and no signs that XML cannot hold."""
    return escape(
        "".join(letter if letter.isprintable() or letter in KEPT else " " for letter in words)
    )
