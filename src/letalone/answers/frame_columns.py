"""What frames have as columns where an answer is more than its cells: estimates and histograms.

An estimate has a row for each label, its value, and the ends of its interval. A histogram,
`h=la.histogram("age", range(0, 101, 10))`, has a row for each range: h_bin ("[0, 10)"), h_from,
h_to, h, h_low and h_high. It is so for frames alone, and where the histogram is all that was asked
for: numbers that stand beside it would be repeated in each row, and `.rows()` has one dictionary a
group as always.

  Tested:   tests/answers/test_estimate.py, tests/answers/test_long_form.py
"""

from collections.abc import Hashable, Iterator, Sequence
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np

from letalone.answers.cell_operations import kind_of
from letalone.answers.columns import Cell, CellKind, KeyColumn, NamedColumn, Output
from letalone.exact.typed import read_rational
from letalone.privacy.curve import Json

if TYPE_CHECKING:
    from letalone.answers.estimate import Estimate

CELLS = frozenset({str, bool, int, float, date})
Columns = tuple[list[KeyColumn], Output]


def estimate_columns(estimate: "Estimate") -> Columns:
    """What the rows are called, and their numbers; a single number has no name."""
    shape = np.shape(estimate.value)
    keys = list(_keys(estimate.labels, shape))
    value, low, high = (
        tuple(float(cell) for cell in np.ravel(part))
        for part in (estimate.value, estimate.low, estimate.high)
    )
    return keys, Output("value", "estimate", "", CellKind.NUMBER, value, low, high)


def _keys(labels: Sequence[Hashable] | None, shape: tuple[int, ...]) -> Iterator[KeyColumn]:
    """The last axis runs over labels, one before it over several answers of a person."""
    places: list[tuple[int, ...]] = list(np.ndindex(shape))
    if len(shape) > 1:
        yield KeyColumn("answer", CellKind.INTEGER, tuple(place[0] for place in places))
    if shape:
        named = range(shape[-1]) if labels is None else labels
        cells = _cells(named)
        yield KeyColumn("label", _kind(cells), tuple(cells[place[-1]] for place in places))


def _cells(labels: Sequence[Hashable]) -> list[Cell]:
    """Labels as cells of one kind; those of several kinds, or of others, as texts."""
    listed = list(labels)
    kinds: set[type] = {type(label) for label in listed}
    known = len(kinds) == 1 and kinds <= CELLS
    return cast("list[Cell]", listed) if known else [str(label) for label in listed]


def _kind(cells: Sequence[Cell]) -> CellKind:
    return kind_of(cells[0]) if cells else CellKind.TEXT


def histogram_columns(
    plan: Json, keys: Sequence[KeyColumn], outputs: Sequence[Output]
) -> list[NamedColumn] | None:
    """The columns of a histogram, one row for each range of each group; None for other answers."""
    edges = _edges(plan)
    if edges is None or len(outputs) != len(edges) - 1:
        return None
    name, groups, ranges = outputs[0].aggregate, len(outputs[0].values), len(outputs)
    repeated = [(key.name, key.kind, _each(key.values, ranges)) for key in keys]
    bins = tuple(output.label for output in outputs) * groups
    starts, ends = (tuple(side) * groups for side in zip(*pairwise(edges), strict=True))
    kind = outputs[0].kind
    sides = (
        (name, [output.values for output in outputs]),
        (f"{name}_low", [output.low or () for output in outputs]),
        (f"{name}_high", [output.high or () for output in outputs]),
    )
    return [
        *repeated,
        (f"{name}_bin", CellKind.TEXT, bins),
        (f"{name}_from", CellKind.NUMBER, starts),
        (f"{name}_to", CellKind.NUMBER, ends),
        *((column, kind, _by_group(cells)) for column, cells in sides),
    ]


def _edges(plan: Json) -> list[float] | None:
    """The edges of the one histogram that was asked for."""
    aggregates = cast("list[tuple[str, Json]]", plan.get("aggregates", []))
    if len(aggregates) != 1 or aggregates[0][1].get("node") != "Histogram":
        return None
    edges = cast("list[dict[str, str]]", aggregates[0][1]["edges"])
    return [float(read_rational(edge["number"])) for edge in edges]


def _each(cells: tuple[Cell, ...], times: int) -> tuple[Cell, ...]:
    return tuple(cell for cell in cells for _ in range(times))


def _by_group(ranges: Sequence[tuple[Cell, ...]]) -> tuple[Cell, ...]:
    """All ranges of the first group, then of the next."""
    return tuple(cell for group in zip(*ranges, strict=True) for cell in group)
