"""A cell of a pandas column is read by its value and the declared type, whatever the dtype is."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from letalone.engines.duckdb.duck_engine import open_duck
from letalone.engines.frames.to_arrow import as_arrow, as_private, loose_types
from letalone.errors import ParameterError
from letalone.plans.types import Type

MOMENT = datetime(2024, 2, 29, 23, 30, 0, 123456)
KINDS = [Type.BOOLEAN, Type.INTEGER, Type.NUMBER, Type.TEXT, Type.DATE, Type.TIMESTAMP, Type.OTHER]
# Values, and the dtypes that pandas has for a column of them, by which cells stand beside them.
VALUES = {
    "numbers": ([0, 1, -3, 7], ["int64", "int8", "float64", "float32", "object", "category"]),
    "large": ([2**40, 2**62 - 2**20], ["int64", "uint64", "object", "category"]),
    "fractions": ([0.5, 2.5, -0.25, 1e300], ["float64", "object", "category"]),
    "truths": ([True, False], ["bool", "object", "category"]),
    "texts": (["a", "1", "2.5", "true", "2024-02-29", "é"], ["str", "object", "category"]),
    "moments": (
        [MOMENT, datetime(1969, 12, 31)],
        ["datetime64[us]", "datetime64[ns]", "object", "category"],
    ),
}


def read(series, *kinds):
    """A column's cells and type in the registered frame, under each of the declared types."""
    names = [kind.value for kind in kinds]
    table = as_private(
        pd.DataFrame(dict.fromkeys(names, series)), dict(zip(names, kinds, strict=True))
    )
    return [(table.column(n).to_pylist(), str(table.schema.field(n).type)) for n in names]


def cells(series, kind):
    return read(series, kind)[0][0]


@pytest.mark.few("large", "moments")
@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_read_alike_in_columns_of_every_dtype(name):
    values, dtypes = VALUES[name]
    alone = read(pd.Series(values, dtype=object), *KINDS)
    plain = [([*cells, None], kind) for cells, kind in alone]
    for dtype in dtypes:
        series = pd.Series(values).astype(dtype)
        found = read(series.reindex(range(len(values) + 1)), *KINDS)
        assert found == plain, f"{dtype} with a missing cell"
        assert [(cells[:-1], kind) for cells, kind in plain] == read(series, *KINDS), dtype


def test_no_number_is_rounded_to_another_whole_one():
    odd = [1.0, 1.2, 2.0**63, -(2.0**63), float("inf"), None, 2**53 + 1]
    assert cells(pd.Series(odd, dtype=object), Type.INTEGER) == [
        *(1, None, None, -(2**63), None, None),
        2**53 + 1,
    ]
    assert cells(pd.Series(odd[:6]), Type.INTEGER) == [1, None, None, -(2**63), None, None]
    unsigned = pd.Series([1, 2**63, 2**64 - 1], dtype="uint64")
    assert cells(unsigned, Type.INTEGER) == [1, None, None]
    assert cells(pd.Series([2**62 + 1, 2**62 + 2]), Type.INTEGER) == [2**62 + 1, 2**62 + 2]


def test_categories_are_read_alike_with_a_missing_cell_and_without():
    people = [2**53 + n for n in range(50)]
    alone = pd.Series(pd.Categorical(people))
    beside = pd.Series(pd.Categorical([*people, None]))
    assert cells(alone, Type.INTEGER) == people
    assert cells(beside, Type.INTEGER) == [*people, None]
    assert cells(beside, Type.TEXT) == [*map(str, people), None]
    nullable = pd.Series(pd.Categorical([*people, None], pd.Index(people, dtype="Int64")))
    assert cells(nullable, Type.INTEGER) == [*people, None]
    nobody = pd.Series(pd.Categorical([None, None], categories=[1, 2]))
    empty = pd.Series(pd.Categorical([None], categories=[]))
    for kind in KINDS:
        assert cells(nobody, kind) == [None, None], kind
        assert cells(empty, kind) == [None], kind


