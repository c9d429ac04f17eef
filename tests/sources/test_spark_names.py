"""Addresses of tables on Spark, without a Spark: how they are read, and how they are refused."""

import pytest

import letalone as la
from letalone.engines.spark import spark_start
from letalone.engines.spark.spark_catalogue import look_up_address
from letalone.errors import ParameterError
from letalone.sources.places import ledger_path, schema_path
from letalone.sources.resolve import in_words, is_address, own_name
from letalone.sources.spark_names import (
    in_backticks,
    parts_of,
    read_name,
    read_spark_address,
    stand_in_of,
    written_name,
)
from sources.spelled import place_of


class Stub:
    """A session as far as names are looked up in it."""

    def __init__(self, catalog="spark_catalog", schema="default", catalogs=(), views=()):
        self._now, self._catalogs, self._views = (catalog, schema), catalogs, views
        self.catalog = self.conf = self

    def currentCatalog(self):  # noqa: N802
        return self._now[0]

    def currentDatabase(self):  # noqa: N802
        return self._now[1]

    def get(self, name, default):
        return name if name.removeprefix("spark.sql.catalog.") in self._catalogs else default

    def tableExists(self, name):  # noqa: N802
        return "nothing" not in name

    def getTable(self, name):  # noqa: N802
        found = Stub()
        found.isTemporary = name in self._views
        return found


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("visits", ("visits",)), ("a.b.c", ("a", "b", "c")), ("`a.b`.c", ("a.b", "c")),
        ("`a``b`", ("a`b",)), ("`a`.`b`", ("a", "b")), ("größe.`x y`", ("größe", "x y")),
    ],
)  # fmt: skip
def test_names_are_read_as_spark_reads_them_and_written_back(written, parts):
    assert parts_of(written) == parts
    assert parts_of(in_backticks(parts)) == parts_of(written_name(parts)) == parts


@pytest.mark.parametrize(
    "written",
    [
        "",
        ".",
        "a.",
        ".a",
        "a..b",
        "a b",
        "`a",
        "``",
        "`a`b",
        "a`b`",
        "`a``",
        "a;b",
        "a\n",
        " a.b",
        "a . b",
        "a.b ",
        "/* */ a.b",
        "a.b -- c",
    ],
)
def test_what_is_no_name_is_none(written):
    assert parts_of(written) is None
    with pytest.raises(ParameterError, match="must name a table"):
        read_spark_address(f"spark:{written}")
    for refused in (read_name, lambda name: place_of((Stub(), name))):
        with pytest.raises(ParameterError, match="without blanks or comments"):
            refused(written)


@pytest.mark.parametrize(
    "written", ["parquet.`/some/path`", "csv.`s3://bucket/x`", "delta.`C:\\x`", "a.b.`c:d`"]
)
def test_a_path_is_no_table(written):
    with pytest.raises(ParameterError, match="path of a file"):
        read_spark_address(f"spark:{written}")


def test_more_than_three_parts_and_a_second_table_are_refused():
    with pytest.raises(ParameterError, match="must name a table"):
        read_spark_address("spark:lake.a.b.visits")
    with pytest.raises(ParameterError, match="so does table="):
        la.open("spark:visits", table="visits", budget=1)


def test_all_ways_to_write_a_table_give_one_place_one_schema_file_and_one_ledger():
    session = Stub("lake", "clinic", catalogs=["lake"])
    ways = [
        "visits",
        "clinic.visits",
        "lake.clinic.visits",
        "CLINIC.`Visits`",
        "lake.Clinic.VISITS",
    ]
    tables = [look_up_address(f"spark:{one}", session) for one in ways] + [
        (session, one) for one in ways
    ]
    assert {place_of(one) for one in tables} == {("lake", "clinic", "visits")}
    assert look_up_address("spark:visits", session)[1] == "lake.clinic.visits"


def test_other_tables_have_other_places_and_files():
    session = Stub(catalogs=["a", "a.b"])
    places = [place_of((session, one)) for one in ("a.`b.c`.d", "`a.b`.c.d", "a.b.c", "a.b.d")]
    assert len(set(places)) == 4
    assert len({schema_path(stand_in_of(one), one[2]) for one in places}) == 4
    assert ledger_path(stand_in_of(places[0])).name == "a.b%2Ec.letalone.db"


