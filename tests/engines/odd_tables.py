"""Tables with something odd in them, and questions that all of them are asked.

A shape is a table with a question. Whatever it is, all engines have to give the same integers for
it: those of the slow one. Keys and values are of kinds that every engine spells in the same way, so
that cuts are the same, too.
"""

from collections.abc import Iterator
from datetime import date
from math import inf, nan

from engines.test_engine_laws import GROUPINGS, HISTOGRAMS, MEASURES, PRODUCTS, SCHEMA, row
from letalone.engines.core.measures import CellCounts, DistinctUnits, DistinctValues, Rows, RowScope
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type


def visits(patient, wards, times=1, **values):
    """Rows of a patient in each of these wards."""
    return [row(patient=patient, ward=ward, **values) for ward in wards for _ in range(times)]


def people(number, wards, times=1, **values):
    return [one for n in range(number) for one in visits(f"p{n}", wards, times, **values)]


def numbered(rows):
    """The rows, each with values of its own."""
    days = [date(2024, 2, 29), date(1, 1, 1), None]
    return [
        one | {"year": n, "cost": n / 3, "age": n % 90, "urgent": n % 2 == 0, "day": days[n % 3]}
        for n, one in enumerate(rows)
    ]


LISTED = ["A", "a", "B ", "x'y", 'q"', None]  # of the wards that are keys
TABLES = {
    "no rows": [],
    "one row": visits("p", "A", cost=3.0, age=5, year=2024),
    "one row without a unit": visits(None, "A", cost=3.0),
    "no unit is there": visits(None, LISTED, 3, cost=1.0, age=70),
    "some units are missing": numbered(people(3, "Aa") + visits(None, LISTED, 4)),
    "all rows are of one unit": numbered(visits("p", LISTED, 5)),
    "as many rows as may count": numbered(people(5, "A", 3)),
    "one row more": numbered(people(5, "A", 4)),
    "two rows more": numbered(people(4, "a", 5)),
    "one giant": numbered(visits("giant", "AaB", 200) + people(20, "A", 2)),
    "one giant in every group": numbered(visits("giant", LISTED, 60) + people(9, LISTED)),
    "a giant that weighs nothing": visits("giant", "A", 1100, cost=1.0, age=70)
    + people(2, "A", cost=2.0, age=80),
    "two giants": numbered(visits("one", "A", 300) + visits("two", "a", 299)),
    "as many groups as may count": numbered(people(6, ["A", None])),
    "one group more": numbered(people(6, ["A", "a", "B "])),
    "every group": numbered(people(4, LISTED, 2)),
    "one row in each of many groups": numbered(
        [one for n in range(30) for one in visits("p", [f"w{n}", "A"])]
    ),
    "all keys are missing": numbered(people(4, [None], 3)),
    "no key is listed": numbered(people(4, ["z", "Z", ""], 2)),
    "more unlisted groups than listed ones": numbered(people(5, ["A", "z", "y", "x", "w"], 2)),
    "unlisted rows beside few listed ones": numbered(visits("p", "z", 50) + visits("p", "A", 2)),
    "no number is one": people(4, "Aa", 2, cost=nan, age=None),
    "numbers and none": [
        one | {"cost": [nan, inf, -inf, None, 1.0, -0.0, 0.0, 1e308][n % 8]}
        for n, one in enumerate(people(6, "Aa", 4))
    ],
    "a missing value in each group": [
        one | {"year": None if n % 3 else n} for n, one in enumerate(people(7, ["A", "a", "B "], 2))
    ],
    "few of many rows pass the filter": numbered(people(3, "A", 40))
    + visits("p1", "A", 2, age=99, cost=5.0)
    + visits("p2", "a", 1, age=80, cost=9.0),
    "nothing passes the filter": people(5, LISTED, 3, age=1, cost=1.0),
    "all that passes is of one unit": people(9, "A", 3, age=10) + visits("p", "A", 9, age=90),
    "letters of all kinds": numbered(
        [one for unit in ("ä", "a\u0308", "\U0001f600", "ß", "İ") for one in visits(unit, "aäA", 2)]
    ),
    "units that look alike": numbered(
        [one for unit in ("p", "P", "p ", " p", "p\u00a0") for one in visits(unit, "AaB", 2)]
    ),
    "bars in units and keys": numbered(
        [one for unit in ("p", "p|A", "|", "p|") for one in visits(unit, ["A", "|A", "A|", "|"], 2)]
    ),
    "rows that are all equal": people(1, "A", 50, cost=2.0, age=66, year=7) * 3,
    "the ends of whole numbers": [
        one | {"year": [2**63 - 1, -(2**63), 0, -1][n % 4], "age": 2**63 - 1, "cost": -1e308}
        for n, one in enumerate(people(5, "Aa", 4))
    ],
    "dates and truth values": numbered(people(6, ["A", "B "], 3)),
}
K = {"max_rows": 3}
QUESTIONS = {
    "rows": ("none", None, Bounding(**K), 20, 1),
    "rows in groups": ("ward", None, Bounding(**K), 20, 2),
    "one row that passes the filter": ("ward", "old", Bounding(max_rows=1), 8, 1),
    "groups": ("ward", None, Bounding(max_groups=2, max_rows=3), 20, 1),
    "groups of norm 2": ("ward", "old", Bounding(max_groups=2, max_rows=1), 20, 2),
    "totals": ("ward", None, Bounding(max_groups=1, clip=True), 20, 2),
    "groups of two kinds": ("day and urgent", None, Bounding(max_groups=1, max_rows=2), 8, 2),
    "no bound": ("ward", "old", Bounding(), 20, 1),
}
OLD = col("age") >= 65
CELLS = CellCounts(col("age"), HISTOGRAMS[1].lower, HISTOGRAMS[1].step, 4)
VALUES = [DistinctValues(col("year")), DistinctValues(col("day"))]


def scope_of(question: str) -> RowScope:
    grouping, where, bounding, bits, norm = QUESTIONS[question]
    chosen = None if where is None else OLD
    groups, keys = GROUPINGS[grouping]
    return RowScope(SCHEMA, chosen, (), (), groups, keys, bounding, weight_bits=bits, norm=norm)


def measures_of(scope: RowScope) -> list:
    """Every kind of measure; those of several columns, and of squares, once."""
    plain = [Rows(), DistinctUnits(), *MEASURES[1:3], MEASURES[4], MEASURES[8]]
    return plain[:-1] if scope.bounding.clip else [*plain, CELLS, *VALUES, PRODUCTS[3]]


def asked() -> Iterator[tuple[RowScope, list]]:
    for question in QUESTIONS:
        scope = scope_of(question)
        yield scope, measures_of(scope)


NAMES = ["patient", "ward", "year", "age"]  # of what models are trained on
PEOPLE = Schema(
    "people",
    (Column("who", Type.TEXT), Column("sex", Type.TEXT), Column("born", Type.INTEGER)),
    unit="who",
)
