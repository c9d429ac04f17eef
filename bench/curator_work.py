"""What free requests compute, and what imports take: CPU seconds and memory.

    python bench/curator_work.py [--only preview] [--bombs]

Each line is one free request (preview, explanation, ε for an error, how many more) that is hard to
account: many parts, tiny ε, a δ, many keys, long formulas, public tables. The first of a process is
not counted, so that modules are loaded; nothing of an earlier line is asked again. CPU seconds of
this process are told, or why it is refused. `--bombs` also imports two small files that are large
when read, each in a process of its own, and tells seconds and the most memory that it took.

To compare with other code: PYTHONPATH=/path/to/other/src python bench/curator_work.py.
"""

import argparse
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from subprocess import run
from time import perf_counter, process_time

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.pop(0)  # this folder has another curator.py
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from curator.makers import (
    NAME,
    PURPOSE,
    SCHEMA,
    grant,
    open_curator,
    registered,
    registration,
    with_people,
)
from letalone.curator.curator import Curator
from letalone.curator.storage.service_records import DataSetQuestion, Purpose, QuestionPrice
from letalone.errors import LetaloneError
from letalone.plans.aggregates import requests
from letalone.plans.expressions import col
from letalone.plans.plan import make_plan
from letalone.privacy import Budget

Case = tuple[str, str, DataSetQuestion, QuestionPrice]
BUDGET = Budget(5, 1e-6)
STEP = Fraction(1, 199)


def question(sql: str, **more: object) -> DataSetQuestion:
    return DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=sql, **more)


def selected(parts: Iterator[str] | list[str], rest: str = "") -> str:
    named = ", ".join(f"{one} AS c{n}" for n, one in enumerate(parts))
    return f"SELECT {named} FROM {NAME} {rest}"


def kinds(number: int) -> list[str]:
    """So many aggregates, each another one."""
    words = ("SUM(cost + {0})", "AVG(cost * {0})", "MEDIAN(cost - {0})", "VAR_SAMP(cost + {0})")
    return [words[n % len(words)].format(n + 1) for n in range(number)]


def cases() -> Iterator[Case]:
    medians = selected(f"MEDIAN(cost + {n})" for n in range(99))
    equal = selected(["MEDIAN(cost)"] * 99)
    quantiles = selected(f"QUANTILE_CONT(cost, {n / 201:.4f})" for n in range(1, 200))
    spread = selected(f"QUANTILE_CONT(cost + {n}, {n / 201:.4f})" for n in range(1, 200))
    sums, mixed = selected(f"SUM(cost + {n})" for n in range(20)), selected(kinds(20))
    many = selected(f"SUM(cost + {n})" for n in range(99))
    deep = selected(
        [" + ".join(f"{n} * SUM(cost + {n}) / COUNT(*)" for n in range(1, 30)), "COUNT(*)"]
    )
    variances = selected(f"VAR_SAMP(cost + {n})" for n in range(99))
    formulas = selected(
        " + ".join(f"SUM(cost + {20 * n + m})" for m in range(20)) for n in range(99)
    )
    keys = [f"w{n}" for n in range(9000)]
    grouped = selected(["SUM(cost)", "COUNT(*)"], "GROUP BY ward")
    tiny, small = QuestionPrice(epsilon=1e-6), QuestionPrice(epsilon=1e-6, delta=1e-9)
    for asked in ("preview", "explain", "how_many_more"):
        yield (
            asked,
            "a count",
            question(f"SELECT COUNT(*) AS n FROM {NAME}"),
            QuestionPrice(epsilon=1),
        )
        yield asked, "99 different medians", question(medians), QuestionPrice(epsilon=1)
        yield asked, "99 equal medians", question(equal), QuestionPrice(epsilon=1)
        yield asked, "199 quantiles of a column", question(quantiles), QuestionPrice(epsilon=1)
        yield asked, "199 quantiles of 199", question(spread), QuestionPrice(epsilon=1)
        yield asked, "20 sums, ε = 1e-6", question(sums), tiny
        yield asked, "20 of four kinds, ε = 1e-6", question(mixed), tiny
        yield asked, "20 sums, ε = 1e-6, δ = 1e-9", question(sums), small
        yield asked, "20 of four kinds, with δ", question(mixed), small
        yield asked, "99 sums, ε = 1e-6, δ = 1e-9", question(many), small
        yield (
            asked,
            "10 sums, δ = 1e-9, ε = 100",
            question(sums),
            QuestionPrice(epsilon=100, delta=1e-9),
        )
        yield asked, "20 sums, ε = 1e-30", question(sums), QuestionPrice(epsilon=1e-30)
        yield (
            asked,
            "20 sums, ε = 1e-30, δ",
            question(sums),
            QuestionPrice(epsilon=1e-30, delta=1e-30),
        )
        yield asked, "a formula of 29 ratios", question(deep), QuestionPrice(epsilon=1)
        yield asked, "99 variances", question(variances), QuestionPrice(epsilon=1, rows=1000)
        yield asked, "99 formulas of 20 sums", question(formulas), QuestionPrice(epsilon=1)
        yield asked, "9,000 keys", question(grouped, keys=keys), QuestionPrice(epsilon=1)
        yield asked, "9,000 keys, with δ", question(grouped, keys=keys), small
        yield asked, "keys to be found", question(grouped.replace("ward", "cost")), small
    for name, sql in {
        "99 different medians": medians,
        "20 sums": sums,
        "mixed": mixed,
        "99 variances": variances,
    }.items():
        for delta in (0, 1e-9):
            for error in (1e9, 3.0):
                price = QuestionPrice(error=error, delta=delta, rows=1000)
                yield (
                    "epsilon_for",
                    f"{name}, error = {error:g}, δ = {delta:g}",
                    question(sql),
                    price,
                )
    other = pl.DataFrame({"ward": ["A", "B"], "beds": [10, 20]})
    joined = f"SELECT SUM(beds) AS n FROM {NAME} JOIN wards USING (ward)"
    yield (
        "preview",
        "a public table",
        question(joined, tables={"wards": other}),
        QuestionPrice(epsilon=1),
    )


