"""Finds what a question leaves open, and then the answer: several charges, never the first alone.

A fifth of ε finds the bounds of columns that have none (`bounds_purchase`), a tenth the row limit
of `max_rows="auto"` (`row_limit`); the rest is for the answer. Nothing is spent before the question
was priced with what may come back, and unless all charges fit into the budget together.

The answer of `max_rows="auto"` has nine tenths of ε whether the limit is found now or was found
before. So the same question again is the same question, and free. A count or sum that names no
limit is asked like that while none is known; afterwards it has all of its ε, unless it was answered
or paid for before (`_without_search`).

Theorem.  Whatever comes back, there is an answer, and the budget that was looked at has room for
it.
  Proven:   the last that `_usable` tries are ten rows and the widest bounds; with them the question
            was priced, and its price after those before it fitted, before the first charge. Prices
            depend on bounds by steps and sizes alone, of which `TRIAL_BOUNDS` have the most
  Tested:   tests/session/test_bounds_purchase.py, tests/session/test_row_limit.py,
            tests/cli/test_query_two_steps.py
  Assumed:  nobody else spends the rest of the budget in between; if so, what was found is kept, and
            costs nothing when the same is asked again
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from letalone.answers import views
from letalone.answers.preview import Preview
from letalone.errors import BudgetExceeded, LetaloneError
from letalone.errors.problem import Problem
from letalone.exact.typed import DELTA, EPSILON, Number, as_typed
from letalone.ledger import DataSet
from letalone.ledger.exceeding import exceeded_together
from letalone.plans.described import describe_open
from letalone.plans.plan import USUAL_MAX_ROWS
from letalone.privacy import Budget
from letalone.privacy.bounds import six
from letalone.privacy.budget import brief
from letalone.privacy.filters import FilterState, charge_filter, open_filter
from letalone.privacy.guard_rails import check_confirmed, find_risk
from letalone.privacy.largest import largest_price
from letalone.session.backend import PricedQuestion, check_asked
from letalone.session.release import Release
from letalone.session.steps.bounds_purchase import (
    BOUNDS_SHARE,
    TRIAL_BOUNDS,
    WIDEST_BOUNDS,
    Bounds,
    bounds_question,
    check_beyond,
    lacking_bounds,
    rows_beyond,
    wider_bounds,
    with_bounds,
)
from letalone.session.steps.row_limit import (
    AUTO,
    LEVELS,
    ROWS_SHARE,
    TEN_ROWS,
    RowLimit,
    limit_in,
    price_limit,
    takes_limit,
)

if TYPE_CHECKING:
    from letalone.session.pricing import Priced
    from letalone.session.query import Query


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for a question, and the question with it at its price."""

    bounds: Bounds
    limit: RowLimit | None
    priced: PricedQuestion
    known_before: Fraction = Fraction(0)  # the ε of what was found before, and was free now


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAnswer(Found):
    """The same, and the answer."""

    release: Release


