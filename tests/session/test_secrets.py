"""Planted secrets stay where they are: no message, traceback, log, view, receipt or ledger."""

import gc
import logging
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import letalone as la
from letalone.engines.duckdb.duck_engine import DuckEngine
from letalone.errors.in_http import in_http, members_in_http
from letalone.errors.in_options import in_options
from session.makers import EVERYTHING, by_ward, of_units

CELL, NUMBER, PERSON = "SECRETCELL", 918273645, "UNIT-7788"
SECRETS = (CELL, str(NUMBER), f"{NUMBER:,}", PERSON)
BUDGET = la.Budget(epsilon=5, delta=1e-3)


def secret_frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "patient_id": [PERSON, "b", "c", None],
            "ward": [CELL, "A", "A", "B"],
            "cost": [float(NUMBER), 1.0, 2.0, 3.0],
            "age": [NUMBER, 1, 2, 3],
        }
    )


def secret_csv(folder: Path) -> Path:
    path = folder / "visits.csv"
    secret_frame().to_csv(path, index=False)
    return path


ASKED: dict[str, Callable[[la.Session], Any]] = {
    "answer": lambda s: by_ward(s).release(0.5),
    "everything": lambda s: s.agg(**EVERYTHING).release(0.5),
    "found": lambda s: (
        s.group_by("ward").agg(n=la.count()).bound(max_rows=1).release(0.5, delta=1e-6)
    ),
    "found people": lambda s: (
        s.group_by("patient_id").agg(n=la.count()).bound(max_rows=1).release(0.5, delta=1e-6)
    ),
    "preview": lambda s: by_ward(s).preview(0.5),
    "units": lambda s: of_units(s).release(0.5),
    "units of text": lambda s: s.per_unit(m=la.per_unit.max("ward")).agg(n=la.count()),
    "no column": lambda s: s.agg(m=la.mean("price", lower=0, upper=1)).release(0.5),
    "no bounds": lambda s: s.agg(m=la.mean("cost")).release(0.5),
    "too much": lambda s: s.agg(n=la.count()).release(6),
    "no public row": lambda s: (
        s.join(pd.DataFrame({"ward": ["Z"], "f": [1]}), on="ward").agg(n=la.count()).release(0.1)
    ),
    "year of text": lambda s: s.agg(m=la.mean(la.col("ward").part("year"))).release(0.1),
    "overflow": lambda s: (
        s.derive(big=la.col("age") * la.col("age") * la.col("age") / (la.col("age") - NUMBER + 1))
        .agg(m=la.mean("big", lower=0, upper=1))
        .release(0.1)
    ),
}
# The constant that an analyst typed is in the question.
ALLOWED = {"overflow": frozenset({str(NUMBER)})}


def told(error: BaseException | None) -> Iterator[str]:
    """All that an error says, with its causes, and what stands in letalone's own frames."""
    while error is not None:
        yield repr(error)
        if isinstance(error, la.LetaloneError):
            yield repr(error.problem)  # the facts and the remedies, too
            yield in_options(error.problem, str)
            yield in_http(error.problem) + repr(members_in_http(error.problem, repr))
        yield "".join(traceback.format_exception(error))
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if "/letalone/" in frame.f_code.co_filename and "open" not in frame.f_code.co_name:
                yield repr(frame.f_locals)
        error = error.__cause__ or error.__context__


def leaks(texts: Iterator[str] | list[str], also: frozenset[str] = frozenset()) -> list[str]:
    found = [text for text in texts if any(secret in text for secret in SECRETS)]
    return [text for text in found if not any(allowed in text for allowed in also)]


def asked(session: la.Session, ask: Callable[[la.Session], Any], folder: Path) -> list[str]:
    """Everything that an analyst can see of one question."""
    seen: list[str] = []
    try:
        found = ask(session)
    except la.LetaloneError as error:
        seen += told(error)
    else:
        seen += [repr(found), found._repr_html_()]
        if isinstance(found, la.Release):
            seen += [found.explain(sql=True), found.save(folder / "r.json").read_text("utf-8")]
            seen += [repr(found.rows()), repr(found.to_pandas()), repr(found.to_json())]
    session.ledger.export(folder / "ledger.json")
    seen += [repr(session), session._repr_html_(), (folder / "ledger.json").read_text("utf-8")]
    return seen


@pytest.mark.few("frame", "found-csv")
@pytest.mark.parametrize("source", ["frame", "csv"])
@pytest.mark.parametrize("name", ASKED)
@pytest.mark.few("answer-frame", "found-csv", "too much", "overflow", "units of text")
def test_a_secret_is_in_nothing_that_is_said(
    name: str,
    source: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The noisy count of a private key, found with threshold noise, could show the key of one
    person with probability 1e-6; nothing else can show a secret but by chance of its digits."""
    caplog.set_level(logging.DEBUG)
    given = secret_frame() if source == "frame" else secret_csv(tmp_path)
    types = None if source == "frame" else {"cost": "number", "age": "integer"}
    with (
        warnings.catch_warnings(record=True) as warned,
        la.open(given, unit="patient_id", budget=BUDGET, types=types) as session,
    ):
        seen = asked(session, ASKED[name], tmp_path)
    seen += [caplog.text, *capfd.readouterr(), repr([str(one.message) for one in warned])]
    assert not leaks(seen, ALLOWED.get(name, frozenset()))


@pytest.mark.parametrize("method", ["prepare", "measure"])
def test_an_engine_that_prints_its_data_is_not_heard(
    method: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        inner = ValueError(f"Could not convert '{CELL}' of {PERSON}")
        raise RuntimeError(f"{NUMBER} rows") from inner

    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(DuckEngine, method, fail)
    session = la.open(secret_frame(), unit="patient_id", budget=BUDGET)
    with pytest.raises(la.DataSetFrozen) as caught:
        session.agg(n=la.count()).release(0.5)
    assert not leaks([*told(caught.value), caplog.text, repr(session)])
    gc.collect()
    kept = [error for error in gc.get_objects() if isinstance(error, RuntimeError)]
    assert not leaks([repr(error) for error in kept]), "the error is not kept anywhere"


def test_the_search_would_find_a_secret() -> None:
    def fail() -> None:
        try:
            int(CELL)
        except ValueError:
            raise la.ParameterError("no detail") from None

    with pytest.raises(la.ParameterError) as caught:
        fail()
    assert leaks(told(caught.value)), "`from None` keeps the context"
