"""No cell of a file or a frame can make a statement fail: it is read, or missing in its row."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import letalone as la
from engines.hostile import BROKEN, FRAMED, STORED, TEXTS, raw, texts
from letalone.engines.core import syntax
from letalone.engines.core.measures import DistinctUnits, GridSum, Rows, RowScope, RowsWith
from letalone.engines.core.stored_types import READABLE
from letalone.engines.duckdb import duck_engine as duck
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.engines.duckdb.duck_reading import read
from letalone.engines.frames.arrow_cells import make_readable
from letalone.engines.frames.to_arrow import as_arrow
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type

WHOLE = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
WHOLE += [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
TIMED = [pa.timestamp(unit, zone) for unit in ("ms", "us", "ns") for zone in (None, "UTC")]
DECIMALS = [pa.decimal32(5, 2), pa.decimal64(12, 2), pa.decimal128(38, 2), pa.decimal256(60, 2)]
S = 1 << 20


FINE = {  # one of each type that a Parquet file can store; the last row is missing
    "text": pa.array(["A", "ä", None]),
    "categories": pa.array(["A", "ä", None]).dictionary_encode(),
    "uuid": pa.array([b"0" * 16, b"\xff" * 16, None], pa.uuid()),
    **{str(kind): pa.array([1, 2, None], kind) for kind in WHOLE},
    **{str(kind): pa.array([1.5, 2.25, None], kind) for kind in (pa.float32(), pa.float64())},
    "half": pa.array(np.array([1.5, 2.25], np.float16)).take([0, 1, None]),
    "truth": pa.array([True, False, None]),
    "nothing": pa.nulls(3),
    **{str(kind): pa.array([1, 2, None], pa.int64()).cast(kind) for kind in TIMED},
    "day": pa.array([1, 2, None], pa.date32()),
    **{str(kind): pa.array([Decimal(1), Decimal(2), None], kind) for kind in DECIMALS},
    "clock": pa.array([1, 2, None], pa.time64("us")),
    "bytes": pa.array([b"A", b"\xff", None]),
    "list": pa.array([["A"], [], None]),
    "struct": pa.array([{"x": 1}, {"x": None}, None]),
    "map": pa.array([[("a", 1)], [], None], pa.map_(pa.string(), pa.int64())),
    "json": pa.array(["1", "{}", None], pa.json_()),
}
HUGE = la.Budget(epsilon=10**6, delta=0.5)


def scope(schema, **options):
    given = {"where": None, "derived": (), "joins": (), "groups": (), "keys": None}
    return RowScope(schema=schema, **{**given, "bounding": Bounding(), **options})


def asked_everything(engine, name):
    """Every way in which a column can be asked for, in every type that it can be declared.

    Returns by type how many of its cells are missing or there.
    """
    found = {}
    own = engine.schema().column(name).type
    kinds = [own, *(kind for kind in Type if own in READABLE[kind] and kind is not own)]
    for kind in kinds:
        schema = Schema("t", (Column(name, kind),))
        missing = engine.measure(scope(schema, where=col(name).is_null()), [Rows()])
        there = engine.measure(scope(schema), [RowsWith(col(name))])
        found[kind] = missing[0][0] + there[0][0]
        if kind.is_groupable:
            engine.discover(scope(schema, groups=(GroupColumn("g", col(name), kind),)))
        if kind is not Type.OTHER:
            one = scope(schema.protecting(name), bounding=Bounding(max_rows=1))
            ((rows,), (units,)) = engine.measure(one, [Rows(), DistinctUnits()])
            assert 0 <= units - rows < 100, (name, kind)  # weights are rounded down
    return found


@pytest.mark.long  # its neighbours have one cell each
def test_no_cell_of_a_frame_stops_a_statement():
    engine = open_duck(pa.table(FRAMED))
    for name in FRAMED:
        cells = asked_everything(engine, name)
        assert cells == dict.fromkeys(cells, 6), name


@pytest.mark.few("True")
@pytest.mark.parametrize("one_by_one", [False, True])
def test_no_cell_of_a_parquet_file_stops_a_statement(one_by_one, tmp_path):
    """Together, and a few by themselves: then nothing else has made the engine copy the rows."""
    alone = ["text", "ms", "us", "decimal", "struct", "clock", "json"]
    for names in [[name] for name in alone] if one_by_one else [list(STORED)]:
        pq.write_table(pa.table({name: STORED[name] for name in names}), tmp_path / "x.parquet")
        engine = open_duck(tmp_path / "x.parquet")
        for name in names:
            cells = asked_everything(engine, name)
            assert cells == dict.fromkeys(cells, 6), name
        engine.close()


def written(folder, *, parts=3, copies=500):
    """Files with several row groups: broken text here and there, whole numbers beside it."""
    for part in range(parts):
        cells = [cell for cell in BROKEN for _ in range(copies)]
        size = len(cells)
        table = pa.table(
            {
                "c": texts(cells=cells),
                "i": range(part * size, (part + 1) * size),
                "when": raw(pa.timestamp("ms"), [5, 2**63 - 1] * (size // 2)),
            }
        )
        pq.write_table(table, folder / f"{part}.parquet", row_group_size=700)
    return str(folder / "*.parquet")


def test_rows_stay_beside_each_other_in_a_file_with_broken_cells(tmp_path):
    engine = open_duck(written(tmp_path))
    schema = engine.schema()
    for text in ("A", "A\x00B"):
        found = engine.measure(scope(schema, where=col("c") == text), [Rows()])
        assert found == [[1500]]
    first = (col("i") >= 3000) & (col("i") < 3500) & (col("c") == "A")
    assert engine.measure(scope(schema, where=first), [Rows()]) == [[500]]
    assert engine.measure(scope(schema), [RowsWith(col("c")), RowsWith(col("when"))]) == [
        [3000],
        [4500],
    ]
    odd = col("i").isin([1, 7, 701, 3001, 8999])
    late = col("when").is_null()
    assert engine.measure(scope(schema, where=odd & late), [Rows()]) == [[5]]
    assert engine.measure(scope(schema, where=odd & ~late), [Rows()]) == [[0]]
    unit = scope(schema.protecting("c"), bounding=Bounding(max_rows=7))
    ((rows,), (units,)) = engine.measure(unit, [Rows(), DistinctUnits()])
    weight = S * 7 // 1500
    assert (rows, units) == (3000 * weight, 2 * S), "units that are no text are none"
    engine.close()


def test_counts_that_were_made_before_fit_the_copy(tmp_path):
    """The rows are copied when a broken column is first asked for; the counts stay."""
    engine = open_duck(written(tmp_path))
    schema = Schema("t", (Column("c", Type.TEXT), Column("i", Type.INTEGER)), unit="i")
    before = scope(schema, bounding=Bounding(max_rows=1), where=col("i") < 4000)
    assert engine.measure(before, [Rows()]) == [[4000 * S]]
    after = scope(schema, bounding=Bounding(max_rows=1), where=col("c") == "A")
    assert engine.measure(after, [Rows()]) == [[1500 * S]]
    assert engine.measure(before, [Rows()]) == [[4000 * S]]
    engine.close()


def files_beside_text(folder, last, columns):
    """A Parquet file of columns of three rows, beside a text of which the last cell is given."""
    path = folder / "x.parquet"
    broken = {"broken": texts(cells=[b"a", b"b", last])}
    pq.write_table(pa.table(columns | broken), path, row_group_size=2)
    return open_duck(path)


def read_in_every_type(engine, name):
    """The cells of a column as each type that it can be declared to be."""
    engine._made_sound([syntax.column("broken")])
    stored, source = engine._relation.columns[name], syntax.column(name, "s")
    found = {}
    for kind in Type:
        if kind is stored.type or stored.type in READABLE[kind]:
            sql = read(stored, source, Column(name, kind)).sql
            shown = syntax.is_present(sql) if kind is Type.OTHER else sql
            rows = syntax.select([shown], syntax.rename(engine._relation.sql, "s"))
            found[kind] = engine._duck.run(rows)
    return found


def test_one_broken_text_changes_no_cell_of_the_columns_beside_it(tmp_path):
    """Files are copied because of it. For every type that a Parquet file can store, a cell of the
    copy is what a scan of the file reads."""
    direct = files_beside_text(tmp_path, b"c", FINE)
    before = {name: read_in_every_type(direct, name) for name in FINE}
    assert not direct._loaded
    direct.close()
    copied = files_beside_text(tmp_path, b"\xff", FINE)
    assert {name: read_in_every_type(copied, name) for name in FINE} == before
    assert copied._loaded
    copied.close()


def test_units_and_counts_are_the_same_before_and_after_the_copy(tmp_path):
    """Each unit has one row, so bounding loses none; the last row has no unit."""
    beside = (col("broken") == "a") | col("broken").is_null() | (col("broken") == "b")
    for last in (b"b", b"\xff"):
        for name in ("text", "uuid", "int32", "timestamp[us]", "day"):
            engine = files_beside_text(tmp_path, last, {name: FINE[name]})
            one = scope(engine.schema().protecting(name), bounding=Bounding(max_rows=1))
            first = engine.measure(one, [Rows(), DistinctUnits()])
            with_text = engine.measure(replace(one, where=beside), [Rows(), DistinctUnits()])
            assert engine._loaded == (last == b"\xff")
            again = engine.measure(one, [Rows(), DistinctUnits()])
            assert first == with_text == again == [[2 * S], [2 * S]], name
            engine.close()


def test_decimals_of_every_width_with_too_many_digits_are_missing_alone(tmp_path):
    """Parquet files hold them as whole numbers or as bytes."""
    widths = (pa.decimal32(5, 2), pa.decimal64(12, 2), pa.decimal128(30, 2), pa.decimal256(60, 2))
    columns = {
        f"{kind.bit_width}{place}": raw(kind, cells)
        for kind in widths
        for place, cells in enumerate(
            [[150, 275, 10**kind.precision], [1 - 2 ** (kind.bit_width - 1), 150, 275]]
        )
    }
    for kind in widths[:3]:
        cells = columns[f"{kind.bit_width}1"]
        hidden = pa.Array.from_buffers(kind, 3, [pa.py_buffer(b"\x05"), cells.buffers()[1]])
        for part in (hidden, hidden.slice(1)):
            assert make_readable(part).to_pylist() == [None, None, Decimal("2.75")][-len(part) :]
            make_readable(part).validate(full=True)
    sources = [pa.table(columns)]
    for number, whole in enumerate((False, True)):
        sources.append(tmp_path / f"{number}.parquet")
        pq.write_table(sources[0], sources[-1], store_decimal_as_integer=whole)
    for source in sources:
        engine = open_duck(source)
        for name in columns:
            schema = Schema("t", (Column(name, Type.NUMBER),))
            quarters = engine.measure(scope(schema), [GridSum(col(name), 0, 40, 2)])
            wide = name == "2560"  # read as a floating-point number, and clamped
            assert quarters == [[6 + 11 + 40 * wide]], (source, name)
        engine.close()


def test_a_broken_cell_is_read_alike_whatever_stands_in_other_rows(tmp_path):
    """DuckDB reads b'\\xff' as '?' if told to, and then looks for '?' only in row groups whose
    smallest text is not above it: one person's row would decide on another's."""
    for other in (b"!", b"a"):
        cells = texts(cells=[b"a", b"\xff", other, b"z"])
        pq.write_table(pa.table({"c": cells}), tmp_path / "x.parquet")
        engine = open_duck(tmp_path / "x.parquet")
        for text, wanted in (("?", 0), ("??", 0), ("", 0), ("z", 1)):
            found = engine.measure(scope(engine.schema(), where=col("c") == text), [Rows()])
            assert found == [[wanted]], (other, text)
        engine.close()


def test_texts_of_many_rows_have_offsets_of_64_bits():
    """With 32 bits, rows with more than 2 GiB of text in one batch would stop a statement."""
    few = pa.array(["a"])
    runs = pa.RunEndEncodedArray.from_arrays([3], few)
    table = pa.table({"d": few.dictionary_encode().take([0, 0, 0]), "r": runs, "x": range(3)})
    assert as_arrow(table).schema.types[:2] == [pa.large_string()] * 2
    engine = open_duck(table)
    read = engine.counted(["d", "x"])
    assert read.schema.types[:1] == [pa.large_string()]
    engine.close()


@pytest.mark.long
def test_two_gibibytes_of_text_in_one_batch_do_not_freeze_a_data_set(tmp_path):
    places = pa.array([0] * 24 + [1] * 5, pa.int32())
    who = pa.DictionaryArray.from_arrays(places, pa.array(["a" * 10**8, "b"]))
    pq.write_table(pa.table({"who": who}), tmp_path / "x.parquet")
    with la.open(tmp_path / "x.parquet", unit="who", budget=HUGE) as session:
        query = session.agg(n=la.count()).bound(max_rows=3)
        assert query.release(1000).rows()[0]["n"] == 6


def test_a_file_without_broken_cells_is_not_copied(tmp_path, monkeypatch):
    def never(*_):
        raise AssertionError

    monkeypatch.setattr(duck, "copy_readable", never)
    table = pa.table({"c": ["a", "ä", None], "when": pa.array([1, 2, 3], pa.timestamp("ms"))})
    pq.write_table(table, tmp_path / "x.parquet")
    engine = open_duck(tmp_path / "x.parquet")
    measures = [RowsWith(col("c")), RowsWith(col("when"))]
    assert engine.measure(scope(engine.schema()), measures) == [[2], [3]]
    assert engine._scanned == {"when"}
    engine.close()


def test_a_frame_without_broken_cells_is_not_copied():
    table = pa.table({"c": ["a", "ä"], "x": [1, 2], "when": pa.array([1, 2], pa.timestamp("us"))})
    assert as_arrow(table) is table


def test_broken_text_is_missing_and_the_rest_is_as_it_was():
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        found = as_arrow(pa.table({"c": texts(kind)}))
        assert found.schema.field("c").type == kind
        assert found.column("c").to_pylist() == TEXTS
    times = as_arrow(pa.table({"c": raw(pa.timestamp("s", "UTC"), [0, 2**62, -5])}))
    assert [cell.value for cell in times.column("c")] == [0, None, -5_000_000]


@pytest.mark.parametrize("source", ["parquet", "frame"])
def test_one_broken_cell_does_not_freeze_a_data_set(source, tmp_path):
    table = pa.table(
        {"who": range(6), "c": texts(), "when": raw(pa.timestamp("ms"), [2**63 - 1] * 6)}
    )
    pq.write_table(table, tmp_path / "x.parquet")
    opened = tmp_path / "x.parquet" if source == "parquet" else table
    with la.open(opened, unit="who", budget=HUGE) as session:
        query = session.group_by("c", keys=["A", "??"]).agg(n=la.count()).bound(max_rows=1)
        assert [row["n"] for row in query.release(1000).rows()] == [1, 0]
        found = session.group_by("c").agg(n=la.count()).bound(max_rows=1).release(900, delta=0.1)
        assert {row["c"] for row in found.rows()} <= {"A", "A\x00B", None}
        late = session.where(la.col("when").is_null()).agg(n=la.count()).bound(max_rows=1)
        assert late.release(1000).rows()[0]["n"] == 6


def test_a_sum_that_stops_at_broken_text_is_asked_again_with_it_missing(tmp_path, monkeypatch):
    """The text is not looked at before, and what is the matter with another failure is not."""
    looked: list[str] = []
    reads = duck.reads_to_the_end
    monkeypatch.setattr(duck, "reads_to_the_end", lambda *a: looked.append(a[2].name) or reads(*a))
    whole = files_beside_text(tmp_path, b"c", {"x": [1, 2, 3]})
    assert whole.measure(scope(whole.schema()), [RowsWith(col("broken"))]) == [[3]]
    assert looked == []
    whole.close()
    broken = files_beside_text(tmp_path, b"\xff", {"x": [1, 2, 3]})
    for _ in range(3):
        assert broken.measure(scope(broken.schema()), [RowsWith(col("broken"))]) == [[2]]
    assert looked == ["broken"]
    broken.close()
