"""The part of one of two counters in a survey: shares, checks, and one noisy total.

The first counter is the service that has the survey; the second is another organisation's service
(`letalone serve --aggregator`). A person's browser sends one half of a report to each. For every
report the first asks the second: both tell what their halves say, and count it if it is valid. A
check that was answered before is answered the same again, so a lost connection changes nothing.
When the survey is over the first names the reports that it has counted, and each tells its total
with its own noise, once: the total that was told is kept, and told again, and the shares are
deleted. Whoever gets hold of both stores later finds two noisy totals in them.

Theorem.  What the first counter, all people but one and the owner see together is ε-DP for that
          one's answers, if the second counter is honest; and the other way round.
  Proven:   docs/explanation/proofs/split_reports.md, section 4
  Tested:   tests/curator/test_counters.py
  Assumed:  the counters do not collude; people run the page that is published here
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hmac import compare_digest, digest
from json import dumps, loads
from secrets import randbelow, token_bytes
from typing import Any, cast

import sqlalchemy as sa

from letalone.curator.storage import stored_values as stored
from letalone.curator.storage.database import Database
from letalone.curator.storage.refusals import NotRecognised, NotThere
from letalone.curator.storage.tables import COUNTERS, SPLIT_REPORTS
from letalone.errors import ParameterError
from letalone.local.questionnaires.questions import (
    STEPS,
    QuestionKind,
    Questionnaire,
    SurveyQuestion,
    read_questionnaire,
)
from letalone.local.split.circuits import Circuit, OneOption, WholeNumber, YesNo
from letalone.local.split.counting import TwoCounters
from letalone.local.split.fields import Vector
from letalone.local.split.prio3 import NONCE_SIZE
from letalone.local.split.streams import SEED_SIZE

FORMAT = 1
FIRST, SECOND = 0, 1
WAITING = 2  # of the second's halves: nobody has asked about these yet, so their key says it
MAX_WAITING = 20_000  # of a survey; the first asks a moment after a half has come
MAX_COUNTED = 200_000  # reports that are named at once when the total is told
SPEAKS = b"letalone counters 1"


@dataclass(frozen=True, slots=True)
class HalfReport:
    """One half of a person's report: for each question what is public, and a share."""

    nonce: bytes
    public: tuple[bytes, ...]
    shares: tuple[bytes, ...]

    @classmethod
    def read(cls, nonce: str, public: Sequence[str], shares: Sequence[str]) -> "HalfReport":
        name = _bytes(nonce)
        if len(name) != NONCE_SIZE or len(public) != len(shares):
            raise ParameterError(f"A report has a nonce of {NONCE_SIZE} bytes, and pairs.")
        return cls(name, tuple(map(_bytes, public)), tuple(map(_bytes, shares)))


@dataclass(frozen=True, slots=True)
class CounterPart:
    """A survey as one of its counters knows it."""

    survey: Questionnaire
    place: int
    key: bytes

    def questions(self) -> list[TwoCounters]:
        return split_questions(self.survey)

    @property
    def bearer(self) -> str:
        """What the first counter shows the second: it follows from the key, and is not the key."""
        return digest(self.key, SPEAKS, "sha256").hex()

    def begin(self, half: HalfReport) -> tuple[list[Vector], list[bytes], list[bytes]]:
        """Own shares of the answers, joint seeds, and what to tell the other counter."""
        questions = self.questions()
        if len(half.shares) != len(questions):
            raise ParameterError(f"The survey has {len(questions)} questions. Answer each.")
        parts = zip(questions, half.public, half.shares, strict=True)
        begun = [
            question.prio3.begin_check(self.key, self.place, half.nonce, public, share)
            for question, public, share in parts
        ]
        shares = [check.share for check, _ in begun]
        return shares, [check.joint_seed for check, _ in begun], [message for _, message in begun]

    def agree(self, seeds: Sequence[bytes], own: Sequence[bytes], told: Sequence[str]) -> None:
        """Refuses a report of which a part is not valid, by `own` and what the other has told."""
        if len(told) != len(seeds):
            raise ParameterError(f"The other counter told {len(told)} parts, not {len(seeds)}.")
        pairs = zip(own, map(_bytes, told), strict=True)
        for question, seed, pair in zip(self.questions(), seeds, pairs, strict=True):
            both = pair if self.place == FIRST else pair[::-1]
            if question.prio3.agree(both) != seed:
                raise ParameterError("The report's joint randomness is not what its shares give.")


