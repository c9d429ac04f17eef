"""Anonymity: k, l and t of a table, and a table made anonymous, beside pycanon and anonypy.

    python bench/anonymity.py [--rows 1000000] [--cut-rows 5000] [--json]

CPU time. Ours is the slower of two runs, from a Parquet file to the figures; a rival runs once, in
an environment of its own, over a frame that it has already read from the same file. Ours gives k,
l, entropy l, t and the risks in one call; pycanon is asked for k, l and t, one after the other.
Two tables are measured: one with 14,600 possible groups, and one in which nearly everyone is
unique (ours only). The rows that are cut are few, because anonypy takes minutes for more; ours is
also timed on all rows.
"""

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from peers import run_in

from letalone.anonymity import anonymize, measure

TIMEOUT_SECONDS = 600
QUASI = ["zip", "age", "gender"]
ASKED: dict[str, Any] = {"quasi_identifiers": QUASI, "sensitive": ["diagnosis"]}

PYCANON = """
import json, time
import pandas as pd
from pycanon.anonymity import k_anonymity, l_diversity, t_closeness
table = pd.read_parquet("@path")
quasi, seconds, found = ["zip", "age", "gender"], {}, {}
jobs = {"k": lambda: k_anonymity(table, quasi),
        "l": lambda: l_diversity(table, quasi, ["diagnosis"]),
        "t": lambda: t_closeness(table, quasi, ["diagnosis"])}
for name, job in jobs.items():
    start = time.process_time()
    found[name] = float(job())
    seconds[name] = time.process_time() - start
print(json.dumps({"seconds": seconds, "found": found}))
"""

ANONYPY = """
import json, time
import pandas as pd
import anonypy
table = pd.read_parquet("@path")
for name in ("zip", "gender", "diagnosis"):
    table[name] = table[name].astype("category")
quasi = ["zip", "age", "gender"]
preserver = anonypy.Preserver(table, quasi, "diagnosis")
start = time.process_time()
rows = preserver.anonymize_k_anonymity(5)
seconds = time.process_time() - start
made = pd.DataFrame(rows).map(lambda cell: cell[0] if isinstance(cell, list) else cell)
groups = made.groupby(quasi).ngroups
rows = preserver.anonymize_t_closeness(5, 0.05)
made = pd.DataFrame(rows).map(lambda cell: cell[0] if isinstance(cell, list) else cell)
whole, worst = table["diagnosis"].value_counts(normalize=True), 0.0
for _, part in made.groupby(quasi):
    share = part.groupby("diagnosis", observed=True)["count"].sum() / part["count"].sum()
    worst = max(worst, float((share.reindex(whole.index).fillna(0) - whole).abs().sum() / 2))
print(json.dumps({"seconds": seconds, "groups": groups, "t": worst}))
"""


def generate(path: Path, rows: int, *, unique: bool = False) -> Path:
    random = np.random.default_rng(rows)
    places = 1000 if unique else 100
    ages = random.integers(0, 30_000, rows) if unique else random.integers(18, 91, rows)
    ills = np.minimum(random.geometric(0.2, rows), 20)
    table = pa.table(
        {
            "zip": pa.array([f"{n:05}" for n in range(places)]).take(
                pa.array(random.integers(0, places, rows))
            ),
            "age": pa.array(ages),
            "gender": pa.array(["f", "m"]).take(pa.array(random.integers(0, 2, rows))),
            "diagnosis": pa.array([f"illness {n}" for n in range(21)]).take(pa.array(ills)),
        }
    )
    pq.write_table(table, path)
    return path


def timed(job: Callable[[], Any], *, runs: int = 2) -> tuple[Any, float]:
    seconds: list[float] = []
    found = None
    for _ in range(runs):
        start = time.process_time()
        found = job()
        seconds.append(time.process_time() - start)
    return found, max(seconds)


def asked(requirement: str, script: str, path: Path) -> dict[str, Any]:
    try:
        filled = script.replace("@path", str(path))
        return run_in(requirement, filled, timeout_seconds=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done in {TIMEOUT_SECONDS} s"}
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or "it does not install").strip().splitlines()
        return {"failed": lines[-1][:200]}


def measuring(folder: Path, rows: int) -> dict[str, Any]:
    path = generate(folder / "groups.parquet", rows)
    found, seconds = timed(lambda: measure(path, **ASKED))
    unique = generate(folder / "unique.parquet", rows, unique=True)
    _, of_unique = timed(lambda: measure(unique, **ASKED))
    ours = {"k": found.k, "l": found.l, "t": found.t}
    theirs = asked("pycanon==1.3.6 pyarrow", PYCANON, path)
    made = {"rows": rows, "ours": seconds, "ours_unique": of_unique, "found": ours}
    if "seconds" in theirs:
        made["ratio"] = sum(theirs["seconds"].values()) / seconds
    return {**made, "pycanon": theirs}


def cutting(folder: Path, rows: int, cut_rows: int) -> dict[str, Any]:
    path = generate(folder / "cut.parquet", cut_rows)
    found, seconds = timed(lambda: anonymize(path, **ASKED, k=5))
    close = anonymize(path, **ASKED, k=5, t=0.05).anonymity.t
    _, of_all = timed(lambda: anonymize(folder / "unique.parquet", **ASKED, k=5), runs=1)
    theirs = asked("anonypy==0.2.1 pandas<3 pyarrow", ANONYPY, path)
    ours = {"groups": found.anonymity.groups, "t": close}
    made = {"rows": cut_rows, "ours": seconds, "found": ours, "all_rows": rows, "ours_all": of_all}
    if "seconds" in theirs:
        made["ratio"] = theirs["seconds"] / seconds
    return {**made, "anonypy": theirs}


def show(measured: dict[str, Any], cut: dict[str, Any]) -> None:
    print(f"k, l, t of {measured['rows']:,} rows")
    print(f"  ours               {measured['ours']:.2f} s CPU  {measured['found']}")
    print(f"  ours, all unique   {measured['ours_unique']:.2f} s CPU")
    print(f"  pycanon            {measured['pycanon']}")
    print(f"  ratio              {measured.get('ratio', float('nan')):.1f}")
    print(f"k = 5 for {cut['rows']:,} rows; then the t that is released where 0.05 is asked")
    print(f"  ours               {cut['ours']:.2f} s CPU  {cut['found']}")
    print(f"  anonypy            {cut['anonypy']}")
    print(f"  ratio              {cut.get('ratio', float('nan')):.1f}")
    print(
        f"k = 5 for {cut['all_rows']:,} rows, nearly all unique: ours {cut['ours_all']:.2f} s CPU"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--cut-rows", type=int, default=5000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measured = measuring(folder, options.rows)
        cut = cutting(folder, options.rows, options.cut_rows)
    if options.json:
        print(json.dumps({"measure": measured, "anonymize": cut}))
    else:
        show(measured, cut)


if __name__ == "__main__":
    main()
