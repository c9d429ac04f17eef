"""A number of the same table within a question: two questions, asked one after the other.

    SELECT COUNT(*) FROM visits WHERE age > (SELECT AVG(age) FROM visits)

The inner question is a release like any other, at a quarter of ε (all inner ones together). Its
answer stands in the outer one as a constant, which is asked with the rest. Nothing is asked where
the whole does not fit.

Theorem.  Both answers together cost what the two releases cost, ε in all.
  Proven:   sequential composition: the outer plan is a function of the text, of public facts and
            of the inner release; each release is charged by itself
  Tested:   tests/session/test_first_numbers.py: the charges, the split, an emptied table;
            tests/cli/test_query_two_questions.py
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, cast

from letalone.errors import BudgetExceeded, ParameterError
from letalone.errors.problem import Problem
from letalone.exact.typed import DELTA, EPSILON, Number
from letalone.privacy import Budget
from letalone.privacy.bounds import six
from letalone.privacy.filters import charge_filter, open_filter
from letalone.privacy.guard_rails import check_confirmed, find_risk
from letalone.session.backend import PricedQuestion, check_asked
from letalone.session.builder import FirstNumbers
from letalone.session.release import Release
from letalone.session.steps.in_steps import PricedInSteps, in_steps_here, is_paid

if TYPE_CHECKING:
    from letalone.session.pricing import Priced
    from letalone.session.query import Query

FIRST_SHARE = Fraction(1, 4)  # of epsilon, for all inner questions


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """The answer to an inner question, and the ε that was charged for it now."""

    sql: str
    release: Release
    paid: Fraction

    @property
    def number(self) -> Fraction:
        """What stands in the outer question."""
        outputs = self.release.outputs
        value = outputs[0].values[0] if outputs else None
        if not isinstance(value, int | float) or not isfinite(value):
            raise ParameterError(
                f"{self.sql} has no answer to go on with. It was charged; asked again, it is free."
            )
        return Fraction(str(value))  # as it is shown: few digits, not a binary fraction

    @property
    def range(self) -> tuple[float, float] | None:
        """From where to where it is, where that is known."""
        low, high = self.release.outputs[0].low, self.release.outputs[0].high
        if low is None or high is None:
            return None
        return float(cast("float", low[0])), float(cast("float", high[0]))

    def __str__(self) -> str:
        ends = "" if self.range is None else " [{:.6g}, {:.6g}]".format(*self.range)
        price = six(self.release.asked.epsilon)
        return f"{self.sql} is {float(self.number):.6g}{ends}, for ε = {price}."


@dataclass(frozen=True, slots=True)
class PricedBoth:
    """The inner questions and the outer one at their prices: nothing is spent until `ask_first`.

    epsilon: of all, as it was typed; delta: of the outer one. asked: the inner ones. outer: the
    other with 0 in the place of each number: its price does not depend on them.
    """

    first: FirstNumbers
    epsilon: Fraction
    delta: Fraction
    confidence: Number
    asked: tuple[PricedQuestion | PricedInSteps, ...]
    outer: PricedQuestion | PricedInSteps

    @property
    def share(self) -> Fraction:
        """The ε of each inner question."""
        return self.epsilon * FIRST_SHARE / len(self.first.asked)

    @property
    def rest(self) -> Fraction:
        """The ε of the outer question."""
        return self.epsilon * (1 - FIRST_SHARE)

    @property
    def offers(self) -> "tuple[Priced | PricedInSteps, ...]":
        """All of them in order, of a table in this process."""
        return tuple(in_steps_here(question) for question in (*self.asked, self.outer))

    @property
    def risk(self) -> Problem | None:
        """Why the price of all needs a second word; None where it does not."""
        risk = find_risk(self.epsilon)
        if risk is not None or not self._is_here:
            return risk
        return next((offer.risk for offer in self.offers if offer.risk is not None), None)

    @property
    def in_words(self) -> str:
        """That these are two questions, and how ε is split."""
        inner = " and ".join(sql for sql, _ in self.first.asked)
        each = " each" * (len(self.first.asked) > 1)
        many = "two" if not each else str(len(self.first.asked) + 1)
        return (
            f"These are {many} questions: first {inner}, with ε = {six(self.share)}{each}. The"
            f" answer stands in the other, which has the rest, ε = {six(self.rest)}."
        )

    @property
    def fits(self) -> bool:
        """Whether all tables have room for all charges that are due, as they stand."""
        *before, last = self._steps()
        due = [step for step in before if not is_paid(step)]
        return all(
            table.payer.fits(
                last.charge,
                after=[step.charge for step in due if table.name in {t.name for t in step.tables}],
            )
            for table in last.tables
        )

    def fits_into(self, budget: Budget) -> bool:
        """Whether a new budget, of which nothing is spent, would allow all."""
        try:
            state = open_filter(budget)
            for step in self._steps():
                state = charge_filter(state, step.terms.privacy, delta=step.terms.delta or None)
        except BudgetExceeded:
            return False
        return True

    def check_all_fit(self) -> None:
        """Nothing is asked where nothing would be left for the outer question.

        Where the inner ones are paid for, the outer one tells by itself whether it fits.
        """
        if not self._is_here:
            return
        inner = [step for offer in self.offers[:-1] for step in _steps_of(offer)]
        if all(is_paid(step) for step in inner) or self.fits:
            return
        raise BudgetExceeded(
            f"Both questions cost ε = {six(self.epsilon)} together, and do not fit into the budget."
            " Nothing was charged. Ask with a smaller epsilon."
        )

    def ask_first(self, *, confirm: bool) -> tuple[FirstAnswer, ...]:
        """The inner answers; a repeat is free."""
        self.check_all_fit()
        check_confirmed(self.risk, confirm=confirm)
        return tuple(self._ask(*question, confirm=confirm) for question in self.first.asked)

    def price_outer(self, answers: Sequence[FirstAnswer]) -> "PricedQuestion | PricedInSteps":
        """The outer question with the inner answers in it, at the rest."""
        outer = self.first.build([answer.number for answer in answers])
        return outer.price_in_steps(self.rest, delta=self.delta, confidence=self.confidence)

    def how_many_more(self) -> int | float:
        """About how many more questions of the whole ε fit, if nothing else is asked."""
        last = self._steps()[-1]
        price = {"epsilon": self.epsilon, "delta": self.delta, "confidence": self.confidence}
        return last.table.price(last.plan, **price).how_many_more()

    def _ask(self, sql: str, question: "Query", *, confirm: bool) -> FirstAnswer:
        # Priced anew: a row limit that was found for the one before is known by now.
        priced = question.price_in_steps(self.share, confidence=self.confidence)
        answer = replace(priced, confirmed=confirm).release()
        release = answer if isinstance(answer, Release) else answer.release
        known = Fraction(0) if isinstance(answer, Release) else answer.known_before
        price = self.share if isinstance(priced, PricedInSteps) else release.asked.epsilon
        return FirstAnswer(sql, release, Fraction(0) if release.repeated else price - known)

    @property
    def _is_here(self) -> bool:
        outer = self.outer
        return (outer.shown if isinstance(outer, PricedInSteps) else outer).is_here

    def _steps(self) -> "list[Priced]":
        """All that is charged, in order; the answer to the outer question is the last."""
        return [step for offer in self.offers for step in _steps_of(offer)]


def price_both(
    query: "Query", epsilon: Number, *, delta: Number = 0, confidence: Number = 0.95
) -> PricedBoth:
    """All questions at their shares of epsilon; no data is touched, and nothing is spent."""
    first = query.first
    assert first is not None, "there is nothing to ask first"
    total = EPSILON.typed("epsilon", epsilon)
    share = total * FIRST_SHARE / len(first.asked)
    inner = tuple(q.price_in_steps(share, confidence=confidence) for _, q in first.asked)
    outer = first.trial().price_in_steps(
        total * (1 - FIRST_SHARE), delta=delta, confidence=confidence
    )
    return PricedBoth(first, total, DELTA.typed("delta", delta), confidence, inner, outer)


def release_both(
    query: "Query", epsilon: Number, *, delta: Number, confidence: Number, confirm: bool = False
) -> Release:
    """The inner answers, then the outer one, which tells them, too."""
    check_asked(only_explained=query.only_explained)
    assert query.first is not None
    rows = {"max_rows": query.max_rows}
    groups = {"max_groups": query.max_groups, "clip": query.clip}
    first = query.first.change(
        lambda inner: replace(inner, **rows), lambda outer: replace(outer, **rows, **groups)
    )
    both = price_both(replace(query, first=first), epsilon, delta=delta, confidence=confidence)
    answers = both.ask_first(confirm=confirm)
    released = replace(both.price_outer(answers), confirmed=confirm).release()
    return tell_first(released if isinstance(released, Release) else released.release, answers)


def tell_first(release: Release, answers: Sequence[FirstAnswer]) -> Release:
    """The outer answer, with the inner ones in its remark."""
    standing = release.standing
    remark = " ".join(words for words in (standing.remark, "First:", *map(str, answers)) if words)
    return replace(release, standing=replace(standing, remark=remark))


def _steps_of(offer: "Priced | PricedInSteps") -> "tuple[Priced, ...]":
    if isinstance(offer, PricedInSteps):
        return *offer.purchases, offer.answer
    return (offer,)
