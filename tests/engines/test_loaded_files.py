"""JSON lines and files of Arrow: a record is read by itself, and no cell decides a column."""

import json

import pyarrow as pa
import pyarrow.feather as feather
import pytest

from engines.hostile import STORED
from letalone.engines.core.measures import GridSum, Rows, RowScope, RowsWith
from letalone.engines.duckdb import csv_lines
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.engines.duckdb.json_lines import guess_json_lines, json_rows
from letalone.errors import ParameterError
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding
from letalone.plans.types import Type

ABOVE, BELOW = b'{"n": 1, "t": "a"}\n', b'{"n": 3, "t": "z"}\n'
NO_RECORDS = {
    "nothing": b"",
    "an open object": b'{"n": 2, "t": "x',
    "an open string": b'{"n": 2, "t": "x}',
    "an open list": b"[[[[[",
    "deep": b"[" * 200_000,
    "a list": b'[{"n": 2}]',
    "a number": b"2",
    "a word": b"null",
    "two objects": b'{"n": 2}{"n": 2}',
    "no UTF-8": b'{"n": 2, "t": "\xff"}',
    "a zero byte": b"\0",
    "too long": b'{"t": "' + b"x" * csv_lines.MAX_LINE_BYTES + b'"}',
    "carriage returns": b"\r\r",
}
RECORDS = {
    b'{"n": 2}': ("2", None),
    b'{"t": "b", "n": null, "more": [{"n": 7}]}': (None, "b"),
    b'\xef\xbb\xbf{"n": 2, "t": ""}\r': ("2", ""),
    b'{"n": 1, "n": 2, "t": "\\u00e9"}': ("2", "é"),
    b'{"n": NaN, "t": "\\ud800"}': ("NaN", None),
    b'{"n": ' + b"9" * 5000 + b', "t": true}': ("9" * 5000, "true"),
    b'{"n": 1e999, "t": {"n": 3}}': ("1e999", None),
    b'{"n": 2.50, "t": [1]}': ("2.50", None),
    b'{"N": 2, "t": "x\\ny"}': (None, "x\ny"),
    b'  {"n" : "2"}\t': ("2", None),
}


def rows_of(path):
    return [tuple(r.values()) for batch in json_rows([path], ["n", "t"]) for r in batch.to_pylist()]


@pytest.mark.parametrize("name", NO_RECORDS)
def test_a_line_that_is_no_object_is_left_out_alone(name, tmp_path):
    path = tmp_path / "x.ndjson"
    for end in (b"\n", b"\r\n"):
        path.write_bytes(ABOVE + NO_RECORDS[name] + end + BELOW)
        assert rows_of(path) == [("1", "a"), ("3", "z")]


def test_each_line_is_read_by_itself_at_all_sizes_of_blocks(tmp_path, monkeypatch):
    path = tmp_path / "x.jsonl"
    lines = [ABOVE, *(line + b"\n" for line in RECORDS), b"{\n", BELOW.rstrip()]
    path.write_bytes(b"".join(lines))
    for size in (5, 64, 1 << 20):
        monkeypatch.setattr(csv_lines, "BLOCK_BYTES", size)
        assert rows_of(path) == [("1", "a"), *RECORDS.values(), ("3", "z")]


def measured(path, **types):
    engine = open_duck(path, types=types)
    scope = RowScope(engine.schema(), None, (), (), (), None, Bounding())
    found = engine.measure(scope, [Rows(), RowsWith(col("n")), GridSum(col("n"), 0, 100, 0)])
    engine.close()
    return found


def test_a_cell_of_another_type_is_missing_and_its_row_stays(tmp_path):
    path = tmp_path / "x.ndjson"
    for cell in ('"x"', "null", "[]", "{}", '"1e3000"', "9" * 400, "true"):
        path.write_text(f'{{"n": 1}}\n{{"n": {cell}}}\n{{"n": 3}}\n')
        assert measured(path, n=Type.INTEGER) == [[3], [2], [4]], cell


def test_columns_are_those_that_are_declared_whatever_the_lines_hold(tmp_path):
    path = tmp_path / "x.ndjson"
    path.write_text('{"n": 1, "secret name": 2}\n')
    with pytest.raises(ParameterError, match="declare them") as refused:
        open_duck(path)
    assert "secret" not in str(refused.value)
    path.write_text("")
    with pytest.raises(ParameterError) as of_nothing:
        open_duck(path)
    assert str(of_nothing.value) == str(refused.value)
    assert measured(path, n=Type.INTEGER) == [[0], [0], [0]]


def test_the_owner_is_offered_the_columns_and_told_of_lines_that_are_left_out(tmp_path):
    path = tmp_path / "x.ndjson"
    rows = [{"id": f"p{n}", "n": n, "x": n / 2, "day": "2024-01-31"} for n in range(9)]
    path.write_text("\n".join([*map(json.dumps, rows), '{"late": true}', "oops", ""]))
    guess = guess_json_lines(path)
    kinds = {column.name: column.type for column in guess.schema.columns}
    assert kinds == {
        "id": Type.TEXT,
        "n": Type.INTEGER,
        "x": Type.NUMBER,
        "day": Type.DATE,
        "late": Type.BOOLEAN,
    }
    assert (guess.odd.rows, guess.odd.dropped, guess.from_cells) == (10, 1, True)


@pytest.mark.long
@pytest.mark.parametrize("name", STORED)
def test_no_cell_of_a_file_of_arrow_stops_a_statement(name, tmp_path):
    """The same column in memory is the judge: how many cells are there."""
    column = STORED[name]
    table = pa.table({"n": pa.array(range(len(column))), "c": column})
    path = tmp_path / "x.arrow"
    with pa.OSFile(str(path), "w") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    found = []
    for source in (path, table):
        engine = open_duck(source)
        scope = RowScope(engine.schema(), None, (), (), (), None, Bounding())
        found.append((engine.schema().columns, engine.measure(scope, [Rows(), RowsWith(col("c"))])))
        engine.close()
    assert found[0] == found[1]


def test_files_and_streams_of_arrow_are_read_and_what_is_none_is_refused(tmp_path):
    table = pa.table({"n": [1, 2, 5]})
    place = str(tmp_path / "x.arrow")
    with pa.OSFile(place, "w") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    feather.write_feather(table, tmp_path / "x.feather", compression="lz4")
    for name in ("x.arrow", "x.feather"):
        assert measured(tmp_path / name) == [[3], [3], [8]]
    (tmp_path / "none.feather").write_bytes(b"n\n1\n")
    with pytest.raises(ParameterError, match="damaged, or no file of its kind"):
        open_duck(tmp_path / "none.feather")
    (tmp_path / "none.feather").unlink()
    feather.write_feather(pa.table({"n": ["1"]}), tmp_path / "y.feather")
    with pytest.raises(ParameterError, match="different columns"):
        open_duck(tmp_path / "*.feather")
