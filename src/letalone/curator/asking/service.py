"""Asking: previews, releases, history and receipts of an analyst; every check comes first (G4).

In this order: the person is an analyst; there is such a data set, and it may be asked; there is a
grant for the purpose, and it holds; the question can be read; its columns are granted; it has a
price. A refusal up to here depends on question, schema and grants alone. That of a release is
written down; previews and explanations touch no data and spend nothing, so theirs leave no entry.
Then the session answers, which charges data set, purpose and analyst at once, or refuses. A fresh
answer is stored and given at its time step (`session.time_steps`); all else is not held.

Theorem.  What an analyst is shown is a function of public declarations, own grants and answers
that the own grants have paid for.
  Proven:   nothing here reads rows but `released`, whose answers are charged; the history is
            selected by the analyst's name
  Tested:   tests/curator/test_asking.py, test_principles.py (G4, G5, G8)
"""

from collections import Counter
from collections.abc import Callable, Generator, Hashable
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from json import dumps, loads
from typing import Any, TypeVar, cast

from sqlalchemy import bindparam, select

from letalone.answers.arranged import AS_IT_IS, Arrangement, arrange_release
from letalone.answers.preview import Preview
from letalone.answers.release import ReleaseRecord, Standing, Terms, explain_question
from letalone.curator.asking.answer_cache import (
    AnswerCache,
    CachedAnswer,
    Sending,
    find_earlier_answer,
    pseudonyms_of,
    spell_question,
)
from letalone.curator.asking.daily_quota import check_quota, count_bytes
from letalone.curator.asking.looking import Look, Remaining, least_remaining, look_at_question
from letalone.curator.asking.plan_checks import check_work
from letalone.curator.asking.questions import (
    Granted,
    check_asks,
    check_columns,
    check_size,
    is_open,
    read,
)
from letalone.curator.data_sets.data_store import DataStore
from letalone.curator.data_sets.locks import Turns
from letalone.curator.grants.service import Requests
from letalone.curator.people.service import PeopleService
from letalone.curator.storage.caches import CacheMiss
from letalone.curator.storage.consistency import statement_of_seen
from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.master_key import MasterKey
from letalone.curator.storage.refusals import NotThere
from letalone.curator.storage.service_records import DataSetQuestion, QuestionPrice
from letalone.curator.storage.stored_values import (
    DataRow,
    is_name,
    read_record,
    reads_stored,
    write_time,
)
from letalone.curator.storage.tables import RELEASES, insert_once
from letalone.errors import LedgerUnavailable, LetaloneError, ParameterError, ServiceUnavailable
from letalone.exact.typed import EPSILON
from letalone.ledger import digest_of
from letalone.ledger.claims import UnderWay
from letalone.plans.plan import Plan
from letalone.plans.stored_plans import plan_from_json
from letalone.privacy.curve import Json, Privacy
from letalone.session.pricing import Priced
from letalone.session.query import Query, least_epsilon_remark
from letalone.session.release import Release, releases_from
from letalone.session.steps.in_steps import PricedInSteps, in_steps_here
from letalone.wire.records import PastReleaseRecord, Role

MOST_EPSILON = 1000
A_RELEASE = select(RELEASES.c.id).where(RELEASES.c.id == bindparam("its"))
KEEP_RELEASE = insert_once(RELEASES)
TURNS = 3
Result = TypeVar("Result")
Arranged = tuple[Release, Arrangement]  # an answer, and how it is arranged
UNFORESEEN = "The service failed before anything was charged."


@dataclass(frozen=True, slots=True)
class GrantedQuestion:
    """A question, who asks it, and the columns that are granted for it, by data set."""

    question: DataSetQuestion
    by: str
    columns: Granted


