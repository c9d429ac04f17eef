"""Tells what a question would get now: an answer that is there, a fresh one, or a refusal.

It is told before anything is spent, and depends on the own history, the own grants, the budgets
and the public versions of the data. Whether somebody else has asked the same does not enter.

  Tested:   tests/curator/test_looking.py
"""

from dataclasses import dataclass

from sqlalchemy import or_, select

from letalone.answers.arranged import Arrangement
from letalone.answers.release import Asked
from letalone.curator.daily_quota import check_quota
from letalone.curator.dependencies import Dependencies
from letalone.curator.questions import Ready, check_asks
from letalone.curator.records import Question
from letalone.curator.remaining import Remaining, least_remaining
from letalone.curator.tables import RELEASES
from letalone.errors import BudgetExceeded, LetaloneError
from letalone.plans.parts import Mean
from letalone.session.preview import Preview
from letalone.session.releasing import digest_at

MAX_VERSIONS, MAX_ANSWERS = 20, 500  # in which an own earlier answer is looked for, the newest


@dataclass(frozen=True, slots=True)
class Look:
    """A preview, and what would come of asking."""

    preview: Preview
    arrangement: Arrangement
    left: str
    widths: dict[str, float]  # of means: from the least that one can be to the most
    mine: str | None  # the own answer to the same about the data as they are: asking is free
    older: bool  # whether there is one of older data alone: asking is charged again
    why_not: LetaloneError | None  # what a fresh answer would be refused with
    over: Remaining | None  # where too little is left, if it is because of that


def looked_at(
    shared: Dependencies,
    question: Question,
    ready: Ready,
    terms: Asked,
    preview: Preview,
    *,
    by: str,
) -> Look:
    """What is known of a question at its price before it is asked."""
    room = least_remaining(shared.ledger_view, question, terms.privacy, delta=terms.delta, by=by)
    mine = _find_own_answer(shared, question, [terms.digest], by=by)
    earlier = range(max(1, terms.version - MAX_VERSIONS), terms.version)
    digests = [] if mine else [digest_at(terms, version) for version in earlier]
    why_not, over = (None, None) if mine else _why_not(shared, question, ready, terms, room, by=by)
    return Look(
        preview=preview,
        arrangement=ready.arrangement,
        left=room.words,
        widths={
            name: float(aggregate.upper - aggregate.lower)
            for name, aggregate in ready.plan.aggregates
            if isinstance(aggregate, Mean)
        },
        mine=mine,
        older=bool(digests) and _find_own_answer(shared, question, digests, by=by) is not None,
        why_not=why_not,
        over=over,
    )


def _find_own_answer(
    shared: Dependencies, question: Question, digests: list[str], *, by: str
) -> str | None:
    """The newest of the own answers to a question that has one of these digests."""
    newest = (
        select(RELEASES)
        .where((RELEASES.c.analyst == by) & (RELEASES.c.data_set == question.data_set))
        .where(RELEASES.c.purpose == question.purpose)
        .order_by(RELEASES.c.time.desc())
        .limit(MAX_ANSWERS)
        .subquery()
    )
    # A quote within a text of JSON has a backslash before it: this can be nothing but the field.
    same = or_(*(newest.c.release.contains(f'"digest": "{digest}"') for digest in digests))
    wanted = select(newest.c.id).where(same).order_by(newest.c.time.desc()).limit(1)
    with shared.database.reading() as connection:
        return connection.execute(wanted).scalar_one_or_none()


def _why_not(
    shared: Dependencies,
    question: Question,
    ready: Ready,
    terms: Asked,
    room: Remaining,
    *,
    by: str,
) -> tuple[LetaloneError | None, Remaining | None]:
    """What a charge would be refused with now, and where too little is left for it."""
    ledger = shared.ledger
    try:
        check_asks(ready)
        check_quota(shared, by)
        for name in (question.data_set, *question.others):
            curve = terms.privacy.labelled(ledger.data_set(name).neighbours)
            ledger.check_fits(
                name, curve, delta=terms.delta or None, analyst=by, purpose=question.purpose
            )
    except BudgetExceeded as error:
        return error, room
    except LetaloneError as error:
        return error, None
    return None, None
