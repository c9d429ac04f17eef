"""Writes the record of processing activities (GDPR, article 30).

Every field comes from what was declared and decided; none from the data. The record names
analysts, who are recipients of answers, so it is for owners, stewards and auditors.

  Tested:   tests/curator/test_principles.py (G8)
"""

from letalone.curator.controller import ControllerService
from letalone.curator.data_sets import DataSets
from letalone.curator.dependencies import Dependencies
from letalone.curator.people import PeopleService
from letalone.curator.public_page import escape_cell, markdown_table
from letalone.curator.records import DataSetRecord, GrantRecord, Role
from letalone.curator.requests import Requests
from letalone.curator.stored_values import write_time
from letalone.privacy.curve import Json

MEASURES = (
    "answers carry noise that is drawn exactly, and are charged to a budget before the rows are"
    " read (differential privacy)",
    "people log in with passwords kept as Argon2id, or use tokens kept as SHA-256, within roles",
    "no row, exact number or message of the engine leaves on the analysts' side",
    "every answer, refusal and decision is an entry of a signed, tamper-evident ledger",
)


class Processing:
    """The record, as JSON and as Markdown, for owners, stewards and auditors."""

    __slots__ = ("_data_sets", "_facts", "_people", "_requests", "_shared")

    def __init__(
        self,
        shared: Dependencies,
        people: PeopleService,
        data_sets: DataSets,
        requests: Requests,
        *,
        facts: ControllerService,
    ) -> None:
        self._shared, self._people, self._facts = shared, people, facts
        self._data_sets, self._requests = data_sets, requests

    def record(self, *, by: str) -> Json:
        """The fields of article 30, for each data set."""
        self._people.require(by, Role.OWNER, Role.STEWARD, Role.AUDITOR)
        who, grants = self._facts.answerable, self._requests.grants(by=by)
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
        self._people.require(by, Role.OWNER, Role.STEWARD, Role.AUDITOR)
        who, grants = self._facts.answerable, self._requests.grants(by=by)
        lines = ["# Record of processing activities", ""]
        lines += [
            f"Controller: {escape_cell(who.controller)}. Contact: {escape_cell(who.contact)}."
        ]
        for data_set in self._data_sets.records():
            lines += ["", f"## {escape_cell(data_set.name)}", "", *_rows(data_set, grants)]
        lines += ["", "## Security measures", "", *(f"- {words}" for words in MEASURES)]
        return "\n".join(lines) + "\n"


def _activity(record: DataSetRecord, grants: list[GrantRecord]) -> Json:
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


def _rows(record: DataSetRecord, grants: list[GrantRecord]) -> list[str]:
    fields = _activity(record, grants)
    rows = [[name.replace("_", " "), _words(value)] for name, value in fields.items()]
    return markdown_table(["field", "what is recorded"], rows)


def _words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or "none"  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return (
        {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
    )
