"""The digest of a question never changes: a repeat is free only where it is the same."""

import pytest

import letalone as la
from letalone.plans.aggregates import requests as ask
from letalone.plans.aggregates.features import PerUnit
from letalone.plans.expressions import case, col
from letalone.plans.plan import Plan, PublicJoin, bins, make_plan
from letalone.plans.schema import Column
from letalone.plans.types import Type
from plans.samples import SCHEMA

CITY = PublicJoin("p", (("ward", "code"),), (Column("rent", Type.NUMBER),), "ab" * 32)
OLD = col("age") >= 65
# The first 16 digits of each digest, as they were when the question was first asked.
DIGESTS = {
    "count": "c2bcb4fa8251d98a",
    "count_units": "74831bff6b06b850",
    "count_present": "d08a64385bde78b6",
    "count_if": "571ed46838521d20",
    "count_values": "6fd1aa68e781fbf0",
    "sum": "873209fbf5b8556d",
    "mean": "13b274b32961cea3",
    "mean_of_condition": "cd2a6b90c597f939",
    "variance": "47c25883ddca97b3",
    "sample_variance": "14578eb98e0e9bc1",
    "std": "14bb9981659eeb3d",
    "covariance": "28ff963a06fecc59",
    "correlation": "530a2d23c638171e",
    "slope": "e67f146ff855159a",
    "regression": "54f68ba908336bec",
    "quantiles": "cd77798e3392a2ac",
    "median": "84310f5bedb6b502",
    "min": "a59351f90e125cbf",
    "max": "f4cf9bea519dedd7",
    "histogram": "2c317b3b50f9e86f",
    "top_k": "b5f532025f53313d",
    "private_bounds": "95cb371a121c9252",
    "formula": "08c2a9659bc7f630",
    "ratio": "379a08f918192972",
    "groups": "dafd2cdffdb27c99",
    "per_unit": "e70d665910d5e88f",
}


def plans() -> dict[str, Plan]:
    """A question with each aggregate, and some with each clause."""
    aggregates = {
        "count": ask.count(),
        "count_units": ask.count_distinct(),
        "count_present": ask.count("stay"),
        "count_if": ask.count(case((OLD, 1), otherwise=None)),
        "count_values": ask.count_distinct("ward"),
        "sum": ask.sum("cost"),
        "mean": ask.mean("age"),
        "mean_of_condition": ask.mean(OLD),
        "variance": ask.variance("age"),
        "sample_variance": ask.variance("age", sample=True),
        "std": ask.std("age", lower=0, upper=99.5),
        "covariance": ask.covariance("age", "cost", sample=True),
        "correlation": ask.correlation("age", "cost"),
        "slope": ask.regression_slope("cost", "age"),
        "regression": ask.linear_regression("cost", ["age", "stay"], bounds={"stay": (0, 9)}),
        "quantiles": ask.quantile("cost", [0.25, 0.75]),
        "median": ask.median("cost", step=5),
        "min": ask.min("age"),
        "max": ask.max("cost", lower=0, upper=500),
        "histogram": ask.histogram("age", [0, 18, 120]),
        "top_k": ask.top_k("ward", 2),
        "private_bounds": ask.private_bounds("score"),
        "formula": round(100 * ask.sum("cost") / (ask.count() + 1), 2),
        "ratio": ask.sum("cost") / ask.count("cost"),
    }
    made = {name: make_plan(SCHEMA, {"x": one}) for name, one in aggregates.items()}
    made["groups"] = make_plan(
        SCHEMA,
        {"n": ask.count(), "s": ask.sum("cost")},
        where=OLD & ~col("smokes") | col("note").is_null(),
        derived=[("part", case((col("age") < 18, "child"), otherwise=None))],
        joins=[CITY],
        groups=["part", bins("age", 0, 100, 50), ("year", col("day").part("year"))],
        keys=[("child", 0, 2024), (None, 1, -(2**63))],
        max_rows=3,
        max_groups=2,
    )
    features = {
        "n": la.per_unit.count(),
        "total": la.per_unit.sum("cost"),
        "mean": la.per_unit.mean("cost", lower=0, upper=10),
        "old": la.per_unit.max("age"),
        "icu": la.per_unit.any(col("ward") == "A"),
        "last": la.per_unit.last("ward", by="day"),
    }
    made["per_unit"] = make_plan(
        SCHEMA,
        {"m": ask.mean("total", lower=0, upper=500)},
        per_unit=PerUnit(tuple(features.items()), where=OLD),
    )
    return made


PLANS = plans()


@pytest.mark.parametrize("name", PLANS)
def test_the_digest_is_that_of_the_first_release(name: str) -> None:
    assert PLANS[name].digest().startswith(DIGESTS[name])
