"""One table, one budget: hypothesis draws tables, and ways to write each of them.

A second budget for the same people would be a second identity, name, schema file or ledger of one
table; a wrong answer for free would be one identity of two tables.
"""

import os
from contextlib import chdir
from itertools import combinations
from operator import ne
from pathlib import Path
from unittest.mock import patch
from urllib.parse import quote

import duckdb
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict

import letalone as la
from letalone.engines.catalogue import ENGINES
from letalone.errors import BudgetExceeded, LetaloneError
from letalone.sources.files import find_files, find_table
from letalone.sources.postgres_address import read_address
from letalone.sources.resolve import read_source
from letalone.sources.schemes import path_of
from letalone.sources.source import same_table
from letalone.sources.spark_names import fill_in, read_spark_address, written_name
from stages import pick

SCHEMA = 'format = 1\nname = "{name}"\nunit = "id"\n{more}\n[columns.id]\ntype = "integer"\n'
HELD = {
    "one.duckdb": [("main", "visits")],
    "two.duckdb": [("main", "people"), ("main", "visits"), ("old", "visits"), ("old", "x.y")],
}
FILES = ("data/visits", "data/people", "more/visits", "home/visits")  # without their endings
ENDINGS = (".csv", ".parquet", ".csv.gz", ".tsv.zst", ".ndjson", ".jsonl.gz", ".feather", "")
OF_FILES = [("file", name) for name in FILES]
OF_DATABASES = [("duckdb", file, *place) for file, places in HELD.items() for place in places]
ON_SERVERS = [
    ("postgresql", server, database, schema, table)
    for server in ("db.clinic", "db.other", "db.clinic:5433")
    for database in ("care", "Care", "c/d")
    for schema, table in (("public", "visits"), ("public", "old.visits"), ("old", "visits"))
]
CATALOGUES, CURRENT = ("lake", "pond", "spark_catalog"), ("lake", "clinic")
ON_SPARK = [
    ("spark", catalogue, schema, table)
    for catalogue in CATALOGUES
    for schema in ("clinic", "my clinic", "lake")
    for table in ("visits", "a.b", "a`b")
]
TABLES = [*OF_FILES, *OF_DATABASES, *ON_SERVERS, *ON_SPARK]
KINDS = st.sampled_from([OF_FILES, OF_DATABASES, ON_SERVERS, ON_SPARK, TABLES])


class SparkSession:
    """What stands for a session."""

    __module__ = "pyspark.sql.session"  # by which one is known


SESSION = SparkSession()


class Look:
    """A catalogue that nothing is connected to."""

    def tables(self, file):
        return HELD.get(path_of(file).resolve().name, ())

    def find_on_spark(self, address):
        return SESSION, written_name(fill_in(read_spark_address(address), self))

    def names_of(self, _):
        return self

    def current(self):
        return CURRENT

    def is_catalogue(self, name):
        return name.lower() in CATALOGUES

    def is_temporary(self, _):
        return False


def read(spelling):
    return read_source(spelling[0], spelling[1], look=Look())


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """Files, and links to them and to their folder; the working folder, and its home in it."""
    place = (tmp_path_factory.mktemp("one_budget") / "here").resolve()
    for name in FILES:
        for inside in ("data", "more"):  # to go into, and back
            (place / name).parent.joinpath(inside).mkdir(parents=True, exist_ok=True)
        for ending in ENDINGS:
            file = f"{name}{ending}" if ending else f"{name}/any.csv"
            (place / file).parent.mkdir(exist_ok=True)
            (place / file).write_text("id\n1\n", "utf-8")
    for file in HELD:
        (place / "data" / file).write_bytes(b"")
        (place / f"to_{file}").symlink_to(f"data/{file}")
    (place / "linked").symlink_to("data")
    (place / "link.csv").symlink_to("linked/visits.csv")
    text = SCHEMA.format(name="clinic", more='source = "../link.csv"\n')
    (place / "more" / "clinic.letalone.toml").write_text(text, "utf-8")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    with chdir(place), patch.dict(os.environ, clean | {"HOME": str(place / "home")}, clear=True):
        yield place


def pairs(tables):
    """Two tables: any, or two that differ in one part of their names."""
    two = list(combinations(tables, 2))
    near = [pair for pair in two if sum(map(ne, *pair)) == 1]
    return st.sampled_from(two) | st.sampled_from(near)


@st.composite
def paths(draw, name):
    """Ways to write the path of a file of the folder."""
    ending = draw(st.sampled_from(ENDINGS)) if Path(name).suffix == "" else ""
    if name + ending == "data/visits.csv" and draw(st.booleans()):
        name, ending = "link.csv", ""
    *above, last = (name + ending).split("/")
    if above == ["data"] and last in HELD and draw(st.booleans()):
        above, last = [], f"to_{last}"
    parts = []
    for part in [*above, last]:
        parts += draw(st.sampled_from([[], ["."], ["more", ".."], ["", ""], ["data", ".", ".."]]))
        parts.append("linked" if part == "data" and draw(st.booleans()) else part)
    start = draw(
        st.sampled_from(["", "./", f"{Path.cwd()}/", f"{Path.cwd()}//", "~/../", "~/./../"])
    )
    if above == ["home"] and draw(st.booleans()):
        return f"~/{last}"
    written = start + "/".join(parts).lstrip("/")
    return Path(written) if draw(st.booleans()) else written


