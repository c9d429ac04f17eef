"""An extreme and bounds that are bought say, beforehand, how many rows lie beyond them."""

import re

import pyarrow as pa
import pytest

import letalone as la

ROWS = 4000


def opened(**columns: object) -> la.Session:
    return la.open(pa.table(columns), unit=la.ROW, budget=la.Budget(100))


def number(note: str) -> int:
    found = re.search(r"[\d,]+(?= rows)", note)
    assert found is not None, note
    return int(found[0].replace(",", ""))


def test_the_largest_value_is_as_many_rows_inwards_as_the_note_says() -> None:
    """The true rank is within twice the number 95 % of the time, and within eight times it but
    once in 10^20 runs. A note of the error at ten times the ε would be passed in most runs."""
    with opened(x=list(range(ROWS))) as table:
        query = table.agg(hi=la.max("x", lower=0, upper=ROWS))
        inwards: list[int] = []
        for epsilon in (0.5, 0.51, 0.52, 0.53, 0.54):
            release = query.release(epsilon=epsilon)
            (note,) = [one for one in release.notes if one.startswith("hi is not")]
            assert any("its range is for that quantile" in one for one in release.notes)
            (row,) = release.rows()
            inwards.append(ROWS - 1 - row["hi"])
            assert inwards[-1] <= 8 * number(note)
        assert max(inwards) > 2 * number(note) / 10, "ten times less would be seen to be wrong"


def test_bounds_say_how_many_rows_lie_beyond_and_how_many_must_be_there() -> None:
    with opened(x=[float(value) for value in range(ROWS)]) as table:
        query = table.agg(b=la.private_bounds("x"))
        release = query.release(epsilon=1)
        (note,) = [one for one in release.notes if one.startswith("about ")]
        assert number(note) == pytest.approx(query.preview(epsilon=1).errors["b"], abs=2)
        assert f"with fewer than {10 * number(note):,} rows" in note
        (row,) = release.rows()
        beyond = sum(not row["b_lower"] <= value <= row["b_upper"] for value in range(ROWS))
        assert beyond <= 8 * number(note)


@pytest.mark.long  # others of this file stay
def test_one_row_of_each_unit_is_enough_for_bounds_alone() -> None:
    table = pa.table({"id": [1, 1, 2, 2], "x": [1.0, 2.0, 3.0, 4.0]})
    with la.open(table, unit="id", budget=la.Budget(9)) as session:
        bounds, count = la.private_bounds("x"), la.count()
        assert session.agg(b=bounds).plan.bounding.max_rows == 1
        assert session.agg(b=bounds, n=count).plan.bounding.max_rows == 10
        alone = session.agg(b=bounds).preview(epsilon=1).errors["b"]
        assert alone == session.agg(b=bounds).bound(max_rows=1).preview(epsilon=1).errors["b"]
        beside = session.agg(b=bounds).bound(max_rows=10).preview(epsilon=1).errors["b"]
        assert beside == pytest.approx(10 * (alone or 0), rel=0.01)


def test_the_notes_do_not_depend_on_the_rows() -> None:
    notes: list[object] = []
    for rows in (0, 50):
        with opened(x=pa.array(range(rows), pa.int64())) as table:
            asked = table.agg(hi=la.max("x", lower=0, upper=99), b=la.private_bounds("x"))
            notes.append(asked.release(epsilon=1).notes)
    assert notes[0] == notes[1]
