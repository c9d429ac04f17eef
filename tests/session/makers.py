"""Small tables and sessions for the tests."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import letalone as la
from seeded import SeededBits

HUGE = la.Budget(epsilon=10**6, delta=0.5)
WARDS = ["A", "B", "C"]


def visits(rows: int = 300, seed: int = 1) -> pd.DataFrame:
    """Visits of a hundred patients; some costs are missing."""
    random = np.random.default_rng(seed)
    cost = random.gamma(2.0, 150.0, rows)
    cost[random.random(rows) < 0.05] = np.nan
    return pd.DataFrame(
        {
            "patient_id": random.integers(0, 100, rows),
            "ward": random.choice(WARDS, rows),
            "cost": cost,
            "age": random.integers(0, 100, rows),
        }
    )


def opened(frame: Any = None, *, seed: int | None = None, **options: Any) -> la.Session:
    """A session; with a seed, the noise is the same every time."""
    given = {"unit": "patient_id", "budget": HUGE} | options
    session = la.open(visits() if frame is None else frame, **given)
    if seed is not None:
        session._table.bits = SeededBits(seed)
    return session


def by_ward(session: la.Session) -> la.Query:
    """Counts and mean costs of three wards."""
    return (
        session.group_by("ward", keys=WARDS)
        .bound(max_rows=10)
        .agg(n=la.count(), cost=la.mean("cost", lower=0, upper=1000))
    )


def of_units(session: la.Session) -> la.Query:
    """Patients with two visits or more, by the ward of their last one."""
    return (
        session.where(la.col("age") >= 18)
        .per_unit(
            total=la.per_unit.sum("cost", lower=0, upper=1000),
            oldest=la.per_unit.max("age"),
            ward_a=la.per_unit.any(la.col("ward") == "A"),
            last=la.per_unit.last("ward", by="age"),
            visits=la.per_unit.count(),
        )
        .where(la.col("visits") >= 2)
        .group_by("last", keys=WARDS)
        .agg(n=la.count(), total=la.mean("total", upper=5000), a=la.mean("ward_a"))
    )


def write_parquet(path: Path, frame: pd.DataFrame | None = None) -> Path:
    """The frame as a Parquet file."""
    (visits() if frame is None else frame).to_parquet(path, index=False)
    return path


EVERYTHING = {
    "n": la.count(),
    "people": la.count_distinct(),
    "total": la.sum("cost", lower=0, upper=1000),
    "cost": la.mean("cost", lower=0, upper=1000),
    "spread": la.variance("cost", lower=0, upper=1000),
    "off": la.std("age", lower=0, upper=100),
    "q": la.quantile("age", [0.25, 0.5, 0.75], lower=0, upper=100),
    "middle": la.median("age", lower=0, upper=100),
    "least": la.min("age", lower=0, upper=100),
    "most": la.max("cost", lower=0, upper=1000),
    "ages": la.histogram("age", [0, 18, 65, 100]),
    "top": la.top_k("ward", 2, candidates=WARDS),
    "bounds": la.private_bounds("cost"),
}
