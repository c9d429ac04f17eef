"""What an engine raises tells nothing of what it read: not the text, not the cause, not the log."""

import logging
import traceback
from signal import SIGINT, default_int_handler, getsignal, raise_signal, signal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from letalone.engines.core.failure import EngineFailed, hide_engine_errors
from letalone.engines.core.measures import CellCounts, DistinctUnits, GridSum, Rows, RowScope
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.errors import ParameterError, UnsupportedQuery
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn
from letalone.plans.types import Type

SECRET = "S3CR3T"
WARD = GroupColumn("ward", col("ward"), Type.TEXT)


def everything_said(error):
    """The error with all that hangs on it: causes, contexts, notes, the values in its frames."""
    said = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    return said + repr(error.__cause__) + repr(error.__context__) + repr(error.args)


@pytest.fixture
def engine(tmp_path):
    table = pa.table({"patient": [SECRET, "b"], "ward": [SECRET, "A"], "x": [1.0, 2.0]})
    pq.write_table(table, tmp_path / "t.parquet")
    engine = open_duck(tmp_path / "t.parquet")
    yield engine
    engine.close()


def scope(engine, bounding, **parts):
    schema = engine.schema().protecting("patient")
    asked = {"groups": (WARD,), "keys": (("A",),)} | parts
    return RowScope(schema, None, (), (), asked["groups"], asked["keys"], bounding)


def test_a_statement_that_fails_says_nothing_of_the_data(engine, caplog, capfd):
    """A cast that fails prints the value that it failed on: here the statement is made to."""
    caplog.set_level(logging.DEBUG)
    failing = f"SELECT CAST(ward AS INTEGER) FROM '{engine._files.paths[0]}'"
    run = engine._duck.connection.execute
    with pytest.raises(Exception, match=SECRET):
        run(failing).fetchall()
    engine._duck.run = lambda _: run(failing).fetchall()
    with pytest.raises(EngineFailed) as caught:
        engine.measure(scope(engine, Bounding(max_rows=1)), [Rows()])
    del engine._duck.run
    assert SECRET not in everything_said(caught.value)
    assert caught.value.__context__ is None
    assert SECRET not in caplog.text
    assert SECRET not in "".join(capfd.readouterr())


def test_counts_that_fail_say_nothing_of_the_data(engine, monkeypatch):
    def fail(*_, **__):
        raise ValueError(SECRET)

    monkeypatch.setattr("letalone.engines.duckdb.duck_engine.count_rows", fail)
    with pytest.raises(EngineFailed) as caught:
        engine.prepare(scope(engine, Bounding(max_rows=1)))
    assert SECRET not in everything_said(caught.value)


def test_every_refusal_is_of_the_question_and_not_of_the_data(engine):
    refused = [
        (scope(engine, Bounding(max_groups=1, clip=True)), [CellCounts(col("x"), 0, 1, 2)]),
        (scope(engine, Bounding(max_rows=1), keys=None), [Rows()]),
        (scope(engine, Bounding(max_rows=1), keys=((7,),)), [Rows()]),
    ]
    for asked, measures in refused:
        with pytest.raises((ParameterError, UnsupportedQuery)) as caught:
            engine.measure(asked, measures)
        assert SECRET not in everything_said(caught.value)


def test_nothing_is_logged_or_printed_on_the_way(engine, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    for bounding in (
        Bounding(max_rows=1),
        Bounding(max_groups=1),
        Bounding(max_groups=1, clip=True),
    ):
        engine.measure(
            scope(engine, bounding), [Rows(), DistinctUnits(), GridSum(col("x"), 0, 9, 0)]
        )
        assert SECRET not in engine.sql(scope(engine, bounding), [Rows()])
    assert SECRET not in caplog.text + "".join(capfd.readouterr())
    assert SECRET not in repr(engine) + repr(engine.schema())


def test_a_closed_engine_fails_like_any_other(engine):
    engine.close()
    with pytest.raises(EngineFailed):
        engine.measure(scope(engine, Bounding()), [Rows()])


def test_an_error_that_a_library_makes_of_ctrl_c_is_an_interruption():
    """DuckDB and Arrow do, each in words of its own."""

    def wrapped():
        try:
            raise_signal(SIGINT)
        except KeyboardInterrupt:
            raise RuntimeError("reading the schema failed") from None

    started_with = signal(SIGINT, default_int_handler)  # a run in the background ignores Ctrl-C
    try:
        with pytest.raises(KeyboardInterrupt):
            hide_engine_errors(wrapped)
        assert getsignal(SIGINT) is default_int_handler
    finally:
        signal(SIGINT, started_with)
    with pytest.raises(EngineFailed):
        hide_engine_errors(lambda: 1 / 0)


def test_an_interruption_is_not_swallowed():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hide_engine_errors(interrupted)


def test_a_file_that_is_gone_is_a_failure_without_words(engine):
    engine._files.paths[0].unlink()
    with pytest.raises(EngineFailed):
        engine.measure(scope(engine, Bounding()), [Rows()])
