"""A file that is not what it was when it was opened is not read, and nothing is paid for it."""

import os
from pathlib import Path

import pandas as pd
import pytest

import letalone as la
from letalone.engines.core.failure import SourceUnreadable
from letalone.ledger import charging
from letalone.ledger.freezes import freeze_of
from letalone.session import pricing, training
from letalone.session.query import Query
from session.makers import opened, visits
from session.test_source_away import Job

BUDGET = la.Budget(epsilon=10)
KINDS = {"patient_id": "integer", "cost": "number", "age": "integer"}


def of_a_file(folder: Path, kind: str = "parquet") -> tuple[Path, la.Session]:
    path = folder / f"visits.{kind}"
    _write(path, visits())
    return path, opened(path, budget=BUDGET, types=KINDS if kind == "csv" else None)


def _write(path: Path, rows: pd.DataFrame) -> None:
    rows.to_csv(path, index=False) if path.suffix == ".csv" else rows.to_parquet(path)


def _touch(path: Path) -> None:
    os.utime(path, ns=(1, 1))


def _append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"1,A,5,5\n")


def _replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


@pytest.mark.parametrize(
    ("kind", "changes"), [("csv", (_append, Path.unlink)), ("parquet", (_touch, _replace))]
)
def test_a_file_that_was_changed_is_told_before_the_charge_and_freezes_nothing(
    tmp_path, kind, changes
):
    for change in changes:
        folder = tmp_path / change.__name__
        folder.mkdir()
        path, session = of_a_file(folder, kind)
        session.agg(n=la.count()).release(1)
        change(path)
        for question in (
            session.agg(n=la.count()).bound(max_rows=1),
            session.agg(m=la.count_distinct()),
        ):
            with pytest.raises(SourceUnreadable, match="Nothing was charged") as caught:
                question.release(1)
            assert "visits." not in str(caught.value), "no file is named"
            assert caught.value.__context__ is None
        assert session.spent.epsilon == 1
        assert not session.ledger.data_set("visits").frozen
        assert session.ledger.unsettled() == []
        assert session.agg(n=la.count()).release(1).repeated, "what was answered stays"


def test_what_python_is_told_then_is_what_helps(tmp_path):
    path, session = of_a_file(tmp_path)
    session.agg(n=la.count()).release(1)
    _write(path, visits(20))
    with pytest.raises(SourceUnreadable, match=r"ledger\.raise_version\('visits'\), then la\.open"):
        session.agg(n=la.count()).bound(max_rows=1).release(1)
    session.ledger.raise_version("visits")
    again = opened(path, budget=BUDGET, ledger=session.ledger)
    answer = again.agg(n=la.count()).release(1)
    assert (again.schema.version, answer.repeated) == (2, False)
    assert again.spent.epsilon == 2


def test_a_partner_or_a_training_whose_file_was_changed_charges_nobody(tmp_path):
    path, theirs = of_a_file(tmp_path)
    mine = opened(visits(40)[["patient_id"]], name="mine", budget=BUDGET)
    joined = mine.join(theirs, on="patient_id", columns=["age"]).agg(n=la.count())
    question = joined.where(la.col("age") > 1).bound(max_rows=1)
    job = Job()
    job.privacy = la.PureDP(1.0, neighbours=theirs.schema.neighbours)
    _touch(path)
    with pytest.raises(SourceUnreadable, match="'visits'"):
        question.release(1)
    with pytest.raises(SourceUnreadable):
        training.train(Query(theirs._table), job)
    assert (mine.spent.epsilon, theirs.spent.epsilon) == (0, 0)


def test_one_that_is_changed_behind_the_charge_freezes_nothing(tmp_path, monkeypatch):
    path, session = of_a_file(tmp_path)
    charged = charging._charge_all

    def charge_then_touch(*given, **how):
        paid = charged(*given, **how)
        _touch(path)
        return paid

    monkeypatch.setattr(charging, "_charge_all", charge_then_touch)
    with pytest.raises(SourceUnreadable, match="What was charged stays spent"):
        session.agg(n=la.count()).release(1)
    assert not session.ledger.data_set("visits").frozen


@pytest.mark.parametrize("change", [_touch, lambda path: path.write_bytes(b"PAR1")])
def test_one_that_is_changed_while_rows_are_read_freezes_and_the_ledger_says_why(
    tmp_path, monkeypatch, change
):
    """Whether a change falls into the time of a statement depends on rows: it is a failure. Of a
    file that is cut short the engine's own error comes first."""
    path, session = of_a_file(tmp_path)
    measured = pricing._draw

    def change_then_measure(*given):
        change(path)
        return measured(*given)

    monkeypatch.setattr(pricing, "_draw", change_then_measure)
    with pytest.raises(la.DataSetFrozen, match="its file was changed while it was read"):
        session.agg(n=la.count()).bound(max_rows=1).release(1)
    freeze = freeze_of(session.ledger, "visits")
    assert freeze is not None
    assert freeze.why == "its file was changed while it was read"
    assert freeze.reservation is not None
    assert "console or by its API" in freeze.look_at
    session.ledger.thaw("visits", "it is the right one")
    with pytest.raises(SourceUnreadable, match="Nothing was charged"):
        session.agg(m=la.count()).release(1)
    assert session.spent.epsilon == 1
