"""The words below an answer take three lines at most, in Python and in the terminal."""

from pathlib import Path

import pyarrow as pa
import pytest

import letalone as la
from letalone.cli.app import run
from letalone.sample.hospital import visits

COST = {"lower": 0, "upper": 3000}
WARDS = ["Cardiology", "Oncology"]
BOUNDS = ("--bounds", "cost=0:3000", "--keys", "ward=Cardiology,Oncology")
ASKED = {
    "SELECT COUNT(*) FROM visits": (),
    "SELECT ward, AVG(cost) AS bill FROM visits GROUP BY ward": BOUNDS,
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward": ("--delta", "1e-6"),
}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    visits(300).to_csv("visits.csv")
    assert run(["init", "visits.csv", "--unit", "patient_id", "--yes"]) == 0
    return tmp_path / "visits.csv"


@pytest.mark.few("AVG")
@pytest.mark.parametrize("sql", ASKED)
def test_in_the_terminal(sql: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["query", file.name, sql, "--epsilon", "0.5", *ASKED[sql]]
    for more in (["--budget", "3:1e-4"], []):  # asked, and asked again
        capsys.readouterr()
        assert run([*words, *more]) == 0
        lines = capsys.readouterr().out.splitlines()
        (first,) = [place for place, line in enumerate(lines) if line.startswith("[low, high]")]
        assert len(lines) - first <= 3
        assert all(len(line) <= 80 for line in lines[first:])
        assert "--explain" in lines[-1]


def test_in_python() -> None:
    table = pa.table({name: column.tolist() for name, column in visits(300).columns().items()})
    with la.open(table, unit="patient_id", budget=la.Budget(5, 1e-4)) as session:
        grouped = session.group_by("ward", keys=WARDS)
        questions = [
            (session.agg(n=la.count()), {}),
            (grouped.agg(n=la.count(), bill=la.mean("cost", **COST)), {}),
            (session.group_by("ward").agg(n=la.count()), {"delta": 1e-6}),
        ]
        for question, more in [*questions, *questions]:
            lines = str(question.release(epsilon=0.5, **more)).splitlines()
            (first,) = [place for place, line in enumerate(lines) if line.startswith("[low, high]")]
            assert len(lines) - first <= 3, "\n".join(lines)
            assert lines[-1].endswith(".explain()")


def test_what_must_not_be_missed_stands_above_them() -> None:
    table = pa.table({"person": range(100), "cost": range(100)})
    with la.open(table, unit="person", budget=5) as session:
        found = str(session.agg(low=la.min("cost", **COST)).release(epsilon=1))
    assert "Warning: low is not the smallest value: about " in found
    assert found.index("Warning") < found.index("[low, high]")
