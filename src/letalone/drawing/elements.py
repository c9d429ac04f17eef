"""Writes elements of SVG as text: coordinates are numbers, words are escaped, looks are classes.

Across, a coordinate is a percentage of the chart's width; down, a number of pixels. So a chart is
as wide as its place, and its letters keep their size, on a phone too.
"""

from collections.abc import Iterable
from html import escape

STEPS = 1000  # across, of a drawing that is stretched
ISOLATED = ("\u2068", "\u2069")  # around a name: they are not seen, and keep directions apart
Place = tuple[float, float]


def group(parts: Iterable[str], words: str) -> str:
    """Parts of a chart, with words for who points at them."""
    return f"<g><title>{clean(words)}</title>{''.join(parts)}</g>" if words else "".join(parts)


def line(start: Place, end: Place, kind: str) -> str:
    """A line between two points."""
    (x1, y1), (x2, y2) = start, end
    ends = f'x1="{x1:.2f}%" y1="{y1:.1f}" x2="{x2:.2f}%" y2="{y2:.1f}"'
    return f'<line class="{kind}" {ends}/>'


def rectangle(first: Place, second: Place, kind: str) -> str:
    """The box between two corners; of no width it is still seen."""
    (left, right), (top, bottom) = (sorted(ends) for ends in zip(first, second, strict=True))
    size = f'width="{max(right - left, 0.15):.2f}%" height="{bottom - top:.1f}"'
    return f'<rect class="{kind}" x="{left:.2f}%" y="{top:.1f}" {size}/>'


def draw_shade(first: Place, second: Place, kind: str, depth: float) -> str:
    """The box between two corners, the fuller of its colour the deeper it is."""
    filled = f'fill="currentColor" fill-opacity="{depth:.2f}"'
    return rectangle(first, second, kind).replace("/>", f" {filled}/>")


def stretch(paths: Iterable[str], height: float) -> str:
    """Paths, as wide as the chart has room; their lines stay as thin."""
    box = f'viewBox="0 0 {STEPS} {height:.0f}" preserveAspectRatio="none"'
    return f'<svg width="100%" height="{height:.0f}" {box}>{"".join(paths)}</svg>'


def path(points: Iterable[Place], kind: str, *, closed: bool = False) -> str:
    """A line through points, in a stretched drawing; or the part that it encloses."""
    steps = " ".join(f"{x * STEPS / 100:.1f},{y:.1f}" for x, y in points)
    name = "polygon" if closed else "polyline"
    return f'<{name} class="{kind}" points="{steps}"/>'


def dot(at: Place, kind: str, *, radius: float = 3.5) -> str:
    """A round mark."""
    return f'<circle class="{kind}" cx="{at[0]:.2f}%" cy="{at[1]:.1f}" r="{radius}"/>'


def text(at: Place, words: str, *, anchor: str = "start", kind: str = "") -> str:
    """Words that begin, end or have their middle at a point."""
    named = f"chart-label {kind}".strip()
    place = f'x="{at[0]:.2f}%" y="{at[1]:.1f}" text-anchor="{anchor}"'
    return f'<text class="{named}" {place}>{clean(words)}</text>'


def abbreviate(words: str, longest: int) -> str:
    """Words in one line, cut where they are too long."""
    plain = " ".join(words.split()) or "(empty)"
    return plain if len(plain) <= longest else f"{plain[: longest - 1].rstrip()}…"


def clean(words: str) -> str:
    """Words as text of XML: no markup, and no signs that XML cannot hold."""
    letters = (letter if letter.isprintable() or letter in ISOLATED else " " for letter in words)
    return escape("".join(letters))
