"""How far private tables are from the truth: root mean square errors over many releases.

100,000 rows, 100 departments, ε = 1 in all, row level. Errors of means are against the exact mean
of the clipped amounts, and at more rows they should fall as one over the number of rows.
"""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from tables_data import EPSILON, KEYS, UPPER, generate, opened, question, released
from tables_rivals import RIVALS, asked

import letalone as la

ROWS = 10**5
RUNS = 100
RIVAL_RUNS = 20
SIZES = {10**5: 100, 10**6: 40, 10**7: 20}  # rows, and how many releases

Answers = dict[str, list[float]]


def truth(path: Path) -> Answers:
    clipped = f"avg(least(greatest(amount, 0), {UPPER}))"
    query = f"SELECT department, count(*), {clipped} FROM '{path}' GROUP BY department"
    return {key: [count, mean] for key, count, mean in duckdb.sql(query).fetchall()}


def errors(answers: list[Answers], true: Answers) -> dict[str, float]:
    """Root mean square errors of counts and of means, over all departments and runs."""
    off = np.array([[np.subtract(one[key], true[key]) for key in KEYS] for one in answers])
    count, mean = np.sqrt(np.mean(off**2, axis=(0, 1)))
    return {"count": float(count), "mean": float(mean), "runs": len(answers)}


def ours(path: Path, runs: int) -> list[Answers]:
    with opened(path, "row") as session:
        query = question(session, "row")
        frames = [released(session, query).rows() for _ in range(runs)]
    return [{row["department"]: [row["n"], row["amount"]] for row in rows} for rows in frames]


def medians(path: Path, runs: int) -> dict[str, float]:
    """Years between the private and the true median of age: of all rows, and by department."""
    middle = "quantile_disc(age, 0.5)"
    by_department = f"SELECT department, {middle} FROM '{path}' GROUP BY department"
    true = dict(duckdb.sql(by_department).fetchall())
    ((everybody,),) = duckdb.sql(f"SELECT {middle} FROM '{path}'").fetchall()
    with opened(path, "row") as session:
        median = la.median("age", lower=0, upper=100)
        one, many = session.agg(age=median), session.group_by("department", keys=KEYS)
        whole = [released(session, one).rows()[0]["age"] for _ in range(runs)]
        rows = [row for _ in range(runs) for row in released(session, many.agg(age=median)).rows()]
    parts = [abs(row["age"] - true[row["department"]]) for row in rows]
    return {
        "all rows": float(np.mean(np.abs(np.subtract(whole, everybody)))),
        "by department": float(np.mean(parts)),
        "by department, exact": float(np.mean(np.equal(parts, 0))),
    }


def measure_accuracy(folder: Path, most_rows: int, *, rivals: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"epsilon": EPSILON, "sizes": {}}
    for rows, runs in SIZES.items():
        if rows > max(most_rows, ROWS):
            continue
        path = folder / f"visits_{rows}.parquet"
        if not path.exists():
            generate(path, rows)
        found["sizes"][rows] = errors(ours(path, runs), truth(path))
    small = folder / f"visits_{ROWS}.parquet"
    found["median"] = medians(small, RIVAL_RUNS)
    found["rivals"] = {rival.name: of_rival(rival, small) for rival in RIVALS if rivals}
    return found


def of_rival(rival: Any, path: Path) -> dict[str, Any]:
    if rival.most_rows < 10 * ROWS:
        return {"failed": f"{RIVAL_RUNS} runs would take too long"}
    theirs = asked(rival, path, "row", rows=ROWS, runs=RIVAL_RUNS)
    return theirs if "failed" in theirs else errors(theirs["answers"], truth(path))
