"""What would come of asking a question now: an answer that is there, a fresh one, or a refusal.

It is told before anything is spent, and depends on the own history, the own grants, the budgets
and the public versions of the data. Whether somebody else has asked the same does not enter.

  Tested:   tests/curator/test_looking.py
"""

from dataclasses import dataclass

from sqlalchemy import or_, select

from letalone.answers.arranged import Arrangement
from letalone.answers.release import Asked
from letalone.curator.house import House
from letalone.curator.left import Remaining, least_room
from letalone.curator.questions import check_asks
from letalone.curator.records import Question
from letalone.curator.stored import check_room
from letalone.curator.tables import RELEASES
from letalone.errors import BudgetExceeded, LetaloneError
from letalone.plans.parts import Mean
from letalone.session.preview import Preview
from letalone.session.pricing import digest_at
from letalone.session.query import Query

MOST_VERSIONS, MOST_ANSWERS = 20, 500  # in which an own earlier answer is looked for, the newest


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
    house: House, question: Question, query: Query, asked: Asked, preview: Preview, *, by: str
) -> Look:
    """What is known of a question at its price before it is asked."""
    room = least_room(house.book, question, asked.privacy, delta=asked.delta, by=by)
    mine = _own(house, question, [asked.digest], by=by)
    earlier = range(max(1, asked.version - MOST_VERSIONS), asked.version)
    digests = [] if mine else [digest_at(asked, version) for version in earlier]
    why_not, over = (None, None) if mine else _why_not(house, question, query, asked, room, by=by)
    return Look(
        preview=preview,
        arrangement=query.arrangement,
        left=room.words,
        widths={
            name: float(one.upper - one.lower)
            for name, one in query.plan.aggregates
            if isinstance(one, Mean)
        },
        mine=mine,
        older=bool(digests) and _own(house, question, digests, by=by) is not None,
        why_not=why_not,
        over=over,
    )


def _own(house: House, question: Question, digests: list[str], *, by: str) -> str | None:
    """The newest of the own answers to a question that has one of these digests."""
    newest = (
        select(RELEASES)
        .where((RELEASES.c.analyst == by) & (RELEASES.c.data_set == question.data_set))
        .where(RELEASES.c.purpose == question.purpose)
        .order_by(RELEASES.c.time.desc())
        .limit(MOST_ANSWERS)
        .subquery()
    )
    # A quote within a text of JSON has a backslash before it: this can be nothing but the field.
    found = or_(*(newest.c.release.contains(f'"digest": "{one}"') for one in digests))
    wanted = select(newest.c.id).where(found).order_by(newest.c.time.desc()).limit(1)
    with house.database.reading() as connection:
        return connection.execute(wanted).scalar_one_or_none()


def _why_not(
    house: House, question: Question, query: Query, asked: Asked, room: Remaining, *, by: str
) -> tuple[LetaloneError | None, Remaining | None]:
    """What a charge would be refused with now, and where too little is left for it."""
    ledger = house.book.ledger
    try:
        check_asks(query)
        check_room(house, by)
        for name in (question.data_set, *question.others):
            curve = asked.privacy.labelled(ledger.data_set(name).neighbours)
            ledger.check_fits(
                name, curve, delta=asked.delta or None, analyst=by, purpose=question.purpose
            )
    except BudgetExceeded as error:
        return error, room
    except LetaloneError as error:
        return error, None
    return None, None
