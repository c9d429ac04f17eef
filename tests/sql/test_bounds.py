"""Bounds beside a query clamp every number of that column, and none is given in vain."""

import pytest

import letalone as la
from letalone.errors import ParameterError
from letalone.plans.expressions import Clamp, col
from letalone.sql.given_bounds import give_bounds
from sql.schemas import read

BOUNDS = {"refund": (0, 5)}


@pytest.mark.parametrize(
    ("sql", "meant"),
    [
        ("SUM(refund)", la.sum("refund", lower=0, upper=5)),
        ("MEDIAN(refund)", la.median("refund", lower=0, upper=5)),
        ("SUM(refund * 2)", la.sum(Clamp(col("refund"), 0, 5) * 2)),
        ("CORR(refund, cost)", la.correlation("refund", "cost", bounds=BOUNDS)),
        ("SUM(refund) / COUNT(refund)", la.sum("refund", lower=0, upper=5) / la.count("refund")),
        ("SUM(CLAMP(refund, 1, 2))", la.sum(Clamp(col("refund"), 0, 5), lower=1, upper=2)),
    ],
)
def test_every_number_of_the_column_is_within_them(sql: str, meant: object) -> None:
    assert give_bounds(read(f"SELECT {sql} AS x FROM visits").aggregates, BOUNDS) == {"x": meant}


def test_bounds_of_what_is_not_added_up_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"no SUM, AVG .*columns that are: cost"):
        give_bounds(read("SELECT SUM(cost), COUNT(refund) FROM visits").aggregates, BOUNDS)
