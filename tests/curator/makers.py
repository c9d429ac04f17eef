"""A curator with people in every role, and a small table with a column that is not needed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from letalone.curator.curator import Curator
from letalone.curator.storage.dependencies import Moment, since_start
from letalone.curator.storage.service_records import (
    DataSetQuestion,
    Purpose,
    QuestionPrice,
    Registration,
)
from letalone.curator.storage.settings import Settings
from letalone.plans.schema import Column, Schema
from letalone.privacy import Budget
from letalone.wire.records import Role

PASSWORD = "correct horse battery staple"
SECRET = "Zyxwvut4711"
NAME, PURPOSE, OTHER = "visits", "planning", "research"
LINES = ["patient,ward,cost,age,diary"] + [
    f"p{n % 20},{'AB'[n % 2]},{10 * n},{n % 90},{SECRET}{n}" for n in range(60)
]
PEOPLE = {
    "olga": [Role.OWNER],
    "oskar": [Role.OWNER],
    "stan": [Role.STEWARD],
    "ann": [Role.ANALYST],
    "ben": [Role.ANALYST],
    "aud": [Role.AUDITOR],
}
SCHEMA = Schema(
    NAME,
    (
        Column("patient", "text"),
        Column("ward", "text", keys=("A", "B")),
        Column("cost", "number", lower=0, upper=500),
        Column("age", "integer", lower=0, upper=100),
    ),
    unit="patient",
)
COUNT = f"SELECT COUNT(*) AS n FROM {NAME}"


class Clock:
    """Time that goes on where a test says so."""

    def __init__(self, days: int = 0) -> None:
        self.passed = timedelta(days=days)

    def __call__(self) -> datetime:
        return datetime.now(UTC).replace(microsecond=0) + self.passed


class Machine:
    """A machine that runs for as long as a test says."""

    def __init__(self) -> None:
        self.start, self.hours = "first", 100.0

    def __call__(self) -> Moment:
        return Moment(self.start, 3600 * self.hours)


def settings_in(folder: Path, **more: object) -> Settings:
    """Passwords cost little here, and answers do not wait: both are tested by themselves."""
    given = {"password_memory_kib": 32, "tries": 1000, "time_step_seconds": 0} | more
    return Settings(folder=folder / "curator", **given)


def open_curator(
    folder: Path,
    *,
    clock: Clock | None = None,
    machine: Machine | None = None,
    start_anew: bool = False,
    **more: object,
) -> Curator:
    return Curator.open(
        settings_in(folder, **more),
        clock=clock or Clock(),
        steady=machine or since_start,
        start_anew=start_anew,
    )


def with_people(curator: Curator) -> Curator:
    one_time = curator.people.first_owner("olga")
    curator.people.change_password("olga", one_time, PASSWORD)
    for name, roles in PEOPLE.items():
        if name != "olga":
            one_time = curator.people.add(name, roles, by="olga")
            curator.people.change_password(name, one_time, PASSWORD)
    return curator


def registration(**more: object) -> Registration:
    purposes = (Purpose(PURPOSE, Budget(4)), Purpose(OTHER, Budget(3)))
    given = {"schema": SCHEMA, "budget": Budget(5), "purposes": purposes} | more
    return Registration(**given)


def put(curator: Curator, name: str = "visits.csv", lines: list[str] | None = None) -> str:
    """A file in the import folder."""
    place = curator.settings.imports_folder / name
    place.parent.mkdir(exist_ok=True)
    place.write_text("\n".join(lines or LINES) + "\n")
    return name


def registered(curator: Curator, lines: list[str] | None = None, **more: object) -> Curator:
    curator.data_sets.register(registration(**more), file=put(curator, lines=lines), by="olga")
    return curator


def grant(curator: Curator, analyst: str = "ann", **more: object) -> Curator:
    given = {"purpose": PURPOSE, "columns": ["ward", "cost"], "budget": Budget(2)} | more
    made = curator.requests.make(NAME, why="a thesis", by=analyst, **given)
    curator.requests.decide(made.id, grant=True, reason="fits", by="stan")
    return curator


def ask(curator: Curator, sql: str = COUNT, *, by: str = "ann", **more: object):
    question = DataSetQuestion(data_set=NAME, purpose=str(more.pop("purpose", PURPOSE)), sql=sql)
    return curator.asking.release(question, QuestionPrice(**{"epsilon": 0.1} | more), by=by)


def whats(curator: Curator) -> list[str]:
    """What the ledger says was done, one word an entry."""
    return [str(one.body.get("what", one.kind.value)) for one in curator.ledger.entries()]
