"""The columns of an answer: known from the question, filled from what came out.

An aggregate that answers with one number has one column with two ends; one with several has
a column for each: q_0.25 and q_0.75, ages_[0, 10), top_1 with top_1_count, cost_lower and
cost_upper, fit_intercept and fit_age.

  Tested:   tests/session/test_releasing.py, every aggregate
"""

from dataclasses import dataclass
from math import isfinite
from typing import Any, cast

from letalone.answers.columns import Cell, CellKind, KeyColumn, Output
from letalone.plans.aggregates.facts import OutputColumn, facts_of
from letalone.plans.expressions import Bin
from letalone.plans.plan import GroupColumn, Plan
from letalone.plans.schema import check_names
from letalone.plans.types import Key, Type
from letalone.tables.columns import NoisyAnswer, NoisyColumn

KINDS = {
    Type.TEXT: CellKind.TEXT,
    Type.INTEGER: CellKind.INTEGER,
    Type.BOOLEAN: CellKind.BOOLEAN,
    Type.DATE: CellKind.DATE,
    Type.NUMBER: CellKind.NUMBER,
}


@dataclass(frozen=True, slots=True)
class Slot:
    """A column of the answer, and the aggregate that fills it."""

    aggregate: str
    column: OutputColumn

    @property
    def name(self) -> str:
        return f"{self.aggregate}_{self.column.end}" if self.column.end else self.aggregate

    @property
    def names(self) -> tuple[str, ...]:
        name = self.name
        return (name, f"{name}_low", f"{name}_high") if self.column.has_interval else (name,)


def slots_of(plan: Plan) -> tuple[Slot, ...]:
    """The columns of the answer to a question; refuses names that come twice."""
    types = plan.columns
    slots = tuple(
        Slot(name, column)
        for name, aggregate in plan.aggregates
        for column in facts_of(aggregate).columns(aggregate, types)
    )
    groups = [group.name for group in plan.groups]
    check_names([*groups, *(name for slot in slots for name in slot.names)], "answer's columns")
    return slots


def fill_slots(
    plan: Plan, columns: NoisyAnswer
) -> tuple[tuple[KeyColumn, ...], tuple[Output, ...]]:
    """The columns of the answer that came out; total, whatever the numbers are."""
    keys = tuple(_keys(group, place, columns) for place, group in enumerate(plan.groups))
    outputs = (_output(slot, columns[slot.aggregate], len(columns.keys)) for slot in slots_of(plan))
    return keys, tuple(outputs)


def _keys(group: GroupColumn, place: int, columns: NoisyAnswer) -> KeyColumn:
    kind = CellKind.TEXT if isinstance(group.of, Bin) else KINDS[group.type.of_keys]
    values: tuple[Key, ...] = tuple(group.shown(key[place]) for key in columns.keys)
    return KeyColumn(group.name, kind, values)


def _output(slot: Slot, answer: NoisyColumn, rows: int) -> Output:
    column, kind = slot.column, KINDS[slot.column.type]
    if column.is_winner:
        winners = _column(answer.labels, rows, column.place)
        return Output(slot.name, slot.aggregate, column.label, kind, tuple(winners))
    cells = [
        tuple(_cell(number, kind) for number in _column(numbers, rows, column.place))
        for numbers in (answer.values, answer.low, answer.high)
    ]
    if column.has_interval:
        return Output(slot.name, slot.aggregate, column.label, kind, *cells)
    bounds = _holding_zero(column.end, cells[0])
    return Output(slot.name, slot.aggregate, column.label, kind, bounds)


def _holding_zero(side: str, bounds: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Bounds that were bought, widened to 0: the range at most doubles, and it costs no privacy."""
    further = min if side == "lower" else max
    ends = (cast("float", bound) for bound in bounds)
    return tuple(further(bound, type(bound)(0)) for bound in ends)


def _column(numbers: Any, rows: int, place: int) -> list[Any]:
    return [] if rows == 0 else numbers.reshape(rows, -1)[:, place].tolist()


def _cell(number: float, kind: CellKind) -> Cell:
    if kind is CellKind.INTEGER:
        return int(number) if isfinite(number) else None
    return float(number) if isfinite(number) else None