class AskingService:
    """What analysts do; nothing exact leaves here."""

    __slots__ = (
        "_master", "_people", "_remembered", "_requests", "_shared", "_store", "_turns",
    )  # fmt: skip

    def __init__(
        self,
        shared: Dependencies,
        people: PeopleService,
        store: DataStore,
        requests: Requests,
        master: MasterKey,
    ) -> None:
        self._shared, self._people, self._master = shared, people, master
        self._store, self._requests = store, requests
        self._remembered, self._turns = AnswerCache(), Turns()

    def preview(self, question: DataSetQuestion, price: QuestionPrice, *, by: str) -> Preview:
        """The price, its split and the errors to expect: no data touched, nothing spent."""
        return self._without_rows(
            question, lambda query: self._price_in_steps(query, price).preview(price.rows), by=by
        )

    def epsilon_for(self, question: DataSetQuestion, price: QuestionPrice, *, by: str) -> float:
        """The smallest ε that keeps `price.error`: no data touched, nothing spent."""
        wanted = replace(price, epsilon=None)
        return self._without_rows(
            question, lambda query: float(self._epsilon(query, wanted)[0]), by=by
        )

    def explain(
        self, question: DataSetQuestion, price: QuestionPrice, *, by: str, sql: bool = False
    ) -> str:
        """The question, its price and its split in words, and the SQL: no data touched."""
        terms = self._terms(question, price, by=by)
        remaining = self.remaining(question, terms.privacy, delta=terms.delta, by=by)
        return explain_question(terms, [remaining.words], sql=sql)

    def how_many_more(
        self, question: DataSetQuestion, price: QuestionPrice, *, by: str
    ) -> int | float:
        """About how many more such questions fit at the data set, the purpose and the analyst."""
        terms = self._terms(question, price, by=by)
        return self.remaining(question, terms.privacy, delta=terms.delta, by=by).more

    def _terms(self, question: DataSetQuestion, price: QuestionPrice, *, by: str) -> Terms:
        return self._without_rows(question, lambda query: self._price(query, price).terms, by=by)

    def remaining(
        self, question: DataSetQuestion, privacy: Privacy, *, delta: Fraction, by: str
    ) -> Remaining:
        """What is left where the fewest like this fit."""
        return least_remaining(self._shared.ledger_view, question, privacy, delta=delta, by=by)

    def look(self, question: DataSetQuestion, price: QuestionPrice, *, by: str) -> Look:
        """A preview, what is left, and what would come of asking for it now; nothing is spent."""

        priced = self._without_rows(
            question, lambda query: self._price_in_steps(query, price), by=by
        )
        return look_at_question(self._shared, question, priced, rows=price.rows, by=by)

    def plan(self, question: DataSetQuestion, *, by: str) -> Plan | None:
        """What is asked, as a plan; None where it is sorted, filtered or cut as well."""

        def look(query: Query) -> Plan | None:
            is_plain = query.arrangement == AS_IT_IS and not query.only_explained
            return query.plan if is_plain else None

        return self._without_rows(question, look, by=by)

    def release(self, question: DataSetQuestion, price: QuestionPrice, *, by: str) -> Release:
        """The answer; charged at data set, purpose and analyst, or refused and written down."""
        return self.answer(question, price, by=by).release

    def cached_answer(
        self, question: DataSetQuestion, price: QuestionPrice, *, by: str
    ) -> CachedAnswer | None:
        """As `answer`, where it was given before and nothing has to be read or written; or None.

        The same is checked. What would be refused is None, too: `answer` refuses it in words.
        """
        try:
            with (
                self._shared.database.cache.only_cached(),
                self._shared.ledger_view.cache.only_cached(),
            ):
                granted = self._granted(question, by=by, refusals=False)
                return self._before(granted, price)[0]
        except (CacheMiss, LetaloneError):
            return None

    def before(
        self, question: DataSetQuestion, price: QuestionPrice, *, by: str, sending: Sending = None
    ) -> CachedAnswer | None:
        """As `answer`, where this process has given it before; or None."""
        with self._single_stamp():
            granted = self._granted(question, by=by)
            before, _, _ = self._before(granted, price)
        if before is None:
            return None  # `answer` looks for the key, once it is this question's turn
        return self._sent_before(granted, sending) or before

    def answer(
        self, question: DataSetQuestion, price: QuestionPrice, *, by: str, sending: Sending = None
    ) -> CachedAnswer:
        """As `release`, with a place for how the answer is written out."""
        with self._single_stamp():
            granted = self._granted(question, by=by)
            before, key, version = self._before(granted, price)
        earlier = self._sent_before(granted, sending) or before
        if earlier is not None:
            return earlier
        release, arrangement = self._released(granted, price)
        stored = dumps(release.to_json(), ensure_ascii=False)
        mine = self._kept(release, stored, granted, sending)
        # Told of the own history alone. That the data set pays nothing for an answer that somebody
        # else has bought can be seen in what is left of its budget (threat model).
        release = replace(release, standing=replace(release.standing, repeated=mine))
        answer = CachedAnswer(arrange_release(release, arrangement), arrangement)
        if key is not None and release.asked.version == version:
            self._remembered.put(key, answer.repeated(), letters=len(stored))
        return answer

    def _sent_before(self, granted: GrantedQuestion, sending: Sending) -> CachedAnswer | None:
        """The answer that was given under the same name, also about an earlier version."""
        if sending is None:
            return None
        with self._written_down(granted.question, by=granted.by):
            row = find_earlier_answer(self._shared, self._master, sending, by=granted.by)
            if row is None:
                return None
            stored = cast("Json", loads(row.release))
            standing = Standing(repeated=True, receipt=self._shared.ledger.receipt(stored))
            (release,) = releases_from(stored, standing)
            check_columns(plan_from_json(release.asked.plan), granted.columns)
        if granted.question.sql is None:
            return CachedAnswer(release)
        with self._ready(granted) as query:
            return CachedAnswer(arrange_release(release, query.arrangement))

    def _released(self, granted: GrantedQuestion, price: QuestionPrice) -> Arranged:
        """Fresh answers come in turn, and equal questions one after the other in all processes; who
        waits holds no rows."""
        with self._ready(granted) as query:
            priced = self._priced(query, granted, price)
            if isinstance(priced, PricedInSteps):
                with self._turns.of(granted.columns, wait=True):
                    priced = priced.find().priced.here()
            release = priced.find_repeat()
            with self._turns.of(granted.columns, wait=False) as mine, suppress(UnderWay):
                if release is None and mine:
                    release = priced.answer(wait_seconds=0)
            if release is not None:
                return release, query.arrangement
        for _ in range(TURNS):  # others may be quicker again and again, if each is killed
            with suppress(UnderWay):
                return self._released_in_turn(granted, price)
            with self._shared.ledger.claim(granted.question.data_set, priced.terms.digest):
                pass  # it was waited for
        return self._released_in_turn(granted, price)

    def _released_in_turn(self, granted: GrantedQuestion, price: QuestionPrice) -> Arranged:
        with self._turns.of(granted.columns, wait=True), self._ready(granted) as query:
            priced = self._priced(query, granted, price)
            if isinstance(priced, PricedInSteps):
                priced = priced.find().priced.here()
            release = priced.find_repeat()
            if release is None:
                release = priced.answer(wait_seconds=0)
            return release, query.arrangement

    def _priced(
        self, query: Query, granted: GrantedQuestion, price: QuestionPrice
    ) -> Priced | PricedInSteps:
        """The question at its price; what the ledger refuses later is written down there."""
        with self._written_down(granted.question, by=granted.by):
            check_asks(query)
            check_quota(self._shared, granted.by)
            return self._price_in_steps(query, price)

    def history(
        self, *, by: str, data_set: str | None = None, most: int | None = None, start: int = 0
    ) -> list[PastReleaseRecord]:
        """Own answers, the newest first; never anybody else's. `most` of them, from `start` on."""
        self._people.require(by, *Role)
        wanted = select(RELEASES).where(RELEASES.c.analyst == by)
        if data_set is not None:
            wanted = wanted.where(RELEASES.c.data_set == data_set)
        wanted = wanted.order_by(RELEASES.c.time.desc(), RELEASES.c.id).limit(most).offset(start)
        return self._in_order([_past(row) for row in self._shared.database.rows(wanted)])

    def _in_order(self, releases: list[PastReleaseRecord]) -> list[PastReleaseRecord]:
        """Times are to the second: answers of the same one come in the order of the ledger."""
        often = Counter(release.time for release in releases)
        twins = [release for release in releases if often[release.time] > 1]
        entries = self._shared.ledger.settled_by([release.release for release in twins])
        places = {release.id: entry or 0 for release, entry in zip(twins, entries, strict=True)}
        return sorted(
            releases, key=lambda release: (release.time, places.get(release.id, 0)), reverse=True
        )

    def past(self, release: str, *, by: str) -> PastReleaseRecord:
        """One of the own answers by its id; NotThere also for anybody else's."""
        self._people.require(by, *Role)
        wanted = select(RELEASES).where((RELEASES.c.id == release) & (RELEASES.c.analyst == by))
        row = self._shared.database.row(wanted)
        if row is None:
            raise NotThere("There is no such answer of yours.")
        return _past(row)

    def receipt(self, release: str, *, by: str) -> Json:
        """The signed receipt of one of the own answers."""
        return self._shared.ledger.receipt(self.past(release, by=by).release)

    def _before(
        self, granted: GrantedQuestion, price: QuestionPrice
    ) -> tuple[CachedAnswer | None, Hashable, int]:
        """An answer that this analyst has; the key to remember one, and the version asked about."""
        question, by = granted.question, granted.by
        levels = self._shared.ledger_view.levels_for(
            question.data_set, purpose=question.purpose, analyst=by
        )
        now = levels.data_set
        words = spell_question(question, price)
        if words is None:
            return None, None, now.version
        key = (by, words, granted.columns[question.data_set], now.version)
        cached = self._remembered.get(key)
        return None if cached is None else cached.as_of(now), key, now.version

    def _granted(
        self, question: DataSetQuestion, *, by: str, refusals: bool = True
    ) -> GrantedQuestion:
        """The question with the columns that are granted; `refusals` are written down."""
        self._people.require(by, Role.ANALYST)
        for name in question.names:
            self._store.row(name, retired=True)
        with self._written_down(question, by=by) if refusals else nullcontext():
            for name in question.names:
                self._store.row_in_time(name)
            check, purpose = self._requests.check, question.purpose
            columns = {name: check(name, purpose=purpose, analyst=by) for name in question.names}
        return GrantedQuestion(question, by, columns)

    @contextmanager
    def _single_stamp(self) -> Generator[None]:
        """All that is read in the block stands as it does at its beginning."""
        with (
            self._shared.database.cache.single_stamp(),
            self._shared.ledger_view.cache.single_stamp(),
        ):
            yield

    @contextmanager
    def _looked_at(
        self, question: DataSetQuestion, after: ExitStack, *, by: str
    ) -> Generator[Query]:
        """As `_ready`, for what is free: nothing is written down."""
        with self._single_stamp():
            granted = self._granted(question, by=by, refusals=False)
        with self._opened(granted, after) as query:
            yield query

    @contextmanager
    def _ready(self, granted: GrantedQuestion) -> Generator[Query]:
        """The question about open tables, after all checks; refusals are written down."""
        with ExitStack() as stack:
            with self._written_down(granted.question, by=granted.by):
                query = stack.enter_context(self._opened(granted, stack))
            yield query

    @contextmanager
    def _opened(self, granted: GrantedQuestion, after: ExitStack) -> Generator[Query]:
        question, settings = granted.question, self._shared.settings
        who, why, step = granted.by, question.purpose, settings.time_step_seconds
        with self._store.opened(*granted.columns) as sessions:
            mine = [s.on_behalf_of(who, purpose=why, time_step_seconds=step) for s in sessions]
            for session in mine:  # no public table stays with a data set that others ask
                after.callback(session.bound().table.forget_public)
            query = read(question, mine)
            check_columns(query.plan, granted.columns)
            check_size(query.plan, settings.most_cells)
            check_work(query.plan, settings.most_steps)
            yield query

    def _without_rows(
        self, question: DataSetQuestion, look: Callable[[Query], Result], *, by: str
    ) -> Result:
        """What the plan alone decides. It may take long, and who changes the rows does not wait.

        Where they were changed meanwhile, it is looked at again, as they are then.
        """
        with ExitStack() as after:
            with self._looked_at(question, after, by=by) as query:
                pass
            try:
                return look(query)
            except Exception:
                if is_open(query):
                    raise
            with self._looked_at(question, after, by=by) as query:
                return look(query)

    def _price(self, query: Query, price: QuestionPrice) -> Priced:
        """The answer at its price, as it is shown before anything is found for it."""
        priced = self._price_in_steps(query, price)
        return priced.answer if isinstance(priced, PricedInSteps) else priced

    def _price_in_steps(self, query: Query, price: QuestionPrice) -> Priced | PricedInSteps:
        epsilon, remark = self._epsilon(query, price)
        if EPSILON.typed("epsilon", epsilon) > MOST_EPSILON:
            raise ParameterError(
                f"epsilon must be at most {MOST_EPSILON:,} here: beyond, nothing is private, and to"
                " say so exactly takes long."
            )
        priced = in_steps_here(
            query.price_in_steps(epsilon, delta=price.delta, confidence=price.confidence)
        )
        if isinstance(priced, PricedInSteps):
            return replace(priced, confirmed=price.confirm)
        return replace(priced, remark=remark, confirmed=price.confirm)

    def _epsilon(self, query: Query, price: QuestionPrice) -> tuple[Any, str | None]:
        """The ε that is paid, and a remark where it was solved for."""
        if price.epsilon is None:
            check_work(query.plan, self._shared.settings.most_steps, error=True)
        if (price.epsilon is None) == (price.error is None):
            raise ParameterError(
                "Give either an epsilon to spend or an error to keep, and not both."
            )
        if price.epsilon is not None:
            return price.epsilon, None
        epsilon = query.epsilon_for(
            error=cast("Any", price.error),
            delta=price.delta,
            confidence=price.confidence,
            rows=price.rows,
        )
        return epsilon, least_epsilon_remark(epsilon)

    @contextmanager
    def _written_down(self, question: DataSetQuestion, *, by: str) -> Generator[None]:
        """Whatever is refused, or fails, within the block stands in the ledger."""
        try:
            yield
        except (LedgerUnavailable, ServiceUnavailable):
            raise  # nothing was refused: what it needs is away, perhaps the ledger itself
        except LetaloneError as error:
            self._refuse(question, error, by=by)
            raise
        except Exception:
            self._refuse(question, LetaloneError(UNFORESEEN), by=by)
            raise

    def _refuse(self, question: DataSetQuestion, error: LetaloneError, *, by: str) -> None:
        """In the record of each data set that was asked about."""
        digest = self._master.question(spelled_out(question))
        purpose = question.purpose if is_name(question.purpose) else None
        for name in dict.fromkeys(question.names):
            self._shared.ledger.refuse(name, error, digest=digest, analyst=by, purpose=purpose)

    def _kept(
        self, release: Release, stored: str, granted: GrantedQuestion, sending: Sending
    ) -> bool:
        """Puts an answer into the own history; whether it was there."""
        now, question, by = self._shared.clock(), granted.question, granted.by
        name = release_id(release, analyst=by, purpose=question.purpose)
        row = {
            "id": name, "analyst": by, "data_set": question.data_set,
            "purpose": question.purpose, "time": write_time(now), "release": stored,
            "sent_as": None, "sent": None, **pseudonyms_of(self._master, sending, by=by),
        }  # fmt: skip
        # One that is not repeated nobody has yet.
        if release.repeated and self._shared.database.row(A_RELEASE, its=name) is not None:
            return True
        counted = count_bytes(by, len(stored), now=now, unless=name)
        seen = statement_of_seen(self._shared.ledger)
        self._shared.database.write(*counted, (KEEP_RELEASE, row), seen)
        return False


def release_id(release: ReleaseRecord, *, analyst: str, purpose: str) -> str:
    """The id under which an answer stands in its analyst's history."""
    return digest_of({"of": [analyst, purpose, digest_of(release.to_json())]})


def spelled_out(question: DataSetQuestion) -> str:
    """What a refused question was. It may name people, so the ledger has it under a key: nothing
    of it can be read back, or tried out."""
    sent = {"sql": question.sql, "plan": question.plan, "data_set": question.data_set}
    try:
        return dumps(sent, sort_keys=True, default=str)
    except (RecursionError, TypeError, ValueError):
        return "a question that cannot be spelled"


@reads_stored
def _past(row: DataRow) -> PastReleaseRecord:
    release = cast("Json", loads(row.release))
    return read_record(PastReleaseRecord, row, question=str(release["question"]), release=release)
