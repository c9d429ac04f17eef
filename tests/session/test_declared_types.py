"""A frame is read as its first opening declared it: no dtype that follows cells shows anywhere."""

from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import letalone as la
from letalone.errors import LetaloneError
from letalone.session.declared_types import TYPES_ACT
from letalone.session.query import Query

N = 40
CELLS = {
    "patient": [n // 2 for n in range(N)],
    "age": [20 + n for n in range(N)],
    "weight": [50.5 + n for n in range(N)],
    "smokes": [n % 3 == 0 for n in range(N)],
    "ward": ["ABC"[n % 3] for n in range(N)],
    "seen": [datetime(2024, 1 + n % 12, 3) for n in range(N)],
}
WHOLE = pd.DataFrame(CELLS)


def without(*names):
    """The same frame with one more row, of somebody who is there in no named column."""
    gone = {name: None if name in names else CELLS[name][0] for name in CELLS}
    return pd.DataFrame({name: [*cells, gone[name]] for name, cells in CELLS.items()})


QUESTIONS = [
    lambda s: s.agg(m=la.mean("age", lower=0, upper=100), q=la.median("age", lower=0, upper=100)),
    lambda s: s.group_by("age", keys=[20, 21, None]).agg(n=la.count()),
    lambda s: s.where(la.col("age").isin([20, 21]) | (la.col("age") == 30)).agg(n=la.count()),
    lambda s: s.where(la.col("smokes")).agg(n=la.count(), d=la.count_distinct()),
    lambda s: s.group_by("smokes").agg(x=la.sum("weight", lower=0, upper=100)),
    lambda s: s.group_by("ward", keys=["A", "B", None]).agg(n=la.count()),
    lambda s: s.where(la.col("seen").part("month") > 6).agg(n=la.count("seen")),
    lambda s: s.agg(m=la.mean("ward", lower=0, upper=1)),
    lambda s: s.agg(m=la.mean("smokes", lower=0, upper=1)),
    lambda s: s.group_by("seen").agg(n=la.count()),
    lambda s: s.agg(t=la.top_k("age", 2, candidates=[20, 21, 22])),
]


def seen(session):
    """All that can be seen without an answer: columns, plans, digests, SQL, notes, refusals."""
    found = [session.columns, repr(session)]
    for ask in QUESTIONS:
        try:
            asked = ask(session.bound(max_rows=2)).price(1).terms
            found.append((asked.digest, asked.plan, asked.sql, asked.notes))
        except LetaloneError as error:
            found.append(str(error))
    return found


def opened(frame, ledger, **more):
    return la.open(frame, unit="patient", budget=100, ledger=ledger, name="people", **more)


def measured(frame, ledger):
    """The exact integers that the answers are made of."""
    with opened(frame, ledger) as session:
        table, asked = session._table, session.bound(max_rows=2)
        plans = [QUESTIONS[place](asked).plan for place in (0, 1, 2, 3, 4, 5, 6, 10)]
        whole = [Query.from_plan(table, plan).price(1).compiled for plan in plans]
        return [table.engine.measure(one.scope, one.measures) for one in whole]


def test_a_number_without_a_value_changes_nothing_even_at_the_first_opening():
    first, second = (opened(frame, la.Ledger.in_memory()) for frame in (WHOLE, without("age")))
    assert WHOLE["age"].dtype != without("age")["age"].dtype
    assert seen(first) == seen(second)
    queries = (QUESTIONS[1](one.bound(max_rows=2)) for one in (first, second))
    previews = [(str(one.preview(1)), str(one.explain(epsilon=1, sql=True))) for one in queries]
    assert previews[0] == previews[1]


def test_a_missing_cell_changes_nothing_that_can_be_seen():
    ledger = la.Ledger.in_memory()
    with opened(WHOLE, ledger) as session:
        first = seen(session)
    assert sum(isinstance(one, tuple) for one in first) == 9, "two are refused"
    for names in (["smokes"], ["patient", "age"], ["ward", "seen"], list(CELLS)):
        with opened(without(*names), ledger) as session:
            assert seen(session) == first, names


WIDTHS = {"patient": "float64", "age": "float32", "weight": "object", "smokes": "object"}
TEXTS = {"age": "str", "smokes": "str", "ward": "category"}
OTHERS = {
    "objects": lambda: WHOLE.astype(object),
    "categories": lambda: WHOLE.astype("category"),
    "widths": lambda: WHOLE.astype(WIDTHS).assign(
        seen=WHOLE["seen"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    ),
    "texts": lambda: WHOLE.astype(TEXTS),
    "nullable": lambda: WHOLE.convert_dtypes(),
    "polars": lambda: pl.DataFrame(CELLS),
}


@pytest.mark.parametrize(
    "kind",
    [one if one == "objects" else pytest.param(one, marks=pytest.mark.long) for one in OTHERS],
)
def test_a_later_frame_gives_the_same_integers_whatever_its_dtypes_are(kind):
    """The types of the last two are their own: they are cast, which their SQL shows."""
    ledger, frame = la.Ledger.in_memory(), OTHERS[kind]()
    with opened(WHOLE, ledger) as session:
        first = seen(session)
    with opened(frame, ledger) as session:
        assert seen(session) == first or kind in ("nullable", "polars")
    assert measured(frame, ledger) == measured(WHOLE, ledger)


def test_the_first_opening_declares_what_types_say_and_says_so():
    ledger = la.Ledger.in_memory()
    with opened(WHOLE, ledger, types={"age": "integer"}) as session:
        assert "types     as this or an earlier opening declared them" in repr(session)
        assert session.columns == {
            "patient": "integer",
            "age": "integer",
            "weight": "number",
            "smokes": "boolean",
            "ward": "text",
            "seen": "timestamp",
        }
    with opened(without("age"), ledger) as session:
        assert session.columns["age"] == "integer"
    with opened(WHOLE, ledger, types={"age": "text"}) as session:
        assert session.columns["age"] == "text"
    more = WHOLE.drop(columns="ward").assign(new=1)
    with opened(more, ledger) as session:
        assert session.columns["age"] == "text"
        assert session.columns["new"] == "number"
    acts = [entry for entry in ledger.entries("people") if entry.body.get("what") == TYPES_ACT]
    assert len(acts) == 3, "at first, with types=, with a new column"
    with opened(WHOLE, ledger) as session:
        assert session.columns["ward"] == "text"
    schema = la.Schema("people", (la.Column("patient", "integer"), la.Column("age", "number")))
    with opened(WHOLE, ledger, schema=schema) as session:
        assert session.columns == {"patient": "integer", "age": "number"}


def test_people_with_long_numbers_stay_apart():
    """As doubles all of these would be one."""
    frame = pd.DataFrame({"patient": [2**60 + n for n in range(50)]})
    with opened(frame, la.Ledger.in_memory()) as session:
        (row,) = session.agg(n=la.count_distinct()).release(50).rows()
    assert row["n"] == 50  # noise of scale 1/50 strays once in e^25


def test_no_two_units_become_one():
    """As whole numbers 7, 07 and 7.0 would be one person, and so would all moments of a day."""
    odd = pd.DataFrame({"patient": [7, "07", "7.0", "+7", " 7", "x", "8", 8.0, None]})
    with opened(odd, la.Ledger.in_memory(), types={"patient": "integer"}) as session:
        engine = session._table.engine
        assert engine._frame.column("patient").to_pylist() == [7, *[None] * 5, 8, 8, None]
    for kind in ("number", "date", "boolean"):
        with pytest.raises(la.ParameterError, match=r"one person of two.*'text'"):
            opened(odd, la.Ledger.in_memory(), types={"patient": kind})
    with opened(pd.DataFrame({"patient": [True, False]}), la.Ledger.in_memory()) as session:
        assert session.columns == {"patient": "text"}


def test_a_frame_of_objects_that_cannot_be_written_opens():
    class Secret:
        def __str__(self):
            raise ValueError("SECRET")

    cells = np.array([Secret(), 10**5000, "x"], object)
    with opened(pd.DataFrame({"patient": [1, 2, 3], "odd": cells}), la.Ledger.in_memory()) as table:
        assert table.columns["odd"] == "text"
