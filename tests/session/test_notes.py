"""What is said with an answer, from the question, the schema and where columns are stored."""

import re
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd
import pytest

import letalone as la
from session.makers import opened

COST = {"lower": 0, "upper": 1000}
TYPES = {"cost": "number", "age": "integer", "day": "date", "at": "timestamp", "old": "boolean"}


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    path = tmp_path / "v.csv"
    path.write_text(
        "pid,cost,age,day,at,old,ward\n"
        '1,"1,234.50",unknown,2024-01-31,2024-01-31 10:00,true,A\n'
        "2,5,70,31/01/2024,noon,perhaps,A\n",
        encoding="utf-8",
    )
    return path


def said(query: la.Query) -> list[str]:
    notes = query.release(1).notes
    assert tuple(query.preview(1).notes) == notes
    return [note for note in notes if "read from text" in note]


def test_a_column_that_is_read_from_text_says_what_counts_as_missing(csv: Path) -> None:
    with la.open(csv, unit="pid", budget=100, types=TYPES) as session:
        assert said(session.agg(m=la.mean("cost", **COST))) == [
            "cost is read from text: cells that are not numbers (such as 'unknown' or '1,234.50')"
            " count as missing"
        ]
        old = session.derive(late=la.col("day") >= "2024-01-01").where(la.col("late"))
        assert len(said(old.group_by("old").agg(n=la.count()))) == 2
        assert said(session.agg(n=la.count())) == []
        assert said(session.where(la.col("ward") == "A").agg(n=la.count())) == []
        assert "cost is read from text" in session.agg(m=la.mean("cost", **COST)).explain()


def test_a_column_that_is_stored_as_what_it_is_needs_no_note() -> None:
    with opened() as session:
        assert said(session.where(la.col("age") > 3).agg(m=la.mean("cost", **COST))) == []


def test_the_note_does_not_depend_on_what_the_cells_hold(csv: Path, tmp_path: Path) -> None:
    clean = tmp_path / "w.csv"
    clean.write_text(csv.read_text("utf-8").splitlines()[0] + "\n", encoding="utf-8")
    found = []
    for path in (csv, clean):
        with la.open(path, unit="pid", budget=100, types=TYPES) as session:
            found.append(said(session.agg(m=la.mean("cost", **COST), y=la.max("age", **COST))))
    assert found[0] == found[1] != []


def test_what_a_costly_neighbour_starves_is_said_and_the_way_out_works() -> None:
    """A count of units moves by 1 and a sum by ten rows, so it gets an eleventh of ε."""
    with opened() as session:
        people, total = la.count_distinct(), la.sum("cost", **COST)
        both = session.agg(people=people, total=total)
        assert any(n.startswith("people gets only 9.1 % of ε") for n in both.preview(1).notes)
        alone = session.agg(people=people).preview(1)
        assert both.preview(1).alone == {"people": alone.errors["people"]}
        assert f"(± {alone.errors['people']:g} if asked alone)" in str(both.preview(1))
        batch = session.batch([session.agg(people=people), session.agg(total=total)], epsilon=0.5)
        low, high = batch[0].rows()[0]["people_low"], batch[0].rows()[0]["people_high"]
        assert (high - low) / 2 < (both.preview(1).errors["people"] or 0) / 4


def test_equal_shares_starve_nobody() -> None:
    with opened() as session:
        query = session.agg(**{f"h{n}": la.histogram("age", [0, n, 100]) for n in range(1, 6)})
        assert not [note for note in query.preview(1).notes if "% of ε" in note]


def test_dates_in_a_pandas_frame_are_text_until_they_are_declared() -> None:
    """Their type could be read off the values only, and so nothing is guessed."""
    days = [date(2024, 1, 31), None, date(2024, 6, 1)]
    frame = pd.DataFrame({"pid": [1, 2, 3], "day": pd.Series(days, dtype=object)})
    with la.open(frame, unit="pid", budget=10**6) as session:
        assert session.columns["day"] == "text"
        with pytest.raises(la.ParameterError, match=r"types=\{'day': 'date'\}"):
            session.where(la.col("day") >= date(2024, 2, 1)).agg(n=la.count()).release(1)
    with la.open(frame, unit="pid", budget=10**6, types={"day": "date"}) as session:
        for since in (date(2024, 2, 1), "2024-02-01"):
            query = session.where(la.col("day") >= since).agg(n=la.count())
            assert query.release(10**4).rows()[0]["n"] == 1


@pytest.mark.few("0.5")
@pytest.mark.parametrize("at", [0.5, [0.25, 0.5, 0.75]])
def test_a_preview_warns_of_quantiles_whose_intervals_would_be_most_of_the_range(
    at: float | list[float],
) -> None:
    """Nine medians, each of half of the rows that are needed, and of four times as many.

    Values are spread evenly over the range. Seeded; the claim is about the median width.
    """
    asked = {"q": la.quantile("x", at, lower=0, upper=100)}
    few = pd.DataFrame({"x": range(2)})
    with opened(few, unit=la.ROW) as session:
        (warning,) = session.agg(**asked).preview(0.2).warnings
        assert warning in " ".join(str(session.agg(**asked).preview(0.2)).split())
        needed = int(re.findall(r"needs about (\d+) rows", warning)[0])
        assert session.agg(**asked).preview(0.2, rows=needed).warnings == ()
        (warning,) = session.agg(**asked).preview(0.2, rows=needed - 1).warnings
        assert f"with {needed - 1}, its range" in warning
    for rows, wide in ((needed // 2, True), (4 * needed, False)):
        assert (width_of(asked, rows) > 50) is wide


def width_of(asked: dict[str, Any], rows: int) -> float:
    """The median width, at ε = 0.2, of the interval of the median of numbers from 0 to 100."""
    table = pd.DataFrame({"x": [n % 101 for n in range(rows)]})
    found: list[float] = []
    with opened(table, unit=la.ROW, seed=7, budget=100) as session:
        for n in range(9):
            row = session.agg(**asked).release(0.2, confidence=0.95 + n / 10**6).rows()[0]
            name = "q" if "q" in row else "q_0.5"
            found.append(float(row[f"{name}_high"]) - float(row[f"{name}_low"]))
    return median(found)
