"""An error relative to the answer, "1 %": how large the answer is must be found first, privately.

    visits.agg(n=la.count()).release(error="1 %", epsilon=1)

ε is the most that all may cost. The question is asked with very little of it, then with twice as
much, until its answer is seen to be far from 0; what 1 % of it needs is then asked for. A fifth of
ε at most goes into the search, which for a large number is a small part of what 1 % costs.

Theorem.  Each step is a charge of its own, whose price is a function of public numbers and of
earlier answers; the filter of the budget is sound for such prices. The last answer is drawn anew,
and its price depends on the others alone, so its interval holds as often as any.
  Proven:   docs/explanation/proofs/filters.md; the sum of all prices is at most ε by construction
  Tested:   tests/session/test_relative_error.py
  Assumed:  the width of an interval falls as ε grows, in proportion: if not, the interval of the
            answer says how wide it is
"""

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from letalone.answers.release import ReleaseRecord
from letalone.errors import BudgetExceeded, ParameterError
from letalone.exact.typed import EPSILON, Number, as_typed, read_flag
from letalone.privacy.bounds import six
from letalone.privacy.guard_rails import check_confirmed, find_risk
from letalone.privacy.largest import round_down, round_up
from letalone.session.backend import PricedQuestion
from letalone.session.release import Release

if TYPE_CHECKING:
    from letalone.session.query import Query

PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")
SEARCH_SHARE = Fraction(1, 5)  # of ε, the most that the search may cost
FIRST_SHARE = Fraction(1, 500)  # of ε, for the first look
FAR_FROM_0 = 3  # a number is this many times as large as half of its interval, or more
HOW = 'Such as release(error="1 %", epsilon=1): 1 % of the answer, for ε = 1 at most.'


@dataclass(frozen=True, slots=True)
class Search:
    """What was learnt of the size: the price of all looks, and the ε that is enough, if known."""

    spent: Fraction
    enough: Fraction | None


def release_relative(
    query: "Query",
    error: str,
    *,
    epsilon: Number | None,
    delta: Number,
    confidence: Number,
    confirm: bool,
) -> Release:
    """The answer with this relative error, or the best that ε allows, which is said then."""
    part = _read_percent(error)
    if epsilon is None:
        raise ParameterError(f"An error in percent needs the most that it may cost. {HOW}")
    if delta != 0:
        raise ParameterError(
            "delta is given, but an error in percent is kept with noise that needs none, step by"
            " step. Leave delta out, and list the keys."
        )
    limit = EPSILON.typed("epsilon", epsilon)
    check_confirmed(find_risk(limit), confirm=read_flag("confirm", confirm))
    asking = _Asking(query, confidence, confirm)
    asking.check_fits(limit)
    search = _search(asking, part, limit)
    rest = limit - search.spent
    last = rest if search.enough is None else min(rest, search.enough)
    answer = asking.release(round_down(last))
    return _add_remark(answer, search, error=error.strip(), is_kept=last == search.enough)


@dataclass(frozen=True, slots=True)
class _Asking:
    query: "Query"
    confidence: Number
    confirm: bool

    def price(self, epsilon: Fraction) -> PricedQuestion:
        priced = self.query.price(epsilon, confidence=self.confidence)
        return replace(priced, confirmed=self.confirm)

    def release(self, epsilon: Fraction) -> Release:
        return self.price(epsilon).release()

    def check_fits(self, most: Fraction) -> None:
        """All steps together cost no more than one answer at the whole ε."""
        if self.price(most).how_many_more() < 1:
            raise BudgetExceeded(
                f"All steps together may cost ε = {six(most)}, which is more than is left. Nothing"
                " was charged. Give a smaller epsilon."
            )


def _search(asking: _Asking, part: Fraction, most: Fraction) -> Search:
    """Looks with more and more ε until the numbers are seen to be far from 0."""
    spent, look = Fraction(0), round_down(most * FIRST_SHARE)
    while spent + look <= most * SEARCH_SHARE:
        answer = asking.release(look)
        spent += look
        factor = _find_growth(answer, part)
        if factor is not None:
            return Search(spent, round_up(look * factor))
        look *= 2
    return Search(spent, None)


def _find_growth(answer: ReleaseRecord, part: Fraction) -> Fraction | None:
    """By how much ε must grow for the error; None where a number may be near 0."""
    factors = [Fraction(0)]
    for output in answer.outputs:
        if output.low is None or output.high is None:
            continue
        for value, low, high in zip(output.values, output.low, output.high, strict=True):
            size, half = _size(value), (_size(high, signed=True) - _size(low, signed=True)) / 2
            if value is None or size < FAR_FROM_0 * half or size == 0:
                return None
            factors.append(half / (part * (size - half)))
    return max(factors) or None


def _size(cell: object, *, signed: bool = False) -> Fraction:
    number = Fraction(cell) if isinstance(cell, int | float) else Fraction(0)
    return number if signed else abs(number)


def _read_percent(error: str) -> Fraction:
    percent = PERCENT.fullmatch(error)
    part = as_typed(float(percent[1])) / 100 if percent else Fraction(0)
    if not 0 < part < 1:
        raise ParameterError(
            f"error is {error!r}, but must be a number, or a part of the answer above 0 % and below"
            f" 100 %. {HOW}"
        )
    return part


def _add_remark(answer: Release, found: Search, *, error: str, is_kept: bool) -> Release:
    total = found.spent + answer.asked.epsilon
    words = f"How large it is was found first: all together cost at most ε = {six(total)}."
    if found.enough is None:
        words += f" It may be near 0, so no ε was found that keeps {error}."
    elif not is_kept:
        words += f" For {error} about ε = {six(found.enough)} would be needed."
    return replace(answer, standing=replace(answer.standing, remark=words))
