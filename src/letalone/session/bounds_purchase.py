"""Buys bounds privately, and then the answer: two charges, and never the first alone.

A fifth of ε buys the bounds of columns that have none, from one row of each unit; the rest is for
the answer. Bounds are bought only after the question was priced with bounds that may come back,
the widest among them, and if both charges fit into the budget. Bounds with which there is no
answer (too narrow for the size of an expression, say) are widened, at last to the widest: that
looks at what was released.

Theorem.  Whatever bounds come back, there is an answer, and the budget that was looked at has room
for it.
  Proven:   the last bounds that `_usable` tries are the widest; with them the question was priced,
            and its price after that of the bounds fitted, before the first charge. Prices depend
            on bounds by steps and sizes alone, of which `TRIAL_BOUNDS` have the most there can be
  Tested:   tests/session/test_bounds_purchase.py, tests/cli/test_query_two_steps.py
  Assumed:  nobody else spends the rest of the budget in between; if so, the bounds are kept, and
            cost nothing when the same is asked again
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from letalone.answers.arranged import AS_IT_IS
from letalone.errors import BudgetExceeded, LetaloneError, ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import problem
from letalone.errors.remedies import AddBounds, ClampExpression, SetEpsilon
from letalone.exact.typed import EPSILON, Number, as_typed
from letalone.plans.described import describe_open
from letalone.plans.facts import AggregateRequest
from letalone.plans.requests import private_bounds
from letalone.plans.trees import Computable
from letalone.plans.typing import ColumnTypes, columns_of
from letalone.plans.wording import in_words
from letalone.privacy import Budget
from letalone.privacy.filters import FilterState, brief, charge_filter, open_filter
from letalone.session.pricing import Priced, check_asked, priced_here
from letalone.session.release import Release
from letalone.sql.given_bounds import find_unbounded, give_bounds, is_open_ended

if TYPE_CHECKING:
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


@dataclass(frozen=True, slots=True)
class BoughtAnswer:
    """An answer, the bounds that were bought for it, and the question with them."""

    bounds: Bounds
    priced: Priced
    release: Release


@dataclass(frozen=True, slots=True)
class PricedWithBounds:
    """A question whose bounds are bought first, at a price: nothing is spent until `release`.

    purchase: the bounds of `columns`. trials: the answer with bounds that may come back, of which
    the first are shown, and the last are the widest.
    """

    query: "Query"
    columns: tuple[str, ...]
    purchase: Priced
    trials: tuple[Priced, ...]

    @property
    def answer(self) -> Priced:
        """The answer as it is shown before bounds are known: its price does not depend on them."""
        return self.trials[0]

    @property
    def total(self) -> Budget:
        """The price of all that is done; a delta only where the noise makes use of it."""
        terms = self.answer.terms
        pure = terms.privacy.worst_loss() is not None and terms.privacy.certain_leak() == 0
        return Budget(terms.epsilon + self.purchase.terms.epsilon, 0 if pure else terms.delta)

    @property
    def question(self) -> str:
        """The question in words; bounds that are not bought yet are left open."""
        return describe_open(self.trials[0].plan, self.trials[-1].plan)

    @property
    def rows_beyond(self) -> float:
        """How many rows, one of each unit, may lie beyond a bound: a function of public facts."""
        return _rows_beyond(self.purchase)

    @property
    def fits(self) -> bool:
        """Whether all tables have room for both charges as they stand."""
        first, charges = [self.purchase.charge], [trial.charge for trial in self.trials]
        return all(table.payer.fits(*charges, after=first) for table in self.answer.tables)

    def fits_into(self, budget: Budget) -> bool:
        """Whether a new budget, of which nothing is spent, would allow both."""
        try:
            state = _after(open_filter(budget), self.purchase)
            for trial in self.trials:
                _after(state, trial)
        except BudgetExceeded:
            return False
        return True

    def release(self) -> BoughtAnswer:
        """Buys the bounds, then the answer; a repeat of either is free."""
        check_asked(only_explained=self.query.only_explained)
        self._check_both_fit()
        bounds = self._buy()
        bounds, priced = self._usable(bounds)
        try:
            return BoughtAnswer(bounds, priced, priced.release())
        except BudgetExceeded as error:
            names = " and ".join(self.columns)
            refused = error.with_words(
                f"{error} The bounds of {names} are bought and kept: they are free."
            )
        raise refused

    def _check_both_fit(self) -> None:
        """Bounds are not bought where nothing would be left for the answer.

        Bounds that are paid for, or whose payment is gone on with, cost nothing more.
        """
        table, digest = self.purchase.table, self.purchase.terms.digest
        table.check_registered()
        if self.fits or table.ledger.repeat_of(table.name, digest) is not None:
            return
        if all(table.payer.begun_run(self.purchase.charge) for table in self.purchase.tables):
            return
        data_set = table.standing()
        error = BudgetExceeded(
            f"Bounds and answer cost ({brief(self.total)}) together, and do not fit into the budget"
            f" of {table.name!r}, ({data_set.budget}): about"
            f" ({brief(data_set.remaining, up=False)}) is left. Nothing was charged; the refusal is"
            " written down.",
            spent=data_set.spent,
            left=data_set.remaining,
        )
        asker = table.asker
        table.ledger.refuse(
            table.name, error, digest=digest, analyst=asker.analyst, purpose=asker.purpose
        )
        raise error

    def _buy(self) -> Bounds:
        (row,) = self.purchase.release().rows()
        ends = {name: (row[f"{name}_lower"], row[f"{name}_upper"]) for name in self.columns}
        return {name: (as_typed(lower), as_typed(upper)) for name, (lower, upper) in ends.items()}

    def _usable(self, bought: Bounds) -> tuple[Bounds, Priced]:
        """The narrowest bounds around these with which there is an answer that fits."""
        near = next(
            priced for priced in map(self._tried, _wider_bounds(bought)) if priced is not None
        )
        widest = dict.fromkeys(self.columns, WIDEST_BOUNDS), self.trials[-1]
        return next((choice for choice in (near, widest) if _can_be_had(choice[1])), near)

    def _tried(self, bounds: Bounds) -> tuple[Bounds, Priced] | None:
        if all(ends == WIDEST_BOUNDS for ends in bounds.values()):
            return bounds, self.trials[-1]
        terms = self.answer.terms
        try:
            priced = _with_bounds(self.query, bounds).price(
                terms.epsilon, delta=terms.delta, confidence=terms.confidence
            )
            return bounds, priced_here(priced)
        except LetaloneError:
            return None


def price_with_bounds(
    query: "Query", epsilon: Number, *, delta: Number = 0, confidence: Number = 0.95
) -> Priced | PricedWithBounds:
    """The question at a price, with the bounds that it lacks, which are bought first.

    `epsilon` is the price of both. Where nothing lacks bounds it is a price like any other.
    """
    columns = lacking_bounds(query)
    if not columns:
        return priced_here(query.price(epsilon, delta=delta, confidence=confidence))
    total = EPSILON.typed("epsilon", epsilon)
    share = total * BOUNDS_SHARE
    trials = [
        _with_bounds(query, dict.fromkeys(columns, ends)).price(
            total - share, delta=delta, confidence=confidence
        )
        for ends in TRIAL_BOUNDS
    ]
    purchase = priced_here(_purchase(query, columns).price(share, confidence=confidence))
    _check_beyond(purchase, columns, total)
    return PricedWithBounds(query, columns, purchase, tuple(map(priced_here, trials)))


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
    return _with_bounds(query, dict.fromkeys(lacking_bounds(query), TRIAL_BOUNDS[0]))


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


def _with_bounds(query: "Query", bounds: Bounds) -> "Query":
    known = give_bounds(_computable(query), bounds)
    aggregates = tuple((name, known.get(name, aggregate)) for name, aggregate in query.aggregates)
    return replace(query, aggregates=aggregates)


def _purchase(query: "Query", columns: tuple[str, ...]) -> "Query":
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


def _check_beyond(purchase: Priced, columns: tuple[str, ...], epsilon: Fraction) -> None:
    """Bounds that no table is large enough for are not bought."""
    rows = _rows_beyond(purchase)
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


def _rows_beyond(purchase: Priced) -> float:
    parts = purchase.compiled.parts
    return max(error or 0 for part in parts for error in part.errors.values())


def _after(state: FilterState, priced: Priced) -> FilterState:
    return charge_filter(state, priced.terms.privacy, delta=priced.terms.delta or None)


def _can_be_had(priced: Priced) -> bool:
    """Whether it was answered before, or what is left allows it."""
    table = priced.table
    return table.ledger.repeat_of(table.name, priced.terms.digest) is not None or priced.fits


def _wider_bounds(bounds: Bounds) -> Iterator[Bounds]:
    """Ever wider, each end by the width before, up to the widest."""
    least, largest = WIDEST_BOUNDS
    while any(ends != WIDEST_BOUNDS for ends in bounds.values()):
        yield bounds
        bounds = {
            name: (max(2 * low - high, least), min(2 * high - low, largest))
            for name, (low, high) in bounds.items()
        }
    yield bounds