def test_a_missing_cell_makes_no_two_people_of_a_category_one():
    people = pd.Series(pd.Categorical([2**53 + n for n in range(100)] + [None]))
    table = as_private(pd.DataFrame({"id": people}), {"id": Type.INTEGER}, unit="id")
    assert len(set(table.column("id").to_pylist())) == 101


def test_intervals_are_written_alike_with_a_missing_cell_and_without():
    for ends in ([(0, 1), (1, 2)], [(0.5, 1), (1, 2)]):
        for closed in ("left", "right", "both", "neither"):
            whole = pd.Series(pd.arrays.IntervalArray.from_tuples(ends, closed))
            beside = pd.Series(pd.arrays.IntervalArray.from_tuples([*ends, None], closed))
            texts = cells(whole, Type.TEXT)
            assert cells(beside, Type.TEXT) == [*texts, None]
            assert cells(beside.astype("category"), Type.TEXT) == [*texts, None]
            assert cells(whole.astype("category"), Type.TEXT) == texts
    cut = pd.Series(pd.cut([0.5, float("nan")], [0, 1, 2]))
    assert cells(cut, Type.TEXT) == ["(0, 1]", None]


def test_moments_are_in_utc_cut_to_microseconds_and_missing_where_they_do_not_fit():
    far = timezone(timedelta(hours=5))
    zoned = [datetime(2024, 2, 29, 23, 30, tzinfo=far), datetime(2024, 3, 1, tzinfo=UTC), "never"]
    wanted = [datetime(2024, 2, 29, 18, 30), datetime(2024, 3, 1), None]
    assert cells(pd.Series(zoned, dtype=object), Type.TIMESTAMP) == wanted
    whole = pd.Series(pd.to_datetime(zoned[:2], utc=True)).dt.tz_convert("Asia/Tokyo")
    assert cells(whole, Type.TIMESTAMP) == wanted[:2]
    assert cells(whole, Type.DATE) == [date(2024, 2, 29), date(2024, 3, 1)]
    late = pd.Series(np.array([0, 2**62], "datetime64[s]"))
    assert cells(late, Type.TIMESTAMP) == [datetime(1970, 1, 1), None]
    short = pd.Series(np.array([-1, 1999], "datetime64[ns]"))
    before, after = datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1, 0, 0, 0, 1)
    assert cells(short, Type.TIMESTAMP) == [before, after]


class Raises:
    """An object that cannot be written, compared or counted, and says a secret."""

    def _raise(self, *_):
        raise ValueError("SECRET")

    __str__ = __repr__ = __eq__ = __ne__ = __hash__ = __float__ = __len__ = __bool__ = _raise


ODD = [Raises(), 10**5000, Decimal("sNaN"), Fraction(10**5000, 3), "\ud800", {"a": 1}, b"\xff"]


def test_cells_that_cannot_be_written_are_missing_and_raise_nothing_of_their_own():
    for kind in KINDS:
        found = cells(pd.Series([*ODD, "x"], dtype=object), kind)
        assert found[:3] == [None] * 3, kind
        assert len(found) == len(ODD) + 1
    texts = cells(pd.Series([*ODD, "x"], dtype=object), Type.TEXT)
    assert texts == [None] * 4 + ["?", "{'a': 1}", "b'\\xff'", "x"]
    public = as_arrow(pd.DataFrame({"x": pd.Series(ODD, dtype=object)}))
    assert public.column("x").to_pylist() == texts[:-1]


def test_nullable_dtypes_are_types_of_their_own():
    frame = pd.DataFrame(
        {
            "i": pd.array([1], "Int64"),
            "b": pd.array([True], "boolean"),
            "s": pd.array(["a"], "string"),
            "a": pd.array([1], "int32[pyarrow]"),
            "n": [1],
        }
    )
    assert loose_types(frame) == {"n": Type.NUMBER}
    engine = open_duck(frame)
    kinds = [column.type for column in engine.schema().columns]
    assert kinds == [Type.INTEGER, Type.BOOLEAN, Type.TEXT, Type.INTEGER, Type.NUMBER]
    with pytest.raises(ParameterError, match="declared boolean, but holds integer"):
        open_duck(frame, types={"i": Type.BOOLEAN})