@st.composite
def encoded(draw, name, safe=""):
    """A name with some letters written as in addresses, and all that must be."""
    some = draw(st.lists(st.booleans(), min_size=len(name), max_size=len(name)))
    signs = (
        f"%{ord(c):02X}" if hide and ord(c) < 128 else quote(c, safe=safe)
        for c, hide in zip(name, some, strict=True)
    )
    return "".join("%2E" if sign == "." else sign for sign in signs)


@st.composite
def addresses(draw, server, database, schema, table):
    """Addresses of a table on a server, and the table where the address does not name it."""
    host, _, port = server.partition(":")
    host = draw(st.sampled_from([host, host.upper(), host.title()]))
    options = draw(
        st.lists(
            st.sampled_from(
                ["sslmode=require", "connect_timeout=5", "options=-csearch_path%3Dold"]
            ),
            unique=True,
        )
    )
    said_as_option = draw(st.booleans())
    port = port or draw(st.sampled_from(["", "5432", "05432"]))
    if said_as_option:
        options += [f"host={host}", *([f"port={port}"] if port else [])]
    if draw(st.booleans()):
        options.append(f"dbname={draw(encoded(database))}")
    where = "" if said_as_option else f"{host}:{port}" if port else host
    prefix = draw(st.sampled_from(["postgresql://", "postgres://"]))
    who = draw(st.sampled_from(["", "ann@", "bob@"]))
    dotted = f"{schema}.{table}" if schema != "public" or "." in table else None
    asked = f"?{'&'.join(draw(st.permutations(options)))}" if options else ""
    start = f"{prefix}{who}{where}/{draw(encoded(database))}"
    if draw(st.booleans()):
        plain = dotted or draw(st.sampled_from([table, f"public.{table}"]))
        return f"{start}{draw(st.sampled_from(['', '/']))}{asked}", plain
    shown = f"{draw(encoded(schema))}." if schema != "public" or draw(st.booleans()) else ""
    return f"{start}/{shown}{draw(encoded(table))}{asked}", None


@st.composite
def names_on_spark(draw, catalogue, schema, table):
    """Names, and addresses, of a table on Spark, in large and small letters."""
    parts = [catalogue, schema, table]
    least = 1 if (catalogue, schema) == CURRENT else 2 if catalogue == CURRENT[0] else 3
    if least == 2 and schema in CATALOGUES:
        least = 3  # two parts of which the first is a catalogue
    parts = parts[3 - draw(st.integers(least, 3)) :]
    written = []
    for part in parts:
        upper = draw(st.lists(st.booleans(), min_size=len(part), max_size=len(part)))
        cased = "".join(c.upper() if up else c for c, up in zip(part, upper, strict=True))
        is_plain = cased.replace("_", "").isalnum() and draw(st.booleans())
        written.append(cased if is_plain else f"`{cased.replace('`', '``')}`")
    name = ".".join(written)
    return f"spark:{name}" if draw(st.booleans()) else (SESSION, name)


@st.composite
def spellings(draw, meant):
    """A way to write a table: what is given, and `table=`."""
    kind, *names = meant
    match kind:
        case "file":
            return draw(paths(names[0])), None
        case "duckdb":
            file, schema, table = names
            said = [f"{schema}.{table}", *([table] if schema == "main" else [])]
            said += [None] if len(HELD[file]) == 1 else []
            path = draw(paths(f"data/{file}"))
            if isinstance(path, str) and draw(st.booleans()):
                path = f"duckdb:///{path}"
            return path, draw(st.sampled_from(said))
        case "postgresql":
            return draw(addresses(*names))
        case _:
            return draw(names_on_spark(*names)), None


@st.composite
def two_spellings(draw):
    meant = draw(KINDS.flatmap(st.sampled_from))
    return meant, draw(spellings(meant)), draw(spellings(meant))


def existing(source):
    """The schema file that would be read."""
    file = source.schema_file
    return None if file is None or not file.is_file() else file.resolve()


def facts(source):
    return (
        source.identity, source.name, source.recorded_as, source.ledger_file, source.whole_name,
        existing(source),
    )  # fmt: skip


@settings(max_examples=pick(200, 1000))
@given(two_spellings())
def test_one_table_has_one_identity_one_name_one_schema_file_and_one_ledger(drawn):
    meant, one, other = drawn
    first, second = read(one), read(other)
    assert facts(first) == facts(second)
    assert same_table(first, second)
    assert first.identity[-1] in (meant[-1], str(Path.cwd() / meant[-1]))


@pytest.mark.long
@settings(max_examples=pick(200, 1000))
@given(KINDS.flatmap(pairs), st.data())
def test_two_tables_never_have_one_identity(meant, data):
    """They may share a ledger and a name: a budget that is shared is safe, an answer is wrong."""
    one, other = (read(data.draw(spellings(each))) for each in meant)
    assert not same_table(one, other)
    assert one.identity != other.identity
    assert one.recorded_as != other.recorded_as


