"""A server that does not let us in is said to be what it is, without a word of its own."""

from pathlib import Path

import pytest

from engines import on_postgres
from letalone.engines.postgres import open_postgres
from letalone.errors import ParameterError
from postgres import shared

ASKS = "local all asked_for_password scram-sha-256"


@pytest.fixture(scope="module")
def roles():
    """A role that may not log in, one that may not enter a database, one that has a password."""
    on_postgres.run(
        "CREATE ROLE shut_out; CREATE ROLE kept_out LOGIN;"
        " CREATE ROLE asked_for_password LOGIN PASSWORD 'right'"
    )
    on_postgres.run("CREATE DATABASE for_few STRATEGY wal_log")
    on_postgres.run("REVOKE CONNECT ON DATABASE for_few FROM PUBLIC")
    file = Path(on_postgres.run("SHOW hba_file")[0][0])
    before = file.read_text()
    file.write_text(f"{ASKS}\n{before}")
    on_postgres.run("SELECT pg_reload_conf()")
    yield
    file.write_text(before)
    on_postgres.run("SELECT pg_reload_conf()")


def refused(user="postgres:", database="postgres"):
    address = shared().replace("postgres:@", f"{user}@").replace("/postgres?", f"/{database}?")
    with pytest.raises(ParameterError) as caught:
        open_postgres(address, table="t")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "FATAL" not in str(caught.value)
    return str(caught.value)


def test_reasons_for_not_being_let_in_are_told_apart(roles, monkeypatch):
    monkeypatch.delenv("PGPASSWORD", raising=False)
    found = [
        refused(database="with a blank"),
        refused(database="no%20such"),
        refused(user="kept_out", database="for_few"),
        refused(user="nobody"),
        refused(user="shut_out"),
        refused(user="asked_for_password"),
    ]
    monkeypatch.setenv("PGPASSWORD", "wrong")
    found.append(refused(user="asked_for_password"))
    words = [
        "none that libpq can read",
        "no database 'no such'",
        "does not let it into the database 'for_few'",
        *["does not accept the role"] * 2,
        "wants a password",
        "does not accept the role or its password",
    ]
    assert [asked in said for asked, said in zip(words, found, strict=True)] == [True] * 7
