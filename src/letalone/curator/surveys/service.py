"""Makes, opens and closes surveys, and counts reports.

An invitation is a secret of which a digest is kept, with whether it was used. Reports are kept as
counts by their value. So the store tells who was invited and how often each report came, and
nothing tells which report came by which invitation. SQLite writes both changes into its log first:
the log is emptied after each report, and again when the survey is closed.

Theorem.  What the service receives from a person is ε-DP for their answers (REPLACE), whatever
          it does with it.
  Proven:   docs/explanation/proofs/local_frequencies.md
  Tested:   tests/curator/test_surveys.py; in a browser: tests/browser/test_surveys.py
  Assumed:  the page that a browser runs is the one that is published here; a browser's random
            numbers are random; a person answers in one browser. Whoever watches the store while
            reports come sees both change; PostgreSQL keeps beside rows what was written together,
            until the survey is closed and its rows are written anew, in the order of their keys
"""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from json import dumps, loads
from secrets import token_urlsafe

import sqlalchemy as sa

from letalone.curator.people.service import PeopleService
from letalone.curator.storage import stored_values as stored
from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.refusals import AlreadyDecided, NotThere
from letalone.curator.storage.tables import (
    INVITATIONS,
    REPORT_COUNTS,
    SURVEYS,
)
from letalone.curator.surveys.counters import FIRST, MAX_COUNTED, CounterService, HalfReport
from letalone.curator.surveys.other_counter import ask_for_total, ask_to_check, check_address
from letalone.errors import ParameterError
from letalone.local.questionnaires.questions import Questionnaire, read_questionnaire
from letalone.local.questionnaires.results import (
    QuestionResult,
    empty_result,
    question_results,
    read_person,
    split_result,
)
from letalone.wire.records import Role

MAY = (Role.STEWARD, Role.OWNER)
MAX_INVITATIONS = 100_000
SECRET_BYTES = 18


@dataclass(frozen=True, slots=True)
class SurveyRecord:
    """A survey and how it stands."""

    survey: Questionnaire
    made: str
    made_by: str
    closed: str | None
    invited: int
    people: int