@dataclass(frozen=True, slots=True)
class PricedInSteps:
    """A question of which something is found first, at a price: nothing is spent until `release`.

    epsilon: of all, as it was typed; delta, confidence: of the answer. bounds: the search for the
    bounds of `columns`. limit: that for the row limit; None where it is known. trials: the answer
    with what may come back, of which the first is shown, and the last has the widest bounds.
    """

    query: "Query"
    epsilon: Fraction
    delta: Fraction
    confidence: Number
    columns: tuple[str, ...]
    bounds: PricedQuestion | None
    limit: PricedQuestion | None
    trials: tuple[PricedQuestion, ...]
    confirmed: bool = False  # whether a price that protects hardly anybody is meant

    @property
    def risk(self) -> Problem | None:
        """Why the price of all needs a second word; None where it does not."""
        answer = self.shown
        return find_risk(self.epsilon) or (answer.here().risk if answer.is_here else None)

    @property
    def shown(self) -> PricedQuestion:
        """The answer as it is shown before anything is found: its price does not depend on it."""
        return self.trials[0]

    @property
    def answer(self) -> "Priced":
        """The same, of a table in this process."""
        return self.shown.here()

    @property
    def purchases(self) -> "tuple[Priced, ...]":
        """What is found before the answer, in order, of a table in this process."""
        return tuple(step.here() for step in (self.limit, self.bounds) if step is not None)

    @property
    def question(self) -> str:
        """The question in words; bounds that are not found yet are left open."""
        return describe_open(self.answer.plan, self.trials[-1].here().plan)

    @property
    def total(self) -> Budget:
        """The price of all that is done; a delta only where the noise makes use of it."""
        terms = self.answer.terms
        pure = terms.privacy.worst_loss() is not None and terms.privacy.certain_leak() == 0
        before = sum((purchase.terms.epsilon for purchase in self.purchases), Fraction(0))
        return Budget(terms.epsilon + before, 0 if pure else terms.delta)

    @property
    def rows_beyond(self) -> float:
        """How many rows, one of each unit, may lie beyond a bound: a function of public facts."""
        return 0 if self.bounds is None else rows_beyond(self.bounds.here())

    @property
    def fits(self) -> bool:
        """Whether all tables have room for all charges as they stand."""
        return self._fit_after(self.purchases)

    def fits_into(self, budget: Budget) -> bool:
        """Whether a new budget, of which nothing is spent, would allow all."""
        try:
            state = open_filter(budget)
            for purchase in self.purchases:
                state = _after(state, purchase)
            for trial in self.trials:
                _after(state, trial.here())
        except BudgetExceeded:
            return False
        return True

    def preview(self, rows: int | None = None) -> Preview:
        """That of the answer, and what is found before it; `rows` as in `Query.preview`."""
        return replace(self.shown.preview(rows), found_first=self.found_first)

    def explain(self, *, sql: bool = False) -> str:
        """The same in words, and the SQL of the answer."""
        return f"{views.flowing([self.found_first])}\n{self.shown.explain(sql=sql)}"

    @property
    def found_first(self) -> str:
        """How the row limit is found, and what the errors assume until it is known."""
        if self.limit is None:
            return ""
        unit, share = self.query.table.schema.unit, six(self._limit_epsilon)
        words = f"First ε = {share} finds how many rows per {unit} count whole"
        sentence = f"{words}; with the answer that is ε = {six(self.epsilon)}."
        if self.shown.limit != TEN_ROWS:
            return sentence
        return f"{sentence} The errors are for {USUAL_MAX_ROWS} rows, and grow with that number."

    def release(self) -> FoundAnswer:
        """Finds what is open, then the answer; a repeat of either is free."""
        known = self.find()
        try:
            answer = known.priced.release()
        except BudgetExceeded as error:
            refused = error.with_words(f"{error} {self._what}")
        else:
            return FoundAnswer(
                known.bounds, known.limit, known.priced, known.known_before, release=answer
            )
        raise refused

    def how_many_more(self) -> int | float:
        """About how many more questions of the whole ε fit, if nothing else is asked."""
        price = {"epsilon": self.epsilon, "delta": self.delta, "confidence": self.confidence}
        trial = with_bounds(self.query, dict.fromkeys(self.columns, TRIAL_BOUNDS[0]))
        return self.query.table.price(trial.plan, **price).how_many_more()

    def find(self) -> Found:
        """Finds what is open; the question with it is priced, and not answered yet."""
        check_asked(only_explained=self.query.only_explained)
        self._check_all_fit()
        if not self.confirmed:
            check_confirmed(self.risk, confirm=False)
        limit, first = self._find_limit()
        bounds, second = self._find_bounds()
        return replace(self._usable(limit, bounds), known_before=first + second)

    @property
    def _what(self) -> str:
        if not self.columns:
            return "The row limit is found and kept: it is free."
        names = " and ".join(self.columns)
        limit = "The row limit and the" if self.limit is not None else "The"
        return f"{limit} bounds of {names} are found and kept: they are free."

    def _check_all_fit(self) -> None:
        """Nothing is found where nothing would be left for the answer.

        What is paid for, or whose payment is gone on with, costs nothing more.
        """
        if not self.shown.is_here:
            self._check_fits_elsewhere()
            return
        table = self.answer.table
        table.check_registered()
        due = [purchase for purchase in self.purchases if not is_paid(purchase)]
        if not due or self._fit_after(due):
            return
        data_set = table.standing()
        what = [*["Row limit"] * (self.limit is not None), *["bounds"] * (self.bounds is not None)]
        words = " and ".join([", ".join(what), "answer"])
        error = exceeded_together(
            f"{words[0].upper()}{words[1:]} cost ({brief(self.total)}) together, and do not fit"
            f" into the budget of {table.name!r}, ({data_set.budget}): about"
            f" ({brief(data_set.remaining, up=False)}) is left. Nothing was spent; the ledger"
            " records the refusal.",
            data_set,
            fits=self._largest(data_set),
        )
        asker, digest = table.asker, due[0].terms.digest
        table.ledger.refuse(
            table.name, error, digest=digest, analyst=asker.analyst, purpose=asker.purpose
        )
        raise error

    def _largest(self, data_set: DataSet) -> Budget | None:
        """The most that all may cost together, as the budget stands."""
        state = data_set.state

        def fits(price: Budget) -> bool:
            try:
                priced = price_in_steps(
                    self.query,
                    price.epsilon,
                    delta=price.delta,
                    confidence=self.confidence,
                    find_bounds=bool(self.columns),
                )
            except LetaloneError:
                return False
            return in_steps_here(priced).fits

        left = Budget(state.remaining.epsilon, state.leak_left)
        return largest_price(fits, Budget(self.epsilon, self.delta), left=left)

    def _check_fits_elsewhere(self) -> None:
        """One answer at the whole ε costs as much as all of them, or more."""
        if self.how_many_more() < 1:
            raise BudgetExceeded(
                f"Row limit and answer cost (ε = {float(self.epsilon):g}) together, and do not fit"
                " into your budget. Nothing was charged. Ask with a smaller epsilon."
            )

    def _fit_after(self, purchases: "tuple[Priced, ...] | list[Priced]") -> bool:
        paying = [({table.name for table in p.tables}, p.charge) for p in purchases]
        charges = [trial.here().charge for trial in self.trials]
        return all(
            table.payer.fits(
                *charges, after=[charge for names, charge in paying if table.name in names]
            )
            for table in self.answer.tables
        )

    def _find_limit(self) -> tuple[RowLimit | None, Fraction]:
        """The row limit, and its price where it was free."""
        if self.limit is None:
            kept = self.query.table.kept_limit() if self.query.max_rows == AUTO else None
            return (None if kept is None else kept.limit), Fraction(0)
        table = self.query.table
        table.announce_limit(self.limit)
        release = replace(self.limit, confirmed=True).release()
        kept = table.kept_limit()  # it may have been found before, and is read as it was then
        limit = limit_in(release) if kept is None else kept.limit
        table.learn_limit(limit)
        return limit, _free(release)

    def _find_bounds(self) -> tuple[Bounds, Fraction]:
        """The bounds, and their price where they were free."""
        if self.bounds is None:
            return {}, Fraction(0)
        release = replace(self.bounds, confirmed=True).release()
        (row,) = release.rows()
        ends = {name: (row[f"{name}_lower"], row[f"{name}_upper"]) for name in self.columns}
        read = {name: (as_typed(lower), as_typed(upper)) for name, (lower, upper) in ends.items()}
        return read, _free(release)

    def _usable(self, limit: RowLimit | None, bought: Bounds) -> Found:
        """The narrowest bounds around these, and the highest limit up to this, that can be had."""
        first = None
        for choice in self._choices(limit, bought):
            if _can_be_had(choice.priced):
                return choice
            first = first or choice
        assert first is not None, "with ten rows and the widest bounds it was priced"
        return first

    def _choices(self, limit: RowLimit | None, bought: Bounds) -> Iterator[Found]:
        for lower in _lower_limits(limit):
            near = self._nearest(lower, bought)
            if near is not None:
                yield near
        ten = None if limit is None else limit.at_most(USUAL_MAX_ROWS)
        widest = self._try(ten, dict.fromkeys(self.columns, WIDEST_BOUNDS))
        if widest is not None:
            yield widest

    def _nearest(self, limit: RowLimit | None, bought: Bounds) -> Found | None:
        tried = (self._try(limit, bounds) for bounds in wider_bounds(bought))
        return next((attempt for attempt in tried if attempt is not None), None)

    def _try(self, limit: RowLimit | None, bounds: Bounds) -> Found | None:
        try:
            priced = _price_answer(
                replace(self.query, limit=limit),
                bounds,
                self._answer_epsilon,
                delta=self.delta,
                confidence=self.confidence,
            )
        except LetaloneError:
            return None
        return Found(bounds, limit, replace(priced, confirmed=True))

    @property
    def _limit_epsilon(self) -> Fraction:
        """What somebody else has paid for is asked for at the same price: it costs nothing more."""
        kept = self.query.table.kept_limit()
        return self.epsilon * ROWS_SHARE if kept is None else kept.limit.epsilon

    @property
    def _answer_epsilon(self) -> Fraction:
        limited = self.query.max_rows == AUTO
        return self.epsilon * (1 - ROWS_SHARE * limited - BOUNDS_SHARE * bool(self.columns))


