"""One identity for each real table: files of SQLite and DuckDB, views, folders, patterns, lists.

What engines know is asked for here; test_one_budget.py draws spellings against a stand-in.
"""

import sqlite3
from contextlib import chdir
from itertools import combinations
from operator import ne

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import letalone as la
from letalone.engines.catalogue import ENGINES
from letalone.errors import ParameterError
from letalone.sources.resolve import read_source, read_whole_address
from letalone.sources.source import same_table
from letalone.sources.spark_names import CLUSTER
from stages import pick

ROWS = "id\n1\n2\n"
OF_SQLITE = [("clinic.sqlite", "visits"), ("clinic.sqlite", "people"), ("other.sqlite", "visits")]
OF_DUCKDB = [("Big.duckdb", "Visits"), ("Big.duckdb", "Old.Visits"), ("Big.duckdb", "people")]
SEVERAL = [("folder", "may"), ("folder", "june"), ("pattern", "may/*.csv"), ("pattern", "*/a.csv")]
LISTS = [("list", ("may/a.csv", "may/b.csv")), ("list", ("may/a.csv", "june/a.csv"))]


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("real").resolve() / "here"
    for name in ("may/a.csv", "may/b.csv", "june/a.csv", "in/x.csv"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(ROWS, "utf-8")
    for name in ("clinic.sqlite", "other.sqlite"):
        database = sqlite3.connect(place / name)
        database.executescript(
            "CREATE TABLE visits (id); CREATE TABLE people (id);"
            "CREATE VIEW stored AS SELECT id FROM visits;"
            "CREATE TEMP VIEW passing AS SELECT id FROM visits"
        )
        database.close()
    with duckdb.connect(place / "Big.duckdb") as database:
        database.execute("CREATE SCHEMA Old")
        for name in ("Visits", "Old.Visits", "people"):
            database.execute(f"CREATE TABLE {name} AS SELECT range AS id FROM range(3)")
        database.execute("CREATE VIEW stored AS SELECT id FROM Visits")
        database.execute("CREATE TEMP VIEW passing AS SELECT id FROM Visits")
    (place / "linked").symlink_to(place)
    with chdir(place):
        yield place


def read(spelling):
    return read_source(*spelling, look=ENGINES)


@st.composite
def paths(draw, name):
    """Ways to write a path, through links and back."""
    return draw(st.sampled_from(["", "./", "linked/", "in/../", "linked/linked/./", ".//"])) + name


@st.composite
def spellings(draw, meant):
    """A way to write a table: what is given, and `table=`."""
    first, second = meant
    if first == "list":
        listed = [draw(paths(name)) for name in draw(st.permutations(second))]
        return draw(st.sampled_from([listed, tuple(listed)])), None
    if first == "folder":
        return draw(paths(second)) + draw(st.sampled_from(["", "/", "/."])), None
    if first == "pattern":
        return draw(paths(second)), None
    scheme = draw(st.sampled_from(["", first.rpartition(".")[2] + ":///"]))
    cased = draw(st.sampled_from([str, str.upper, str.title])) if "sqlite" in first else str
    more = draw(st.sampled_from(["", "main."])) if "Old" not in second else ""
    return scheme + draw(paths(first)), ("" if "sqlite" in first else more) + cased(second)


TABLES = [*OF_SQLITE, *OF_DUCKDB, *SEVERAL, *LISTS]
NEAR = [pair for pair in combinations(TABLES, 2) if sum(map(ne, *pair)) == 1]


@settings(max_examples=pick(60, 600), deadline=None)
@given(st.sampled_from(TABLES), st.data())
def test_one_table_has_one_identity_however_it_is_written(meant, data):
    one, other = (read(data.draw(spellings(meant))) for _ in range(2))
    assert same_table(one, other)
    assert (one.name, one.ledger_file, one.recorded_as) == (
        other.name, other.ledger_file, other.recorded_as,
    )  # fmt: skip


@settings(max_examples=pick(60, 600), deadline=None)
@given(st.sampled_from(NEAR), st.data())
@pytest.mark.long  # others of this file stay
def test_two_tables_never_have_one_identity(meant, data):
    assert not same_table(*(read(data.draw(spellings(each))) for each in meant))


@pytest.mark.parametrize("table", ["VISITS", "visits", "old.visits", "OLD.Visits", "main.visits"])
def test_duckdb_tells_no_capitals_apart_so_a_name_in_others_is_refused(table):
    """DuckDB itself would read the table: taken as written, it would be a second identity."""
    with duckdb.connect("Big.duckdb", read_only=True) as database:
        assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (3,)
    with pytest.raises(ParameterError, match="is not one of them"):
        la.open("Big.duckdb", table=table, unit="id", budget=1)


@pytest.mark.parametrize("file", ["Big.duckdb", "clinic.sqlite"])
@pytest.mark.parametrize("view", ["stored", "STORED", "passing"])
def test_a_view_of_a_file_is_no_second_table_for_the_rows_of_another(file, view):
    with pytest.raises(ParameterError):
        la.open(file, table=view, unit="id", budget=1)


def test_a_list_of_one_file_is_that_file_and_a_file_is_not_listed_twice():
    assert same_table(read((["may/a.csv"], None)), read(("linked/may/a.csv", None)))
    with pytest.raises(ParameterError, match="listed twice"):
        read((["may/a.csv", "linked/may/a.csv"], None))


PARTS = st.text(st.sampled_from("aB. `-"), min_size=1, max_size=4)


@given(st.lists(PARTS, min_size=3, max_size=3))
def test_a_whole_address_of_spark_is_read_by_its_letters_alone(parts):
    written = ".".join("`" + part.replace("`", "``") + "`" for part in parts)
    identity = read_whole_address(f"spark:{written}").identity
    assert identity == ("spark", "", *(part.lower() for part in parts))


@pytest.mark.parametrize("address", ["spark:visits", "spark:clinic.visits", f"{CLUSTER}host:7077"])
def test_an_address_of_spark_that_leaves_something_out_is_no_whole_one(address):
    """Only a session could fill it in."""
    with pytest.raises(ParameterError):
        read_whole_address(address)
