"""Finds answers that an analyst got before: from this process, or under an Idempotency-Key.

An `AnswerCache` is the one cache for repeats. Its key is the analyst, the question and its price as
they are spelled, the purpose, the columns of the grant and the version of the data set by then: if
one of these is another, the question goes the whole way again. So nothing has to be removed when a
grant or a version changes. The grant itself is checked before the cache is asked, and what is left
is not in it. Beyond a number of answers, or of letters, the oldest go.

Who never got an answer, because a connection broke, asks again, perhaps when the data have a newer
version already: without a key it would be another question then, and be paid for. The key is bound
to the question by the row that keeps the answer in the history, for a day. Neither the key nor what
was sent can be read back from there.

  Tested:   tests/curator/test_asking.py: forgotten where grant or version change;
            test_unchanged.py: by another worker; test_sizes.py: the oldest go;
            tests/curator/http/test_sendings.py
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from json import dumps
from threading import Lock

from sqlalchemy import select

from letalone.answers.arranged import AS_IT_IS, Arrangement
from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.master_key import MasterKey
from letalone.curator.storage.service_records import DataSetQuestion, QuestionPrice
from letalone.curator.storage.stored_values import DataRow, write_time
from letalone.curator.storage.tables import RELEASES
from letalone.errors import ParameterError
from letalone.ledger import DataSet
from letalone.ledger.charging import RemainingBudget
from letalone.session.release import Release

MAX_CACHED_ANSWERS = 1000
MAX_CACHED_LETTERS = 8_000_000  # of all answers as they are stored; ten times that in memory
KEYS_KEPT_FOR = timedelta(days=1)
MAX_WRITTEN_BYTES = 1 << 18  # bytes; what is longer is written anew each time


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An answer, and how it was written out for whoever asks again."""

    release: Release
    arrangement: Arrangement = AS_IT_IS  # how it was sorted and cut
    _written: dict[Hashable, bytes] = field(default_factory=dict[Hashable, bytes])

    def written(self, how: Callable[[Release], bytes]) -> bytes:
        """As `how` writes it, once; what is left must not be in it, since that changes."""
        text = self._written.get(how)
        if text is None:
            text = how(self.release)
            if len(text) <= MAX_WRITTEN_BYTES:
                self._written[how] = text
        return text

    def repeated(self) -> "CachedAnswer":
        standing = replace(self.release.standing, repeated=True)
        return CachedAnswer(replace(self.release, standing=standing), self.arrangement)

    def as_of(self, now: DataSet) -> "CachedAnswer":
        rest = self.release.standing.left
        rest = replace(rest, data_set=now) if isinstance(rest, RemainingBudget) else rest
        standing = replace(self.release.standing, left=rest)
        return replace(self, release=replace(self.release, standing=standing))


class AnswerCache:
    """Caches the answers that were asked for last; safe among threads."""

    __slots__ = ("_answers", "_letters", "_lock")

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, tuple[CachedAnswer, int]] = OrderedDict()
        self._letters, self._lock = 0, Lock()

    def get(self, key: Hashable) -> CachedAnswer | None:
        with self._lock:
            if key not in self._answers:
                return None
            self._answers.move_to_end(key)
            return self._answers[key][0]

    def put(self, key: Hashable, answer: CachedAnswer, *, letters: int) -> None:
        """Remembers an answer of so many letters, and forgets the oldest where it is too much."""
        with self._lock:
            before = self._answers.pop(key, None)
            self._letters += letters - (0 if before is None else before[1])
            self._answers[key] = answer, letters
            while len(self._answers) > MAX_CACHED_ANSWERS or self._letters > MAX_CACHED_LETTERS:
                self._letters -= self._answers.popitem(last=False)[1][1]


def spell_question(question: DataSetQuestion, price: QuestionPrice) -> str | None:
    """All that decides an answer but who asks and when; None where it cannot be spelled."""
    if question.tables or question.others:
        return None
    decides = (
        question.data_set, question.purpose, question.sql, question.plan, question.keys,
        question.bounds, question.dialect, question.max_rows, question.max_groups,
    )  # fmt: skip
    amounts = (price.epsilon, price.error, price.delta, price.confidence, price.rows)
    try:
        return dumps([decides, [repr(amount) for amount in amounts]])
    except (TypeError, ValueError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request with its Idempotency-Key, and all that it says."""

    key: str
    body: str


Sending = KeyedRequest | None


def pseudonyms_of(master: MasterKey, sending: Sending, *, by: str) -> dict[str, str]:
    """What is kept beside an answer: pseudonyms of whose request it was and of what it said."""
    if sending is None:
        return {}
    name = master.question(f"sent by {by} as {sending.key}")
    return {"sent_as": name, "sent": master.question(sending.body)}


def find_earlier_answer(
    shared: Dependencies, master: MasterKey, sending: KeyedRequest, *, by: str
) -> DataRow | None:
    """The answer in the own history that was given under this name; refused for another body."""
    kept = pseudonyms_of(master, sending, by=by)
    since = write_time(shared.clock() - KEYS_KEPT_FOR)
    wanted = select(RELEASES).where(
        RELEASES.c.sent_as == kept["sent_as"], RELEASES.c.analyst == by, RELEASES.c.time >= since
    )
    row = shared.database.row(wanted.order_by(RELEASES.c.time.desc()).limit(1))
    if row is not None and row.sent != kept["sent"]:
        raise ParameterError(
            "This Idempotency-Key was sent with another question within the last day. Send each"
            " question under its own key, and only the very same one again under the same."
        )
    return row
