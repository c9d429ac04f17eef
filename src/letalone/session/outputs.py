"""The columns of an answer: known from the question, filled from what came out.

An aggregate that answers with one number has one column with two ends; one with several has
a column for each: q_0.25 and q_0.75, ages_[0, 10), top_1 with top_1_count, cost_lower and
cost_upper, fit_intercept and fit_age.

  Tested:   tests/session/test_outputs.py
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from typing import Any, cast

from letalone.answers.columns import Cell, KeyColumn, Kind, Output
from letalone.plans.asked import name_of
from letalone.plans.constants import shown
from letalone.plans.expressions import Bin, Expression
from letalone.plans.query import (
    Aggregate,
    Count,
    CountPresent,
    CountUnits,
    CountValues,
    Extreme,
    GroupColumn,
    Histogram,
    Plan,
    PrivateBounds,
    Quantiles,
    Regression,
    TopK,
)
from letalone.plans.schema import check_names
from letalone.plans.types import Key, Type
from letalone.tables.columns import Answer, Columns

KINDS = {
    Type.TEXT: Kind.TEXT,
    Type.INTEGER: Kind.INTEGER,
    Type.BOOLEAN: Kind.BOOLEAN,
    Type.DATE: Kind.DATE,
}


@dataclass(frozen=True, slots=True)
class Slot:
    """A column to be filled: which number of its aggregate, or which winner's name."""

    aggregate: str
    place: int
    end: str
    label: str
    kind: Kind
    interval: bool = True
    winner: bool = False

    @property
    def name(self) -> str:
        """The name of the column."""
        return f"{self.aggregate}_{self.end}" if self.end else self.aggregate

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the column and its ends."""
        own = self.name
        return (own, f"{own}_low", f"{own}_high") if self.interval else (own,)


def slots_of(plan: Plan) -> tuple[Slot, ...]:
    """The columns of the answer to a question; refuses names that come twice."""
    found = tuple(
        slot for name, aggregate in plan.aggregates for slot in _slots(plan, name, aggregate)
    )
    groups = [group.name for group in plan.groups]
    check_names([*groups, *(name for slot in found for name in slot.names)], "answer's columns")
    return found


def filled(plan: Plan, columns: Columns) -> tuple[tuple[KeyColumn, ...], tuple[Output, ...]]:
    """The columns of the answer that came out; total, whatever the numbers are."""
    keys = tuple(_keys(group, place, columns) for place, group in enumerate(plan.groups))
    outputs = (_output(slot, columns[slot.aggregate], len(columns.keys)) for slot in slots_of(plan))
    return keys, tuple(outputs)


def _slots(plan: Plan, name: str, aggregate: Aggregate) -> Iterator[Slot]:
    match aggregate:
        case Count() | CountPresent() | CountUnits() | CountValues():
            yield Slot(name, 0, "", "", Kind.INTEGER)
        case Histogram(edges=edges):
            for place, label in enumerate(_ranges(edges)):
                yield Slot(name, place, label, label, Kind.INTEGER)
        case Quantiles(at=at):
            for place, label in enumerate(_labels([shown(share) for share in at])):
                yield Slot(name, place, label, label, _step_kind(plan, aggregate))
        case Extreme():
            yield Slot(name, 0, "", "", _step_kind(plan, aggregate))
        case Regression(by=by):
            for place, label in enumerate(["intercept", *(name_of(one) for one in by)]):
                yield Slot(name, place, label, label, Kind.NUMBER)
        case TopK(of=of, k=k):
            for place, label in enumerate(_labels([str(rank + 1) for rank in range(k)])):
                kind = KINDS[plan.type_of(of).type.of_keys]
                count = f"{label}_count" if label else "count"
                yield Slot(name, place, label, label, kind, interval=False, winner=True)
                yield Slot(name, place, count, label, Kind.INTEGER)
        case PrivateBounds(of=of):
            for place, side in enumerate(("lower", "upper")):
                yield Slot(name, place, side, side, _value_kind(plan, of), interval=False)
        case _:
            yield Slot(name, 0, "", "", Kind.NUMBER)


def _labels(labels: list[str]) -> list[str]:
    """One alone needs none."""
    return labels if len(labels) > 1 else [""]


def _ranges(edges: tuple[Fraction, ...]) -> list[str]:
    starts = [f"[{shown(start)}, {shown(end)}" for start, end in pairwise(edges)]
    return [
        start + ("]" if place == len(starts) - 1 else ")") for place, start in enumerate(starts)
    ]


def _step_kind(plan: Plan, asked: Quantiles | Extreme) -> Kind:
    whole = asked.lower.denominator == asked.upper.denominator == asked.step.denominator == 1
    return _value_kind(plan, asked.of) if whole else Kind.NUMBER


def _value_kind(plan: Plan, of: Expression) -> Kind:
    return Kind.INTEGER if plan.type_of(of).type is Type.INTEGER else Kind.NUMBER


def _keys(group: GroupColumn, place: int, columns: Columns) -> KeyColumn:
    kind = Kind.TEXT if isinstance(group.of, Bin) else KINDS[group.type.of_keys]
    values: tuple[Key, ...] = tuple(group.shown(key[place]) for key in columns.keys)
    return KeyColumn(group.name, kind, values)


def _output(slot: Slot, answer: Answer, rows: int) -> Output:
    if slot.winner:
        winners = _column(answer.labels, rows, slot.place)
        return Output(slot.name, slot.aggregate, slot.label, slot.kind, tuple(winners))
    cells = [
        tuple(_cell(number, slot.kind) for number in _column(numbers, rows, slot.place))
        for numbers in (answer.values, answer.low, answer.high)
    ]
    values, low, high = cells if slot.interval else (_holding_zero(slot, cells[0]), None, None)
    return Output(slot.name, slot.aggregate, slot.label, slot.kind, values, low, high)


def _holding_zero(slot: Slot, bounds: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Bounds that were bought, widened to 0: the range at most doubles, and it costs no privacy."""
    further = min if slot.end == "lower" else max
    found = (cast("float", bound) for bound in bounds)
    return tuple(further(bound, type(bound)(0)) for bound in found)


def _column(numbers: Any, rows: int, place: int) -> list[Any]:
    return [] if rows == 0 else numbers.reshape(rows, -1)[:, place].tolist()


def _cell(number: float, kind: Kind) -> Cell:
    if kind is Kind.INTEGER:
        return int(number) if isfinite(number) else None
    return float(number) if isfinite(number) else None
