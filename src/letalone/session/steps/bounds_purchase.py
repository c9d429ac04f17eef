"""Finds bounds of columns that have none, from one row of each unit: with a fifth of ε.

The question is first planned with bounds that may come back (`TRIAL_BOUNDS`), the widest among
them. Bounds with which there is no answer (too narrow for the size of an expression, say) are
widened, at last to the widest: that looks at what was released. `in_steps` spends.

  Tested:   tests/session/test_bounds_purchase.py
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from letalone.answers.arranged import AS_IT_IS
from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import problem
from letalone.errors.remedies import AddBounds, ClampExpression, SetEpsilon
from letalone.plans.aggregates.facts import AggregateRequest
from letalone.plans.aggregates.formula_trees import Computable
from letalone.plans.aggregates.requests import private_bounds
from letalone.plans.typing import ColumnTypes, columns_of
from letalone.plans.wording import in_words
from letalone.sql.given_bounds import find_unbounded, give_bounds, is_open_ended

if TYPE_CHECKING:
    from letalone.session.pricing import Priced
    from letalone.session.query import Query

Bounds = Mapping[str, tuple[Fraction, Fraction]]
BOUNDS_SHARE = Fraction(1, 5)  # of epsilon, where bounds are bought
WIDEST_BOUNDS = (-Fraction(2**62), Fraction(2**62))  # of the bounds that can be bought
# Bounds to plan with before any are bought: the first are shown. With the next two there are as
# many steps as there can be, 100,000 between whole numbers and 2,500 between numbers. With the
# widest, values of an expression are as large as they can be, and a divisor is 0 if it can be.
TRIAL_BOUNDS = (
    (Fraction(0), Fraction(1)),
    (Fraction(0), Fraction(99_999)),
    (Fraction(0), Fraction(4_999_999, 10**6)),
    WIDEST_BOUNDS,
)
MAX_ROWS_BEYOND = 1_000  # rows that may lie beyond bounds that are bought


def lacking_bounds(query: "Query") -> tuple[str, ...]:
    """The columns that are added up and have no bounds; refused where theirs would not help."""
    columns = columns_of(query.rows, joins=query.joins, derived=query.derived)
    aggregates = _computable(query)
    lacking = tuple(find_unbounded(aggregates, columns))
    widest = give_bounds(aggregates, dict.fromkeys(lacking, WIDEST_BOUNDS))
    for name, aggregate in widest.items():
        _check_closed(name, aggregate, columns)
    return lacking


def with_trial_bounds(query: "Query") -> "Query":
    """The question with the first of the trial bounds, as if they were bought."""
    return with_bounds(query, dict.fromkeys(lacking_bounds(query), TRIAL_BOUNDS[0]))


def _check_closed(name: str, aggregate: Computable, columns: ColumnTypes) -> None:
    """Bounds of columns do not help where one is divided by what may be 0."""
    if not is_open_ended(aggregate, columns):
        return
    expression = aggregate.of if isinstance(aggregate, AggregateRequest) else None
    words = name if expression is None else in_words(expression)
    remedy = ClampExpression("expression" if expression is None else words)
    raise ParameterError(problem(Code.MISSING_EXPRESSION_BOUNDS, remedy, expression=words))


def _computable(query: "Query") -> dict[str, Computable]:
    """The aggregates that may lack bounds: those of a plan have all that they need."""
    named = dict(query.aggregates)
    return {
        name: aggregate for name, aggregate in named.items() if isinstance(aggregate, Computable)
    }


def with_bounds(query: "Query", bounds: Bounds) -> "Query":
    """The question with these bounds of its columns."""
    if not bounds:
        return query
    known = give_bounds(_computable(query), bounds)
    aggregates = tuple((name, known.get(name, aggregate)) for name, aggregate in query.aggregates)
    return replace(query, aggregates=aggregates)


def bounds_question(query: "Query", columns: tuple[str, ...]) -> "Query":
    """The bounds, of one row of each unit: more rows would cost more and tell little."""
    one_row = None if query.table.schema.unit is None or query.before is not None else 1
    return replace(
        query,
        groups=(),
        keys=None,
        aggregates=tuple((name, private_bounds(name)) for name in columns),
        max_rows=one_row,
        max_groups=None,
        clip=False,
        arrangement=AS_IT_IS,
        only_explained=False,
    )


def check_beyond(purchase: "Priced", columns: tuple[str, ...], epsilon: Fraction) -> None:
    """Bounds that no table is large enough for are not bought."""
    rows = rows_beyond(purchase)
    if rows <= MAX_ROWS_BEYOND:
        return
    enough = Context(prec=2, rounding=ROUND_CEILING).plus(
        Decimal(float(epsilon) * rows / MAX_ROWS_BEYOND)
    )
    raise ParameterError(
        problem(
            Code.BOUNDS_TOO_RISKY,
            AddBounds(columns),
            SetEpsilon(float(enough)),
            columns=columns,
            rows=f"{rows:,.0f}",
            most=f"{MAX_ROWS_BEYOND:,}",
        )
    )


def rows_beyond(purchase: "Priced") -> float:
    """How many rows, one of each unit, may lie beyond a bound: a function of public facts."""
    parts = purchase.compiled.parts
    return max(error or 0 for part in parts for error in part.errors.values())


def wider_bounds(bounds: Bounds) -> Iterator[Bounds]:
    """Ever wider, each end by the width before, up to the widest."""
    least, largest = WIDEST_BOUNDS
    while any(ends != WIDEST_BOUNDS for ends in bounds.values()):
        yield bounds
        bounds = {
            name: (max(2 * low - high, least), min(2 * high - low, largest))
            for name, (low, high) in bounds.items()
        }
    yield bounds
