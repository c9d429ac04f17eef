"""What is left for who asks: a charge must fit at the data set, the purpose and the analyst.

Book-keeping of charges, which do not depend on data.

  Tested:   tests/client/test_sessions.py
"""

from collections.abc import Iterable
from fractions import Fraction

from letalone.curator.book import Book
from letalone.curator.records import Question
from letalone.privacy.curve import Privacy
from letalone.privacy.filters import left_in_words


def how_many_more(
    book: Book, question: Question, privacy: Privacy, *, delta: Fraction | None, by: str
) -> int | float:
    """About how many more such answers fit everywhere, if nothing else is asked."""
    names = (question.data_set, *question.others)
    return min(one for name in names for one in _fitting(book, name, question, privacy, delta, by))


def left_for(
    book: Book, question: Question, privacy: Privacy, *, delta: Fraction | None, by: str
) -> str:
    """What is left of the own grant, and how many more like this fit, in words."""
    own = book.level(question.data_set, purpose=question.purpose, analyst=by)
    more = how_many_more(book, question, privacy, delta=delta, by=by)
    like = f"about {more:,} more like this" if isinstance(more, int) else "any number like this"
    if own is None:
        return f"Left: {like}."
    return f"Left: about {left_in_words(own.state)} of your grant ({own.budget}), {like}."


def _fitting(
    book: Book, name: str, question: Question, privacy: Privacy, delta: Fraction | None, by: str
) -> Iterable[int | float]:
    whole = book.ledger.data_set(name)
    yield whole.how_many_more(privacy.labelled(whole.neighbours), delta=delta or None)
    for level in book.levels(name):
        if level.purpose == question.purpose and level.analyst in (None, by):
            yield level.how_many_more(privacy, delta=delta or None)
