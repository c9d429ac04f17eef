"""How much a question takes to be priced, from its plan alone: free requests have an end.

A price, its errors and its SQL are computed before anything is charged, for whoever asks. What that
takes follows from the plan: most parts take about 3 ms, others as many times that as is said here
(measured by bench/curator_work.py). An error to keep is looked for at about 14 prices.

  Tested:   tests/curator/test_work.py
"""

from letalone.errors import ParameterError
from letalone.plans.formulas import Aggregate, flattened
from letalone.plans.pairs import Regression, TwoClamped
from letalone.plans.parts import (
    Deviation,
    Extreme,
    Histogram,
    Mean,
    MostFrequent,
    PrivateBounds,
    Quantiles,
    Variance,
)
from letalone.plans.query import Plan

FOR_BOUNDS, FOR_TWO = 60, 3
CELLS, EDGES, CANDIDATES = 2_000, 50, 10  # so many take as long as a part
SEARCHED = (Mean, Variance, Deviation, TwoClamped, Regression)  # whose errors take long to find
FOR_ERRORS = 3


def check_work(plan: Plan, most: int, *, error: bool = False) -> None:
    """Refuses a plan that takes longer to be priced than a free request may."""
    parts = [one for _, one in flattened(plan.aggregates)]
    found = sum(_work(one) * (FOR_ERRORS if error and _is_searched(one) else 1) for one in parts)
    if found > most:
        why = " for an error to keep" if error else ""
        raise ParameterError(
            f"To price this question{why} takes {found:,} steps, and {most:,} is the most here."
            " Ask in parts: fewer aggregates, fewer quantiles, larger steps, or fewer candidates."
            " The operator can allow more (most_steps)."
        )


def _work(aggregate: Aggregate) -> int:
    match aggregate:
        case Quantiles(at=at):
            return 1 + len(at) * aggregate.cells // CELLS
        case Extreme():
            return 1 + aggregate.cells // CELLS
        case Histogram(edges=edges):
            return 1 + len(edges) // EDGES
        case MostFrequent(candidates=candidates):
            return 1 + len(candidates) // CANDIDATES
        case PrivateBounds():
            return FOR_BOUNDS
        case TwoClamped() | Regression():
            return FOR_TWO
        case _:
            return 1


def _is_searched(aggregate: Aggregate) -> bool:
    return isinstance(aggregate, SEARCHED)
