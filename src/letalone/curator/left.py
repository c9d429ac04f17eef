"""What is left for who asks: a charge must fit at the data set, the purpose and the analyst.

Book-keeping of charges, which do not depend on data.

  Tested:   tests/client/test_sessions.py, tests/curator/test_asking.py
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from letalone.curator.book import Book
from letalone.curator.records import Question
from letalone.privacy.budget import Budget
from letalone.privacy.curve import Privacy
from letalone.privacy.filters import FilterState, left_in_words


@dataclass(frozen=True, slots=True)
class Remaining:
    """What is left somewhere, and how many more such answers fit there."""

    more: int | float
    where: str
    state: FilterState
    raised: str  # what a steward or an owner would propose, were it too little
    grant: Budget | None = None  # of one's own, of which it is left

    @property
    def words(self) -> str:
        """What is left, and how many more like this fit."""
        more = self.more
        like = f"about {more:,} more like this" if isinstance(more, int) else "any number like this"
        left = f"about {left_in_words(self.state)} of"
        if self.grant is not None:
            return f"Left of your grant: {left} {self.grant}, {like}."
        return f"Left: {left} {self.where}, {like}."

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left, so that less does not fit either."""
        return self.state.remaining.epsilon <= 0

    @property
    def too_little(self) -> str:
        """What is left, for whoever asked for more than that."""
        found = "Nothing" if self.is_empty else left_in_words(self.state)
        return f"{found} is left of {self.where}."

    @property
    def size(self) -> tuple[int | float, Fraction]:
        """The least decides; where as many fit, the least ε."""
        return self.more, self.state.remaining.epsilon


def least_room(
    book: Book, question: Question, privacy: Privacy, *, delta: Fraction | None, by: str
) -> Remaining:
    """Where the fewest such answers fit, if nothing else is asked."""
    names = (question.data_set, *question.others)
    rooms = [one for name in names for one in _rooms(book, name, question, privacy, delta, by)]
    return min(rooms, key=lambda room: room.size)


def _rooms(
    book: Book, name: str, question: Question, privacy: Privacy, delta: Fraction | None, by: str
) -> Iterable[Remaining]:
    """The own grant first: where nothing is less, it is the one that is named."""
    found, purpose, own = book.asked(name, purpose=question.purpose, analyst=by)
    for level in (own, purpose):
        if level is not None:
            whole = f"the whole purpose {level.purpose!r} ({level.budget}), which others share"
            where = f"your grant of {level.budget}" if level.analyst else whole
            raised = "share for you" if level.analyst else "share for this purpose"
            more = level.how_many_more(privacy, delta=delta or None)
            yield Remaining(
                more, where, level.state, raised, level.budget if level.analyst else None
            )
    where = f"the whole data set {name!r} ({found.budget}), which others share"
    more = found.how_many_more(privacy.labelled(found.neighbours), delta=delta or None)
    yield Remaining(more, where, found.state, "budget for it")
