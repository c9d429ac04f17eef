"""Noisy sums of products: what least squares and principal components are computed from.

Rows are clipped to a norm and counted in steps. A release has the matrix Σ x xᵀ, and as far as
asked the number of rows, Σ x, Σ x·y and Σ y. From it means and centred products follow.

Theorem.  One row moves Σ x xᵀ, with what is above the diagonal weighted by √2, by ‖x‖² in L2, and
its triangle by (width + 1)/2 · ‖x‖² in L1; Σ x·y by ‖x‖·|y|; Σ x by ‖x‖.
  Proven:   docs/explanation/proofs/statistics_learners.md, section 2
  Tested:   tests/learn/test_regression.py, test_components.py: by brute force over rows
"""

from dataclasses import dataclass

import numpy as np

from letalone.learn.noisy_sums.sums import (
    UNIT,
    Measure,
    NoisySums,
    in_a_ball,
    in_a_box,
    of_rows,
    products_in_a_ball,
)
from letalone.learn.noisy_sums.wholes import Floats, Wholes, product
from letalone.randomness.bits import BitSource

NOTHING = np.zeros(0)


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sums over rows, in units of the norm and of the targets' half width."""

    products: Floats
    rows: float
    sums: Floats
    targets: Floats
    target: float


def second_moment_measures(width: int, *, centred: bool, targets: bool) -> list[Measure]:
    """What is asked: the products with most weight, the number of rows with least."""
    measures: list[Measure] = [products_in_a_ball("products", width, weight=8)]
    if targets:
        measures.append(in_a_ball("products with targets", width, degree=2, weight=8))
    if centred or not targets:
        measures.append(of_rows())
    if centred:
        measures.append(in_a_ball("sums", width, degree=1, weight=4))
    if centred and targets:
        measures.append(in_a_box("targets", 1, degree=1, weight=2))
    return measures


def exact_sums(places: Floats, targets: Floats) -> dict[str, Wholes]:
    """The sums in steps: not for release. `places` and `targets` (a column) are whole."""
    ones = np.ones((len(places), 1))
    return {
        "products": product(places, places),
        "products with targets": product(places, targets)[:, 0],
        "rows": np.array([len(places)], np.int64),
        "sums": product(ones, places, largest=UNIT)[0],
        "targets": product(ones, targets, largest=UNIT)[0],
    }


def release_sums(noise: NoisySums, exact: dict[str, Wholes], bits: BitSource) -> Statistics:
    """The sums with noise; what was not asked for is empty, and the number of rows NaN."""
    named = {measure.name for measure in noise.measures}
    products = noise.release_symmetric("products", exact["products"], bits) / UNIT**2

    def noisy(name: str, unit: int) -> Floats:
        return noise.release(name, exact[name], bits) / unit if name in named else NOTHING

    targets, rows = noisy("products with targets", UNIT**2), noisy("rows", 1)
    sums, target = noisy("sums", UNIT), noisy("targets", UNIT)
    return Statistics(products, _only(rows), sums, targets, _only(target))


def _only(numbers: Floats) -> float:
    return float(numbers[0]) if numbers.size else float("nan")
