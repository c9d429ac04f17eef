"""Start-up is quick because little is loaded; what is loaded is counted, not timed."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

HEAVY = {"numpy", "scipy", "flint", "cryptography", "rich", "matplotlib", "hypothesis"}


def loaded(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after running the code."""
    run = f"{code}\nimport sys\nprint('LOADED', *sys.modules)"
    found = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True)
    return set(found.stdout.split("LOADED")[1].split())


def test_import_letalone_loads_nothing_but_itself() -> None:
    modules = loaded("import letalone")
    assert not modules & HEAVY
    assert {name for name in modules if name.startswith("letalone")} == {"letalone"}


def test_help_loads_no_layer_of_letalone() -> None:
    code = "from letalone.cli.app import run\nassert run(['--help']) == 0"
    modules = loaded(code)
    assert not modules & HEAVY
    ours = {name for name in modules if name.startswith("letalone.")}
    cli = {f"letalone.cli{part}" for part in ("", ".app", ".typed")}
    assert ours == cli | {"letalone.errors"}


def test_a_mechanism_loads_no_scipy_stats() -> None:
    modules = loaded("import letalone as la\nla.Laplace(epsilon=1, sensitivity=1).release(1.0)")
    assert "numpy" in modules
    assert "scipy.stats" not in modules


def test_a_client_loads_no_engine_and_few_modules() -> None:
    """96 of them, and 100 is the limit that was set."""
    modules = loaded("import letalone as la\nla.Client")
    assert not modules & {"duckdb", "pyarrow", "sqlalchemy", "letalone.engines", "letalone.sources"}
    assert len([name for name in modules if name.partition(".")[0] == "letalone"]) <= 100


def test_a_stored_curve_of_any_kind_is_known_where_none_was_used() -> None:
    """Those that register a curve and are not loaded with the package are loaded for it."""
    code = """
from importlib import import_module
from pkgutil import walk_packages
from letalone import privacy
from letalone.errors import FormatError
from letalone.privacy.curve import KINDS

before = set(KINDS)
try:
    privacy.from_json({"format": 1, "kind": "of nobody"})
except FormatError as error:
    assert all(kind in str(error) for kind in KINDS)
known = set(KINDS)
for module in walk_packages(privacy.__path__, "letalone.privacy."):
    import_module(module.name)
assert before < known == set(KINDS)
"""
    assert "letalone.privacy.theorems" in loaded(code)


LOADERS = {"rich", "sqlglot", "sqlalchemy", "duckdb", "pyarrow", "letalone.session"}


@pytest.mark.parametrize("command", ["query", "describe", "init", "train"])
def test_a_mistyped_file_name_is_answered_before_anything_heavy_is_loaded(
    tmp_path: Path, command: str
) -> None:
    (tmp_path / "visits.csv").write_text("a\n1\n")
    words = [
        command,
        str(tmp_path / "vists.csv"),
        *["SELECT COUNT(*) FROM visits"] * (command == "query"),
    ]
    modules = loaded(f"from letalone.cli.app import run\nassert run({words!r}) == 2")
    assert not modules & (HEAVY | LOADERS)


def test_a_question_loads_no_pandas_no_spark_and_no_server(tmp_path: Path) -> None:
    """pyarrow would load pandas for an array of Python values, wherever that is installed."""
    visits = {"patient_id": ["a", "b", None], "ward": ["A", "B", "A"], "cost": [1.0, 2.0, 3.0]}
    pq.write_table(pa.table(visits), tmp_path / "visits.parquet")
    words = [
        "query", str(tmp_path / "visits.parquet"),
        "SELECT ward, COUNT(*), AVG(cost) FROM visits GROUP BY ward",
        "--unit", "patient_id", "--keys", "ward=A,B", "--bounds", "cost=0:10", "--epsilon", "1",
        "--budget", "2",
    ]  # fmt: skip
    modules = loaded(f"from letalone.cli.app import run\nassert run({words!r}) == 0")
    assert "letalone.engines.duckdb.duck_engine" in modules
    assert not modules & {"pandas", "pyspark", "matplotlib", "scipy.stats"}
    inside = ("", ".spark_catalogue", ".spark_silence")
    names = {"sources.spark_names", *(f"engines.spark{name}" for name in inside)}
    spark = {name for name in modules if name.startswith("letalone.") and "spark" in name}
    assert spark <= {
        f"letalone.{name}" for name in names
    }  # which know whether a source is one of Spark's
    servers = {
        "letalone.ledger.storage.postgres_store",
        "letalone.engines.postgres.postgres_engine",
    }
    assert not modules & servers
