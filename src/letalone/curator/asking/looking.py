"""Tells what a question would get now: an answer that is there, a fresh one, or a refusal.

It is told before anything is spent, and depends on the own history, the own grants, the budgets
and the public versions of the data. Whether somebody else has asked the same does not enter. How
much is left is the tightest of the budgets of the data set, the purpose and the analyst: it is
book-keeping of charges, which do not depend on data.

  Tested:   tests/curator/test_looking.py, test_asking.py, tests/client/test_sessions.py
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from sqlalchemy import or_, select

from letalone.answers.arranged import Arrangement
from letalone.answers.preview import Preview
from letalone.curator.asking.daily_quota import check_quota
from letalone.curator.asking.questions import check_asks
from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.ledger_view import LedgerView, LevelsOfAsker
from letalone.curator.storage.service_records import DataSetQuestion
from letalone.curator.storage.tables import RELEASES
from letalone.errors import BudgetExceeded, LetaloneError
from letalone.errors.problem import Problem
from letalone.plans.aggregates.of_columns import Mean
from letalone.plans.plan import Plan
from letalone.privacy.budget import Budget
from letalone.privacy.curve import Privacy
from letalone.privacy.filters import FilterState, left_in_words
from letalone.session.pricing import Priced, digest_at
from letalone.session.steps.in_steps import PricedInSteps

MAX_VERSIONS, MAX_ANSWERS = 20, 500  # in which an own earlier answer is looked for, the newest


@dataclass(frozen=True, slots=True)
class Remaining:
    """The budget left at one level, and how many more such answers fit there."""

    more: int | float
    where: str
    state: FilterState
    raised: str  # what a steward or an owner would propose, were it too little
    grant: Budget | None = None  # of one's own, of which it is left

    @property
    def words(self) -> str:
        return f"Left: about {left_in_words(self.state)} of {self.where}, {self._like}."

    @property
    def for_people(self) -> str:
        """The same for somebody at a page, where the whole of a grant stands beside it."""
        if self.grant is None:
            return self.words
        remaining = left_in_words(self.state)
        return f"Left of your grant: about {remaining} of {self.grant}, {self._like}."

    @property
    def _like(self) -> str:
        more = self.more
        return f"about {more:,} more like this" if isinstance(more, int) else "any number like this"

    @property
    def is_empty(self) -> bool:
        return self.state.remaining.epsilon <= 0

    @property
    def too_little(self) -> str:
        """What is left, for whoever asked for more than that."""
        amount = "Nothing" if self.is_empty else left_in_words(self.state)
        return f"{amount} is left of {self.where}."


@dataclass(frozen=True, slots=True)
class Look:
    """A preview, and what would come of asking."""

    preview: Preview
    plan: Plan
    arrangement: Arrangement
    left: str
    widths: dict[str, float]  # of means: from the least that one can be to the most
    mine: str | None  # the own answer to the same about the data as they are: asking is free
    older: bool  # whether there is one of older data alone: asking is charged again
    why_not: LetaloneError | None  # what a fresh answer would be refused with
    risk: Problem | None  # why a fresh answer needs a second word
    over: Remaining | None  # where too little is left, if it is because of that


def look_at_question(
    shared: Dependencies,
    question: DataSetQuestion,
    asked: Priced | PricedInSteps,
    *,
    rows: int | None,
    by: str,
) -> Look:
    """What is known of a question at its price before it is asked."""
    priced = asked.answer if isinstance(asked, PricedInSteps) else asked
    terms = priced.terms
    room = least_remaining(shared.ledger_view, question, terms.privacy, delta=terms.delta, by=by)
    mine = _find_own_answer(shared, question, [terms.digest], by=by)
    earlier = range(max(1, terms.version - MAX_VERSIONS), terms.version)
    digests = [] if mine else [digest_at(terms, version) for version in earlier]
    why_not, over = (None, None) if mine else _why_not(shared, question, priced, room, by=by)
    return Look(
        preview=asked.preview(rows),
        plan=priced.plan,
        arrangement=priced.arrangement,
        left=room.for_people,
        widths={
            name: float(aggregate.upper - aggregate.lower)
            for name, aggregate in priced.plan.aggregates
            if isinstance(aggregate, Mean)
        },
        mine=mine,
        older=bool(digests) and _find_own_answer(shared, question, digests, by=by) is not None,
        why_not=why_not,
        risk=asked.risk,
        over=over,
    )


def _find_own_answer(
    shared: Dependencies, question: DataSetQuestion, digests: list[str], *, by: str
) -> str | None:
    """The newest of the own answers to a question that has one of these digests."""
    mine = (RELEASES.c.analyst == by) & (RELEASES.c.data_set == question.data_set)
    answers = select(RELEASES).where(mine, RELEASES.c.purpose == question.purpose)
    newest = answers.order_by(RELEASES.c.time.desc()).limit(MAX_ANSWERS).subquery()
    # A quote within a text of JSON has a backslash before it: this can be nothing but the field.
    same = or_(*(newest.c.release.contains(f'"digest": "{digest}"') for digest in digests))
    wanted = select(newest.c.id).where(same).order_by(newest.c.time.desc()).limit(1)
    row = shared.database.row(wanted)
    return None if row is None else row.id


def _why_not(
    shared: Dependencies, question: DataSetQuestion, priced: Priced, room: Remaining, *, by: str
) -> tuple[LetaloneError | None, Remaining | None]:
    """What a charge would be refused with now, and where too little is left for it."""
    ledger, terms = shared.ledger, priced.terms
    try:
        check_asks(priced)
        check_quota(shared, by)
        for name in question.names:
            curve = terms.privacy.labelled(ledger.data_set(name).neighbours)
            ledger.check_fits(
                name, curve, delta=terms.delta or None, analyst=by, purpose=question.purpose
            )
    except BudgetExceeded as error:
        return error, room
    except LetaloneError as error:
        return error, None
    return None, None


def least_remaining(
    view: LedgerView, question: DataSetQuestion, privacy: Privacy, *, delta: Fraction, by: str
) -> Remaining:
    """Where the fewest such answers fit, if nothing else is asked."""
    purpose = question.purpose
    levels = [view.levels_for(name, purpose=purpose, analyst=by) for name in question.names]
    rest = chain.from_iterable(_remaining_by_level(each, privacy, delta or None) for each in levels)
    # The least decides; where as many fit, the least ε.
    return min(rest, key=lambda remaining: (remaining.more, remaining.state.remaining.epsilon))


def _remaining_by_level(
    levels: LevelsOfAsker, privacy: Privacy, delta: Fraction | None
) -> Iterable[Remaining]:
    """The own grant first: where nothing is less, it is the one that is named."""
    data_set, purpose, grant = levels
    for level in (grant, purpose):
        if level is not None:
            shared = f"the whole purpose {level.purpose!r} ({level.budget}), which others share"
            where = f"your grant of {level.budget}" if level.analyst else shared
            raised = "share for you" if level.analyst else "share for this purpose"
            more = level.how_many_more(privacy, delta=delta)
            own_budget = level.budget if level.analyst else None
            yield Remaining(more, where, level.state, raised, own_budget)
    where = f"the whole data set {data_set.name!r} ({data_set.budget}), which others share"
    more = data_set.how_many_more(privacy.labelled(data_set.neighbours), delta=delta)
    yield Remaining(more, where, data_set.state, "budget for it")
