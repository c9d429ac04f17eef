"""Several files are one table under the name that their owner gives, however they are spelled."""

from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import letalone as la
from letalone.errors import BudgetExceeded, ParameterError
from letalone.plans.schema import Schema
from letalone.plans.types import Type
from stages import pick

ALL = 3  # the budget


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("linked").symlink_to("data")
    for number in (1, 2):
        pq.write_table(pa.table({"id": [number, number + 10]}), f"data/part-{number}.parquet")
    return tmp_path


def spend(source: object, epsilon: float, **options: object) -> None:
    given = {"unit": "id", "budget": ALL, **options}
    with la.open(source, **given) as table:
        table.agg(n=la.count()).bound(max_rows=1).release(epsilon=epsilon)


FOLDERS = ["data", "data/", "./data", "linked", "linked/../data", Path("data")]
LISTS = [
    ["data/part-1.parquet", "data/part-2.parquet"],
    ["linked/part-2.parquet", Path("data/part-1.parquet")],
]


@pytest.mark.parametrize("source", [*FOLDERS, *LISTS])
def test_several_files_need_a_name(source: object) -> None:
    with pytest.raises(ParameterError, match="several files have none"):
        la.open(source, unit="id", budget=ALL)


@settings(max_examples=pick(2, 20), deadline=None)
@given(st.lists(st.sampled_from(FOLDERS), min_size=3, max_size=3))
def test_a_folder_has_one_budget_however_it_is_spelled(spelled: list[str]) -> None:
    """The ledger beside it, with the name: three questions of 1 and more do not fit into 3."""
    Path("data.letalone.db").unlink(missing_ok=True)
    la.Ledger.open("data.letalone.db").close()
    for number, source in enumerate(spelled[:2]):
        spend(source, 1 + number / 1000, name="visits")
    with pytest.raises(BudgetExceeded):
        spend(spelled[2], 1.2, name="visits")


def test_folder_pattern_list_and_data_set_under_one_name_in_one_ledger_share_a_budget() -> None:
    given = {"name": "visits", "ledger": "own.db"}
    for number, source in enumerate(["data", "data/*.parquet", ds.dataset("data")]):
        spend(source, 0.9 + number / 1000, **given)
    with pytest.raises(BudgetExceeded):
        spend(LISTS[1], 0.5, **given)


def test_a_file_that_is_added_is_asked_under_the_budget_that_goes_on() -> None:
    given = {"name": "visits", "ledger": "own.db"}
    spend("data", 2, **given)
    pq.write_table(pa.table({"id": [5]}), "data/part-3.parquet")
    with la.open("data", unit="id", **given) as table:
        assert table.remaining.epsilon == 1


def test_a_folder_is_not_asked_beside_the_ledger_of_a_pattern_of_its_files() -> None:
    pattern, beside = Path("data/*.letalone.db"), Path("data.letalone.db")
    la.Ledger.open(pattern).close()
    spend("data/*.parquet", 1)
    with pytest.raises(ParameterError, match="may keep the budget of these files"):
        spend("data", 1, name="data")
    spend("data", 1.1, name="data", ledger=pattern)  # goes on with it
    with pytest.raises(BudgetExceeded):
        spend("data/*.parquet", 1.5, name="data")
    pattern.unlink()
    la.Ledger.open(beside).close()
    with pytest.raises(ParameterError, match="may keep the budget of these files"):
        spend("data/*.parquet", 1)


def test_a_list_of_one_file_is_that_file() -> None:
    la.Ledger.open("data/part-1.letalone.db").close()
    spend(["data/part-1.parquet"], 2)
    with pytest.raises(BudgetExceeded):
        spend("data/part-1.parquet", 1.5)


def test_a_schema_file_gives_a_folder_its_name() -> None:
    schema = Schema("visits", (la.Column("id", Type.INTEGER),), unit="id")
    Path("data.letalone.toml").write_text(schema.to_toml(), "utf-8")
    with la.open("data", budget=1) as table:
        assert (table.name, table.unit) == ("visits", "id")


def test_the_folder_of_a_delta_or_iceberg_table_is_refused_as_it_holds_old_rows() -> None:
    Path("data/below/_delta_log").mkdir(parents=True)
    with pytest.raises(ParameterError, match="of a Delta table"):
        la.open("data", unit="id", budget=1, name="x")
    Path("data/below/_delta_log").rmdir()
    Path("data/metadata").mkdir()
    Path("data/metadata/0.metadata.json").write_text("{}")
    with pytest.raises(ParameterError, match="an Iceberg table"):
        la.open("data", unit="id", budget=1, name="x")


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_version_of_a_delta_table_is_asked_as_it_is() -> None:
    from deltalake import DeltaTable, write_deltalake

    for rows in ([1, 2], [3, 4, 5]):
        write_deltalake("lake", pa.table({"id": rows}), mode="overwrite")
    for version, people in ((0, 2), (1, 3)):
        with la.open(DeltaTable("lake", version=version), unit="id", budget=10**6) as table:
            query = table.agg(n=la.count()).bound(max_rows=1)
            assert round(query.release(10**5).rows()[0]["n"]) == people


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_an_iceberg_table_is_asked_as_it_is(tmp_path: Path) -> None:
    from pyiceberg.catalog.sql import SqlCatalog

    Path("house").mkdir()
    places = {"uri": f"sqlite:///{tmp_path}/c.db", "warehouse": f"file://{tmp_path}/house"}
    catalog = SqlCatalog("clinic", **places)
    catalog.create_namespace("clinic")
    visits = catalog.create_table("clinic.visits", schema=pa.schema([("id", pa.int64())]))
    visits.append(pa.table({"id": [1, 2, 3]}))
    visits.delete("id = 2")
    with la.open(catalog.load_table("clinic.visits"), unit="id", budget=10**6) as table:
        query = table.agg(n=la.count()).bound(max_rows=1)
        assert round(query.release(10**5).rows()[0]["n"]) == 2


def test_a_data_set_of_other_files_or_with_a_filter_is_refused() -> None:
    Path("rows.csv").write_text("id\n1\n")
    for source in (ds.dataset("rows.csv", format="csv"), ds.dataset(pa.table({"id": [1]}))):
        with pytest.raises(ParameterError, match="cells decide the types"):
            la.open(source, unit="id", budget=1, name="x")
    with pytest.raises(ParameterError, match="filter in the question"):
        la.open(ds.dataset("data").filter(ds.field("id") > 1), unit="id", budget=1, name="x")