def split_questions(survey: Questionnaire) -> list[TwoCounters]:
    """Each question as two counters add it up, with its share of ε and a context of its own."""
    return [
        TwoCounters(_circuit(question), survey.epsilon_each, survey=f"{survey.name}/{number}")
        for number, question in enumerate(survey.questions)
    ]


def _circuit(question: SurveyQuestion) -> Circuit:
    if question.kind is QuestionKind.NUMBER:
        return WholeNumber(STEPS)
    return YesNo() if question.kind is QuestionKind.YES_NO else OneOption(len(question.options))


def law_for_browser(question: TwoCounters) -> dict[str, Any]:
    """What `prio3.js` needs to split an answer."""
    circuit = question.question
    law: dict[str, Any] = {"context": question.survey}
    if isinstance(circuit, OneOption):
        return law | {"kind": "one_of", "options": circuit.options, "chunk": circuit.chunk}
    if isinstance(circuit, WholeNumber):
        return law | {"kind": "number", "largest": circuit.largest}
    return law | {"kind": "yes_no"}


class CounterService:
    """The state of counters in this service's database."""

    __slots__ = ("_database",)

    def __init__(self, database: Database) -> None:
        self._database = database

    def start(self, connection: sa.Connection, survey: Questionnaire) -> None:
        """Makes this service the first counter of a survey, with a new key."""
        self._insert(connection, CounterPart(survey, FIRST, token_bytes(SEED_SIZE)))

    def invitation(self, name: str) -> dict[str, Any]:
        """What the second counter's operator is given, over a private channel: it has the key."""
        part = self.part(name, FIRST)
        return {"format": FORMAT, "survey": part.survey.to_json(), "key": part.key.hex()}

    def join(self, document: object) -> Questionnaire:
        """Makes this service the second counter, by what the first one's operator has sent."""
        empty: Mapping[str, object] = {}
        fields = cast("Mapping[str, object]", document) if isinstance(document, Mapping) else empty
        if fields.get("format") != FORMAT:
            raise ParameterError("This is not the file that `letalone survey share` writes.")
        survey, key = read_questionnaire(fields.get("survey")), _bytes(str(fields.get("key")))
        if len(key) != SEED_SIZE:
            raise ParameterError(f"The key has {len(key)} bytes, but must have {SEED_SIZE}.")
        if not survey.two_counters:
            raise ParameterError("This survey has one counter. Ask for one that has two.")
        with self._database.writing() as connection:
            self._check_elsewhere(connection, survey.name, key)
            self._insert(connection, CounterPart(survey, SECOND, key))
        return survey

    def _check_elsewhere(self, connection: sa.Connection, name: str, key: bytes) -> None:
        """One store with both halves could read every answer."""
        first = self._find(connection, name, FIRST)
        if first is not None and _read_part(first).key == key:
            raise ParameterError(
                f"This service is the first counter of {name!r}. The other organisation has to run"
                " `letalone survey join`, on its own machine or with its own --folder."
            )

    def _insert(self, connection: sa.Connection, part: CounterPart) -> None:
        row = {
            "survey": part.survey.name, "place": part.place, "key": part.key.hex(),
            "document": dumps(part.survey.to_json()),
        }  # fmt: skip
        if self._find(connection, part.survey.name, part.place) is not None:
            raise ParameterError(f"This service counts {part.survey.name!r} already.")
        connection.execute(sa.insert(COUNTERS).values(row))

    def part(self, name: str, place: int) -> CounterPart:
        with self._database.reading() as connection:
            row = self._find(connection, name, place)
        if row is None:
            raise NotThere(
                f"This service does not count {name!r} with another one. Only a survey that was"
                " made with two_counters = true has two counters."
            )
        return _read_part(row)

    def is_split(self, name: str) -> bool:
        """Whether a survey of this service has two counters."""
        with self._database.reading() as connection:
            return self._find(connection, name, FIRST) is not None

    def check_bearer(self, name: str, bearer: str) -> CounterPart:
        """The part of the second counter, for the first one alone."""
        part = self.part(name, SECOND)
        if not compare_digest(part.bearer.encode(), bearer.encode(errors="replace")):
            raise NotRecognised("This is for the survey's other counter.")
        return part

    def receive(self, name: str, half: HalfReport) -> None:
        """Keeps a half until the first counter asks about it. What is counted stays as it is.

        A browser gives all reports of an invitation one nonce: a later half takes the place of
        one that does not count, and of all that a person sends one report counts.
        """
        part = self.part(name, SECOND)
        part.begin(half)  # a half that cannot be checked is not kept
        kept = dumps({"public": _hexes(half.public), "shares": _hexes(half.shares)})
        key = {"survey": name, "place": WAITING, "nonce": half.nonce.hex()}
        with self._database.writing() as connection:
            self._check_counting(connection, name, SECOND)
            before = self._half(connection, name, half.nonce)
            if before is None:
                _make_room(connection, name)
                connection.execute(sa.insert(SPLIT_REPORTS).values(**key, half=kept))
            elif before.shares is None:
                mine = _report_is(name, before.place, half.nonce)
                connection.execute(sa.update(SPLIT_REPORTS).where(mine).values(half=kept))

    def check(self, name: str, nonce: str, told: Sequence[str]) -> list[str]:
        """The second counter's answer about a report: what it tells, if the report is valid."""
        part, name_of_report = self.part(name, SECOND), _bytes(nonce)
        with self._database.writing() as connection:
            self._check_counting(connection, name, SECOND)
            row = self._half(connection, name, name_of_report)
            if row is None:
                raise NotThere("The other half of this report has not come.")
            kept = loads(row.half)
            half = HalfReport.read(nonce, kept["public"], kept["shares"])
            shares, seeds, messages = part.begin(half)
            part.agree(seeds, messages, told)
            is_report = _report_is(name, row.place, name_of_report)
            _keep(connection, is_report, SECOND, shares)
        return _hexes(messages)

    def count(
        self, connection: sa.Connection, name: str, half: HalfReport, shares: list[Vector]
    ) -> None:
        """The first counter counts a report that both have found valid."""
        values = {"survey": name, "place": FIRST, "nonce": half.nonce.hex(), "half": "{}"}
        self._check_counting(connection, name, FIRST)
        if self._report(connection, name, FIRST, half.nonce) is not None:
            raise ParameterError("A report with this nonce was counted before.")
        connection.execute(sa.insert(SPLIT_REPORTS).values(values))
        _keep(connection, _report_is(name, FIRST, half.nonce), FIRST, shares)

    def counted(self, name: str) -> list[str]:
        """The nonces of all reports that the first counter has counted."""
        query = sa.select(SPLIT_REPORTS.c.nonce).where(
            (SPLIT_REPORTS.c.survey == name) & (SPLIT_REPORTS.c.place == FIRST)
        )
        return sorted(self._database.values(query))

    def tell(self, name: str, place: int, nonces: Sequence[str]) -> list[list[str]]:
        """The total of these reports with this counter's noise: drawn once, and kept.

        The shares are deleted with it; the nonces stay, and say how many people answered. Where
        somebody read the store meanwhile, the log still has them: the next who asks empties it.
        """
        part = self.part(name, place)
        with self._database.writing() as connection:
            totals = self._told(connection, name, place)
            if totals is None:
                totals = self._draw(connection, part, set(map(_bytes, nonces)))
        self._database.overwrite()
        return loads(totals)

    def _draw(self, connection: sa.Connection, part: CounterPart, named: set[bytes]) -> str:
        """The total of the named, each once however it was written, instead of their shares."""
        name, place = part.survey.name, part.place
        shares = self._shares(connection, name, place, named)
        totals = [
            question.add_noise(question.prio3.add_up([vectors[at] for vectors in shares]))
            for at, question in enumerate(part.questions())
        ]
        written = dumps([[str(number) for number in total] for total in totals])
        mine = (COUNTERS.c.survey == name) & (COUNTERS.c.place == place)
        connection.execute(sa.update(COUNTERS).where(mine).values(told=written))
        _delete_shares(connection, name, place, named)
        return written

    def _shares(
        self, connection: sa.Connection, name: str, place: int, named: set[bytes]
    ) -> list[list[Vector]]:
        columns = SPLIT_REPORTS.c
        counted = sa.and_(
            columns.survey == name, columns.place == place, columns.shares.is_not(None)
        )
        rows = connection.execute(sa.select(columns.nonce, columns.shares).where(counted))
        shares = {row.nonce: row.shares for row in rows}
        if not {nonce.hex() for nonce in named} <= shares.keys():
            raise ParameterError("A report is named that this counter has not counted.")
        return [
            [[int(number) for number in vector] for vector in loads(shares[nonce.hex()])]
            for nonce in named
        ]

    def _find(self, connection: sa.Connection, name: str, place: int) -> stored.DataRow | None:
        mine = (COUNTERS.c.survey == name) & (COUNTERS.c.place == place)
        return connection.execute(sa.select(COUNTERS).where(mine)).first()

    def _told(self, connection: sa.Connection, name: str, place: int) -> str | None:
        row = self._find(connection, name, place)
        return None if row is None else row.told

    def _check_counting(self, connection: sa.Connection, name: str, place: int) -> None:
        if self._told(connection, name, place) is not None:
            raise NotThere("This survey is over: it takes no answers any more.")

    def _report(
        self, connection: sa.Connection, name: str, place: int, nonce: bytes
    ) -> stored.DataRow | None:
        query = sa.select(SPLIT_REPORTS).where(_report_is(name, place, nonce))
        return connection.execute(query).first()

    def _half(self, connection: sa.Connection, name: str, nonce: bytes) -> stored.DataRow | None:
        """The second's half of a report, counted or waiting."""
        counted = self._report(connection, name, SECOND, nonce)
        return counted or self._report(connection, name, WAITING, nonce)


