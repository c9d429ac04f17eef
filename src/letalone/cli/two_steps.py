"""Bounds that are bought, and then the answer: two charges, and never the first alone.

Bounds are bought only after the question was priced with the widest that can come back, and if
both charges fit into the budget. Bounds with which there is no answer (too narrow for the size
of an expression, say) are widened, at last to the widest: that looks at what was released.

  Proven:   by `_usable`: the last bounds that it tries were priced before the first charge
  Tested:   tests/cli/test_query_two_steps.py
  Assumed:  nobody else spends the rest of the budget in between; if so, the bounds are kept, and
            cost nothing when the same is asked again
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from letalone.cli.ready import WIDEST, Bounds, Ready
from letalone.errors import BudgetExceeded, LetaloneError
from letalone.exact.typed import as_typed
from letalone.plans.trees import Computable
from letalone.privacy.filters import brief
from letalone.session import Query, Release, Session
from letalone.session.pricing import Priced


@dataclass(frozen=True, slots=True)
class Step:
    """A question with the bounds that were bought for it, and its answer."""

    question: Query
    bounds: Bounds
    release: Release


def released(asked: Ready, session: Session) -> Step:
    """The answer, after the bounds that it needs."""
    bought = _bought(asked, session)
    bounds = _usable(asked, session, bought) if bought else bought
    question = _answer(asked, session, bounds)
    epsilon, delta, sure = asked.answer.epsilon, asked.answer.delta, asked.request.confidence
    try:
        release = question.release(epsilon=epsilon, delta=delta, confidence=sure)
    except BudgetExceeded as error:
        if not bought:
            raise
        words = f"{error} The bounds of {' and '.join(bought)} are bought and kept: they are free."
    else:
        return Step(question, bounds, release)
    raise BudgetExceeded(words)


def _bought(asked: Ready, session: Session) -> Bounds:
    """The bounds that are bought first, with their share of epsilon."""
    if asked.bounds is None:
        return {}
    question = _question(asked, session, asked.bounds_asked, grouped=False)
    _priced(asked, _answer(asked, session, _widest(asked)))  # or a refusal, before any charge
    epsilon, confidence = asked.bounds.epsilon, asked.request.confidence
    found = question.price(epsilon, confidence=confidence)
    _check_both_fit(asked, question, digest=found.terms.digest)
    release = found.release()
    (row,) = release.rows()
    ends = {name: (row[f"{name}_lower"], row[f"{name}_upper"]) for name in asked.bought}
    return {name: (as_typed(lower), as_typed(upper)) for name, (lower, upper) in ends.items()}


def _check_both_fit(asked: Ready, question: Query, *, digest: str) -> None:
    """Bounds are not bought where nothing would be left for the answer; a repeat is free."""
    table = question.table
    found = table.data_set()
    if asked.fits(found.state) or table.ledger.repeat_of(table.name, digest) is not None:
        return
    error = BudgetExceeded(
        f"Bounds and answer cost ({brief(asked.total)}) together, and do not fit into the budget of"
        f" {table.name!r}, ({found.budget}): about ({brief(found.remaining, up=False)}) is left."
        " Nothing was charged; the refusal is written down."
    )
    table.ledger.refuse(table.name, error, digest=digest)
    raise error


def _usable(asked: Ready, session: Session, bounds: Bounds) -> Bounds:
    """The narrowest bounds around these with which there is an answer, and that it fits with."""
    near = next(one for one in _widened(bounds) if _is_answerable(asked, session, one))
    for one in (near, _widest(asked)):
        if _can_be_had(_answer(asked, session, one), asked):
            return one
    return near


def _widened(bounds: Bounds) -> Iterator[Bounds]:
    """Ever wider, each end by the width before, up to the widest."""
    least, most = WIDEST
    while any(ends != WIDEST for ends in bounds.values()):
        yield bounds
        bounds = {
            name: (max(2 * low - high, least), min(2 * high - low, most))
            for name, (low, high) in bounds.items()
        }
    yield bounds


def _widest(asked: Ready) -> Bounds:
    return dict.fromkeys(asked.bought, WIDEST)


def _is_answerable(asked: Ready, session: Session, bounds: Bounds) -> bool:
    try:
        _priced(asked, _answer(asked, session, bounds))
    except LetaloneError:
        return False
    return True


def _can_be_had(question: Query, asked: Ready) -> bool:
    """Whether it was answered before, or what is left allows it."""
    table, found = question.table, _priced(asked, question).terms
    if table.ledger.repeat_of(table.name, found.digest) is not None:
        return True
    return table.ledger.fits(table.name, found.privacy, delta=found.delta or None)


def _priced(asked: Ready, question: Query) -> Priced:
    epsilon, delta = asked.answer.epsilon, asked.answer.delta
    confidence = asked.request.confidence
    return question.price(epsilon, delta=delta, confidence=confidence)


def _answer(asked: Ready, session: Session, bounds: Bounds) -> Query:
    return _question(asked, session, asked.bounded(bounds), grouped=True)


def _question(
    asked: Ready, session: Session, aggregates: Mapping[str, Computable], *, grouped: bool
) -> Query:
    question = session.agg(**aggregates)
    for join in asked.parts.joins:
        frame, on = asked.frames[join.name], dict(join.on)
        question = question.join(frame, on=on, name=join.name)
    if grouped:
        question = replace(question, arrangement=asked.parts.arrangement)
    if asked.parts.where is not None:
        question = question.where(asked.parts.where)
    if grouped and asked.parts.groups:
        question = question.group_by(*asked.parts.groups, keys=asked.keys)
    most = asked.request.max_rows if grouped else asked.rows_for_bounds
    if most is not None:
        question = question.bound(max_rows=most)
    if grouped and asked.request.max_groups is not None:
        question = question.bound(max_groups=asked.request.max_groups)
    return question
