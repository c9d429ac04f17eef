"""What is said where a charge does not fit: what is spent and left, and the most that would fit.

Tested:   tests/session/test_largest.py
"""

from collections.abc import Callable
from dataclasses import dataclass

from letalone.errors import BudgetExceeded
from letalone.errors.codes import Code
from letalone.errors.problem import Fact, Problem, Remedy
from letalone.errors.remedies import LowerEpsilon, RaiseBudget
from letalone.ledger.data_sets import DataSet
from letalone.privacy import Budget, Privacy
from letalone.privacy.budget import brief

ON_DELTA = (
    "Only a share of the budget's δ is set aside for answers with a δ of their own, such as those"
    " that find groups."
)


@dataclass(frozen=True, slots=True)
class Repricing:
    """The same at another price: what was asked for, and the curve at any (ε, δ)."""

    asked: Budget
    curve_at: Callable[[Budget], Privacy]


def exceeded_budget(
    what: str, data_set: DataSet, refused: BudgetExceeded, *, fits: Budget | None, advice: str
) -> BudgetExceeded:
    """The refusal of a data set; `what` begins it, and `advice` ends it where nothing better is
    known."""
    end = _offer(fits, refused) or advice
    words = (
        f"{what} and does not fit into the budget of {data_set.name!r}, ({data_set.budget}):"
        f" ({brief(data_set.spent)}) is spent, so about ({brief(data_set.remaining, up=False)}) is"
        f" left. Nothing was spent; the ledger records the refusal. {end}"
    )
    raised = RaiseBudget(data_set.name)
    return BudgetExceeded(
        _describe_excess(words, fits, raised, name=data_set.name, budget=data_set.budget),
        spent=data_set.spent,
        asked=refused.asked,
        left=data_set.remaining,
    )


def exceeded_level(what: str, refused: BudgetExceeded, *, fits: Budget | None) -> BudgetExceeded:
    """The refusal of a purpose's or an analyst's share."""
    used, remaining = refused.spent or Budget(0), refused.left or Budget(0)
    offer = _offer(fits, refused) or "Ask with a smaller epsilon, ask less,"
    words = (
        f"{what} and does not fit into the limit of {refused.level}: ({brief(used)}) is"
        f" used, so about ({brief(remaining, up=False)}) is left. Nothing was spent; the ledger"
        f" records the refusal. {offer} {'Or' if fits else 'or'} ask the owner for more."
    )
    return BudgetExceeded(
        _describe_excess(words, fits),
        spent=refused.spent,
        asked=refused.asked,
        left=refused.left,
        level=refused.level,
    )


def exceeded_together(words: str, data_set: DataSet, *, fits: Budget | None) -> BudgetExceeded:
    """The refusal of several charges that are made one after the other."""
    offer = "" if fits is None else f" {_most(fits)}"
    return BudgetExceeded(
        _describe_excess(f"{words}{offer}", fits), spent=data_set.spent, left=data_set.remaining
    )


def _offer(fits: Budget | None, refused: BudgetExceeded) -> str:
    if fits is None:
        return ""
    is_less = refused.asked is not None and fits.delta < refused.asked.delta
    return f"{ON_DELTA} {_most(fits)}" if is_less else _most(fits)


def _most(fits: Budget) -> str:
    return f"The most that fits now: {fits}."


def _describe_excess(words: str, fits: Budget | None, *remedies: Remedy, **facts: Fact) -> Problem:
    """What does not fit: `words` say what to do, too, for answers and for fits."""
    if fits is None:
        lower = LowerEpsilon()
    else:
        lower = LowerEpsilon(float(fits.epsilon), float(fits.delta) if fits.delta else None)
        facts["fits"] = fits
    return Problem(Code.BUDGET_EXCEEDED, facts, (lower, *remedies), words=words, advised=True)