def test_what_spark_could_take_for_something_else_has_no_place():
    session = Stub(catalogs=["lake"], views=["`visits`", "`global_temp`.`visits`"])
    for one in ("visits", "global_temp.visits", "lake.visits", "parquet.`/x`", "no.a.b", "a.b.c.d"):
        assert place_of((session, one)) is None, one
    assert place_of((session, "default.visits")) == ("spark_catalog", "default", "visits")
    assert place_of((session, "lake.a.b")) == ("lake", "a", "b")


def test_an_address_is_looked_up_by_its_whole_name_or_refused():
    session = Stub(views=["`visits`"])
    assert look_up_address("spark:visits", session)[1] == "spark_catalog.default.visits"
    with pytest.raises(ParameterError, match=r"no table 'spark_catalog\.default\.nothing'"):
        look_up_address("spark:nothing", session)
    with pytest.raises(ParameterError, match="no catalogue 'lake'"):
        look_up_address("spark:lake.clinic.visits", session)
    with pytest.raises(ParameterError, match=r"spark:x\.SCHEMA\.visits"):
        look_up_address("spark:visits", Stub("x", "a.b", catalogs=["x"]))


def test_words_and_names_need_no_spark():
    assert is_address("spark:visits")
    assert not is_address("spark.csv")
    assert in_words("spark:lake.`my clinic`.visits") == "lake.`my clinic`.visits"
    assert own_name("spark:lake.clinic.visits") == "visits"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SPARK_REMOTE", "sc://x"),
        ("SPARK_CONNECT_MODE_ENABLED", "1"),
        ("SPARK_API_MODE", "Connect"),
    ],
)
def test_spark_connect_is_refused_before_anything_is_started(monkeypatch, name, value):
    monkeypatch.setattr(spark_start, "_start_ours", None)
    monkeypatch.setattr(spark_start, "find_spec", lambda _: True)
    monkeypatch.setenv(name, value)
    with pytest.raises(ParameterError, match=f"{name}.*Spark Connect"):
        la.open("spark:visits", budget=1)


def test_without_pyspark_or_java_or_a_setup_the_error_says_what_to_do(monkeypatch, tmp_path):
    for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED", "SPARK_API_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(spark_start, "find_spec", lambda _: None)
    with pytest.raises(ParameterError, match=r"\[spark\]"):
        la.open("spark:visits", budget=1)
    monkeypatch.setattr(spark_start, "find_spec", lambda _: True)
    monkeypatch.setattr(spark_start, "is_started", lambda: False)

    def fails():
        raise RuntimeError("S3CR3T")

    monkeypatch.setattr(spark_start, "_start", fails)
    with pytest.raises(ParameterError, match=r"spark-defaults\.conf") as caught:
        la.open("spark:visits", budget=1)
    assert "S3CR3T" not in str(caught.value)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(ParameterError, match="JAVA_HOME"):
        la.open("spark:visits", budget=1)


def test_a_catalogue_that_forgets_or_cannot_be_opened_is_told_from_a_table_that_is_not_there():
    class Keeping(Stub):
        def get(self, name, default):
            return "hive" if name.endswith("Implementation") else super().get(name, default)

    class Busy(Stub):
        def tableExists(self, _):  # noqa: N802
            raise RuntimeError("PLANTED")

    found = []
    for address, session in (
        ("spark:nothing", Stub()),
        ("spark:lake.clinic.nothing", Stub(catalogs=("lake",))),
        ("spark:nothing", Keeping()),
        ("spark:visits", Busy()),
    ):
        with pytest.raises(ParameterError) as caught:
            look_up_address(address, session)
        assert caught.value.__context__ is None
        found.append(str(caught.value))
    assert ["forgets" in words for words in found] == [True, False, False, False]
    assert "its catalogue cannot be opened" in found[3]
    assert "Nothing was charged" in found[3]
    assert "PLANTED" not in found[3]


def test_what_looks_like_an_address_is_told_what_an_address_is():
    with pytest.raises(ParameterError, match=r"spark\.master spark://host:7077"):
        read_spark_address("spark://host:7077/clinic.visits")
    with pytest.raises(ParameterError, match="begins with spark: in small letters"):
        la.open("Spark:clinic.visits", budget=1)
