"""Formulas over aggregates, for a table: their parts filled in, and ratios that are means.

Theorem.  A formula reveals what its parts reveal, since it is computed on their noisy answers.
SUM(x) / COUNT(x), and SUM(x) / COUNT(*) where no row lacks x, are the mean of x: it is asked
for instead, and its interval treats sum and count jointly.
  Proven:   post-processing; a sum over the rows with x divided by their number
  Tested:   tests/plans/test_formulas.py, tests/tables/test_formulas.py
"""

from collections.abc import Callable, Iterable
from functools import partial

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.exact.typed import refusal
from letalone.plans.aggregates import formula_trees as trees
from letalone.plans.aggregates.facts import (
    FACTS,
    AggregateFacts,
    aggregate,
    always,
    check_aggregate,
    facts_of,
)
from letalone.plans.aggregates.formula_trees import Computable, PartValue, Tree
from letalone.plans.aggregates.of_columns import ColumnAggregate, Count, CountPresent, Mean, Sum
from letalone.plans.aggregates.of_pairs import PairAggregate
from letalone.plans.bounds import resolve_all
from letalone.plans.expressions import Expression, nodes_in, same
from letalone.plans.records import STORED_NAMES, Json, StructuralEquality
from letalone.plans.typing import ColumnTypes


def _describe(formula: "Formula") -> str:
    return trees.in_words(formula.tree, [facts_of(part).describe(part) for part in formula.parts])


def _check(formula: "Formula", columns: ColumnTypes) -> None:
    tree = trees.check_tree(formula.tree)
    if not formula.parts or trees.parts_used(tree) != list(range(len(formula.parts))):
        raise refusal("formula", formula.tree, "a tree that reads each part, in order")
    for part in formula.parts:
        _check_single(part)
        check_aggregate(part, columns)


@aggregate(
    "Formula",
    title=always("formula"),
    describe=_describe,
    check=_check,
    is_single=lambda _: False,
    note=always("is computed from noisy numbers; its interval follows from theirs"),
)
class Formula(StructuralEquality):
    """A formula over aggregates with one number each, computed on their noisy answers."""

    parts: "tuple[Aggregate, ...]"
    tree: Tree


Aggregate = ColumnAggregate | PairAggregate | Formula
Resolve = Callable[[Computable], Aggregate]


def facts_of_stored(stored: Json) -> AggregateFacts | None:
    """The facts of an aggregate as it is stored; None where it is of no known kind."""
    return FACTS.get(str(stored.get("node")))


def with_formula_parts(aggregates: Iterable[tuple[str, Aggregate]]) -> list[tuple[str, Aggregate]]:
    """The aggregates with the parts of formulas in place of these, under `inner_name`."""
    flat: list[tuple[str, Aggregate]] = []
    for name, member in aggregates:
        if isinstance(member, Formula):
            flat += [(inner_name(name, number), part) for number, part in enumerate(member.parts)]
        else:
            flat.append((name, member))
    return flat


def inner_name(name: str, number: int) -> str:
    """The name of a part of a formula, which nobody can give to an aggregate."""
    return f"{name}\0{number}"


def shown_name(name: str) -> str:
    """The name of an aggregate, or of the formula that a part belongs to."""
    return name.partition("\0")[0]


def expressions_of(asked: Aggregate) -> tuple[Expression, ...]:
    """What an aggregate looks at in each row."""
    if isinstance(asked, Formula):
        return tuple(of for part in asked.parts for of in expressions_of(part))
    of, by = getattr(asked, "of", ()), getattr(asked, "by", ())
    return tuple(nodes_in((of, by)))


def resolve_formula(
    asked: trees.FormulaRequest, columns: ColumnTypes, resolve: Resolve
) -> Aggregate:
    """The formula over the columns of a table; where it is one aggregate, that."""
    if not asked.parts:
        raise ParameterError("A formula needs an aggregate: it is a constant. Add la.count().")
    parts = resolve_all(*(partial(resolve, part) for part in asked.parts))
    for part in parts:
        _check_single(part)
    tree = _with_means(trees.check_tree(asked.tree), parts, columns)
    numbers = trees.parts_used(tree)
    if isinstance(tree, PartValue):
        return parts[tree.part]
    places = {number: place for place, number in enumerate(numbers)}
    order = [places.get(number, 0) for number in range(len(parts))]
    return Formula(tuple(parts[number] for number in numbers), trees.renumber_parts(tree, order))


def _check_single(part: Aggregate) -> None:
    if not facts_of(part).is_single(part):
        raise UnsupportedQuery(
            f"A formula has {STORED_NAMES[type(part)]} in it, which answers with several numbers."
            " Use aggregates with one number, such as la.count() and la.sum(…)."
        )


def _with_means(tree: Tree, parts: list[Aggregate], columns: ColumnTypes) -> Tree:
    """The tree with ratios that are means in place; `parts` grows by these."""
    match tree:
        case trees.Operation("/", PartValue(top), PartValue(bottom)):
            mean = _mean(parts[top], parts[bottom], columns)
            return tree if mean is None else PartValue(_add_part(mean, parts))
        case trees.Operation(op, left, right):
            pair = (_with_means(side, parts, columns) for side in (left, right))
            return trees.Operation(op, *pair)
        case trees.FunctionCall(function, of, digits):
            return trees.FunctionCall(function, _with_means(of, parts, columns), digits)
        case PartValue() | trees.Constant():
            return tree


def _mean(top: Aggregate, bottom: Aggregate, columns: ColumnTypes) -> Mean | None:
    if not isinstance(top, Sum):
        return None
    rows = isinstance(bottom, Count) and not columns.type_of(top.of).nullable
    present = isinstance(bottom, CountPresent) and same(bottom.of, top.of)
    return Mean(top.of, top.lower, top.upper) if rows or present else None


def _add_part(found: Mean, parts: list[Aggregate]) -> int:
    if found not in parts:
        parts.append(found)
    return parts.index(found)
