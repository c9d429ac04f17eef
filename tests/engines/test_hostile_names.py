"""Whatever columns are called, the right one is read, or the table is refused when it is opened."""

import csv

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from letalone.engines.core.measures import DistinctUnits, GridSum, Rows, RowScope
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.errors import ParameterError
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn
from letalone.plans.types import Type

QUOTED = ['"', '""', "'", "a'b", 'a"b', "`", "[x]", "E'x'", "$$", "\\", "%s", "{x}"]
WRITTEN = ["a.b", "a;b", "--", "/*", "*/", "$1", "$name", "?", ":x", "x:y", "a::int", "*", "-", "1"]
BLANK = ["a\nb", "a\rb", "a\tb", " a", "a ", "\u200b", "\ufeffx", "\x01", "\x1b[31m", "\u202e"]
ALIKE = ["a", "\uff41", "\u0430", "\u00e9", "e\u0301", "\u00df", "\u03c2", "\u0131", "k\u0327"]
RESERVED = ["select", "from", "null", "true", "order", "lambda", "columns", "count", "struct"]
OURS = [
    "#",
    "##",
    "#unit",
    "#rank",
    "#key0",
    "#rows",
    "#source",
    "#product0",
    "#1",
    "#level0",
    "#sum0",
]
OURS += ["rank", "unit", "one", "source", "replaced", "left_out", "fixed", "file", "t", "data"]
OURS += ["letalone_frame", "letalone_keys", "letalone_loaded", "letalone_sound"]
THEIRS = ["rowid", "file_row_number", "filename", "file_index", "main", "excluded", "current_date"]
LONG = ["x" * 10_000, "x" * 9_999 + "y"]
S = 1 << 20
NAMES = [*QUOTED, *WRITTEN, *BLANK, *ALIKE, *RESERVED, *OURS, *THEIRS, *LONG]
AS_UNIT = ['a"b', "a.b", "a\nb", "#unit", "#rank", "#source", "rank", "select", "rowid", LONG[0]]


def table():
    """Two rows; the column with number n holds n in both, the first one of all tells them apart."""
    columns = {"key": [1, 2]} | {name: [number] * 2 for number, name in enumerate(NAMES)}
    return pa.table(columns)


IN_A_LINE = [name for name in NAMES if not {"\n", "\r"} & set(name)]


def from_csv(folder):
    """The first line holds the names: none of them can have a line break."""
    lines = table().drop_columns([name for name in NAMES if name not in IN_A_LINE])
    rows = lines.to_pylist()
    with (folder / "n.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(rows[0])
        writer.writerows(row.values() for row in rows)
    types = dict.fromkeys(rows[0], Type.INTEGER)
    return open_duck(folder / "n.csv", types=types)


def from_parquet(folder):
    pq.write_table(table(), folder / "n.parquet")
    return open_duck(folder / "n.parquet")


def from_broken_parquet(folder):
    """With text that is no UTF-8, so that the rows are copied."""
    broken = pa.Array.from_buffers(pa.string(), 2, pa.array([b"\xff"] * 2, pa.binary()).buffers())
    pq.write_table(table().append_column("broken", broken), folder / "n.parquet")
    engine = open_duck(folder / "n.parquet")
    scope = RowScope(engine.schema(), col("broken").is_null(), (), (), (), None, Bounding())
    assert engine.measure(scope, [Rows()]) == [[2]]
    return engine


def from_duckdb(folder):
    connection = duckdb.connect(folder / "n.duckdb")
    connection.register("rows", table())
    connection.execute("CREATE TABLE t AS FROM rows")
    connection.close()
    return open_duck(folder / "n.duckdb")


MAKERS = {
    "arrow": lambda _: open_duck(table()),
    "pandas": lambda _: open_duck(table().to_pandas()),
    "parquet": from_parquet,
    "broken parquet": from_broken_parquet,
    "csv": from_csv,
    "duckdb": from_duckdb,
}


@pytest.mark.few("broken parquet", "csv")
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.long  # others of this file stay
def test_the_right_column_is_read_whatever_it_is_called(maker, tmp_path):
    engine = MAKERS[maker](tmp_path)
    schema = engine.schema()
    names = IN_A_LINE if maker == "csv" else NAMES
    read = [GridSum(col(name), 0, len(NAMES), 0) for name in names]
    scope = RowScope(schema, None, (), (), (), None, Bounding())
    assert engine.measure(scope, read) == [[2 * NAMES.index(name)] for name in names]
    for name in [name for name in AS_UNIT if name in names]:
        number = NAMES.index(name)
        group = (GroupColumn(name, col(name), Type.INTEGER),)
        bounded = Bounding(max_rows=1)
        here = RowScope(
            schema.protecting(name), col(name) == number, (), (), group, ((number,),), bounded
        )
        assert engine.measure(here, [Rows(), DistinctUnits(), GridSum(col("key"), 0, 2, 0)])[
            :2
        ] == [
            [S],
            [S],
        ]
        other = RowScope(schema.protecting("key"), col(name) == number, (), (), (), None, bounded)
        assert engine.measure(other, [Rows(), GridSum(col(name), 0, len(NAMES), 0)]) == [
            [2 * S],
            [2 * S * number],
        ]
    engine.close()


REFUSED = {
    "empty": ["", "x"],
    "blank": [" ", "x"],
    "a blank of another kind": ["\u00a0", "x"],
    "twice": ["x", "x"],
    "in capitals": ["straße", "STRAßE"],
    "in capitals, elsewhere": ["É", "é"],
    "the sign of Kelvin": ["\u212a", "k"],
    "cut at a NUL": ["a\0b", "a\0c"],
    "NUL": ["\0", "x"],
}


@pytest.mark.parametrize("maker", ["arrow", "pandas", "parquet", "csv"])
@pytest.mark.parametrize("names", REFUSED.values(), ids=REFUSED)
def test_names_that_cannot_be_told_apart_or_held_are_refused(names, maker, tmp_path):
    cells = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=names)
    words = r"without a name|differ in nothing|NUL character|cannot be read"
    if maker == "parquet":
        pq.write_table(cells, tmp_path / "n.parquet")
        source = tmp_path / "n.parquet"
    elif maker == "csv":
        text = ",".join(names) + "\n1,2\n"
        (tmp_path / "n.csv").write_text(text, "utf-8", newline="")
        source = tmp_path / "n.csv"
    else:
        source = cells
    if maker == "pandas":
        source = pd.DataFrame([[1, 2]], columns=names)
    with pytest.raises(ParameterError, match=words):
        open_duck(source)


def test_a_name_that_is_no_text_is_refused():
    with pytest.raises(ParameterError, match="which is not text"):
        open_duck(pd.DataFrame([[1]], columns=pd.Index(["\ud800"], dtype=object)))


def test_duckdb_holds_no_names_to_be_the_same_that_we_do_not():
    """Its own rule, looked at: two names of one letter each are one only if they are for us."""
    connection = duckdb.connect()
    letters = [chr(code) for code in (*range(0xC0, 0x250), *range(0x370, 0x530), 0x1E9E, 0x212A)]
    for letter in letters:
        for other in {letter.lower(), letter.upper(), letter.casefold()} - {letter}:
            found = connection.execute(f'SELECT * FROM (SELECT 1 AS "{letter}", 2 AS "{other}")')
            names = [column[0] for column in found.description]
            assert names == [letter, other] or letter.lower() == other.lower()
