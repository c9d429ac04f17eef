"""A curator over HTTP with people in every role, and a table with planted secrets."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from letalone.curator.curator import Curator
from letalone.curator.http.app import make_app
from letalone.curator.http.limits import RateLimits
from letalone.curator.http.logs import make_log
from letalone.curator.storage.service_records import Purpose, Registration
from letalone.curator.storage.settings import Settings
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.privacy import Budget
from letalone.wire.records import Role

with warnings.catch_warnings():
    # Starlette would rather have httpx2, which the client of letalone does not use.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

PASSWORD = "correct horse battery staple"
SECRETS = ("Zyxwvut", "987654.25", "31415926")
CSV = "patient,ward,cost,name\n" + "".join(
    f"{SECRETS[2] if n == 0 else n},{'AB'[n % 2]},{SECRETS[1] if n == 0 else 10 * n},{SECRETS[0]}\n"
    for n in range(40)
)
PEOPLE = {
    "olga": [Role.OWNER],
    "stan": [Role.STEWARD],
    "ann": [Role.ANALYST],
    "ben": [Role.ANALYST],
    "aud": [Role.AUDITOR],
}
CAP, SHARE = 10, 8


class Clock:
    """Time that goes on where a test says so."""

    def __init__(self) -> None:
        self.passed = timedelta(days=-8)  # until everybody is there: accounts that are new wait

    def __call__(self) -> datetime:
        return datetime.now(UTC).replace(microsecond=0) + self.passed


@dataclass
class Service:
    """The service as people reach it."""

    curator: Curator
    client: TestClient
    clock: Clock
    log: StringIO
    secrets: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, *, by: str | None = None, **more: Any) -> Any:
        """One request under /api/v1; `by` is a person, whose acts are elevated where needed."""
        headers = {} if by is None else {"Authorization": f"Bearer {self.token(by)}"}
        return self.client.request(
            method, f"/api/v1{path}", headers=headers | more.pop("headers", {}), **more
        )

    def token(self, person: str) -> str:
        """A token: elevated for everybody but analysts."""
        if person not in self.secrets:
            tokens = self.curator.tokens
            analyst = PEOPLE[person] == [Role.ANALYST]
            made = log_in(self.client, person) if analyst else tokens.elevate(person, PASSWORD)[0]
            self.secrets[person] = made
        return self.secrets[person]

    password = PASSWORD

    def role(self, word: str) -> Role:
        """A role by its word."""
        return Role(word)

    def as_new(self, person: str, method: str, path: str, **more: Any) -> Any:
        """One request by somebody who was added by a test."""
        if person not in self.secrets:
            once = self.curator.people.reset_password(person, by="olga")
            self.curator.people.change_password(person, once, PASSWORD)
            self.secrets[person] = log_in(self.client, person)
        return self.ask(method, path, by=person, **more)

    def question(self, sql: str = "SELECT COUNT(*) AS n FROM visits", **more: Any) -> Any:
        """A question as a body."""
        return {"data_set": "visits", "purpose": "care", "sql": sql, "epsilon": 0.1, **more}


def log_in(client: TestClient, person: str) -> str:
    body = {"name": person, "password": PASSWORD}
    return client.post("/api/v1/tokens", json=body).json()["secret"]


def settings(folder: Path, **more: Any) -> Settings:
    """Passwords cost nothing here: what they cost is tested with people."""
    return Settings(folder=folder, password_memory_kib=8, tries=1000, time_step_seconds=0, **more)


def populate(curator: Curator) -> None:
    """Everybody, each with PASSWORD."""
    first = curator.people.first_owner("olga")
    assert first is not None
    curator.people.change_password("olga", first, PASSWORD)
    for name, roles in PEOPLE.items():
        if name != "olga":
            once = curator.people.add(name, roles, by="olga")
            curator.people.change_password(name, once, PASSWORD)


def register(curator: Curator, name: str = "visits") -> None:
    """The table with its secrets, without the column `name`; ann and ben may ask it."""
    (curator.settings.imports_folder / f"{name}.csv").write_text(CSV)
    columns = (
        Column("patient", Type.INTEGER),
        Column("ward", Type.TEXT, keys=("A", "B")),
        Column("cost", Type.NUMBER, lower=0, upper=1000),
    )
    declared = Registration(
        schema=Schema(name, columns, unit="patient"),
        budget=Budget(CAP, 1e-6),
        purposes=(Purpose("care", Budget(CAP, 1e-6)),),
    )
    curator.data_sets.register(declared, file=f"{name}.csv", by="olga")
    for analyst in ("ann", "ben"):
        made = curator.requests.make(
            name,
            purpose="care",
            columns=["patient", "ward", "cost"],
            budget=Budget(SHARE, 1e-6),
            why="a study",
            by=analyst,
        )
        curator.requests.decide(made.id, grant=True, reason="fine", by="stan")


Making = Callable[..., Service]


@pytest.fixture(scope="module")
def making(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Making]:
    """Services of their own; all are closed at the end of the file."""
    entered: list[TestClient] = []

    def make(*, data: bool = True, **more: Any) -> Service:
        more.setdefault("rates", RateLimits(log_ins_of_an_address=10**6))
        log, clock = StringIO(), Clock()
        curator = Curator.open(settings(tmp_path_factory.mktemp("curator")), clock=clock)
        populate(curator)
        clock.passed = timedelta()
        if data:
            register(curator)
        client = TestClient(make_app(curator, log=make_log(log), **more))
        entered.append(client.__enter__())
        return Service(curator, client, clock, log)

    yield make
    for client in entered:
        client.__exit__(None, None, None)


@pytest.fixture(scope="module")
def service(making: Making) -> Service:
    """One service for all tests of a file."""
    return making()


@pytest.fixture(scope="module")
def bare(making: Making) -> Service:
    """One without data."""
    return making(data=False)
