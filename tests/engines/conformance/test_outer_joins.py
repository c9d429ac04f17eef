"""Public tables whose partners may be missing, and tables joined to them: alike on all engines."""

import pyarrow as pa
import pytest

from engines.makers import MAKERS
from letalone.engines.core.measures import GridSum, Rows, RowScope, RowsWith
from letalone.engines.frames.to_arrow import table_digest
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn, PublicJoin
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type

SCHEMA = Schema("visits", (Column("patient", Type.INTEGER), Column("ward", Type.TEXT)))
ROWS = [
    {"patient": patient, "ward": ward}
    for patient, ward in [(1, "A"), (1, "B"), (2, "A"), (3, None), (4, "Z"), (5, "C"), (5, "C")]
]
WARDS = pa.table({"name": ["A", "B", "C"], "site": ["north", "south", None], "beds": [7, 9, 1]})
SITES = pa.table({"place": ["north"], "age": [50]})
JOINS = (
    PublicJoin(
        "wards",
        (("ward", "name"),),
        (Column("site", Type.TEXT), Column("beds", Type.INTEGER)),
        table_digest(WARDS),
        outer=True,
    ),
    PublicJoin(
        "sites",
        (("site", "place"),),
        (Column("age", Type.INTEGER),),
        table_digest(SITES),
        outer=True,
    ),
)
MADE = [name for name in MAKERS if name in ("arrow", "parquet", "postgres", "sqlite")]


@pytest.mark.parametrize(
    "maker", [pytest.param(n, marks=() if n == "arrow" else pytest.mark.long) for n in MADE]
)
def test_rows_without_a_partner_are_kept_once_and_have_nothing_beside_them(maker, tmp_path):
    engine = MAKERS[maker](ROWS, SCHEMA, tmp_path).engine
    try:
        engine.add_public(JOINS[0], WARDS)
        engine.add_public(JOINS[1], SITES)
        site = GroupColumn("site", col("site"), Type.TEXT)
        asked = RowScope(
            SCHEMA.protecting("patient"),
            None,
            (),
            JOINS,
            (site,),
            (("north",), ("south",), (None,)),
            Bounding(max_rows=10),
        )
        beds = GridSum(col("beds"), 0, 100, 0)
        found = engine.measure(asked, [Rows(), RowsWith(col("beds")), beds, RowsWith(col("age"))])
    finally:
        engine.close()
    one = asked.lattice
    assert [[number // one for number in row] for row in found] == [
        [2, 1, 4],
        [2, 1, 2],
        [14, 9, 2],
        [2, 0, 0],
    ]
