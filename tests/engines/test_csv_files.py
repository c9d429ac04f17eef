"""CSV: nothing is guessed from the data, and no line makes reading fail."""

import pytest

from letalone.engines.core.measures import GridSum, Rows, RowScope, RowsWith
from letalone.engines.duckdb.csv_files import csv_dialect, guess_csv
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.errors import ParameterError
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding
from letalone.plans.types import Type

BROKEN = {
    "plain": b"a,b\n1,x\n2,y\n",
    "too few cells": b"a,b\n1\n2,y\n",
    "too many cells": b"a,b\n1,x,zz,5\n2,y\n",
    "a line break in quotes": b'a,b\n1,"x\ny"\n2,y\n',
    "three quotes": b'a,b\n1,"""\n2,y\n',
    "a quote that never ends, above": b'a,b\n1,"x\n2,y\n',
    "two carriage returns": b"a,b\r\r\n1,x\r\r\n2,y\r\n",
    "a carriage return in a cell": b"a,b\n1,x\ry\n2,y\n",
    "a quote inside": b'a,b\n1,x"y\n2,"y"z\n',
    "a quote that never ends": b'a,b\n1,x\n2,"y\n',
    "windows": b"a,b\r\n1,x\r\n2,y\r\n",
    "a byte order mark": b"\xef\xbb\xbfa,b\n1,x\n2,y\n",
    "a zero byte": b"a,b\n1,x\x00y\n2,y\n",
    "blank lines": b"a,b\n\n1,x\n\n2,y\n\n",
    "a long line": b"a,b\n1," + b"x" * 5_000_000 + b"\n2,y\n",
    "bad cells": b"a,b\n1,x\noops,y\n2,z\n1e400,u\n99999999999999999999,v\n",
    "semicolons": b"a;b\n1;x\n2;y\n",
    "tabs": b"a\tb\n1\tx\n2\ty\n",
    "no UTF-8 in one line": b"a,b\n1,x\n2,y\n3,\xff\xfe\n",
    "only a header": b"a,b\n",
    "no line break at the end": b"a,b\n1,x\n2,y",
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.long  # others of this file stay
def test_every_file_with_a_header_is_read_and_its_good_numbers_add_up(name, tmp_path):
    path = tmp_path / "file.csv"
    path.write_bytes(BROKEN[name])
    engine = open_duck(path, types={"a": Type.INTEGER})
    scope = RowScope(engine.schema(), None, (), (), (), None, Bounding())
    numbers, total = engine.measure(scope, [RowsWith(col("a")), GridSum(col("a"), 0, 100, 0)])
    assert (numbers, total) == (([0], [0]) if name == "only a header" else ([2], [3]))
    engine.close()


def test_a_bad_cell_is_missing_and_its_row_stays(tmp_path):
    path = tmp_path / "file.csv"
    path.write_bytes(BROKEN["bad cells"])
    engine = open_duck(path, types={"a": Type.INTEGER})
    scope = RowScope(engine.schema(), None, (), (), (), None, Bounding())
    assert engine.measure(scope, [Rows(), RowsWith(col("b"))]) == [[5], [5]]
    engine.close()


def test_every_column_is_text_unless_declared(tmp_path):
    (tmp_path / "file.csv").write_text("a,b\n1,2020-01-01\n")
    engine = open_duck(tmp_path / "file.csv")
    assert [column.type for column in engine.schema().columns] == [Type.TEXT, Type.TEXT]
    engine.close()


def test_the_owner_is_offered_types(tmp_path):
    (tmp_path / "file.csv").write_text("n;x;day;t;flag\n1;0.5;2020-01-01;a;true\n2;;;;false\n")
    found = guess_csv(tmp_path / "file.csv").schema
    kinds = [Type.INTEGER, Type.NUMBER, Type.DATE, Type.TEXT, Type.BOOLEAN]
    assert [column.type for column in found.columns] == kinds
    assert found.name == "file"


def test_what_cannot_be_guessed_is_offered_as_text(tmp_path):
    (tmp_path / "file.csv").write_bytes(b"a,b\n1,\xff\n")
    assert {column.type for column in guess_csv(tmp_path / "file.csv").schema.columns} <= set(Type)


@pytest.mark.parametrize("written", ["13/02/2024", "02/13/2024", "13.02.2024", "13-02-24"])
def test_a_date_that_is_not_written_year_first_is_guessed_to_be_text(tmp_path, written):
    path = tmp_path / "a.csv"
    path.write_text("day,seen,n\n" + f"{written},2024-02-13,1\n" * 20)
    day, seen, number = (column.type for column in guess_csv(path).schema.columns)
    assert (day, number) == (Type.TEXT, Type.INTEGER)
    assert seen in (Type.DATE, Type.TIMESTAMP)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "has no columns"),
        (b"\n1,2\n", "has no columns"),
        (b"a,,b\n1,2,3\n", "a column without a name"),
        (b"a,A\n1,2\n", "differ in nothing but the case"),
        (b"a,a\n1,2\n", "differ in nothing but the case"),
        (b"\xff\xfe,b\n1,2\n", "is not UTF-8"),
        (b'a,"b\nc"\n1,2\n', "opens a quote.*letalone convert file.csv file.parquet"),
        (b"a,b\r1,2\r3,4\r", "has a carriage return in it"),
        (b"a," + b"b" * (1 << 20), "longer than 1 MiB"),
    ],
)
def test_a_first_line_that_is_no_header_is_refused(content, words, tmp_path):
    (tmp_path / "file.csv").write_bytes(content)
    with pytest.raises(ParameterError, match=words):
        csv_dialect(tmp_path / "file.csv")
    with pytest.raises(ParameterError, match=words):
        open_duck(tmp_path / "file.csv")


