"""An estimate: a value, the interval around it, and how often such intervals are right.

The value is unbiased and therefore not forced into the range of the truth: an estimated
proportion may be −0.02. The interval may be cut to that range, because cutting it there
cannot lose the truth. So `value` can lie outside of `low` … `high`; both are right.

An estimate of several numbers is also a table, `.rows()`, `.to_pandas()` and the like, with a row
for each of its labels, and a chart: a notebook shows both.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from letalone.answers.promise import as_sure
from letalone.errors import ParameterError
from letalone.exact.typed import CONFIDENCE
from letalone.privacy.bounds import shown_above

if TYPE_CHECKING:
    from letalone.answers.columns import Cell, NamedColumn
    from letalone.drawing import Sheet
    from letalone.privacy import Privacy

MOST_IN_WORDS = 24
Values = float | NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A number, or an array of numbers, with an interval that holds at `confidence`.

    `labels` are what the entries of the last axis belong to; None: they are counted from 0.
    """

    value: Values
    low: Values
    high: Values
    confidence: float
    privacy: "Privacy | None" = None
    labels: tuple[Hashable, ...] | None = None

    def __post_init__(self) -> None:
        CONFIDENCE.typed("confidence", self.confidence)
        if not np.shape(self.value) == np.shape(self.low) == np.shape(self.high):
            raise ParameterError(
                f"The shapes of value {np.shape(self.value)}, low {np.shape(self.low)} and high"
                f" {np.shape(self.high)} differ, but must be the same."
            )
        if np.any(np.asarray(self.low) > np.asarray(self.high)):
            raise ParameterError("low is above high. Swap them.")
        if self.labels is not None and np.shape(self.value)[-1:] != (len(self.labels),):
            raise ParameterError(
                f"There are {len(self.labels)} labels for values of the shape"
                f" {np.shape(self.value)}. Give one for each entry of the last axis."
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Estimate):
            return NotImplemented
        mine, theirs = (self.value, self.low, self.high), (other.value, other.low, other.high)
        same = all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))
        terms = (self.confidence, self.privacy, self.labels)
        return same and terms == (other.confidence, other.privacy, other.labels)

    def __hash__(self) -> int:
        parts = (self.value, self.low, self.high)
        return hash((*(np.asarray(part).tobytes() for part in parts), self.confidence))

    def rows(self) -> "list[dict[str, Cell]]":
        """A dictionary for each number: its label, its value and the ends of its interval."""
        named = self._columns
        names = [name for name, _, _ in named]
        cells = zip(*(values for _, _, values in named), strict=True)
        return [dict(zip(names, row, strict=True)) for row in cells]

    def to_pandas(self) -> Any:
        """A pandas frame, one row for each number."""
        from letalone.answers import columns  # who makes no frame loads nothing of it

        return columns.to_pandas(self._columns)

    def to_polars(self) -> Any:
        """A Polars frame, one row for each number."""
        from letalone.answers import columns

        return columns.to_polars(self._columns)

    def to_arrow(self) -> Any:
        """An Arrow table, one row for each number."""
        from letalone.answers import columns

        return columns.to_arrow(self._columns)

    def plot(self, path: object = None) -> Any:
        """A picture with ranges; a path ending in .svg, .png or .pdf also writes it.

        It is a matplotlib figure, or an SVG where matplotlib is not installed.
        """
        from letalone.drawing import plot  # who draws nothing loads nothing of it

        return plot(self._sheet(), path)

    def _repr_html_(self) -> str:
        from letalone.answers import views
        from letalone.answers.frame_columns import estimate_columns

        keys, output = estimate_columns(self)
        lines = [f"[low, high]: {as_sure(self.confidence)} range.", *self._price()]
        table = views.as_html(keys, [output], lines)
        return table + (self._repr_svg_() or "") if keys else table

    def _repr_svg_(self) -> str | None:
        from letalone.drawing import to_svg

        try:
            return to_svg(self._sheet())
        except ParameterError:  # there is nothing to draw
            return None

    def _price(self) -> list[str]:
        price = inf if self.privacy is None else self.privacy.epsilon(0)
        return [f"Each person sent what costs ε = {shown_above(price)}."] if isfinite(price) else []

    def _sheet(self) -> "Sheet":
        from letalone.answers.frame_columns import estimate_columns
        from letalone.answers.picture import draw_release

        keys, output = estimate_columns(self)
        return draw_release(keys, [output], title=f"Bars at {as_sure(self.confidence)}")

    @property
    def _columns(self) -> "list[NamedColumn]":
        from letalone.answers.frame_columns import estimate_columns

        keys, output = estimate_columns(self)
        return [*((key.name, key.kind, key.values) for key in keys), *_plain_ends(output.columns)]

    def __repr__(self) -> str:
        rows = zip(np.ravel(self.value), np.ravel(self.low), np.ravel(self.high), strict=True)
        words = [
            f"{value:.4g} [{_round_down(low)}, {_round_up(high)}]" for value, low, high in rows
        ]
        if self.labels is not None:
            labels = [self.labels[place % len(self.labels)] for place in range(len(words))]
            words = [f"{label}: {word}" for label, word in zip(labels, words, strict=True)]
        rest = len(words) - MOST_IN_WORDS
        more = f"; … and {rest:,} more, see .rows()" if rest > 0 else ""
        price = f"; {self.privacy}" if self.privacy is not None else ""
        shown = "; ".join(words[:MOST_IN_WORDS]) + more
        return f"Estimate({shown} at {as_sure(self.confidence)} confidence{price})"


def _plain_ends(columns: "list[NamedColumn]") -> "list[NamedColumn]":
    """value, low and high, as the fields are called."""
    return [(name.removeprefix("value_"), kind, cells) for name, kind, cells in columns]


def _round_up(end: float) -> str:
    return shown_above(end) if isfinite(end) else f"{end}"


def _round_down(end: float) -> str:
    return f"{0.0 - float(shown_above(-end)):.4g}" if isfinite(end) else f"{end}"
