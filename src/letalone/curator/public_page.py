"""Publishes what anybody may know of the data sets (G6), as JSON and as Markdown.

Which data sets there are, for what purposes, under what unit, how much of the budget is spent.
All of it was declared by the owner, or is book-keeping of charges, which do not depend on data.
No analyst is named, no row is counted.

  Tested:   tests/curator/test_principles.py (G6): an empty table has the same page
"""

import re
from collections.abc import Sequence

from letalone.curator.controller import ControllerService
from letalone.curator.data_sets import DataSets
from letalone.curator.dependencies import Dependencies
from letalone.curator.records import DataSetRecord
from letalone.curator.stored_values import write_time
from letalone.ledger.levels import Level
from letalone.privacy import Budget
from letalone.privacy.curve import Json
from letalone.privacy.filters import brief

MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|~&$^:@-])")


class PublicPage:
    """Makes the public page, as JSON and as Markdown."""

    __slots__ = ("_data_sets", "_facts", "_shared")

    def __init__(self, shared: Dependencies, data_sets: DataSets, facts: ControllerService) -> None:
        self._shared, self._data_sets, self._facts = shared, data_sets, facts

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
        who, lines = self._facts.answerable, ["# What is asked of whose data", ""]
        lines += [
            f"Answerable: {escape_cell(who.controller)}. Contact: {escape_cell(who.contact)}."
        ]
        for record in self._data_sets.records():
            lines += ["", *self._lines(record)]
        return "\n".join(lines) + "\n"

    def _data_set(self, record: DataSetRecord) -> Json:
        data_set = self._shared.ledger.data_set(record.name)
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
            "purposes": [self._purpose(record, level) for level in self._purposes(record)],
            "retention": None if record.retention is None else record.retention.isoformat(),
            "retired": record.retired,
            "rows": retention_words(record),
        }

    def _purposes(self, record: DataSetRecord) -> list[Level]:
        return [
            level for level in self._shared.ledger_view.levels(record.name) if level.analyst is None
        ]

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
            for level in self._purposes(record)
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


def retention_words(record: DataSetRecord) -> str:
    """Where the rows are and how long, in words for people in the data."""
    if record.retired and record.external:
        return "It was retired and is no longer read; its source is kept elsewhere, by its owner."
    if record.retired:
        return "It was retired: its rows are gone."
    until = f" until {record.retention}" if record.retention else ""
    if record.external:
        ends = f"It is read{until}." if until else ""
        return f"Its rows are kept elsewhere, by their owner. {ends}".rstrip()
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
