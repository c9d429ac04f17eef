"""The same rows give the same integers, whatever a writer puts beside them: one odd cell at a time.

Odd cells hide each other (an infinity widens what a file says of its numbers), so a column has
one of them. The integers are those of a slow engine in plain Python.
"""

from datetime import UTC, date, datetime
from fractions import Fraction
from importlib.util import find_spec
from math import inf, nan

import pyarrow as pa
import pytest

import letalone as la
from engines.hostile import texts
from engines.makers import MAKERS, MORE_FILES, arrow_table, of_duck
from engines.reference import Reference
from engines.writers import FASTPARQUET, WRITERS
from letalone.engines.core.measures import (
    CellCounts,
    DistinctUnits,
    DistinctValues,
    GridSum,
    Rows,
    RowScope,
    RowsWith,
)
from letalone.plans.expressions import Bin, col
from letalone.plans.plan import Bounding, GroupColumn
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type

KINDS = {
    "who": Type.TEXT,
    "word": Type.TEXT,
    "x": Type.NUMBER,
    "single": Type.NUMBER,
    "whole": Type.INTEGER,
    "day": Type.DATE,
    "at": Type.TIMESTAMP,
    "true": Type.BOOLEAN,
}
SCHEMA = Schema("t", tuple(Column(name, kind) for name, kind in KINDS.items()))
NO_TEXT = b"\xff"  # missing, wherever it is read
NUL = "A\0B"
ODD = {
    "who": ["", "P0", None, "p1", NO_TEXT],
    "word": ["N", "", "Y" * 70_000, None, NO_TEXT, NUL, "\U0001f600"],
    "x": [nan, inf, -inf, -0.0, None, 2.0**53 + 2, 1.7e308, 5e-324, -(2.0**63)],
    "single": [nan, -inf, inf, -0.0, None, 3e38, 2.0**-149],
    "whole": [2**53 - 1, 2**53 + 1, 2**63 - 1, -(2**63), None, 0],
    "day": [date(1, 1, 1), date(9999, 12, 31), None, date(1969, 12, 31)],
    "at": [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        None,
        datetime(1677, 1, 1, tzinfo=UTC),
    ],
    "true": [False, None],
}
ROUNDS = range(-1, max(map(len, ODD.values())))  # -1: nothing odd
PLAIN = [RowsWith(col(name)) for name in KINDS]
SUMS = [
    GridSum(col("x"), 0, 1000 << 10, 10),
    GridSum(col("x"), 2**60 - 5, 2**60 + 2**30, 7),
    GridSum(col("x") * 2 + col("single"), -50, 70, 6, 2),
    GridSum(col("single"), -7, 2**20, 3),
    GridSum(col("whole"), -(2**40), 2**40, -3),
]
CELLS = [
    CellCounts(col("x"), Fraction(0), Fraction(1, 3), 60),
    CellCounts(col("single"), Fraction(-1), Fraction(3), 10),
    DistinctValues(col("word")),
    DistinctValues(col("x")),
    DistinctValues(col("at")),
]
FILTERS = [
    *(col(name).is_null() for name in KINDS),
    col("word") == "Y",
    (col("word") == "N") | col("word").is_null(),
    ~(col("word") == "Y"),
    col("word").like("Y%"),
    ~col("word").like("%Y"),
    col("word").contains("\U0001f600") | (col("word").length() > 1),
    col("word").upper().concat(col("whole")) == "Y7",
    col("day").strftime("%Y-%m") == "2024-01",
    col("day").days_since(date(2024, 1, 2)) > 3,
    col("x") > 3,
    ~(col("x") <= 3),
    (col("single") < 100) & (col("x") * 2 >= -1),
    col("whole") > 2**53,
    col("day") < date(2024, 1, 2),
    col("at").part("year") > 2023,
    col("true"),
]
GROUPS = [
    ([GroupColumn("g", col("word"), Type.TEXT)], [("Y",), ("N",), ("",), (None,)]),
    ([GroupColumn("g", col("word").substr(1, 1), Type.TEXT)], [("Y",), ("",), (None,)]),
    ([GroupColumn("g", col("whole"), Type.INTEGER)], [(0,), (7,), (2**63 - 1,), (None,)]),
    ([GroupColumn("g", col("true"), Type.BOOLEAN)], [(True,), (False,), (None,)]),
    ([GroupColumn("g", Bin(col("x"), Fraction(0), Fraction(5), 4), Type.INTEGER)], [(0,), (3,)]),
]
UNITS = [(None, [Bounding()]), ("who", [Bounding(), Bounding(max_rows=1), Bounding(clip=True)])]


def rows_with(odd: int) -> list[dict]:
    """Rows of nothing special, but for one cell of each column that has so many odd ones."""
    rows = [
        {
            "who": f"p{number % 9}",
            "word": "Y" if number % 3 else None,
            "x": float(number),
            "single": number / 2,
            "whole": 7 + number % 5,
            "day": date(2024, 1, 1 + number),
            "at": datetime(2024, 1, 1 + number, tzinfo=UTC),
            "true": True,
        }
        for number in range(21)
    ]
    for place, (name, cells) in enumerate(ODD.items()):
        if 0 <= odd < len(cells):
            rows[2 * place + 4][name] = cells[odd]
    return rows


