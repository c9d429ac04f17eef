"""Answers that an analyst has been given before, in this process: repeats need not be made anew.

An answer is remembered for one analyst, one purpose, the columns of the grant and the version of
the data set by then: if one of these is another, the question goes the whole way again.

  Tested:   tests/curator/test_asking.py
"""

from collections import OrderedDict
from collections.abc import Hashable
from json import dumps
from threading import Lock

from letalone.curator.records import Price, Question
from letalone.session.release import Release

MOST = 1000


class Remembered:
    """The answers that were asked for last; safe among threads."""

    __slots__ = ("_found", "_lock")

    def __init__(self) -> None:
        self._found: OrderedDict[Hashable, Release] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Release | None:
        """The answer under a key, where it is remembered."""
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
            return found

    def put(self, key: Hashable, release: Release) -> None:
        """Remembers an answer, and forgets the oldest of too many."""
        with self._lock:
            self._found[key] = release
            if len(self._found) > MOST:
                self._found.popitem(last=False)


def spelled(question: Question, price: Price) -> str | None:
    """All that decides an answer but who asks and when; None where it cannot be spelled."""
    if question.tables or question.others:
        return None
    decides = (
        question.data_set, question.purpose, question.sql, question.plan, question.keys,
        question.bounds, question.dialect, question.max_rows, question.max_groups,
    )  # fmt: skip
    amounts = (price.epsilon, price.error, price.delta, price.confidence, price.rows)
    try:
        return dumps([decides, [repr(one) for one in amounts]])
    except (TypeError, ValueError, RecursionError):
        return None
