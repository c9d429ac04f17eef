"""Streams of Arrow are taken at their owner's word; wrapped frames are what they wrap."""

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import letalone as la
from letalone.engines.frames.streams import unwrap_source
from letalone.errors import ParameterError

TABLE = pa.table({"id": ["a", "b", "c"], "x": [1.0, float("nan"), None]})


class Stream:
    """What any library may hand over; it can be read once."""

    def __init__(self, table: pa.Table, times: int = 1) -> None:
        self._table, self._times = table, times

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        self._times -= 1
        if self._times < 0:
            raise ValueError("the secret 42 was read twice")
        return self._table.__arrow_c_stream__(requested_schema)


def count(source: object, **options: object) -> float:
    given = {"unit": "id", "budget": la.Budget(epsilon=10**6), **options}
    with la.open(source, **given) as table:
        return round(table.agg(n=la.count("x")).bound(max_rows=1).release(10**5).rows()[0]["n"])


def sources() -> list[object]:
    with duckdb.connect() as db:
        return [Stream(TABLE), db.from_arrow(TABLE)]


def test_a_stream_needs_its_owners_word_which_the_ledger_keeps() -> None:
    with duckdb.connect() as db:
        relation = db.from_arrow(TABLE).filter("id <> 'z'")
        for source in (Stream(TABLE), relation):
            with pytest.raises(ParameterError, match="rows='as they are'"):
                count(source)
        ledger = la.Ledger.in_memory()
        assert count(relation, rows="as they are", ledger=ledger) == 1
        assert count(Stream(TABLE), rows="as they are") == 1
    entry = ledger.last_act("data", "vouches for the rows as they are")
    assert entry is not None


def test_a_stream_that_fails_says_nothing_of_its_cells() -> None:
    with pytest.raises(ParameterError, match="cannot be read") as refused:
        count(Stream(TABLE, times=0), rows="as they are")
    assert "42" not in str(refused.value)
    assert refused.value.__context__ is None


@pytest.mark.long
def test_one_odd_cell_of_a_stream_is_missing_alone() -> None:
    for odd in (float("inf"), float("-inf"), float("nan"), None):
        table = pa.table({"id": ["a", "b", "c"], "x": [1.0, odd, 2.0]})
        assert count(Stream(table), rows="as they are") == 2


@pytest.mark.parametrize("native", [pl.DataFrame(TABLE), pl.LazyFrame(TABLE), TABLE.to_pandas()])
def test_a_frame_of_narwhals_is_the_one_that_it_wraps(native: object) -> None:
    assert count(nw.from_native(native)) == count(native) == 1


def test_named_levels_of_an_index_are_columns_and_can_be_the_unit() -> None:
    frame = pd.DataFrame({"id": ["a", "a", "b"], "day": [1, 2, 1], "x": [1.0, 2.0, 3.0]})
    for indexed in (frame.set_index("id"), frame.set_index(["id", "day"])):
        assert count(indexed) == count(frame) == 2
    with la.open(frame.set_index(["id", "day"]), unit="id", budget=1) as table:
        assert [column.name for column in table.schema.columns] == ["id", "day", "x"]
    kept = frame.set_index("id", drop=False)  # the column has the name
    with la.open(kept, unit="id", budget=1) as table:
        assert [column.name for column in table.schema.columns] == ["id", "day", "x"]
    with pytest.raises(ParameterError, match="'id' is not in table"):
        count(frame.set_index("id").rename_axis(None))


@pytest.mark.long
def test_a_missing_cell_of_an_index_changes_no_type() -> None:
    whole = pd.DataFrame({"id": [1, 2, 3], "x": [1.0, 2.0, 3.0]}).set_index("id")
    gap = whole.set_axis(pd.Index([1, None, 3], name="id"))
    schemas = []
    for frame in (whole, gap):
        with la.open(frame, unit="id", budget=1) as table:
            schemas.append(table.schema)
    assert schemas[0] == schemas[1]
    assert (count(whole), count(gap)) == (3, 2)


def test_a_frame_of_spark_is_never_read_as_a_stream():
    """It hands one over, and its rows would all come to this machine."""
    kind = type("DataFrame", (), {"__module__": "pyspark.sql.dataframe"})
    kind.__arrow_c_stream__ = lambda _: pytest.fail("the rows were read")
    frame = kind()
    for vouched in (True, False):
        assert unwrap_source(frame, vouched=vouched) is frame
