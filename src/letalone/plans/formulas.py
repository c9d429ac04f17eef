"""Formulas over aggregates, for a table: their parts filled in, and ratios that are means.

Theorem.  A formula reveals what its parts reveal, since it is computed on their noisy answers.
SUM(x) / COUNT(x), and SUM(x) / COUNT(*) where no row lacks x, are the mean of x: it is asked
for instead, and its interval treats sum and count jointly.
  Proven:   post-processing; a sum over the rows with x divided by their number
  Tested:   tests/plans/test_formulas.py, tests/tables/test_formulas.py
"""

from collections.abc import Callable

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.exact.typed import refusal
from letalone.plans.expressions import same
from letalone.plans.parts import (
    Aggregate,
    Count,
    CountPresent,
    Formula,
    Histogram,
    Mean,
    PrivateBounds,
    Quantiles,
    Regression,
    Sum,
    TopK,
)
from letalone.plans.trees import (
    Answered,
    Applied,
    AskedFormula,
    Combined,
    Computable,
    Constant,
    Tree,
    checked,
    renumbered,
    used,
)
from letalone.plans.typing import Columns

SEVERAL = (Histogram, TopK, PrivateBounds, Regression, Formula)
Resolve = Callable[[Computable], Aggregate]


def resolved_formula(asked: AskedFormula, columns: Columns, resolve: Resolve) -> Aggregate:
    """The formula over the columns of a table; where it is one aggregate, that."""
    if not asked.parts:
        raise ParameterError("A formula needs an aggregate: it is a constant. Add la.count().")
    parts = [resolve(part) for part in asked.parts]
    for part in parts:
        _check_single(part)
    tree = _with_means(checked(asked.tree), parts, columns)
    numbers = used(tree)
    if isinstance(tree, Answered):
        return parts[tree.part]
    places = {number: place for place, number in enumerate(numbers)}
    order = [places.get(number, 0) for number in range(len(parts))]
    return Formula(tuple(parts[number] for number in numbers), renumbered(tree, order))


def check_formula(formula: Formula, check: Callable[[Aggregate], None]) -> None:
    """Refuses a formula that is damaged, or whose parts cannot be answered."""
    tree = checked(formula.tree)
    if not formula.parts or used(tree) != list(range(len(formula.parts))):
        raise refusal("formula", formula.tree, "a tree that reads each part, in order")
    for part in formula.parts:
        _check_single(part)
        check(part)


def _check_single(part: Aggregate) -> None:
    if isinstance(part, SEVERAL) or (isinstance(part, Quantiles) and len(part.at) > 1):
        raise UnsupportedQuery(
            f"A formula has {type(part).__name__} in it, which answers with several numbers. Use"
            " aggregates with one number, such as la.count() and la.sum(…)."
        )


def _with_means(tree: Tree, parts: list[Aggregate], columns: Columns) -> Tree:
    """The tree with ratios that are means in place; `parts` grows by these."""
    match tree:
        case Combined("/", Answered(top), Answered(bottom)):
            found = _mean(parts[top], parts[bottom], columns)
            return tree if found is None else Answered(_added(found, parts))
        case Combined(op, left, right):
            pair = (_with_means(one, parts, columns) for one in (left, right))
            return Combined(op, *pair)
        case Applied(function, of, digits):
            return Applied(function, _with_means(of, parts, columns), digits)
        case Answered() | Constant():
            return tree


def _mean(top: Aggregate, bottom: Aggregate, columns: Columns) -> Mean | None:
    if not isinstance(top, Sum):
        return None
    rows = isinstance(bottom, Count) and not columns.type_of(top.of).nullable
    present = isinstance(bottom, CountPresent) and same(bottom.of, top.of)
    return Mean(top.of, top.lower, top.upper) if rows or present else None


def _added(found: Mean, parts: list[Aggregate]) -> int:
    if found not in parts:
        parts.append(found)
    return parts.index(found)
