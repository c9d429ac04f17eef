"""Small plans, spelled out."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from letalone.plans.aggregates.of_columns import (
    Count,
    CountUnits,
    Deviation,
    Extreme,
    Histogram,
    Mean,
    MostFrequent,
    PrivateBounds,
    Quantiles,
    Sum,
    Variance,
)
from letalone.plans.expressions import Expression, col
from letalone.plans.plan import Aggregate, Bounding, GroupColumn, Plan
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.privacy import ADD_REMOVE, Neighbours

X, A, D = col("x"), col("a"), col("d")
PRESENT = ~X.is_null()
COLUMNS = (
    Column("u", Type.INTEGER),
    Column("d", Type.TEXT),
    Column("x", Type.NUMBER),
    Column("a", Type.INTEGER),
)
F = Fraction

EVERYTHING: dict[str, Aggregate] = {
    "n": Count(),
    "units": CountUnits(),
    "total": Sum(X, F(-100), F(1000)),
    "mean": Mean(X, F(0), F(1000)),
    "variance": Variance(X, F(0), F(1000)),
    "deviation": Deviation(A, F(0), F(120)),
    "median": Quantiles(A, F(0), F(120), (F(1, 2),), F(1)),
    "quartiles": Quantiles(A, F(0), F(120), (F(1, 4), F(1, 2), F(3, 4)), F(1)),
    "oldest": Extreme(A, F(0), F(120), True, F(1)),
    "ages": Histogram(A, (F(0), F(18), F(65), F(120))),
    "wards": MostFrequent(D, 2, ("A", "B", "C")),
    "bounds": PrivateBounds(X),
}


def plan_of(
    aggregates: Mapping[str, Aggregate],
    *,
    keys: Any = ("A", "B"),
    where: Expression | None = None,
    unit: str | None = None,
    neighbours: Neighbours = ADD_REMOVE,
    grouped: bool = True,
    **bounding: Any,
) -> Plan:
    schema = Schema("t", COLUMNS, unit=unit, neighbours=neighbours)
    listed = None if keys is None or not grouped else tuple((key,) for key in keys)
    return Plan(
        schema=schema,
        where=where,
        derived=(),
        joins=(),
        groups=(GroupColumn("d", D, Type.TEXT),) if grouped else (),
        keys=listed,
        aggregates=tuple(aggregates.items()),
        bounding=Bounding(**bounding),
    )
