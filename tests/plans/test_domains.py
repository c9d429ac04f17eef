"""Keys that are public anyway, and whether every row has one of them."""

import random
from datetime import date, datetime, timedelta

import pytest

from evaluator import evaluate
from letalone.plans.dates import read_dates
from letalone.plans.domains import closed_domain, domain_of, implied_keys, is_covered
from letalone.plans.expressions import Bin, Expression, case, col
from letalone.plans.typing import columns_of
from plans.samples import SCHEMA

DEAR = case((col("cost") > 5, "dear"), otherwise="cheap")
MONTH = col("day").part("month")
QUARTER = col("day").strftime("Q%q")


def covered(of: Expression, keys: tuple, where: Expression | None = None) -> bool:
    return is_covered(of, columns_of(SCHEMA, where=where), keys)


@pytest.mark.parametrize(
    ("of", "keys"),
    [
        (col("ward"), ("A", "B", "C")),
        (col("note"), None),
        (MONTH, tuple(range(1, 13))),
        (col("smokes"), (False, True)),
        (DEAR, ("dear", "cheap")),
        (col("day").quarter(), (1, 2, 3, 4)),
        (col("ward").like("A%"), (False, True)),
        (col("day").strftime("%a"), ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")),
        (col("day").strftime("%q, %q"), ("1, 1", "2, 2", "3, 3", "4, 4")),
        (col("day").strftime("%Y"), None),
        (col("seen").strftime("%j %M"), None),  # too many
        (col("ward").upper(), None),
        (col("note").length(), None),
        (col("day") - col("day"), None),
        (Bin(col("age"), 0, 60, 2), (0, 1)),
    ],
)
def test_keys_that_are_public_anyway(of: Expression, keys: tuple | None) -> None:
    assert closed_domain(of, columns_of(SCHEMA)) == keys


def test_every_row_has_a_key_only_where_none_is_missing_and_none_is_another() -> None:
    assert covered(DEAR, ("dear", "cheap"))
    assert not covered(DEAR, ("dear",))
    assert not covered(col("smokes"), (False, True))
    assert covered(col("smokes"), (False, True), ~col("smokes").is_null())
    assert covered(col("smokes"), (False, True, None))
    assert not covered(MONTH, tuple(range(1, 13)))
    assert covered(MONTH, tuple(range(1, 13)), ~col("day").is_null())
    assert covered(QUARTER, ("Q1", "Q2", "Q3", "Q4", None))
    assert not covered(QUARTER, ("Q1", "Q2", "Q3", "Q4"))
    assert not covered(QUARTER, ("Q1", "Q2", "Q3", None))
    assert not covered(col("ward").upper(), ("A", "B", "C"), ~col("ward").is_null())


def test_declared_keys_and_ranges_do_not_tell_that_there_are_no_others() -> None:
    assert not covered(col("ward"), ("A", "B", "C"), ~col("ward").is_null())
    assert not covered(Bin(col("age"), 0, 60, 2), (0, 1, None), ~col("age").is_null())


SEEN, DAY = col("seen"), col("day")
MONTHS = tuple(date(2024, month, 1) for month in range(1, 13))
JANUARY = (SEEN >= "2024-01-01") & (SEEN < "2024-02-01")


def left_by(of: Expression, where: Expression) -> tuple | None:
    columns = columns_of(SCHEMA)
    return domain_of(of, columns, read_dates(where, columns))


@pytest.mark.parametrize(
    ("of", "where", "keys"),
    [
        (col("note"), col("note").isin(["x", "y"]), ("x", "y")),
        (col("note"), (col("note") == "x") & (col("age") > 3), ("x",)),
        (col("ward"), col("ward").isin(["C", "A", "Z"]), ("A", "C")),  # as they are declared
        (col("ward"), col("ward") == "Z", ("A", "B", "C")),
        (col("note"), (col("note") == "x") | (col("age") > 3), None),
        (col("note"), ~(col("note") == "x"), None),
        (col("age"), (col("age") >= 3) & (col("age") < 6), (3, 4, 5)),
        (col("age"), (col("age") > 2), None),
        (col("age"), (col("age") >= 3) & (col("age") <= 5000), None),  # too many
        (col("cost"), (col("cost") >= 3) & (col("cost") <= 5), None),  # not whole
        (SEEN.year(), (SEEN >= "2023-06-01") & (SEEN <= "2024-01-01"), (2023, 2024)),
        (SEEN.year(), (SEEN >= "2023-06-01") & (SEEN < "2024-01-01"), (2023,)),
        (SEEN.year(), SEEN.year().isin([2020, 2022]), (2020, 2022)),
        (SEEN.start_of("month"), SEEN.year() == 2024, MONTHS),
        (SEEN.start_of("quarter"), JANUARY, (date(2024, 1, 1),)),
        (
            SEEN.start_of("week"),
            (DAY >= "2024-01-01") & (SEEN.start_of("day") == date(2024, 1, 3)),
            (date(2024, 1, 1),),
        ),
        (
            DAY,
            (DAY > "2024-02-27") & (DAY < "2024-03-02"),
            (date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1)),
        ),
        (
            DAY.strftime("%Y-%m"),
            (DAY > "2023-11-30") & (DAY <= "2024-01-31"),
            ("2023-12", "2024-01"),
        ),
        (SEEN.part("month"), JANUARY, (1,)),
        (SEEN.strftime("%B"), JANUARY, ("January",)),
        (SEEN.strftime("%H"), JANUARY, tuple(f"{hour:02}" for hour in range(24))),
        (DAY.part("weekday"), (DAY >= "2024-01-01") & (DAY <= "2024-01-02"), (1, 2)),
    ],
)
def test_keys_that_the_condition_leaves(
    of: Expression, where: Expression, keys: tuple | None
) -> None:
    found = left_by(of, where)
    assert found == keys


def test_every_row_that_meets_the_condition_has_one_of_the_keys() -> None:
    """The seed is fixed; a wrong end of one comparison shows in several hundred of the draws."""
    draw = random.Random(3)
    columns = columns_of(SCHEMA)
    functions = [
        *(SEEN.start_of(period) for period in ("year", "quarter", "month", "week", "day")),
        *(SEEN.part(part) for part in ("year", "yearday", "day", "weekday")),
        SEEN.strftime("%d %b %Y"),
    ]
    for _ in range(1000):
        hours = draw.randrange(0, 500, draw.choice([1, 24]))
        start = datetime(2023, 12, 20) + timedelta(hours=hours)
        end = start + timedelta(hours=draw.randrange(1, 400))
        low = draw.choice([SEEN.__gt__, SEEN.__ge__])(start)
        high = draw.choice([SEEN.__lt__, SEEN.__le__])(end)
        where = low & high if draw.random() < 0.7 else low & high & (SEEN.part("weekday") == 3)
        of = draw.choice(functions)
        keys = implied_keys(of, columns, read_dates(where, columns))
        moment = start + timedelta(hours=draw.randrange((end - start) // timedelta(hours=1) + 1))
        row = {"seen": moment}
        if evaluate(where, row, SCHEMA) is True:
            assert keys is not None
            assert evaluate(of, row, SCHEMA) in keys


def test_keys_that_a_condition_leaves_cover_its_rows() -> None:
    where = col("note").isin(["x", "y"])
    assert is_covered(col("note"), columns_of(SCHEMA), ("x", "y"), where)
    assert not is_covered(col("note"), columns_of(SCHEMA), ("x",), where)
    assert not is_covered(col("note"), columns_of(SCHEMA), ("x", "y"))
