"""Writes shares of a whole as bars, each below its name and its number."""

from collections.abc import Sequence
from dataclasses import dataclass

from letalone.drawing.elements import clean

LINE, BAR, GAP = 20, 10, 12  # pixels: a line of text, the bar below it, and what is left free


@dataclass(frozen=True, slots=True)
class ShareBar:
    """A part of the whole, and its class in the style sheet of the page."""

    name: str
    value: int
    kind: str


def shares_svg(shares: Sequence[ShareBar], *, most: int) -> str:
    """The bars; lengths are shares of the width, and letters have their size on every screen."""
    shapes = [_draw(share, place, most) for place, share in enumerate(shares)]
    label = clean("; ".join(f"{share.name}: {share.value:,}" for share in shares))
    height = len(shares) * (LINE + BAR + GAP) - GAP
    return f'<svg height="{height}" role="img" aria-label="{label}">{"".join(shapes)}</svg>'


def _draw(share: ShareBar, place: int, most: int) -> str:
    low, wide = place * (LINE + BAR + GAP) + LINE, 100 * share.value / max(most, 1)
    bar = f'y="{low}" height="{BAR}" rx="2"'
    return (
        f'<text x="0" y="{low - 5}">{clean(share.name)}</text>'
        f'<text x="100%" y="{low - 5}" text-anchor="end">{share.value:,}</text>'
        f'<rect class="track" width="100%" {bar}/>'
        f'<rect class="{share.kind}" width="{wide:.2f}%" {bar}/>'
    )
