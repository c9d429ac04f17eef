"""One row for each unit, in plain Python: the semantics of features.

It shares no code with the engines. A total is the exact one; from 2^53 steps on without
its last 11 bits, from 2^64 on without its last 32.
"""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from math import floor

from evaluator import Row, evaluate, read
from letalone.plans.aggregates.features import (
    Feature,
    PerUnit,
    UnitCondition,
    UnitCount,
    UnitExtreme,
    UnitMean,
    UnitTotal,
    UnitValue,
    columns_before,
    steps_of,
)
from letalone.plans.expressions import Expression
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type


def unit_rows(rows: Sequence[Row], schema: Schema, per_unit: PerUnit) -> dict[object, Row]:
    """The row of each unit that has one."""
    derived = dict(per_unit.derived)

    def value(of: Expression, row: Row) -> object:
        return evaluate(of, row, schema, derived)

    unit = schema.column(schema.unit)
    mine: dict[object, list[Row]] = defaultdict(list)
    for row in rows:
        owner = read(row[unit.name], Column(unit.name, unit.type))
        if owner is not None and (per_unit.where is None or value(per_unit.where, row) is True):
            mine[owner].append(row)
    kinds = columns_before(schema, per_unit)

    def made(feature: Feature, own: list[Row]) -> object:
        match feature:
            case UnitCount():
                return len(own)
            case UnitTotal(of) | UnitMean(of):
                present = [x for row in own if (x := value(of, row)) is not None]
                return added(feature, present, kinds.type_of(of).type)
            case UnitExtreme(of, largest):
                present = [x for row in own if (x := value(of, row)) is not None]
                return (max if largest else min)(present, default=None)
            case UnitCondition(of, every):
                return (all if every else any)(value(of, row) is True for row in own)
            case UnitValue(of, by, last):
                pairs = [(value(of, row), value(by, row)) for row in own]
                when = [b for _, b in pairs if b is not None]
                chosen = (max if last else min)(when, default=None)
                values = [x for x, b in pairs if b == chosen and x is not None]
                return min(values, default=None)

    return {
        owner: {name: made(feature, own) for name, feature in per_unit.features}
        for owner, own in mine.items()
    }


def added(feature: UnitTotal | UnitMean, values: list[object], kind: Type) -> object:
    """The total or the mean of what is there; None where nothing is."""
    if not values:
        return None
    steps = steps_of(feature, kind)
    unit = Fraction(2) ** steps.shift
    places = [min(max(floor(Fraction(x) * unit), steps.low), steps.high) for x in values]
    total = sum(places)
    if isinstance(feature, UnitTotal) and steps.kind is Type.INTEGER:
        return min(max(total, 1 - 2**63), 2**63 - 1)
    dropped = 0 if abs(total) < 2**53 else 11 if abs(total) < 2**64 else 32
    total = (abs(total) >> dropped << dropped) * (1 if total > 0 else -1)
    if isinstance(feature, UnitTotal):
        return float(total / unit)
    return min(max(float(total) / len(values), steps.low), steps.high) / float(unit)
