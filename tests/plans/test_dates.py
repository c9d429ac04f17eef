"""Constants beside dates and times are read as such, as in SQL; nothing else is."""

from datetime import date, datetime, timedelta

import pytest

from evaluator import started
from letalone.errors import ParameterError
from letalone.plans.aggregates.requests import count, mean
from letalone.plans.dates import first_day, read_dates
from letalone.plans.expressions import PERIODS, Expression, case, col, same
from letalone.plans.plan import make_plan
from letalone.plans.schema import Column, Schema
from letalone.plans.typing import columns_of

SCHEMA = Schema(
    "visits",
    (
        Column("day", "date"),
        Column("at", "timestamp"),
        Column("ward", "text"),
        Column("n", "number"),
    ),
)
JUNE = date(2024, 6, 1)
day, at, ward = col("day"), col("at"), col("ward")
STARTS = [
    ("year", ["2024-01-01"], "2024-02-01"),
    ("quarter", ["2024-04-01", "2024-01-01"], "2024-05-01"),
    ("month", ["2024-02-01"], "2024-02-29"),
    ("week", ["2024-01-29", "2024-01-01"], "2024-02-04"),
]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (day >= "2024-06-01", day >= JUNE),
        (day != "2024-06-01", day != JUNE),
        (day.isin(["2024-06-01", date(2024, 6, 2)]), day.isin([JUNE, date(2024, 6, 2)])),
        (at >= "2024-06-01", at >= datetime(2024, 6, 1)),
        (at < "2024-06-01T10:00:00+02:00", at < datetime(2024, 6, 1, 8)),
        (at >= JUNE, at >= datetime(2024, 6, 1)),
        (at.isin([JUNE]), at.isin([datetime(2024, 6, 1)])),
        (~(day == "2024-06-01") & (ward == "A"), ~(day == JUNE) & (ward == "A")),
        (case((day == "2024-06-01", 1), otherwise=0), case((day == JUNE, 1), otherwise=0)),
        (ward == "2024-06-01", ward == "2024-06-01"),
        (ward.isin(["2024-06-01"]), ward.isin(["2024-06-01"])),
    ],
)
def test_a_constant_is_read_by_the_type_beside_it(written: Expression, read: Expression) -> None:
    assert same(read_dates(written, columns_of(SCHEMA)), read)


def test_a_question_is_the_same_however_its_dates_are_written() -> None:
    def asked(when: object) -> str:
        return make_plan(
            SCHEMA,
            {"n": count(), "share": mean(day >= when)},
            where=day >= when,
            derived=[("late", day >= when), ("later", col("late") & (day >= when))],
            groups=["day", ("from", day >= when)],
            keys=[(when, True), (when, False)],
        ).digest()

    assert asked("2024-06-01") == asked(JUNE) != asked("2024-06-02")


@pytest.mark.parametrize("text", ["01/06/2024", "2024-13-01", "June", ""])
def test_a_date_that_is_not_written_year_first_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ParameterError, match="is no date: write it as '2024-01-31'"):
        make_plan(SCHEMA, {"n": count()}, where=day >= text)
    with pytest.raises(ParameterError, match=r"must be a date, such as .* or '2024-01-31'"):
        make_plan(SCHEMA, {"n": count()}, groups=["day"], keys=[text])


def test_a_text_column_beside_a_date_is_told_how_to_declare_it() -> None:
    with pytest.raises(ParameterError, match=r"types=\{'ward': 'date'\}"):
        make_plan(SCHEMA, {"n": count()}, where=ward >= JUNE)
    with pytest.raises(ParameterError, match=r"types=\{'ward': 'date'\}"):
        make_plan(SCHEMA, {"n": count()}, where=ward.isin([JUNE]))
    with pytest.raises(ParameterError, match=r"types=\{'ward': 'timestamp'\}"):
        make_plan(SCHEMA, {"n": count()}, where=at == ward)


@pytest.mark.parametrize(("period", "keys", "wrong"), STARTS)
def test_keys_that_begin_no_period_are_refused_and_first_days_taken(
    period: str, keys: list[str], wrong: str
) -> None:
    """One that no row can have would be paid for and be empty."""
    groups = [("start", day.start_of(period))]
    plan = make_plan(SCHEMA, {"n": count()}, groups=groups, keys=[*keys, None])
    assert [key for (key,) in plan.keys] == [*(date.fromisoformat(key) for key in keys), None]
    with pytest.raises(ParameterError, match=rf"begins no {period}.*such as {keys[0]}"):
        make_plan(SCHEMA, {"n": count()}, groups=groups, keys=[wrong])


@pytest.mark.parametrize("period", PERIODS)
def test_the_first_day_is_the_last_that_begins_a_period(period: str) -> None:
    days = [date(1, 1, 1), date(1, 1, 7), date(2024, 2, 29), date(2025, 1, 1), date(9999, 12, 31)]
    for one in (*days, *(date(2023, 12, 20) + timedelta(days=n) for n in range(400))):
        assert first_day(one, period) == started(one, period)


def test_starts_are_compared_as_dates_and_described_in_words() -> None:
    of = at.start_of("month")
    assert same(read_dates(of >= "2024-06-01", columns_of(SCHEMA)), of >= JUNE)
    plan = make_plan(SCHEMA, {"n": count()}, groups=[("m", of), ("d", at.start_of("day"))])
    assert plan.keys is None
    assert "the first day of the month of at" in plan.in_words()
    assert "the date of at" in plan.in_words()
