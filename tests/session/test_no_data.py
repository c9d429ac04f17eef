"""Nothing but the answers themselves depends on the data: an empty table looks the same."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import letalone as la
from session.makers import EVERYTHING, by_ward, of_units, visits

BUDGET = la.Budget(epsilon=5, delta=1e-3)
OTHER = visits(2000, seed=5).assign(ward="Z", cost=1e9, patient_id=7)
TABLES = {"empty": visits().head(0), "full": visits(), "other": OTHER}

SOME = {name: EVERYTHING[name] for name in ("total", "q", "bounds")}

LOOKS: dict[str, Callable[[la.Session], Any]] = {
    "session": repr,
    "html": lambda s: s._repr_html_(),
    "columns": lambda s: s.columns,
    "preview": lambda s: str(by_ward(s).preview(0.5)),
    "preview with a delta": lambda s: str(by_ward(s).preview(0.5, 1e-6, rows=100)),
    "everything": lambda s: str(s.agg(**EVERYTHING).preview(0.5)),
    "found keys": lambda s: str(s.group_by("ward").agg(n=la.count()).preview(1, 1e-6)),
    "epsilon_for": lambda s: by_ward(s).epsilon_for(error={"n": 10}),
    "explain": lambda s: by_ward(s).explain(epsilon=0.5, sql=True),
    "explain more": lambda s: s.agg(**SOME).explain(epsilon=0.5, sql=True),
    "explain found keys": lambda s: (
        s.group_by("ward").agg(n=la.count()).explain(1, delta=1e-6, sql=True)
    ),
    "how many": lambda s: s.how_many_more(by_ward(s), epsilon=0.5),
    "digest": lambda s: by_ward(s).plan.digest(),
    "units": lambda s: of_units(s).explain(epsilon=0.5, sql=True),
}
REFUSED: dict[str, Callable[[la.Session], Any]] = {
    "no bounds": lambda s: s.agg(m=la.mean("cost")).release(0.5),
    "no delta": lambda s: s.group_by("ward").agg(n=la.count()).release(0.5),
    "no column": lambda s: s.agg(m=la.mean("price", lower=0, upper=1)).release(0.5),
    "too much": lambda s: s.agg(n=la.count()).release(6),
    "too much delta": lambda s: s.group_by("ward").agg(n=la.count()).release(1, delta=0.1),
    "not a number": lambda s: s.agg(m=la.mean("ward", lower=0, upper=1)).release(0.5),
    "too small an error": lambda s: s.agg(n=la.count()).release(error=1e-9),
    "several": lambda s: s.batch([by_ward(s)] * 3, epsilon=4),
}
ANSWERED: dict[str, Callable[[la.Session], la.Release]] = {
    "by ward": lambda s: by_ward(s).release(0.5),
    "units": lambda s: of_units(s).release(0.5),
    "everything": lambda s: s.bound(max_rows=10).agg(**EVERYTHING).release(0.5),
    "clipped": lambda s: replace(by_ward(s), max_rows=None, max_groups=2, clip=True).release(
        0.5
    ),  # own totals
    "filtered": lambda s: (
        s.where(la.col("age") > 200).bound(max_rows=10).agg(**EVERYTHING).release(0.5)
    ),
}


def told(look: Callable[[la.Session], Any], frame: pd.DataFrame) -> Any:
    with la.open(frame, unit="patient_id", budget=BUDGET) as session:
        try:
            return look(session)
        except la.LetaloneError as error:
            return type(error), str(error)


@pytest.fixture(scope="module")
def unasked() -> Iterator[list[la.Session]]:
    """A session about each table, for looks: nothing is released from them."""
    sessions = [la.open(frame, unit="patient_id", budget=BUDGET) for frame in TABLES.values()]
    yield sessions
    for session in sessions:
        session.close()


@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.few("session", "html", "columns", "preview", "found keys", "digest", "units")
def test_what_is_seen_before_an_answer_does_not_depend_on_the_data(
    name: str, unasked: list[la.Session]
) -> None:
    seen = [LOOKS[name](session) for session in unasked]
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_does_not_depend_on_the_data(name: str) -> None:
    seen = [told(REFUSED[name], frame) for frame in TABLES.values()]
    assert isinstance(seen[0], tuple), "it must be refused"
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.long
@pytest.mark.parametrize("name", ANSWERED)
def test_all_of_an_answer_but_its_numbers_does_not_depend_on_the_data(name: str) -> None:
    answers = [told(ANSWERED[name], frame) for frame in TABLES.values()]
    shapes = [
        (
            answer.asked,
            answer.columns,
            answer.keys,
            [(o.name, o.label, o.kind) for o in answer.outputs],
            str(answer.standing.left),
        )
        for answer in answers
    ]
    assert shapes[0] == shapes[1] == shapes[2]


def test_the_test_would_notice_a_look_that_counts_rows() -> None:
    seen = {told(lambda s: s._table.engine._frame.num_rows, frame) for frame in TABLES.values()}  # pyright: ignore
    assert len(seen) == 3


def test_a_file_s_footer_is_not_looked_at_either(tmp_path: Path) -> None:
    """Row counts and least values in a Parquet footer are data."""
    seen: set[str] = set()
    for name, frame in TABLES.items():
        path = tmp_path / name / "visits.parquet"
        path.parent.mkdir()
        frame.to_parquet(path, index=False)
        with la.open(path, unit="patient_id", budget=BUDGET) as session:
            seen.add(repr(session) + by_ward(session).explain(epsilon=0.5, sql=True))
    assert len(seen) == 1


PAIRS = {
    "covariance": la.covariance("cost", "age"),
    "correlation": la.correlation("cost", "age"),
    "slope": la.regression_slope("cost", "age"),
    "line": la.linear_regression("cost", ["age"]),
}


@pytest.mark.few("asked1")
@pytest.mark.parametrize("asked", [EVERYTHING, PAIRS])
def test_an_answer_without_any_group_is_empty_and_freezes_nothing(asked: dict[str, Any]) -> None:
    columns = (
        la.Column("patient_id", "integer"),
        la.Column("ward", "text"),
        la.Column("age", "integer", 0, 120),
        la.Column("cost", "number", 0, 1000),
    )
    schema = la.Schema("visits", columns, unit="patient_id")
    with la.open(TABLES["empty"], schema=schema, budget=BUDGET) as session:
        found = session.group_by("ward").agg(**asked).release(2, delta=1e-6)
        assert found.rows() == []
