"""Ten rows of a person, or a row limit that a tenth of ε finds: which is further off?

    python bench/row_limits.py [--times 2000] [--check 0]

For each table and ε: the root of the mean squared error against *all* rows, and how often a 95 %
interval holds their number; for the whole table, and for one of 6 and of 50 groups with an equal
share of everybody's rows. The noise is drawn here, by numpy, from the law that letalone draws from,
and the limit is found by letalone's own rule. `--check 20` also asks letalone itself, so often.
"""

from argparse import ArgumentParser
from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
import pandas as pd

import letalone as la
from letalone.sample.hospital import visits
from letalone.session.steps.row_limit import LEVELS, ROWS_SHARE, SURE_LOG, limits_of

TEN, GROUPS, EPSILONS = 10, (1, 6, 50), (0.1, 1.0)
RANDOM = np.random.default_rng(2026)
Rows = Any  # how many rows each person has


def zipf(people: int, *, power: float = 2, most: int = 300) -> Rows:
    weights = np.arange(1, most + 1) ** -float(power)
    return RANDOM.choice(np.arange(1, most + 1), people, p=weights / weights.sum())


def tables() -> dict[str, Rows]:
    few = RANDOM.geometric(1 / 5, 2000)
    return {
        "Zipf, 10^3 people": zipf(10**3),
        "Zipf, 10^4 people": zipf(10**4),
        "Zipf, 10^5 people": zipf(10**5),
        "Zipf 1.5, 10^5 people": zipf(10**5, power=1.5, most=10**4),
        "the demo's hospital": np.unique(visits().patient_id, return_counts=True)[1],
        "geometric, 2,000 people": few,
        "Zipf 1.45, 12,000 people": zipf(12_000, power=1.45, most=200),
        "lognormal, 20,000 people": np.maximum(1, RANDOM.lognormal(1, 1, 20_000).astype(int)),
        "12 rows each": np.full(10**4, 12),
        "1 row each": np.ones(10**4, dtype=int),
        "3 rows each": np.full(10**4, 3),
        "8 rows each": np.full(10**4, 8),
        "one with a million": np.append(few, 10**6),
    }


def found(rows: Rows, epsilon: float, times: int) -> tuple[Rows, Rows]:
    """The limits that are found, for a total and in groups."""
    scale = 1 / (epsilon * float(ROWS_SHARE))
    levels = np.searchsorted(LEVELS, np.minimum(rows, LEVELS[-1]))
    people = np.bincount(levels, minlength=len(LEVELS))
    noisy = people + RANDOM.laplace(0, scale, (times, len(LEVELS)))
    margins = [SURE_LOG * scale] * len(LEVELS)
    limits = np.array([limits_of(list(draw), margins) for draw in noisy])
    return limits[:, 0], limits[:, 1]


def errors(rows: Rows, limits: Rows, epsilon: float, groups: int) -> tuple[float, float]:
    """How far off a count is, and how often its interval holds all rows."""
    counted = {limit: np.minimum(rows, limit).sum() for limit in set(limits)}
    low = (np.array([counted[limit] for limit in limits]) - rows.sum()) / groups
    off = low + RANDOM.laplace(0, limits / epsilon)
    return float(np.sqrt(np.mean(off**2))), float(np.mean(abs(off) <= limits / epsilon * log(20)))


def asked(rows: Rows, epsilon: float, times: int, max_rows: object) -> tuple[float, float]:
    """The same of letalone itself, for the whole table."""
    frame = pd.DataFrame({"person": np.repeat(np.arange(len(rows)), rows)})
    off, held = list[float](), list[bool]()
    for _ in range(times):
        with la.open(frame, unit="person", budget=10) as session:
            answer = session.bound(max_rows=max_rows).agg(n=la.count()).release(epsilon=epsilon)  # type: ignore[arg-type]
        (row,) = answer.rows()
        off.append(row["n"] - len(frame))
        held.append(row["n_low"] <= len(frame) <= row["n_high"])
    return float(np.sqrt(np.mean(np.square(off)))), float(np.mean(held))


def show(name: str, cells: Sequence[tuple[float, float]]) -> None:
    print(f"  {name:<22}" + "".join(f"{off:>12,.0f} {held:>5.0%}" for off, held in cells))


def compare(name: str, rows: Rows, epsilon: float, times: int, check: int) -> None:
    limits = found(rows, epsilon, times)
    rest = epsilon * (1 - float(ROWS_SHARE))
    ten = [errors(rows, np.full(times, TEN), epsilon, groups) for groups in GROUPS]
    auto = [errors(rows, limits[groups > 1], rest, groups) for groups in GROUPS]
    ratios = "".join(f"{a[0] / t[0]:>17.2f}×" for a, t in zip(auto, ten, strict=True))
    total, within = (int(np.median(limit)) for limit in limits)
    print(f"{name}, ε = {epsilon:g}: {rows.sum():,} rows; limit {total:,}, in groups {within:,}")
    show("ten rows", ten)
    show("found", auto)
    print(f"  {'error, found to ten':<22}{ratios}")
    if check:
        show("ten rows, asked", [asked(rows, epsilon, check, TEN)])
        show("found, asked", [asked(rows, epsilon, check, "auto")])


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=2000)
    parser.add_argument("--check", type=int, default=0)
    given = parser.parse_args()
    print(f"  {'':<22}" + "".join(f"{f'1 of {groups}':>18}" for groups in GROUPS))
    for name, rows in tables().items():
        for epsilon in EPSILONS:
            compare(name, rows, epsilon, given.times, given.check)


if __name__ == "__main__":
    main()
