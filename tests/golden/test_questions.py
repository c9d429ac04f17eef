"""Questions as they are stored, and their digests: an equal digest is what makes a repeat free."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import letalone as la
from golden.keeping import as_json, check
from golden.kept_entries import charged_in
from letalone.session import batch

WARDS = ["A", "B", "C"]
BOUNDS = {"lower": 0, "upper": 1000}


def visits() -> pd.DataFrame:
    random = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "patient_id": random.integers(0, 100, 300),
            "ward": random.choice(WARDS, 300),
            "cost": random.gamma(2.0, 150.0, 300),
            "age": random.integers(0, 100, 300),
            "income": random.choice(["low", "high"], 300),
        }
    )


def declared(name: str = "visits") -> la.Schema:
    columns = (
        la.Column("patient_id", "integer"),
        la.Column("ward", "text", keys=tuple(WARDS)),
        la.Column("cost", "number", **BOUNDS),
        la.Column("age", "integer", lower=0, upper=100),
        la.Column("income", "text", keys=("low", "high")),
    )
    return la.Schema(name, columns, "patient_id")


def opened(**more: Any) -> la.Session:
    given = {"schema": declared(), "budget": la.Budget(10**6, 0.1)} | more
    return la.open(visits(), **given)


Ask = Callable[[la.Session], la.Query]
CODES = pd.DataFrame({"ward": WARDS, "floor": [1, 2, 2]})
QUESTIONS: dict[str, Ask] = {
    "count": lambda s: s.agg(n=la.count()),
    "count of units": lambda s: s.agg(people=la.count_distinct()),
    "sum": lambda s: s.where(la.col("age") >= 18).agg(total=la.sum("cost")),
    "mean of groups": lambda s: s.group_by("ward").agg(n=la.count(), cost=la.mean("cost")),
    "moments": lambda s: s.agg(v=la.variance("cost"), d=la.std("age")),
    "quantiles": lambda s: s.agg(q=la.quantile("age", [0.25, 0.5]), m=la.median("cost")),
    "extremes": lambda s: s.agg(least=la.min("age"), most=la.max("cost")),
    "histogram": lambda s: s.agg(ages=la.histogram("age", [0, 18, 65, 100])),
    "top": lambda s: s.agg(top=la.top_k("ward", 2, candidates=WARDS)),
    "bounds": lambda s: s.agg(bounds=la.private_bounds("cost")),
    "pairs": lambda s: s.agg(
        r=la.correlation("age", "cost"),
        c=la.covariance("age", "cost"),
        b=la.regression_slope("cost", "age"),
    ),
    "line": lambda s: s.agg(line=la.linear_regression("cost", ["age"])),
    "of units": lambda s: (
        s.per_unit(
            total=la.per_unit.sum("cost", **BOUNDS),
            last=la.per_unit.last("ward", by="age"),
            visits=la.per_unit.count(),
        )
        .where(la.col("visits") >= 2)
        .group_by("last", keys=WARDS)
        .agg(n=la.count(), total=la.mean("total", upper=5000))
    ),
    "public join": lambda s: (
        s.join(CODES, on="ward", name="codes").where(la.col("floor") == 2).agg(n=la.count())
    ),
    "bins": lambda s: s.group_by(la.bins("age", 0, 100, 50)).agg(n=la.count()).bound(max_rows=3),
    "formula": lambda s: s.agg(rate=la.sum("cost") / la.count()),
    "case": lambda s: s.agg(
        n=la.mean(la.case((la.col("age") < 18, 1), otherwise=0), lower=0, upper=1)
    ),
    "sql": lambda s: s.sql("SELECT ward, AVG(cost) AS c FROM visits WHERE age > 3 GROUP BY ward"),
}
BATCHES: dict[str, tuple[str, ...]] = {
    "counts": ("count", "count of units"),
    "three": ("sum", "mean of groups", "histogram"),
}
TRAININGS: dict[str, Callable[[], Any]] = {
    "bayes": lambda: la.learn.GaussianNB(0.5),
    "logistic": lambda: la.learn.LogisticRegression(epsilon=1, delta=1e-6),
    "svc": lambda: la.learn.LinearSVC(epsilon=1),
}


def test_digests_and_stored_plans_of_questions() -> None:
    """digests.txt is what questions were called with the names of their columns: ledgers that were
    written so are still read, and what is asked through a service is called so."""
    found, named = {}, list[str]()
    with opened() as session:
        for name, ask in QUESTIONS.items():
            priced = ask(session).price(20, delta=1e-6 if name == "sql" else 0).here()
            priced.release()
            found[name] = charged_in(session.ledger)[-1]
            named.append(f"{priced.named_digest}  {name}")
        assert len(charged_in(session.ledger)) == len(QUESTIONS)
    check("questions/digests.txt", "\n".join(named))
    digests = [f"{one['digest']}  {name}" for name, one in found.items()]
    check("questions/digests_without_names.txt", "\n".join(digests))
    check("questions/plans.json", as_json({name: one["plan"] for name, one in found.items()}))


@pytest.mark.long  # others of this file stay
def test_digests_of_batches_and_trainings() -> None:
    found, named = {}, list[str]()
    with opened() as session:
        for name, questions in BATCHES.items():
            asked = [QUESTIONS[one](session) for one in questions]
            session.batch(asked, epsilon=2)
            found[f"batch: {name}"] = charged_in(session.ledger)[-1]
            called = batch._digest([one.price(2).here().named_digest for one in asked])
            named.append(f"{called}  batch: {name}")
        for name, make in TRAININGS.items():
            make().fit(session, features=["age", "ward"], target="income")
            found[f"training: {name}"] = charged_in(session.ledger)[-1]
    digests = [f"{one['digest']}  {name}" for name, one in found.items()]
    trainings = digests[len(BATCHES) :]
    check("questions/digests_of_jobs.txt", "\n".join([*named, *trainings]))
    check("questions/digests_of_jobs_without_names.txt", "\n".join(digests))
    check("questions/jobs.json", as_json({name: one["plan"] for name, one in found.items()}))
