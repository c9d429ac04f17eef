"""One table, one budget: however its address is written, it has one ledger, or it is refused."""

from contextlib import closing
from urllib.parse import parse_qs

import psycopg
import pytest

import letalone as la
from engines import on_postgres
from letalone.engines.postgres.postgres_engine import open_postgres
from letalone.errors import BudgetExceeded, ParameterError
from letalone.sources.postgres_address import read_address
from postgres import shared
from sources.spelled import identity_of as identity
from sources.spelled import ledger_beside

LONG = "c" * 63


@pytest.fixture(scope="module")
def folder():
    """Where the server's socket is; its database `clinic` has a table `visits`."""
    for name in ("clinic", LONG):
        on_postgres.run(f"CREATE DATABASE {name} STRATEGY wal_log")
        with psycopg.connect(shared().replace("/postgres?", f"/{name}?"), autocommit=True) as one:
            one.execute("CREATE TABLE visits (patient text, ward text)")
            one.execute("INSERT INTO visits SELECT 'p' || n, 'A' FROM generate_series(1, 50) n")
    return parse_qs(shared().partition("?")[2])["host"][0]


def spellings(folder):
    """Of one table: addresses, and the table where the address does not name it."""
    there = folder.replace("/", "%2F")
    return [
        (f"postgresql://postgres@/clinic/visits?host={folder}", None),
        (f"postgres://postgres@/clinic/visits?host={folder}", None),
        (f"postgresql://postgres:@/clinic/visits?host={folder}", None),
        (f"postgresql:///clinic/visits?host={folder}&user=postgres", None),
        (f"postgresql://postgres@{there}/clinic/visits", None),
        (f"postgresql://postgres@{there}:5432/clinic/visits", None),
        (f"postgresql://postgres@{there}/clinic/visits?port=5432", None),
        (f"postgresql://postgres@/clinic/public.visits?host={there}", None),
        (f"postgresql://postgres@/%63linic/%76isits?host={folder}", None),
        (f"postgresql://postgres@/clini%63/public.v%69sits?%68ost={folder}", None),
        (f"postgresql://postgres@/clinic?host={folder}", "visits"),
        (f"postgresql://postgres@/clinic?host={folder}", "public.visits"),
        (f"postgresql://postgres@/clinic/?host={folder}", "visits"),
        (f"postgresql://postgres@/clinic/visits?host={folder}&dbname=clinic", None),
        (f"postgresql://postgres@/clinic/visits?host=/nowhere&host={folder}", None),
        (f"postgresql://postgres@/clinic/visits?sslmode=disable&host={folder}", None),
        (f"postgresql://postgres@/clinic/visits?host={folder}&connect_timeout=5", None),
        (f"postgresql://postgres@/clinic/visits?host={folder}&options=-csearch_path%3Dx", None),
        (f"postgresql://postgres@/clinic/visits?host={folder}&options=-cwork_mem%3D1MB", None),
        (f"postgresql://postgres@/clinic/visits?host={folder}&target_session_attrs=any", None),
    ]


def with_other_words(folder):
    """Addresses that would lead to the same table under another name of its database."""
    return [
        f"postgresql://postgres@/anything/visits?host={folder}&dbname=clinic",
        f"postgresql://postgres@/anything/visits?host={folder}&%64bname=clinic",
        f"postgresql://postgres@/anything/visits?dbname=anything&dbname=clinic&host={folder}",
        f"postgresql://postgres@/clinic/visits?host={folder}&dbname=",
        f"postgresql://postgres@/clinic/visits?host={folder}&dbname={LONG}",
        f"postgresql://postgres@nowhere/clinic/visits?host={folder}",
        f"postgresql://postgres@:1/clinic/visits?host={folder}&port=5432",
        f"postgresql://nobody@/clinic/visits?host={folder}&user=postgres",
        f"postgresql://postgres@/clinic/visits/?host={folder}",
        f"postgresql://postgres@//visits?host={folder}&dbname=clinic",
        f"postgresql://postgres@/?host={folder}&dbname=clinic",
    ]


@pytest.mark.long  # test_a_budget_is_not_spent_twice_by_another_spelling
def test_every_spelling_of_a_table_has_one_place_and_one_name(folder, monkeypatch):
    for name in ("PGDATABASE", "PGHOST", "PGPORT", "PGSERVICE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PGDATABASE", "postgres")
    found = set()
    for written, table in spellings(folder):
        with closing(open_postgres(written, table=table)) as engine:
            found.add(
                (ledger_beside(written, table), identity(written, table), engine.schema().name)
            )
    (place, which, name), *others = found
    assert not others
    assert (place.name, name) == ("clinic.letalone.db", "visits")
    assert which == f"postgresql://{folder}/clinic/public.visits"


def test_an_address_that_says_two_things_is_refused_by_its_letters_alone(folder):
    for written in with_other_words(folder):
        with pytest.raises(ParameterError, match=r"two things|libpq can read|name a database"):
            read_address(written)


def test_a_database_is_called_what_its_server_calls_it(folder):
    """The server cuts a name after 63 bytes: two names for one database."""
    written = f"postgresql://postgres@/{LONG}/visits?host={folder}"
    open_postgres(written).close()
    with pytest.raises(ParameterError, match="under its own name"):
        open_postgres(written.replace(LONG, f"{LONG}_and_more"))


def test_a_budget_is_not_spent_twice_by_another_spelling(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spent = 0
    for written, table in spellings(folder)[:3] + [(w, None) for w in with_other_words(folder)]:
        try:
            ledger = ledger_beside(written, table)
            with la.open(written, table=table, unit="patient", budget=1, ledger=ledger) as session:
                session.agg(n=la.count()).bound(max_rows=1).release(epsilon=0.7 + spent / 100)
                spent += 1
        except (BudgetExceeded, ParameterError):
            continue
    assert spent == 1
    assert [path.name for path in tmp_path.glob("*.db")] == ["clinic.letalone.db"]


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("postgresql://u@DB.Example/d/t", "postgresql://db.example/d/public.t"),
        ("postgresql://v@db.example:5432/d/public.t?sslmode=require", "db.example/d/public.t"),
        ("postgresql://db.example:5433/d/s.t", "postgresql://db.example:5433/d/s.t"),
        ("postgresql://a,B:5433/d/t", "postgresql://a,b:5433/d/public.t"),
        ("postgresql://[::1]/d/t", "postgresql://::1/d/public.t"),
        ("postgresql://a/d/t?hostaddr=10.0.0.1", "postgresql://10.0.0.1/d/public.t"),
        ("postgresql:///d/t?service=Care", "postgresql://service=Care/d/public.t"),
        ("postgresql:///d/t", "postgresql:///d/public.t"),
        ("postgresql://h/d/s%2Et", "postgresql://h/d/public.s%2Et"),
        ("postgresql://h/d%2Fe/a%20b.c", "postgresql://h/d%2Fe/a b.c"),
    ],
)
def test_what_a_table_is_in_one_spelling(written, wanted, monkeypatch):
    for name in ("PGHOST", "PGHOSTADDR", "PGPORT", "PGSERVICE"):
        monkeypatch.delenv(name, raising=False)
    assert identity(written).endswith(wanted)


def test_the_host_of_the_environment_is_told_apart(monkeypatch):
    written = "postgresql:///d/t"
    monkeypatch.setenv("PGHOST", "DB.example")
    monkeypatch.setenv("PGPORT", "5433")
    assert identity(written) == "postgresql://db.example:5433/d/public.t"
    assert identity(f"{written}?service=care") == "postgresql://service=care/d/public.t"
