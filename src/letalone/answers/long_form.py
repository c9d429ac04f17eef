"""A histogram as frames have it: one row for each range, and not one column.

`h=la.histogram("age", range(0, 101, 10))` becomes h_bin ("[0, 10)"), h_from, h_to, h, h_low and
h_high. It is so for frames alone, and where the histogram is all that was asked for: numbers that
stand beside it would be repeated in each row, and `.rows()` has one dictionary a group as always.

  Tested:   tests/answers/test_long_form.py
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

from letalone.answers.columns import Cell, CellKind, KeyColumn, NamedColumn, Output
from letalone.exact.typed import read_rational
from letalone.privacy.curve import Json


def long_columns(
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