def price_in_steps(
    query: "Query",
    epsilon: Number,
    *,
    delta: Number = 0,
    confidence: Number = 0.95,
    find_bounds: bool = False,
) -> PricedQuestion | PricedInSteps:
    """The question at a price, with what it lacks, which is found first.

    `epsilon` is the price of all. Where nothing has to be found it is a price like any other.
    """
    columns = lacking_bounds(query) if find_bounds else ()
    trial = with_bounds(query, dict.fromkeys(columns, TRIAL_BOUNDS[0]))
    if _finds_limit(trial):
        price = {"delta": delta, "confidence": confidence}
        known = None if columns else _without_search(query, epsilon, **price)
        if known is not None:
            return known
        query = replace(query, max_rows=AUTO)
    elif query.max_rows == AUTO and trial.plan.bounding.max_rows is None:
        query = replace(query, max_rows=None)  # units are counted, so there is nothing to limit
    is_auto = query.max_rows == AUTO
    if not columns and not is_auto:
        return query.price(epsilon, delta=delta, confidence=confidence)
    total, kept = EPSILON.typed("epsilon", epsilon), query.table.kept_limit() if is_auto else None
    priced = PricedInSteps(
        query, total, DELTA.typed("delta", delta), confidence, columns, None, None, ()
    )
    known = None if kept is None else kept.limit
    rest = priced._answer_epsilon  # pyright: ignore[reportPrivateUsage]
    price = {"delta": delta, "confidence": confidence}
    if not columns and kept is not None and kept.is_paid:
        return _price_answer(replace(query, limit=known), {}, rest, **price)
    # Ten rows are shown first and tried last, where none are known.
    shown = replace(query, limit=known or (TEN_ROWS if is_auto else None))
    trials = [
        _price_answer(shown, dict.fromkeys(columns, ends), rest, **price)
        for ends in (TRIAL_BOUNDS if columns else TRIAL_BOUNDS[:1])
    ]
    bounds = None
    if columns:
        share = total * BOUNDS_SHARE
        bounds = bounds_question(query, columns).price(share, confidence=confidence).here()
        check_beyond(bounds, columns, total)
    limit = None
    if is_auto and (kept is None or not kept.is_paid):
        limit = price_limit(query, priced._limit_epsilon)  # pyright: ignore[reportPrivateUsage]
    return replace(priced, bounds=bounds, limit=limit, trials=tuple(trials))


