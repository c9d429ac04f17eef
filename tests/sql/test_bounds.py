"""Bounds beside a query clamp every number of that column, and none is given in vain."""

import pytest

import letalone as la
from letalone.errors import ParameterError, UnsupportedQuery
from letalone.errors.in_options import in_options
from letalone.plans.expressions import Clamp, col
from letalone.plans.plan import make_plan
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
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


def test_an_aggregate_of_an_expression_has_bounds_by_its_name() -> None:
    asked = read("SELECT AVG(refund * 2) AS twice, AVG(cost) AS cost FROM visits").aggregates
    found = give_bounds(asked, {"twice": (0, 9)})
    assert found["twice"] == la.mean(Clamp(col("refund") * 2, 0, 9))
    assert found["cost"] == asked["cost"]
    for sql in ("AVG(refund)", "COUNT(*)", "AVG(CLAMP(refund * 2, 0, 5))", "CORR(refund, cost)"):
        with pytest.raises(ParameterError, match="no SUM, AVG"):
            give_bounds(read(f"SELECT {sql} AS twice FROM visits").aggregates, {"twice": (0, 9)})


def test_a_column_that_is_text_is_named_as_the_schema_file_writes_it() -> None:
    schema = Schema("visits", (Column("paid €", Type.TEXT),), unit_declared=True)
    with pytest.raises(UnsupportedQuery) as caught:
        make_plan(schema, {"a": la.mean("paid €")})
    words = in_options(caught.value.problem, str)
    assert words.startswith("'paid €' is text, but mean needs numbers.")
    assert '[columns."paid €"]' in words
