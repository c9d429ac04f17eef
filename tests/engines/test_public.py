"""Public tables: joined on equal keys, never doubling a row."""

from dataclasses import replace
from datetime import date
from math import nan

import pyarrow as pa
import pytest

from letalone.engines.core.measures import GridSum, Rows, RowScope
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.engines.frames.arrow import columns_of
from letalone.engines.frames.to_arrow import as_arrow, table_digest
from letalone.errors import ParameterError
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn, PublicJoin
from letalone.plans.schema import Column
from letalone.plans.types import Type

VISITS = pa.table({"patient": [1, 1, 2, 3, 4], "ward": ["A", "B", "A", None, "Z"], "x": [1.0] * 5})
WARDS = pa.table({"name": ["A", "B", "C"], "site": ["north", "south", "north"], "beds": [7, 9, 1]})


KINDS = [
    pa.null(), pa.bool_(), pa.int8(), pa.int64(), pa.uint8(), pa.uint64(), pa.float16(),
    pa.float32(), pa.float64(), pa.decimal32(5, 2), pa.decimal64(10, 2), pa.decimal128(20, 3),
    pa.decimal128(5, -2), pa.decimal256(40, 3), pa.string(), pa.large_string(), pa.string_view(),
    pa.binary(), pa.large_binary(), pa.binary(4), pa.date32(), pa.date64(),
    *(pa.timestamp(step, zone) for step in ("s", "ms", "us", "ns") for zone in (None, "UTC")),
    pa.time32("s"), pa.time64("us"), pa.duration("us"), pa.list_(pa.int64()),
    pa.struct([("a", pa.int64())]), pa.map_(pa.string(), pa.int64()), pa.uuid(), pa.bool8(),
    pa.dictionary(pa.int8(), pa.string()), pa.json_(), pa.month_day_nano_interval(),
    pa.opaque(pa.int64(), "a", "b"),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_types_of_a_public_table_are_those_that_duckdb_would_say(kind):
    frame = as_arrow(pa.table({"c": pa.nulls(0, kind)}))
    engine = open_duck(frame)
    try:
        (column,) = engine.schema().columns
    finally:
        engine.close()
    assert columns_of(frame) == [("c", column.type)]


def joined(public=WARDS, *, on=(("ward", "name"),), columns=None):
    added = columns or (Column("site", Type.TEXT), Column("beds", Type.INTEGER))
    return PublicJoin("wards", on, added, table_digest(public))


@pytest.fixture
def engine():
    engine = open_duck(VISITS)
    yield engine
    engine.close()


def scope(engine, join, **parts):
    schema = engine.schema().protecting("patient")
    settings = {"groups": (), "keys": None, "where": None} | parts
    return RowScope(
        schema,
        settings["where"],
        (),
        (join,),
        settings["groups"],
        settings["keys"],
        Bounding(max_rows=10),
    )


def test_rows_get_the_columns_of_their_partner_and_others_are_dropped(engine):
    engine.add_public(joined(), WARDS)
    site = GroupColumn("site", col("site"), Type.TEXT)
    asked = scope(engine, joined(), groups=(site,), keys=(("south",), ("north",), (None,)))
    beds = GridSum(col("beds"), 0, 100, 0)
    found = engine.measure(asked, [Rows(), beds])
    assert found == [[n * asked.lattice for n in row] for row in ([1, 2, 0], [9, 14, 0])]
    large = scope(engine, joined(), where=col("beds") > 8)
    assert engine.measure(large, [Rows()]) == [[large.lattice]]


def test_a_public_table_that_would_double_a_row_is_refused(engine):
    twice = pa.concat_tables([WARDS, WARDS.slice(0, 1)])
    with pytest.raises(ParameterError, match="two rows with the same name"):
        engine.add_public(joined(twice), twice)


def test_numbers_are_joined_as_whole_keys_and_no_two_become_equal(engine):
    """Two numbers that are not whole have no key, and a zero has one sign."""
    for number in ([1.2, 1.4], [0.0, -0.0], [1.5, nan]):
        public = pa.table({"number": number, "site": ["a", "b"]})
        join = joined(public, on=(("patient", "number"),), columns=(Column("site", Type.TEXT),))
        with pytest.raises(ParameterError, match="two rows with the same number"):
            engine.add_public(join, public)
    public = pa.table({"number": [1.0, 1.4, 2.0**60], "site": ["a", "b", "c"]})
    join = joined(public, on=(("patient", "number"),), columns=(Column("site", Type.TEXT),))
    with pytest.raises(ParameterError, match="two rows with the same number"):
        engine.add_public(join, public)
    engine.add_public(replace(join, table_digest="x"), public.slice(0, 2))
    assert engine.measure(scope(engine, replace(join, table_digest="x")), [Rows()])[0][0] > 0


def test_a_public_table_that_is_not_there_or_lacks_a_column_is_named(engine):
    with pytest.raises(ParameterError, match="public table 'wards' is not here"):
        engine.measure(scope(engine, joined()), [Rows()])
    with pytest.raises(ParameterError, match="Column 'rooms' is not in table 'wards'"):
        engine.add_public(joined(columns=(Column("rooms", Type.INTEGER),)), WARDS)


def test_the_digest_is_of_names_types_and_rows():
    other = [
        WARDS.rename_columns(["name", "site", "bed"]),
        WARDS.slice(0, 2),
        WARDS.set_column(2, "beds", pa.array([7.0, 9.0, 1.0])),
        WARDS.take([1, 0, 2]),
    ]
    assert len({table_digest(one) for one in [WARDS, *other]}) == 5
    assert table_digest(WARDS) == table_digest(
        pa.concat_tables([WARDS.slice(0, 1), WARDS.slice(1)])
    )
    assert table_digest(pa.table({"d": [date(2024, 1, 1)]})) != table_digest(WARDS)
