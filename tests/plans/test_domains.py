"""Keys that are public anyway, and whether every row has one of them."""

import pytest

from letalone.plans.domains import closed_domain, is_covered
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
