"""Says who answers for the data, publishes what is asked of them, and records the processing.

The public page (G6) is for anybody: which data sets there are, for what purposes, under what unit,
how much of the budget is spent. All of it was declared by the owner, or is book-keeping of charges,
which do not depend on data. No analyst is named, no row is counted. The record of processing
activities (GDPR, article 30) names analysts, who are recipients of answers, so it is for owners,
stewards and auditors. Both are JSON and Markdown.

  Tested:   tests/curator/test_principles.py (G6): an empty table has the same page; (G8);
            tests/curator/test_facts.py
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, insert, select

from letalone.curator.data_sets.service import DataSets
from letalone.curator.grants.decisions import read_words
from letalone.curator.grants.service import Requests
from letalone.curator.people.service import PeopleService
from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.stored_values import write_time
from letalone.curator.storage.tables import CONTROLLER_FACTS
from letalone.ledger.levels import Level
from letalone.privacy import Budget
from letalone.privacy.budget import brief
from letalone.privacy.curve import Json
from letalone.wire.records import DataSetRecord, Grant, Role

MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|~&$^:@-])")
MEASURES = (
    "answers carry noise that is drawn exactly, and are charged to a budget before the rows are"
    " read (differential privacy)",
    "people log in with passwords kept as Argon2id, or use tokens kept as SHA-256, within roles",
    "no row, exact number or message of the engine leaves on the analysts' side",
    "every answer, refusal and decision is an entry of a signed, tamper-evident ledger",
)


@dataclass(frozen=True, slots=True)
class ControllerContact:
    """The data controller, and how people reach them."""

    controller: str
    contact: str

    def __str__(self) -> str:
        return f"{escape_cell(self.controller)}. Contact: {escape_cell(self.contact)}."


@dataclass(frozen=True, slots=True)
class ControllerService:
    """Reads and changes who the data controller is."""

    _shared: Dependencies
    _people: PeopleService

    @property
    def answerable(self) -> ControllerContact:
        """What was said last, else what the settings say."""
        settings = self._shared.settings
        rows = self._shared.database.rows(select(CONTROLLER_FACTS))
        words = {row.name: row.words for row in rows}
        return ControllerContact(
            words.get("controller", settings.controller), words.get("contact", settings.contact)
        )

    def say(
        self, *, controller: str | None = None, contact: str | None = None, by: str | None
    ) -> ControllerContact:
        """Names who answers for the data: by an owner, or (by=None) by who has the machine."""
        if by is not None:
            self._people.require(by, Role.OWNER)
        given = {"controller": controller, "contact": contact}
        facts = {name: read_words(name, text) for name, text in given.items() if text is not None}
        if facts:
            rows = [{"name": name, "words": words} for name, words in facts.items()]
            self._shared.database.execute(
                delete(CONTROLLER_FACTS).where(CONTROLLER_FACTS.c.name.in_(facts)),
                insert(CONTROLLER_FACTS).values(rows),
            )
            people = [] if by is None else [by]
            self._shared.ledger.administer(None, "answerable", dict[str, object](facts), by=people)
        return self.answerable


@dataclass(frozen=True, slots=True)
class PublicPage:
    """Makes the public page, as JSON and as Markdown."""

    _shared: Dependencies
    _data_sets: DataSets
    _facts: ControllerService

    def page(self) -> Json:
        """Which data sets, for what purposes, under what unit, how much of the budget is spent."""
        who = self._facts.answerable
        return {
            "format": 1,
            "controller": who.controller,
            "contact": who.contact,
            "key": self._shared.ledger.fingerprint,
            "data_sets": [self._data_set(record) for record in self._data_sets.records()],
        }

    def markdown(self) -> str:
        lines = ["# What is asked of whose data", "", f"Answerable: {self._facts.answerable}"]
        for record in self._data_sets.records():
            lines += ["", *self._lines(record)]
        return "\n".join(lines) + "\n"

    def _data_set(self, record: DataSetRecord) -> Json:
        data_set = self._shared.ledger.data_set(record.name)
        levels = self._shared.ledger_view.purposes(record.name)
        return {
            "name": record.name,
            "description": record.description,
            "version": data_set.version,
            "unit": data_set.neighbours.unit or "row",
            "protects": str(data_set.neighbours),
            "columns": [
                {"name": column.name, "type": column.type.value} for column in record.schema.columns
            ],
            "budget": rounded_budget(data_set.budget),
            "spent": rounded_budget(data_set.spent),
            "spent_in_words": brief(data_set.spent),
            "releases": data_set.releases,
            "purposes": [self._purpose(record, level) for level in levels],
            "retention": None if record.retention is None else record.retention.isoformat(),
            "retired": record.retired,
            "rows": retention_words(record),
        }

    def _purpose(self, record: DataSetRecord, level: Level) -> Json:
        words = {purpose.name: purpose.description for purpose in record.purposes}
        over = level.has_expired(write_time(self._shared.clock()) or "")
        return {
            "name": level.purpose,
            "description": words.get(level.purpose, ""),
            "budget": rounded_budget(level.budget),
            "spent": rounded_budget(level.spent),
            "spent_in_words": brief(level.spent),
            "expires": level.expires,
            "state": "withdrawn" if level.withdrawn else "expired" if over else "open",
        }

    def _lines(self, record: DataSetRecord) -> list[str]:
        data_set = self._shared.ledger.data_set(record.name)
        kept = f" {retention_words(record)}".rstrip()
        purposes = [
            [level.purpose, str(level.budget), brief(level.spent), level.expires or "no end"]
            for level in self._shared.ledger_view.purposes(record.name)
        ]
        return [
            f"## {escape_cell(record.name)}",
            "",
            f"{escape_cell(record.description)}{kept}".strip() or "Not described.",
            "",
            f"It protects: {data_set.neighbours}. All answers together may reveal"
            f" ({data_set.budget}); ({brief(data_set.spent)}) is spent on {data_set.releases}"
            f" answer{'s' * (data_set.releases != 1)}.",
            "",
            *markdown_table(["purpose", "may spend", "spent", "until"], purposes),
        ]


@dataclass(frozen=True, slots=True)
class Processing:
    """The record, as JSON and as Markdown, for owners, stewards and auditors."""

    _shared: Dependencies
    _people: PeopleService
    _data_sets: DataSets
    _requests: Requests
    _facts: ControllerService

    def record(self, *, by: str) -> Json:
        """The fields of article 30, for each data set."""
        who, grants = self._facts.answerable, self._grants(by)
        return {
            "format": 1,
            "time": write_time(self._shared.clock()),
            "controller": who.controller,
            "contact": who.contact,
            "activities": [_activity(data_set, grants) for data_set in self._data_sets.records()],
            "security_measures": list(MEASURES),
            "ledger": {"entries": len(self._shared.ledger), "head": self._shared.ledger.head},
        }

    def markdown(self, *, by: str) -> str:
        who, grants = self._facts.answerable, self._grants(by)
        lines = ["# Record of processing activities", "", f"Controller: {who}"]
        for data_set in self._data_sets.records():
            lines += ["", f"## {escape_cell(data_set.name)}", "", *_rows(data_set, grants)]
        lines += ["", "## Security measures", "", *(f"- {words}" for words in MEASURES)]
        return "\n".join(lines) + "\n"

    def _grants(self, by: str) -> list[Grant]:
        self._people.require(by, Role.OWNER, Role.STEWARD, Role.AUDITOR)
        return self._requests.grants(by=by)


def _activity(record: DataSetRecord, grants: list[Grant]) -> Json:
    return {
        "data_set": record.name,
        "description": record.description,
        "purposes": [purpose.name for purpose in record.purposes],
        "categories_of_data_subjects": [record.schema.unit or "row"],
        "categories_of_personal_data": [column.name for column in record.schema.columns],
        "recipients": sorted({g.analyst for g in grants if g.data_set == record.name}),
        "transfers_to_third_countries": "none by the curator: answers only, to the recipients",
        "time_limit_for_erasure": str(record.retention) if record.retention else "not set",
        "retired": record.retired,
    }


def _rows(record: DataSetRecord, grants: list[Grant]) -> list[str]:
    fields = _activity(record, grants)
    rows = [[name.replace("_", " "), _words(value)] for name, value in fields.items()]
    return markdown_table(["field", "what is recorded"], rows)


def _words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or "none"  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def retention_words(record: DataSetRecord) -> str:
    """Where the rows are and how long, in words for people in the data."""
    if record.retired and record.external:
        return "It was retired and is no longer read; its owner keeps the source."
    if record.retired:
        return "It was retired: its rows are gone."
    until = f" until {record.retention}" if record.retention else ""
    if record.external:
        ends = f"It is read{until}." if until else ""
        return f"Their owner keeps the rows. {ends}".rstrip()
    return f"Its rows are kept{until}." if until else ""


def rounded_budget(budget: Budget) -> Json:
    """Both amounts as numbers, for reading: book-keeping."""
    return {"epsilon": float(budget.epsilon), "delta": float(budget.delta)}


def escape_cell(words: str) -> str:
    """Words in one line, with every sign of markup escaped."""
    return MARKUP.sub(r"\\\1", " ".join(words.split()))


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a markdown_table."""
    lines = [heads, ["---"] * len(heads)]
    lines += [[escape_cell(words) for words in row] for row in rows]
    return [f"| {' | '.join(line)} |" for line in lines]