def test_odd_names_work(tmp_path):
    (tmp_path / "file.csv").write_text('"a,b",it\'s,"q""q",#rank,ä ö\n1,2,3,4,5\n')
    engine = open_duck(tmp_path / "file.csv")
    names = ["a,b", "it's", 'q"q', "#rank", "ä ö"]
    assert [column.name for column in engine.schema().columns] == names
    for name in names:
        scope = RowScope(engine.schema(), ~col(name).is_null(), (), (), (), None, Bounding())
        assert engine.measure(scope, [Rows()]) == [[scope.lattice]]
    scope = RowScope(
        engine.schema().protecting("it's"), None, (), (), (), None, Bounding(max_rows=1)
    )
    assert engine.measure(scope, [RowsWith(col("#rank"))]) == [[scope.lattice]]
    engine.close()


def test_a_dropped_line_is_dropped_from_every_statement(tmp_path):
    path = tmp_path / "file.csv"
    path.write_bytes(b"unit,x\n" + b"u,1\n" * 3 + b"v,\xff\n" + b"w,1\n" * 3)
    engine = open_duck(path)
    schema = engine.schema().protecting("unit")
    scope = RowScope(schema, None, (), (), (), None, Bounding(max_rows=2))
    numbers = engine.measure(scope, [Rows(), RowsWith(col("unit")), RowsWith(col("x"))])
    assert [[round(n / scope.lattice, 4) for n in each] for each in numbers] == [[4], [4], [4]]
    engine.close()


def test_a_cell_that_cannot_be_cast_does_not_take_its_row_along(tmp_path):
    path = tmp_path / "file.csv"
    path.write_text("flag\ntrue\nmaybe\nfalse\n")
    engine = open_duck(path, types={"flag": Type.BOOLEAN})
    for where in (None, col("flag").is_null() | col("flag") | ~col("flag")):
        scope = RowScope(engine.schema(), where, (), (), (), None, Bounding())
        assert engine.measure(scope, [Rows(), RowsWith(col("flag"))]) == [[3], [2]]
    engine.close()


@pytest.mark.parametrize(
    ("cells", "lost", "left"),
    [(b"1,gr\xfcn\n", "1 row", 2), (b"\xfc,\xfc\r\n1,2\r\n\xff,1\r\n", "2 rows", 3)],
)
def test_the_owner_is_told_how_many_rows_are_no_text_and_a_question_is_not(
    cells, lost, left, tmp_path
):
    path = tmp_path / "file.csv"
    path.write_bytes(b"a,b\n1,x\n" + cells + b"3,y\n")
    engine = open_duck(path)
    with pytest.raises(ParameterError, match=f"^{lost} of file.csv could not be read.*UTF-8"):
        engine.counted(["a"])
    scope = RowScope(engine.schema(), None, (), (), (), None, Bounding())
    assert engine.measure(scope, [Rows()]) == [[left]]
    engine.close()