@given(two_spellings())
def test_a_source_is_what_its_engine_would_open(drawn):
    """The files that are found, the database that libpq reads, the whole name for Spark."""
    (kind, *names), spelling, _ = drawn
    source = read(spelling)
    if kind in ("file", "duckdb"):
        (path,) = find_files(source.handle).paths
        assert str(path).startswith(source.identity[1])
    if kind == "duckdb":
        assert find_table(HELD[names[0]], spelling[1]) == source.identity[2:] == tuple(names[1:])
    if kind == "postgresql":
        address = read_address(*spelling)
        assert conninfo_to_dict(address.server)["dbname"] == source.identity[2] == names[1]
        assert address.table == source.identity[3:] == tuple(names[2:])
    if kind == "spark":
        assert source.whole_name == tuple(names)


@settings(max_examples=pick(200, 1000))
@given(
    two_spellings(),
    st.sampled_from([" ", "\t", "\n", "/**/", "--", ";", "file:", "'", '"']),
    st.data(),
)
def test_what_is_spelled_with_other_signs_is_refused_or_another_table(drawn, sign, data):
    _, (given, table), _ = drawn
    is_name = isinstance(given, tuple)
    written = given[1] if is_name else str(given)
    at = data.draw(st.integers(0, len(written)))
    spoilt = written[:at] + sign + written[at:]
    try:
        found = read(((SESSION, spoilt) if is_name else spoilt, table))
    except LetaloneError:
        return
    if not same_table(found, read((given, table))):
        return
    if isinstance(found.handle, str | Path) and not str(given).startswith("postgres"):
        assume(not Path(found.handle).expanduser().exists())  # else it says the same: a/./b
        return
    assert "?" in spoilt or "@" in spoilt, spoilt  # in an option of libpq, or in a role's name


@pytest.mark.parametrize(
    "home", ["more/clinic.letalone.toml", "./more/../more/clinic.letalone.toml"]
)
def test_a_schema_file_is_its_data_with_a_ledger_and_a_name_of_its_own(home):
    source, data = read((home, None)), read(("data/visits.csv", None))
    assert same_table(source, data)
    assert source.recorded_as == data.recorded_as
    assert source.ledger_file == Path.cwd() / "more" / "clinic.letalone.db"
    assert existing(source) == Path.cwd() / "more" / "clinic.letalone.toml"


@given(
    st.sampled_from(sorted(HELD)), st.sampled_from(["plain", "own"]), st.data(),
)  # fmt: skip
def test_a_schema_file_of_a_database_is_found_by_every_spelling_of_its_table_and_by_no_other(
    file, which, data
):
    meant = [("duckdb", file, *place) for place in HELD[file]]
    chosen = data.draw(st.sampled_from(meant))
    name = ".".join(part for part in chosen[2:] if part != "main")
    stem = Path(file).stem if which == "plain" else f"{Path(file).stem}.{name}"
    place = Path.cwd() / "data" / f"{stem}.letalone.toml"
    place.write_text(SCHEMA.format(name=name, more=""), "utf-8")
    try:
        for table in meant:
            spelling = data.draw(spellings(table))
            assert (existing(read(spelling)) == place) == (table == chosen), spelling
    finally:
        place.unlink()


def test_two_frames_are_never_surely_one_table():
    one, other = object(), object()
    assert same_table(read((one, None)), read((one, None)))
    assert not same_table(read((one, None)), read((other, None)))


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The same two tables as a file and as a table of a database, and an empty working folder."""
    place = tmp_path_factory.mktemp("real") / "data"
    place.mkdir()
    rows = "id\n" + "".join(f"{n}\n" for n in range(50))
    (place / "visits.csv").write_text(rows, "utf-8")
    (place.parent / "linked").symlink_to("data")
    (place.parent / "link.csv").symlink_to("data/visits.csv")
    with duckdb.connect(place / "one.duckdb") as db:
        db.execute("CREATE TABLE visits AS SELECT range AS id FROM range(50)")
    return place.parent


@settings(max_examples=pick(4, 30))
@given(
    st.sampled_from(["visits.csv", "one.duckdb"]),
    st.lists(
        st.sampled_from(["data", "linked", "./data", "linked/../data"]), min_size=2, max_size=3
    ),
    st.lists(st.sampled_from([None, "visits", "main.visits"]), min_size=3, max_size=3),
)
def test_a_budget_is_spent_once_whatever_is_written(real, name, folders, tables):
    with chdir(real):
        spent = 0
        for folder, table in zip(folders, tables, strict=False):
            written = f"{folder}/{name}"
            source = read_source(written, table, look=ENGINES)
            ledger = source.ledger_file
            try:
                named = table if name == "one.duckdb" else None
                with la.open(written, table=named, unit="id", budget=1, ledger=ledger) as session:
                    session.agg(n=la.count()).bound(max_rows=1).release(epsilon=0.7 + spent / 100)
                    spent += 1
            except BudgetExceeded:
                continue
        for left in (real / "data").glob("*.letalone.db*"):
            left.unlink()
    assert spent == 1
