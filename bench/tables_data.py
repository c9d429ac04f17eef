"""The question that private tables are measured by, and the data it is asked of.

For each of 100 departments, how many rows, and the mean amount clipped to [0, 1000], with each
user counting with at most ten rows. A tenth as many users as rows, skewed, so that the busiest
has thousands.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import letalone as la

DEPARTMENTS = 100
KEYS = [f"department {number:02d}" for number in range(DEPARTMENTS)]
BLOCK = 1_000_000
UPPER = 1000
MAX_ROWS = 10
MAX_GROUPS = 3
EPSILON = 1

Job = Callable[[], object]


def generate(path: Path, rows: int) -> None:
    """User u of n has about 1 / sqrt(u) of the rows."""
    generator = np.random.default_rng(1)
    users, names = max(1, rows // 10), pa.array(KEYS)
    writer = None
    for start in range(0, rows, BLOCK):
        size = min(BLOCK, rows - start)
        number = generator.integers(0, DEPARTMENTS, size)
        block = pa.table(
            {
                "user": (users * generator.random(size) ** 2).astype(np.int64),
                "number": number.astype(np.int32),
                "department": names.take(pa.array(number)),
                "amount": generator.gamma(2, 200, size),
                "age": generator.binomial(90, 0.45, size).astype(np.int32),
            }
        )
        writer = writer or pq.ParquetWriter(path, block.schema)
        writer.write_table(block)
    if writer is not None:
        writer.close()


def cpu(job: Job) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def side_by_side(ours: Job, theirs: Job, rounds: int) -> dict[str, float]:
    """Median CPU seconds of each; they take turns so that both meet the same disturbances."""
    ours(), theirs()
    pairs = [(cpu(ours), cpu(theirs)) for _ in range(rounds)]
    mine, plain = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    return {"seconds": mine, "plain_seconds": plain, "ratio": mine / plain}


def opened(path: Path, level: str, ledger: Path | None = None) -> la.Session:
    unit = "user" if level == "user" else la.ROW
    budget = la.Budget(epsilon=10_000)
    return la.open(path, unit=unit, budget=budget, name="visits", ledger=ledger)


def question(session: la.Session, level: str, group: str = "department") -> la.Query:
    keys = range(DEPARTMENTS) if group == "number" else KEYS
    mean = la.mean("amount", lower=0, upper=UPPER)
    asked = session.group_by(group, keys=keys).agg(n=la.count(), amount=mean)
    return asked.bound(max_rows=MAX_ROWS) if level == "user" else asked


def released(session: la.Session, query: la.Query) -> la.Release:
    """A new answer: the same question about the same version would be the same answer, free."""
    session.ledger.raise_version("visits")
    release = query.release(epsilon=EPSILON)
    assert not release.repeated
    return release
