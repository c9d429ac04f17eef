"""Constants beside dates and times are read as such, as in SQL; nothing else is."""

from datetime import date, datetime

import pytest

from letalone.errors import ParameterError
from letalone.plans.aggregates import count, mean
from letalone.plans.dates import dated
from letalone.plans.expressions import Expression, case, col, same
from letalone.plans.query import make_plan
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
    assert same(dated(written, columns_of(SCHEMA)), read)


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
