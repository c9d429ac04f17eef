"""How well counted draws fit a stated law; and exact laws of small choices."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from itertools import permutations

import numpy as np
from mpmath import mp, mpf
from numpy.typing import NDArray
from scipy.stats import chi2, kstest

FALSE_ALARM = 1e-6  # how often, over seeds, a correct sampler would fail a test


def fit(draws: Iterable[Hashable], law: Mapping[Hashable, float]) -> float:
    """The chi-square p-value of draws; rare outcomes are pooled until 10 are expected."""
    counts = Counter(draws)
    total = sum(counts.values())
    assert set(counts) <= set(law), "a draw is impossible under the law"
    # Sorted by what is expected alone: pools that depended on the draws would bias the test.
    likely_first = sorted(law, key=lambda key: law[key], reverse=True)
    pairs = [(total * law[key], counts[key]) for key in likely_first]
    pools: list[list[float]] = [[0.0, 0.0]]
    for expected, seen in pairs:
        if pools[-1][0] >= 10:
            pools.append([0.0, 0.0])
        pools[-1][0] += expected
        pools[-1][1] += seen
    if len(pools) > 1 and pools[-1][0] < 10:
        expected, seen = pools.pop()
        pools[-1][0] += expected
        pools[-1][1] += seen
    statistic = sum((seen - expected) ** 2 / expected for expected, seen in pools)
    return float(chi2.sf(statistic, len(pools) - 1))


def fit_continuous(draws: NDArray[np.float64], cdf: object) -> float:
    """The Kolmogorov-Smirnov p-value of draws."""
    return float(kstest(draws, cdf).pvalue)


def exponential_law(utilities: Iterable[float], factor: float) -> list[mpf]:
    """Probabilities proportional to e^(factor · utility)."""
    weights = [mp.exp(mpf(factor) * mpf(u)) for u in utilities]
    return [weight / mp.fsum(weights) for weight in weights]


def permute_and_flip_law(utilities: list[float], factor: float) -> list[mpf]:
    """By summing over every order of the candidates."""
    best, orders = max(utilities), list(permutations(range(len(utilities))))
    heads = [mp.exp(mpf(factor) * (mpf(u) - mpf(best))) for u in utilities]
    law = [mpf(0)] * len(utilities)
    for order in orders:
        reached = mpf(1)
        for candidate in order:
            law[candidate] += reached * heads[candidate] / len(orders)
            reached *= 1 - heads[candidate]
    return law


def largest_loss(one: Iterable[mpf], other: Iterable[mpf]) -> float:
    """The largest |ln(p/q)| over all outcomes."""
    return float(max(abs(mp.log(p / q)) for p, q in zip(one, other, strict=True)))
