"""Finds the tightest remaining budget: that of the data set, the purpose or the analyst.

Book-keeping of charges, which do not depend on data.

  Tested:   tests/client/test_sessions.py, tests/curator/test_asking.py
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from letalone.curator.ledger_view import LedgerView
from letalone.curator.records import Question
from letalone.privacy.curve import Privacy
from letalone.privacy.filters import FilterState, left_in_words


@dataclass(frozen=True, slots=True)
class Remaining:
    """The budget left at one level, and how many more such answers fit there."""

    more: int | float
    where: str
    state: FilterState
    raised: str  # what a steward or an owner would propose, were it too little

    @property
    def words(self) -> str:
        more = self.more
        like = f"about {more:,} more like this" if isinstance(more, int) else "any number like this"
        return f"Left: about {left_in_words(self.state)} of {self.where}, {like}."

    @property
    def is_empty(self) -> bool:
        return self.state.remaining.epsilon <= 0

    @property
    def too_little(self) -> str:
        """What is left, for whoever asked for more than that."""
        amount = "Nothing" if self.is_empty else left_in_words(self.state)
        return f"{amount} is left of {self.where}."

    @property
    def size(self) -> tuple[int | float, Fraction]:
        """The least decides; where as many fit, the least ε."""
        return self.more, self.state.remaining.epsilon


def least_remaining(
    view: LedgerView, question: Question, privacy: Privacy, *, delta: Fraction | None, by: str
) -> Remaining:
    """Where the fewest such answers fit, if nothing else is asked."""
    names = (question.data_set, *question.others)
    rooms = [
        remaining
        for name in names
        for remaining in _remaining_by_level(view, name, question, privacy, delta, by)
    ]
    return min(rooms, key=lambda room: room.size)


def _remaining_by_level(
    view: LedgerView,
    name: str,
    question: Question,
    privacy: Privacy,
    delta: Fraction | None,
    by: str,
) -> Iterable[Remaining]:
    """The own grant first: where nothing is less, it is the one that is named."""
    data_set, purpose, grant = view.levels_for(name, purpose=question.purpose, analyst=by)
    for level in (grant, purpose):
        if level is not None:
            shared = f"the whole purpose {level.purpose!r} ({level.budget}), which others share"
            where = f"your grant of {level.budget}" if level.analyst else shared
            raised = "share for you" if level.analyst else "share for this purpose"
            more = level.how_many_more(privacy, delta=delta or None)
            yield Remaining(more, where, level.state, raised)
    where = f"the whole data set {name!r} ({data_set.budget}), which others share"
    more = data_set.how_many_more(privacy.labelled(data_set.neighbours), delta=delta or None)
    yield Remaining(more, where, data_set.state, "budget for it")
