"""Private tables: letalone beside the same question without privacy, and beside rivals.

    python bench/tables.py [--rows 10000000] [--rounds 9] [--threads 2] [--rivals] [--json]

The question: for each of 100 departments, how many rows and the mean amount clipped to
[0, 1000], with each user counting with at most ten rows, ε = 1. Generated data: a tenth as many
users as rows, skewed, so that the busiest has thousands. CPU time of one process, the two taking
turns over the same Parquet file; a ratio is our time over plain DuckDB's, so 1 means as fast.
The plain query does not clip. `--rivals` installs four of them on first use, which takes minutes.
"""

import argparse
import json
import platform
import resource
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
from tables_accuracy import measure_accuracy
from tables_data import (
    DEPARTMENTS,
    KEYS,
    MAX_GROUPS,
    MAX_ROWS,
    UPPER,
    cpu,
    generate,
    opened,
    question,
    released,
    side_by_side,
)
from tables_rivals import measure_rivals
from tables_view import show

import letalone
from letalone.engines.core.measures import GridSum, Rows, RowScope, RowsWith
from letalone.engines.duckdb.duck_engine import DuckEngine, open_duck
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn

LEVELS, GROUPS = ("user", "row"), ("number", "department")
OPENINGS = 5  # of which the median first release is shown
WINDOW_ROWS = 2 * 10**7  # the window over more would not fit into memory
AMOUNT = GridSum(col("amount"), 0, UPPER << 10, 10)
MEASURES = [Rows(), RowsWith(col("amount")), AMOUNT]


def plain_query(path: Path, group: str) -> str:
    return f"SELECT {group}, count(*), avg(amount) FROM '{path}' GROUP BY {group}"


def window_query(path: Path) -> str:
    """Ten rows of each user as people would write it."""
    ranked = f"SELECT row_number() OVER (PARTITION BY user ORDER BY amount) AS r FROM '{path}'"
    return f"SELECT count(*) FROM ({ranked}) WHERE r <= {MAX_ROWS}"


def scope_of(engine: DuckEngine, group: str, level: str) -> RowScope:
    user = level == "user"
    schema = engine.schema().protecting("user" if user else None)
    column = GroupColumn(group, col(group), schema.column(group).type)
    keys = tuple((key,) for key in (range(DEPARTMENTS) if group == "number" else KEYS))
    bounding = Bounding(max_rows=MAX_ROWS) if user else Bounding()
    return RowScope(schema, None, (), (), (column,), keys, bounding)


def groups_scope(engine: DuckEngine) -> RowScope:
    """Each user with at most ten rows in each of at most three departments."""
    bounding = Bounding(max_rows=MAX_ROWS, max_groups=MAX_GROUPS)
    return replace(scope_of(engine, "department", "user"), bounding=bounding)


def measure_engine(path: Path, plain: Any, *, rounds: int, threads: int) -> dict[str, Any]:
    """The exact sums alone, without price, noise and ledger."""
    engine = open_duck(path, threads=threads)
    counts = cpu(lambda: engine.prepare(scope_of(engine, "number", "user")))
    found = {
        f"{level} level, by {group}": side_by_side(
            lambda level=level, group=group: engine.measure(
                scope_of(engine, group, level), MEASURES
            ),
            lambda group=group: plain.execute(plain_query(path, group)).fetchall(),
            rounds,
        )
        for group in GROUPS
        for level in LEVELS
    }
    groups = cpu(lambda: engine.measure(groups_scope(engine), MEASURES))
    engine.close()
    return {"exact": found, "counts_seconds": counts, "groups_seconds": groups}


def measure_whole(path: Path, plain: Any, rounds: int) -> dict[str, Any]:
    """All that a release does, with noise, ledger and receipt; the first counts rows of users, the
    second of the same sum keeps its products."""
    found: dict[str, Any] = {}
    for group in GROUPS:
        for level in LEVELS:
            firsts = [first_release(path, level, group) for _ in range(OPENINGS)]
            kept = path.with_name(f"{group} {level}.db")
            first_release(path, level, group, kept)
            again = [first_release(path, level, group, kept) for _ in range(OPENINGS)]
            with opened(path, level) as session:
                query = question(session, level, group)
                released(session, query)
                second = cpu(lambda: released(session, query))  # noqa: B023
                later = side_by_side(
                    lambda: released(session, query),  # noqa: B023
                    lambda: plain.execute(plain_query(path, group)).fetchall(),  # noqa: B023
                    rounds,
                )
            more = {"first": median(firsts), "kept": median(again), "second": second}
            found[f"{level} level, by {group}"] = {**later, **more, "first_seconds": more["first"]}
    return found


def first_release(path: Path, level: str, group: str, ledger: Path | None = None) -> float:
    """Of a session; with the ledger of an earlier one, numbers of rows are kept beside it."""
    with opened(path, level, ledger) as session:
        query = question(session, level, group)
        return cpu(lambda: released(session, query))


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    rows, rounds, threads = options.rows, options.rounds, options.threads
    path = folder / f"visits_{rows}.parquet"
    generate(path, rows)
    plain = duckdb.connect(config={"threads": threads})
    found: dict[str, Any] = {
        "machine": f"{platform.machine()}, Python {platform.python_version()},"
        f" DuckDB {duckdb.__version__}, letalone {letalone.__version__}",
        "rows": rows,
        "threads": threads,
        **measure_engine(path, plain, rounds=rounds, threads=threads),
        "whole": measure_whole(path, plain, rounds),
        "peak_megabytes": peak_megabytes(),  # before the window's own
    }
    if rows <= WINDOW_ROWS:
        found["window_seconds"] = cpu(lambda: plain.execute(window_query(path)).fetchall())
    plain.close()
    found["accuracy"] = measure_accuracy(folder, rows, rivals=options.rivals)
    found["rivals"] = measure_rivals(folder, rows) if options.rivals else []
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rivals", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        outcome = measure(given, Path(place))
    print(json.dumps(outcome)) if given.json else show(outcome)