class SurveyService:
    """Surveys of this service."""

    __slots__ = ("_people", "_shared", "counters")

    def __init__(self, shared: Dependencies, people: PeopleService) -> None:
        self._shared, self._people = shared, people
        self.counters = CounterService(shared.database)

    @property
    def other_counter(self) -> str:
        """The address of the second counter, which the operator has named."""
        address = self._shared.settings.other_counter
        if address is None:
            raise ParameterError(
                "No second counter is named. Add --other-counter https://… to letalone serve or"
                " letalone survey, or make the survey with one strength: random answers."
            )
        return check_address(address)

    def make(self, survey: Questionnaire, *, by: str) -> SurveyRecord:
        """A new survey; its words and its ε stay as they are."""
        self._people.require(by, *MAY)
        if survey.two_counters:
            check_address(self.other_counter)
        now = self._shared.clock()
        if not now.date() <= survey.ends <= now.date() + timedelta(days=3660):
            raise ParameterError(
                f"ends is {survey.ends}, but must be today or later, and within ten years."
            )
        row = {
            "name": survey.name, "survey": dumps(survey.to_json()), "made_by": by,
            "made": stored.write_time(now),
        }  # fmt: skip
        with self._shared.database.writing() as connection:
            if connection.execute(_by_name(survey.name)).first() is not None:
                raise AlreadyDecided(
                    f"There is a survey {survey.name!r} already. Give this one another name."
                )
            connection.execute(sa.insert(SURVEYS).values(row))
            if survey.two_counters:
                self.counters.start(connection, survey)
        return self.record(survey.name, by=by)

    def invite(self, name: str, number: int, *, by: str) -> list[str]:
        """New invitations, which are told once: a digest of each is kept."""
        self._people.require(by, *MAY)
        if not 1 <= number <= MAX_INVITATIONS:
            raise ParameterError(
                f"number is {number}, but must be from 1 to {MAX_INVITATIONS:,} invitations."
            )
        secrets = [token_urlsafe(SECRET_BYTES) for _ in range(number)]
        rows = [
            {"digest": stored.digest_of_secret(secret), "survey": name, "used": False}
            for secret in secrets
        ]
        with self._shared.database.writing() as connection:
            row = self._row(connection, name)
            self._check_open(row)
            record = _record(connection, row)
            if record.survey.two_counters and record.invited + number > MAX_COUNTED:
                raise ParameterError(f"Two counters count at most {MAX_COUNTED:,} invitations.")
            connection.execute(sa.insert(INVITATIONS), sorted(rows, key=lambda row: row["digest"]))
        return secrets

    def published(self, name: str) -> Questionnaire:
        """A survey that takes answers now: anybody may read its questions."""
        with self._shared.database.reading() as connection:
            row = self._row(connection, name)
            self._check_open(row)
            return _survey(row)

    def take(self, name: str, secret: str, reports: list[str]) -> None:
        """Counts the reports of one person, one for each question asked; uses up the invitation."""
        survey = self.published(name)
        if survey.two_counters:
            raise ParameterError("This survey has two counters: send each a half of the report.")
        read = read_person(survey, reports)
        with self._shared.database.writing() as connection:
            self._check_open(self._row(connection, name))
            self._use(connection, name, secret)
            for question, report in read:
                _count(connection, name, question, report)
        self._forget_order()

    def take_half(self, name: str, secret: str, half: HalfReport) -> None:
        """Counts a report with the second counter; both have a half of it, and neither can read it.

        The invitation is used up when both have found the report valid. Until then the same report
        may be sent again.
        """
        survey = self.published(name)
        if not survey.two_counters:
            raise ParameterError("This survey takes random answers, not halves.")
        part = self.counters.part(name, FIRST)
        shares, seeds, messages = part.begin(half)
        with self._shared.database.reading() as connection:
            self._check_unused(connection, name, secret)
        answers = ask_to_check(
            self.other_counter, part, nonce=half.nonce.hex(), told=[each.hex() for each in messages]
        )
        part.agree(seeds, messages, answers)
        with self._shared.database.writing() as connection:
            self._check_open(self._row(connection, name))
            self._use(connection, name, secret)
            self.counters.count(connection, name, half, shares)
        self._forget_order()

    def _forget_order(self) -> None:
        """Empties the log, which tells what was written together; while busy, the next does it."""
        self._shared.database.overwrite(tries=1)

    def _use(self, connection: sa.Connection, name: str, secret: str) -> None:
        mine = self._check_unused(connection, name, secret)
        connection.execute(sa.update(INVITATIONS).where(mine).values(used=True))

    def _check_unused(
        self, connection: sa.Connection, name: str, secret: str
    ) -> sa.ColumnElement[bool]:
        digest = stored.digest_of_secret(secret)
        mine = (INVITATIONS.c.digest == digest) & (INVITATIONS.c.survey == name)
        row = connection.execute(sa.select(INVITATIONS.c.used).where(mine)).first()
        if row is None:
            raise NotThere("This invitation is not one of this survey. Check the link.")
        if row.used:
            raise AlreadyDecided("This invitation was used before. Each invitation counts once.")
        return mine

    def close(self, name: str, *, by: str) -> SurveyRecord:
        """No report is taken any more; a counter draws its noise, and its shares are deleted."""
        self._people.require(by, *MAY)
        with self._shared.database.reading() as connection:
            self._row(connection, name)
        self._close(name)
        return self.record(name, by=by)

    def close_ended(self) -> list[str]:
        """Closes surveys whose last day is over and which nobody has closed; their names."""
        not_closed = sa.select(SURVEYS).where(SURVEYS.c.closed.is_(None)).order_by(SURVEYS.c.name)
        rows = self._shared.database.rows(not_closed)
        ended = [row.name for row in rows if not self._is_open(row)]
        for name in ended:
            self._close(name)
        return ended

    def _close(self, name: str) -> None:
        """Nothing that is kept afterwards tells the order of reports, or has shares."""
        now = stored.write_time(self._shared.clock())
        with self._shared.database.writing() as connection:
            still_open = (SURVEYS.c.name == name) & SURVEYS.c.closed.is_(None)
            if connection.execute(sa.update(SURVEYS).where(still_open).values(closed=now)).rowcount:
                for table in (INVITATIONS, REPORT_COUNTS):
                    _write_anew(connection, table, name)
        if self.counters.is_split(name) and (nonces := self.counters.counted(name)):
            self.counters.tell(name, FIRST, nonces)
        self._shared.database.overwrite()

    def record(self, name: str, *, by: str) -> SurveyRecord:
        self._people.require(by, *MAY, Role.AUDITOR)
        with self._shared.database.reading() as connection:
            return _record(connection, self._row(connection, name))

    def records(self, *, by: str) -> list[SurveyRecord]:
        """All surveys, the newest first."""
        self._people.require(by, *MAY, Role.AUDITOR)
        newest = sa.select(SURVEYS).order_by(SURVEYS.c.made.desc(), SURVEYS.c.name)
        with self._shared.database.reading() as connection:
            return [_record(connection, row) for row in connection.execute(newest).all()]

    def results(
        self, name: str, *, by: str, confidence: float = 0.95, margin: float = 0.02
    ) -> list[QuestionResult]:
        """Estimates with intervals: at any time, since each report is private by itself.

        With two counters when the survey is over: each then tells its total, with its noise, once.
        """
        self._people.require(by, *MAY, Role.AUDITOR)
        if self.counters.is_split(name):
            return self._split_results(name, confidence)
        with self._shared.database.reading() as connection:
            survey = _survey(self._row(connection, name))
            rows = connection.execute(
                sa.select(REPORT_COUNTS).where(REPORT_COUNTS.c.survey == name)
            ).all()
        counts: list[dict[str, int]] = [{} for _ in survey.questions]
        for row in rows:
            counts[row.question][row.report] = row.number
        return question_results(survey, [*counts], confidence=confidence, margin=margin)

    def _split_results(self, name: str, confidence: float) -> list[QuestionResult]:
        part = self.counters.part(name, FIRST)
        with self._shared.database.reading() as connection:
            if self._is_open(self._row(connection, name)):
                return [empty_result(question, confidence) for question in part.survey.questions]
        nonces = self.counters.counted(name)
        if not nonces:
            return [empty_result(question, confidence) for question in part.survey.questions]
        second = ask_for_total(self.other_counter, part, nonces)
        first = self.counters.tell(name, FIRST, nonces)
        own_totals = [[int(number) for number in vector] for vector in first]
        totals = zip(part.survey.questions, part.questions(), own_totals, second, strict=True)
        return [
            split_result(question, counters, first_total, other, len(nonces), confidence)
            for question, counters, first_total, other in totals
        ]

    def _row(self, connection: sa.Connection, name: str) -> stored.DataRow:
        row = connection.execute(_by_name(name)).first()
        if row is None:
            raise NotThere(f"There is no survey {name!r}.")
        return row

    def _is_open(self, row: stored.DataRow) -> bool:
        return row.closed is None and self._shared.clock() < _end(_survey(row))

    def _check_open(self, row: stored.DataRow) -> None:
        if not self._is_open(row):
            raise NotThere("This survey is over: it takes no answers any more.")


