"""The risk of being found in a table, with or without a population around it.

  prosecutor   knows that a person is in the table: finds one of n_g alike, with chance 1/n_g
  journalist   does not know who is in it: finds one of F_g alike in the population
  marketer     wants as many as possible: the expected share of rows found

Without a population the table is all there is, and F_g = n_g. With a declared number of people
these are estimates: F_g is not known, and modelled as n_g plus a negative binomial draw, as if each
person were in the table with the same chance p = rows / population.

Theorem.  Under that model E[1/F | n] = (p/n) 2F1(1, 1; n + 1; 1 - p), and P[F = 1 | n = 1] = p.
With r = p/(1 - p) it is I_n = r ∫ u^(n-1)/(u + r) du over [0, 1]: I_1 = r ln(1 + 1/r), and since
u^n/(u + r) = u^(n-1) - r u^(n-1)/(u + r), I_(n+1) = r (1/n - I_n). That is what is computed where p
is so small that 1 - p is nearly 1 as a float; there I_(n-1) = r/(n - 2) is near enough for n > 2.
  Proven:   docs/explanation/anonymity.md
  Tested:   tests/anonymity/test_risk.py against the sum over F
  Assumed:  the model. People who are alike are often in a table together, or not at all.

Benedetti, Franconi: Statistical and technological solutions for controlled data
dissemination (1998).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import hyp2f1

from letalone.anonymity.value_cells import Whole
from letalone.errors import ParameterError
from letalone.exact.typed import COUNT

SMALL = 1e-8  # shares below which 2F1 is computed by a recurrence
MIN_CHANCE = 1e-300  # below it, one in so many


@dataclass(frozen=True, slots=True)
class Risk:
    """Chances of being found; `population_uniques` are rows that stand for one person alone.

    `is_estimate` where a population was declared.
    """

    prosecutor: float
    journalist: float
    marketer: float
    population_uniques: float
    is_estimate: bool

    def __str__(self) -> str:
        about = "about " if self.is_estimate else ""
        return (
            f"prosecutor {self.prosecutor:.3g}, journalist {about}{self.journalist:.3g},"
            f" marketer {about}{self.marketer:.3g}"
        )


def risk_of(sizes: Whole, population: int | None, *, people: int | None = None) -> Risk:
    """The risks of a table whose groups have these sizes.

    `people` are fewer than all sizes together where a person is in several groups.
    """
    least, rows = int(sizes.min()), int(sizes.sum())
    alone = int((sizes == 1).sum())
    if population is None:
        return Risk(1 / least, 1 / least, len(sizes) / rows, alone, is_estimate=False)
    share = _share(rows if people is None else people, population)
    chance = _one_in(sizes, share)
    return Risk(
        prosecutor=1 / least,
        journalist=float(chance.max()),
        marketer=float(np.sum(sizes * chance) / rows),
        population_uniques=alone * share,
        is_estimate=True,
    )


def _share(people: int, population: int) -> float:
    number = int(COUNT.typed("population", population))
    if number < people:
        raise ParameterError(
            f"population is {number}, but the table has {people} people, so it must be that or"
            " more. It is the number of people that the table was taken from."
        )
    return people / number


def _one_in(sizes: Whole, share: float) -> NDArray[np.float64]:
    """E[1/F] for each group."""
    distinct, inverse = np.unique(sizes, return_inverse=True)
    if share == 1:
        return (1 / distinct)[inverse]
    if share < SMALL:
        expected = _one_in_of_a_small_share(distinct, max(share, MIN_CHANCE))
    else:
        expected = share / distinct * hyp2f1(1, 1, distinct + 1, 1 - share)
    return np.minimum(expected, 1 / distinct)[inverse]


def _one_in_of_a_small_share(sizes: Whole, share: float) -> NDArray[np.float64]:
    """The same, by the recurrence; what is left out is below 10^-14 of it."""
    odds = share / (1 - share)
    first = odds * np.log1p(1 / odds)
    before = np.where(sizes > 2, odds / np.maximum(sizes - 2, 1), first)
    return np.where(sizes == 1, first, odds * (1 / np.maximum(sizes - 1, 1) - before))