def plans() -> Iterator[tuple[str, DataSetQuestion]]:
    """Short plans that take long to be priced: what SQL does not say."""
    tenths = [Fraction(n, 100) for n in range(1, 100)]
    words = [f"w{n}" for n in range(9999)]
    found = {
        "99 quantiles among 100,000": {"q": requests.quantile("cost", tenths, step=STEP)},
        "9,999 candidates": {"t": requests.top_k("ward", 50, candidates=words)},
        "3 private bounds": {f"b{n}": requests.private_bounds(col("cost") + n) for n in range(3)},
        "100 private bounds": {
            f"b{n}": requests.private_bounds(col("cost") + n) for n in range(100)
        },
    }
    for name, asked in found.items():
        plan = make_plan(SCHEMA, asked).to_json()
        yield name, DataSetQuestion(data_set=NAME, purpose=PURPOSE, plan=plan)


def told(ask: Callable[[], object]) -> str:
    began = process_time()
    try:
        ask()
        words = ""
    except LetaloneError as error:
        words = f"refused: {str(error)[:90]}"
    return f"{process_time() - began:8.2f} s  {words}"


def free_requests(curator: Curator, only: str | None) -> None:
    for asked, name, what, price in cases():
        if only is None or only in (asked, name):
            road = getattr(curator.asking, asked)
            print(f"{asked:14} {name:45} {told(partial(road, what, price, by='ann'))}", flush=True)


def plans_from_elsewhere(curator: Curator) -> None:
    for name, what in plans():
        words = told(partial(curator.asking.preview, what, QuestionPrice(epsilon=1), by="ann"))
        print(f"{'preview':14} {name:45} {words}", flush=True)


def bomb(rows: int, **limits: int) -> None:
    """One import, in this process: its seconds and the most memory that the process took."""
    with (
        tempfile.TemporaryDirectory() as folder,
        with_people(open_curator(Path(folder), **limits)) as curator,
    ):
        place = curator.settings.imports_folder / "bomb.parquet"
        place.parent.mkdir(exist_ok=True)
        row = {"patient": "p", "ward": "A", "cost": 1.5, "age": 3}
        batch = pa.table({name: pa.array([one] * 10**6) for name, one in row.items()})
        with pq.ParquetWriter(place, batch.schema, compression="zstd") as writer:
            for _ in range(rows // 10**6):
                writer.write_table(batch)
        began, size = perf_counter(), place.stat().st_size / 1e6
        words = told(
            partial(curator.data_sets.register, registration(), file=place.name, by="olga")
        )
        seconds, most = perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(
            f"{rows:,} rows in {size:.2f} MB: {seconds:.1f} s, {most >> 10:,} MB at most, {words}"
        )


def bombs() -> None:
    for more in ([], ["--allowed"]):
        asked = [sys.executable, __file__, "--rows", "60000000", *more]
        run(asked, check=False, timeout=600)


def made(folder: Path) -> Curator:
    curator = with_people(open_curator(folder))
    purposes = (Purpose(PURPOSE, BUDGET),)
    return grant(registered(curator, budget=Budget(10, 1e-5), purposes=purposes), budget=BUDGET)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only")
    parser.add_argument("--bombs", action="store_true")
    parser.add_argument("--rows", type=int)  # of one import; `--allowed` by the operator
    parser.add_argument("--allowed", action="store_true")
    given = parser.parse_args()
    if given.rows:
        more = {"import_rows": 10**9, "memory_megabytes": 1024} if given.allowed else {}
        bomb(given.rows, **more)
        return
    print(f"load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder, made(Path(folder)) as curator:
        told(
            lambda: curator.asking.explain(
                question(selected(kinds(4))), QuestionPrice(epsilon=1), by="ann"
            )
        )
        free_requests(curator, given.only)
        if given.only is None:
            plans_from_elsewhere(curator)
    if given.bombs:
        bombs()


if __name__ == "__main__":
    main()