def _by_name(name: str) -> sa.Select[tuple[object, ...]]:
    return sa.select(SURVEYS).where(SURVEYS.c.name == name)


@stored.reads_stored
def _survey(row: stored.DataRow) -> Questionnaire:
    return read_questionnaire(loads(row.survey))


def _end(survey: Questionnaire) -> datetime:
    """The first moment of the day after its last."""
    return datetime.combine(survey.ends, time(), UTC) + timedelta(days=1)


def _record(connection: sa.Connection, row: stored.DataRow) -> SurveyRecord:
    mine = sa.select(sa.func.count()).where(INVITATIONS.c.survey == row.name)
    invited, used = (
        connection.execute(query).scalar_one() for query in (mine, mine.where(INVITATIONS.c.used))
    )
    return SurveyRecord(_survey(row), row.made, row.made_by, row.closed, invited, used)


def _count(connection: sa.Connection, survey: str, question: int, report: str) -> None:
    key = {"survey": survey, "question": question, "report": report}
    mine = sa.and_(*(REPORT_COUNTS.c[name] == value for name, value in key.items()))
    more = sa.update(REPORT_COUNTS).where(mine).values(number=REPORT_COUNTS.c.number + 1)
    if not connection.execute(more).rowcount:
        connection.execute(sa.insert(REPORT_COUNTS).values(**key, number=1))


def _write_anew(connection: sa.Connection, table: sa.Table, survey: str) -> None:
    """All rows of a survey in one go, by their keys: nothing tells which were written together."""
    mine = table.c.survey == survey
    ordered = sa.select(table).where(mine).order_by(*table.primary_key)
    rows = [dict(row) for row in connection.execute(ordered).mappings()]
    if rows:
        connection.execute(sa.delete(table).where(mine))
        connection.execute(sa.insert(table), rows)
