"""Values that stand in the names of folders are cells: declared, or not there at all."""

import json

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from letalone.engines.core.measures import GridSum, Rows, RowScope, RowsWith
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.errors import ParameterError
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding
from letalone.plans.types import Type

YEARS = ("2023", "2024", "oops", "__HIVE_DEFAULT_PARTITION__", "2%302%35")


def write_json(table, path):
    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))


def write_csv(table, path):
    path.write_text("n\n" + "".join(f"{row['n']}\n" for row in table.to_pylist()))


WRITERS = {
    ".parquet": pq.write_table,
    ".feather": feather.write_feather,
    ".ndjson": write_json,
    ".csv": write_csv,
}


@pytest.fixture(params=WRITERS)
def folder(request, tmp_path):
    """One row in each year, and one beside them in no year."""
    for at, year in enumerate([f"year={year}/month=1" for year in YEARS] + ["."]):
        (tmp_path / "data" / year).mkdir(parents=True, exist_ok=True)
        WRITERS[request.param](
            pa.table({"n": [at]}), tmp_path / "data" / year / f"x{request.param}"
        )
    return tmp_path / "data"


def measured(source, **types):
    engine = open_duck(source, types=types)
    scope = RowScope(engine.schema(), None, (), (), (), None, Bounding())
    names = [column.name for column in engine.schema().columns if column.type is Type.INTEGER]
    sums = [GridSum(col(name), 0, 10_000, 0) for name in names]
    found = engine.measure(scope, [Rows(), *(RowsWith(col(name)) for name in names), *sums])
    engine.close()
    return dict(zip(["rows", *(f"with {n}" for n in names), *names], found, strict=True))


def test_a_folder_is_all_its_files_and_nothing_is_made_of_the_names_of_folders(folder):
    expected = {"rows": [6], "with n": [6], "n": [15]}
    assert measured(folder, n=Type.INTEGER) == expected
    (folder / "_SUCCESS").write_text("")
    (folder / ".hidden.csv").write_text("other\n1\n")
    (folder / "data.letalone.db").write_bytes(b"")
    assert measured(folder, n=Type.INTEGER) == expected


def test_a_declared_column_has_the_values_of_folders_and_odd_ones_are_missing_alone(folder):
    found = measured(folder, n=Type.INTEGER, year=Type.INTEGER)
    assert found == {"rows": [6], "with n": [6], "with year": [3], "n": [15], "year": [6072]}


def test_a_column_that_neither_files_nor_folders_have_is_refused(folder):
    if not list(folder.rglob("*.ndjson")):  # whose columns are those that are declared
        with pytest.raises(ParameterError, match="'yaer' is not in table"):
            open_duck(folder, types={"n": Type.INTEGER, "yaer": Type.INTEGER})


def test_a_list_is_its_files_each_once(tmp_path):
    for name, rows in {"a.csv": "n\n1\n", "b.csv": "n\n2\n3\n"}.items():
        (tmp_path / name).write_text(rows)
    listed = [tmp_path / "b.csv", str(tmp_path / "a.csv")]
    assert measured(listed, n=Type.INTEGER) == {"rows": [3], "with n": [3], "n": [6]}
    (tmp_path / "link.csv").symlink_to("a.csv")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "a.csv")
    for again in ("link.csv", "hard.csv", "./a.csv"):
        with pytest.raises(ParameterError, match="listed twice"):
            open_duck([tmp_path / "a.csv", tmp_path / again])
    for wrong in (".", "*.csv", "no.csv"):
        with pytest.raises(ParameterError, match="A list holds paths of files"):
            open_duck([tmp_path / "a.csv", tmp_path / wrong])
