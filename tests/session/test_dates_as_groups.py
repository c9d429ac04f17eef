"""Parts and periods of dates are groups in Python, with the names that people would give."""

import pandas as pd
import pytest

import letalone as la

DAYS = pd.date_range("2024-01-01", periods=60)


@pytest.fixture(scope="module")
def stays():
    frame = pd.DataFrame({"person": range(60), "day": DAYS.date, "at": DAYS})
    options = {"unit": "person", "budget": la.Budget(10**6, 0.1), "types": {"day": "date"}}
    with la.open(frame, name="stays", **options) as opened:
        yield opened


@pytest.mark.parametrize(
    ("group", "name", "groups"),
    [
        (la.col("day").month(), "month_day", 12),
        (la.col("day").part("month"), "month_day", 12),
        (la.col("day").quarter(), "quarter_day", 4),
        (la.col("day").weekday(), "weekday_day", 7),
        (la.col("at").hour(), "hour_at", 24),
    ],
)
def test_parts_have_their_keys_and_are_counted(stays, group, name, groups):
    answer = stays.group_by(group).agg(n=la.count()).release(epsilon=100)
    assert len(answer[name]) == groups
    assert sum(answer["n"]) == pytest.approx(60, abs=2)


def test_years_are_listed_or_found(stays):
    listed = stays.group_by(la.col("day").year(), keys=[2023, 2024]).agg(n=la.count())
    assert listed.release(epsilon=100)["year_day"] == [2023, 2024]
    found = stays.group_by(la.col("day").year()).agg(n=la.count())
    assert found.release(epsilon=100, delta=1e-3)["year_day"] == [2024]


def test_a_slip_from_pandas_or_sql_names_what_to_write():
    for slip in ("trunc", "floor"):
        with pytest.raises(AttributeError, match=slip):
            getattr(la.col("day"), slip)
    with pytest.raises(AttributeError, match=r"start_of\('month'\)"):
        _ = la.col("day").trunc