def _report_is(name: str, place: int, nonce: bytes) -> sa.ColumnElement[bool]:
    columns = SPLIT_REPORTS.c
    return sa.and_(columns.survey == name, columns.place == place, columns.nonce == nonce.hex())


def _keep(
    connection: sa.Connection, report: sa.ColumnElement[bool], place: int, shares: list[Vector]
) -> None:
    written = dumps([[str(number) for number in vector] for vector in shares])
    counted = sa.update(SPLIT_REPORTS).where(report).values(place=place, shares=written)
    connection.execute(counted)


def _delete_shares(connection: sa.Connection, name: str, place: int, named: set[bytes]) -> None:
    """Leaves the nonces of what was told, in their order, and nothing of what waited."""
    key = {"survey": name, "place": place, "half": "{}", "shares": None}
    columns = SPLIT_REPORTS.c
    places = (SECOND, WAITING) if place == SECOND else (FIRST,)
    mine = (columns.survey == name) & columns.place.in_(places)
    connection.execute(sa.delete(SPLIT_REPORTS).where(mine))
    rows = [{**key, "nonce": nonce.hex()} for nonce in sorted(named)]
    if rows:
        connection.execute(sa.insert(SPLIT_REPORTS), rows)


def _make_room(connection: sa.Connection, name: str) -> None:
    """Deletes a waiting half at random where there are too many: mostly one that nobody asks about.

    A person whose half went sends it again. All is told by the keys: those that are counted, and
    what is in a half, are not looked at.
    """
    nonce = SPLIT_REPORTS.c.nonce
    waiting = (SPLIT_REPORTS.c.survey == name) & (SPLIT_REPORTS.c.place == WAITING)
    number = connection.execute(sa.select(sa.func.count(nonce)).where(waiting)).scalar_one()
    if number >= MAX_WAITING:
        drawn = sa.select(nonce).where(waiting).order_by(nonce).offset(randbelow(number)).limit(1)
        mine = waiting & (nonce == connection.execute(drawn).scalar_one())
        connection.execute(sa.delete(SPLIT_REPORTS).where(mine))


@stored.reads_stored
def _read_part(row: stored.DataRow) -> CounterPart:
    return CounterPart(read_questionnaire(loads(row.document)), row.place, bytes.fromhex(row.key))


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise ParameterError("A report must be hexadecimal digits.") from None


def _hexes(parts: Sequence[bytes]) -> list[str]:
    return [part.hex() for part in parts]