def _free(release: Release) -> Fraction:
    """The ε of an answer that was given before, and cost nothing now."""
    return release.asked.epsilon if release.repeated else Fraction(0)


def _finds_limit(query: "Query") -> bool:
    """Whether a row limit is found for a question that names none."""
    is_open = query.max_rows is None and query.limit is None and query.given_plan is None
    if not (is_open and query.table.finds_limits):
        return False
    try:
        return takes_limit(replace(query, max_rows=USUAL_MAX_ROWS).plan)
    except LetaloneError:
        return False  # its price tells what is missing


def _without_search(
    query: "Query", epsilon: Number, *, delta: Number, confidence: Number
) -> PricedQuestion | None:
    """The question that names no limit, where none has to be found: it is kept, or was not found
    when the same was answered before. What was answered while it was found is free, too.
    """
    usual = query.price_as_it_is(epsilon, delta=delta, confidence=confidence)
    if query.table.kept_limit() is None:
        return usual if is_paid(usual) else None
    rest = EPSILON.typed("epsilon", epsilon) * (1 - ROWS_SHARE)
    first = query.price_as_it_is(rest, delta=delta, confidence=confidence)
    return first if is_paid(first) and not is_paid(usual) else usual


def in_steps_here(priced: PricedQuestion | PricedInSteps) -> "Priced | PricedInSteps":
    """A price with all that it is made of; refused where a service made it."""
    return priced if isinstance(priced, PricedInSteps) else priced.here()


def _price_answer(
    query: "Query", bounds: Bounds, epsilon: Fraction, *, delta: Number, confidence: Number
) -> PricedQuestion:
    return with_bounds(query, bounds).price_as_it_is(epsilon, delta=delta, confidence=confidence)


def _lower_limits(limit: RowLimit | None) -> Iterator[RowLimit | None]:
    """The limit, then lower ones down to ten rows, for a question that so many rows overflow."""
    yield limit
    if limit is not None:
        for level in reversed(LEVELS):
            if USUAL_MAX_ROWS <= level < limit.rows:
                yield limit.at_most(level)


def is_paid(priced: PricedQuestion) -> bool:
    """Whether it was answered before, or paid for and interrupted."""
    if not priced.is_here or not priced.here().table.is_known:
        return False
    here = priced.here()
    if _was_answered(here):
        return True
    return all(table.payer.begun_run(here.charge) for table in here.tables)


def _was_answered(priced: "Priced") -> bool:
    table = priced.table
    digests = (charge.digest for charge in priced.charges)
    return any(table.ledger.repeat_of(table.name, digest) is not None for digest in digests)


def _after(state: FilterState, priced: "Priced") -> FilterState:
    return charge_filter(state, priced.terms.privacy, delta=priced.terms.delta or None)


def _can_be_had(priced: PricedQuestion) -> bool:
    """Whether it was answered before, or what is left allows it; a service tells when asked."""
    if not priced.is_here:
        return True
    here = priced.here()
    return _was_answered(here) or here.fits
