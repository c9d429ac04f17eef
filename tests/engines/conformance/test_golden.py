"""The statements of each dialect, word by word: whoever changes one has to look at it.

python tests/engines/conformance/test_golden.py    writes them anew
"""

from fractions import Fraction
from pathlib import Path

import pytest

from engines.test_engine_laws import COST, DERIVED, FILTERS, GROUPINGS, SCHEMA
from letalone.engines.core import syntax
from letalone.engines.core.measures import (
    CellCounts,
    DistinctUnits,
    DistinctValues,
    GridSum,
    ProductSum,
    Rows,
    RowScope,
    ValueCounts,
)
from letalone.engines.core.rows import PLAIN, TableRef, Tables
from letalone.engines.core.statements import build_statements, counts_rows
from letalone.engines.core.stored_types import Stored
from letalone.engines.duckdb.duck_dialect import DUCKDB
from letalone.engines.postgres.postgres_dialect import POSTGRES
from letalone.engines.spark.spark_dialect import SPARK
from letalone.engines.sqlite.sqlite_dialect import SQLITE
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, PublicJoin
from letalone.plans.schema import Column
from letalone.plans.types import Type

FOLDER = Path(__file__).parent / "golden"
RELATION = TableRef(
    syntax.table("visits"),
    {column.name: Stored(column.name, PLAIN[column.type]) for column in SCHEMA.columns},
)
DIALECTS = {
    "duckdb": DUCKDB,
    "postgres": POSTGRES,
    "spark": SPARK,
    "sqlite": SQLITE,
}
ASKED = {
    "sums": (Bounding(max_rows=3), "ward", "all", [Rows(), COST]),
    "derived": (Bounding(), "none", "derived", [GridSum(col("half"), -50, 70, -6)]),
    "groups": (
        Bounding(max_groups=2, max_rows=2),
        "day and urgent",
        "all",
        [DistinctUnits(), COST],
    ),
    "clipped": (Bounding(max_groups=1, clip=True), "ward", "all", [Rows(), COST]),
    "cells": (
        Bounding(),
        "none",
        "all",
        [CellCounts(col("cost"), Fraction(0), Fraction(1, 100), 60)],
    ),
    "values": (Bounding(max_rows=1), "none", "all", [DistinctValues(col("cost"))]),
    "values_in_groups": (
        *(Bounding(max_groups=2, max_rows=1), "ward", "all"),
        [DistinctValues(col("year"))],
    ),
    "weighed_cells": (
        *(Bounding(max_groups=2, max_rows=2), "ward", "all"),
        [CellCounts(col("age"), Fraction(0), Fraction(25), 4)],
    ),
    "counted_values": (Bounding(max_rows=1), "none", "all", [ValueCounts(col("cost"), (7, 0))]),
    "counted_values_in_groups": (
        *(Bounding(max_groups=2, max_rows=2), "ward", "all"),
        [ValueCounts(col("ward").upper(), ("A", "x'y"))],
    ),
    "texts": (
        *(Bounding(max_groups=2, max_rows=1), "letter", "like"),
        [GridSum(col("ward").length(), 0, 2**20, 13)],
    ),
    "patterns": (
        *(Bounding(), "none", "pattern"),
        [GridSum(col("day") - col("at").start_of("day"), -50, 70, 6)],
    ),
    "outer_join": (Bounding(max_rows=2), "ward", "all", [Rows(), GridSum(col("beds"), 0, 100, 0)]),
    "named_days": (Bounding(max_rows=1), "named day", "all", [Rows()]),
    "weeks": (Bounding(), "none", "all", [GridSum(col("day").part("week"), 0, 64, 0)]),
    "seconds": (Bounding(), "none", "all", [GridSum(col("at").part("second"), 0, 60, 0)]),
    "product": (
        *(Bounding(), "none", "all"),
        [ProductSum((COST, GridSum(col("age"), 0, 2**20, 13)), (2, 2))],
    ),
}

JOINED = {
    "outer_join": (
        PublicJoin("wards", (("ward", "name"),), (Column("beds", Type.INTEGER),), "w", outer=True),
    ),
}
PUBLIC = {
    "w": TableRef(
        syntax.table("wards"),
        {
            name: Stored(name, PLAIN[kind])
            for name, kind in (("name", Type.TEXT), ("beds", Type.INTEGER))
        },
    )
}


def printed(question, dialect):
    bounding, grouping, where, measures = ASKED[question]
    joins = JOINED.get(question, ())
    scope = RowScope(SCHEMA, FILTERS[where], DERIVED, joins, *GROUPINGS[grouping], bounding)
    weights = "weights" if dialect == "duckdb" and counts_rows(scope) else None
    made = build_statements(scope, measures, Tables(RELATION, weights, PUBLIC, DIALECTS[dialect]))
    return "\n".join(DIALECTS[dialect].printed(one.sql, pretty=True) for one in made) + "\n"


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_statement_is_the_one_that_was_looked_at(question, dialect):
    wanted = (FOLDER / f"{question}.{dialect}.sql").read_text(encoding="utf-8")
    assert printed(question, dialect) == wanted


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for one in ASKED:
        for name in DIALECTS:
            (FOLDER / f"{one}.{name}.sql").write_text(printed(one, name), encoding="utf-8")
