"""What an answer says about rows whose making is not seen, and what is refused."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import letalone as la
from letalone.engines.core.provenance import IN_MEMORY, read_rows, vouched_for
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.errors import ParameterError
from letalone.session.opening import VOUCHES_ACT

CELLS = {"patient": ["a", "b", "c"], "ward": ["x", "y", "y"], "x": [1.0, 2.0, 3.0]}
SAID = vouched_for(IN_MEMORY)


def opened(source, **more):
    return la.open(source, unit="patient", budget=10, **more)


def test_the_owners_word_is_one_word():
    assert read_rows("as they are")
    assert not read_rows(None)
    with pytest.raises(ParameterError, match="'as they are'"):
        read_rows(True)


def test_every_answer_about_a_frame_in_memory_says_that_it_is_taken_as_it_is(tmp_path):
    frames = [pd.DataFrame(CELLS), pl.DataFrame(CELLS), pl.DataFrame(CELLS).lazy(), pa.table(CELLS)]
    for frame in frames:
        with opened(frame) as session:
            assert session._table.engine.taken_on_trust() == (SAID,)
    with opened(frames[0]) as session:
        release = session.bound(max_rows=1).agg(n=la.count()).release(1)
    assert SAID in release.asked.notes
    words = " ".join(str(release.explain()).split())
    assert "cannot see how the rows were made (a frame in memory)" in words
    pl.DataFrame(CELLS).write_parquet(tmp_path / "visits.parquet")
    for source in (tmp_path / "visits.parquet", pl.scan_parquet(tmp_path / "visits.parquet")):
        with opened(source) as session:
            assert session._table.engine.taken_on_trust() == ()


def test_a_lazy_frame_across_people_is_refused_before_anything_is_written(tmp_path):
    frame = pl.DataFrame(CELLS).lazy()
    ledger = tmp_path / "budget.db"
    for made in (
        frame.with_columns(pl.col("x").mean().over("ward")),
        frame.sort("x").head(2),
        frame.unique("ward"),
    ):
        with pytest.raises(ParameterError, match="made across people"):
            opened(made, ledger=ledger)
    assert not ledger.exists()
    with opened(frame.with_columns(pl.col("x").mean().over("patient")), ledger=ledger):
        pass


def test_the_owners_word_is_on_every_answer_and_in_the_ledger():
    ledger = la.Ledger.in_memory()
    frame = pl.DataFrame(CELLS).lazy().map_batches(lambda rows: rows)
    with pytest.raises(ParameterError, match=r"cannot be seen.*rows='as they are'"):
        opened(frame, ledger=ledger)
    with opened(frame, ledger=ledger, rows="as they are") as session:
        notes = session.agg(n=la.count_distinct()).release(1).asked.notes
    assert any("(a Python function)" in note for note in notes)
    (act,) = [entry for entry in ledger.entries() if entry.body.get("what") == VOUCHES_ACT]
    assert list(notes[-len(act.body["body"]["of"]) :]) == act.body["body"]["of"]


def test_whole_numbers_of_128_bits_are_read_with_64_or_missing():
    wide = pl.DataFrame({"x": pl.Series([1, 2**70, None], dtype=pl.Int128)})
    engine = open_duck(wide)
    assert engine._frame.column("x").to_pylist() == [1, None, None]
    nested = pl.DataFrame({"x": pl.Series([[1]], dtype=pl.List(pl.Int128))})
    with pytest.raises(ParameterError, match=r"'x' is List\(Int128\), a type that Arrow"):
        open_duck(nested)