def as_table(rows: list[dict]) -> pa.Table:
    """The rows as a table in memory; bytes that are no text become what is called text there."""
    plain = arrow_table(told(rows), SCHEMA)
    for place, name in enumerate(KINDS):
        cells = [row[name] for row in rows]
        if name == "single":
            plain = plain.set_column(place, name, pa.array(cells, pa.float32()))
        if NO_TEXT in cells:
            broken = [one.encode() if isinstance(one, str) else one for one in cells]
            plain = plain.set_column(place, name, texts(cells=broken))
    return plain


def told(rows: list[dict], odd: object = NO_TEXT) -> list[dict]:
    """The rows as they are read: what is no text is missing."""
    return [{name: None if one == odd else one for name, one in row.items()} for row in rows]


def check_engine(made, rows, *, filters=FILTERS, groups=GROUPS, units=UNITS):
    """Whether the engine's integers are those of the rows, for every question."""
    rows = told(rows)
    for unit, boundings in units:
        schema = SCHEMA.protecting(unit)
        slow = Reference(rows)
        for bounding in boundings:
            for where in filters if unit is None else filters[:: len(boundings)]:
                scope = RowScope(schema, where, (), (), (), None, bounding)
                asked = [Rows(), DistinctUnits(), SUMS[0]]
                assert made.engine.measure(scope, asked) == slow.measure(scope, asked), where
            for by, keys in [((), None), *groups]:
                scope = RowScope(schema, None, (), (), tuple(by), keys and tuple(keys), bounding)
                # A cut of doubles or times is told by how an engine spells them.
                cells = CELLS[:-2] if unit and bounding.max_rows else CELLS
                cells = [] if bounding.clip or by else cells
                asked = [Rows(), DistinctUnits(), *PLAIN, *SUMS, *cells]
                assert made.engine.measure(scope, asked) == slow.measure(scope, asked), by
                assert not by or dict(made.engine.discover(scope)) == slow.discover(scope)


def check_file(write, folder, odd, *, broken=True, **asked):
    """`broken`: the writer takes text that is none."""
    rows = rows_with(odd) if broken else told(rows_with(odd))
    write(as_table(rows), folder / "x.parquet")
    made = of_duck(folder / "x.parquet", SCHEMA)
    check_engine(made, rows, **asked)
    made.engine.close()


@pytest.mark.parametrize(("writer", "odd"), [("arrow", 0), ("polars", 0), ("arrow, plain", -1)])
def test_one_odd_cell_changes_its_own_row_only_in_ordinary_files(writer, odd, tmp_path):
    """NaN, which least and largest values leave out, and a text that is all others', or not."""
    filters = [col("word").is_null(), col("x") > 3]
    check_file(WRITERS[writer], tmp_path, odd, filters=filters, groups=[], units=UNITS[:1])


@pytest.mark.long
@pytest.mark.parametrize("odd", ROUNDS)
@pytest.mark.parametrize("writer", WRITERS)
def test_one_odd_cell_changes_its_own_row_only_in_files_of_every_writer(writer, odd, tmp_path):
    check_file(WRITERS[writer], tmp_path, odd, broken=writer.startswith("arrow"))


@pytest.mark.long
@pytest.mark.skipif(find_spec("fastparquet") is None, reason="needs fastparquet")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("odd", ROUNDS)
@pytest.mark.parametrize("writer", FASTPARQUET)
def test_one_odd_cell_changes_its_own_row_only_in_files_of_fastparquet(writer, odd, tmp_path):
    check_file(FASTPARQUET[writer], tmp_path, odd, broken=False)


@pytest.mark.long
@pytest.mark.parametrize("odd", ROUNDS)
@pytest.mark.parametrize("maker", ["arrow", "duckdb", "polars", "postgres"])
def test_one_odd_cell_changes_its_own_row_only_in_tables(maker, odd, tmp_path):
    rows = told(rows_with(odd))
    rows = told(rows, NUL) if maker == "postgres" else rows  # which holds none
    made = MAKERS[maker](rows, SCHEMA, tmp_path)
    check_engine(made, rows)
    made.engine.close()


def check_other_file(maker, odd, folder, **asked):
    """Of a CSV file, an empty text is missing."""
    rows = told(rows_with(odd))
    rows = told(rows, "") if "csv" in maker else rows
    made = MORE_FILES[maker](rows, SCHEMA, folder)
    check_engine(made, rows, **asked)
    made.engine.close()


@pytest.mark.parametrize("maker", MORE_FILES)
def test_one_odd_cell_changes_its_own_row_only_in_other_files(maker, tmp_path):
    filters = [col("word").is_null(), col("x") > 3]
    check_other_file(maker, 0, tmp_path, filters=filters, groups=[], units=UNITS[:1])


@pytest.mark.long
@pytest.mark.parametrize("odd", ROUNDS)
@pytest.mark.parametrize("maker", MORE_FILES)
def test_every_odd_cell_changes_its_own_row_only_in_other_files(maker, odd, tmp_path):
    check_other_file(maker, odd, tmp_path)


@pytest.mark.parametrize("writer", ["arrow", "polars"])
def test_a_nan_in_a_file_does_not_freeze_a_data_set(writer, tmp_path):
    cells = [float(number) for number in range(50)]
    for last in (50.0, nan):
        WRITERS[writer](pa.table({"x": [*cells, last]}), tmp_path / "x.parquet")
        with la.open(
            tmp_path / "x.parquet", unit=la.ROW, budget=la.Budget(epsilon=10**6)
        ) as session:
            query = session.agg(total=la.sum("x", lower=0, upper=100))
            assert round(query.release(10**5).rows()[0]["total"]) == 1225 + (last == 50.0) * 50
