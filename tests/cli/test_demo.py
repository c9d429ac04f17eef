"""`letalone demo`: the main job from end to end, on a table in which nobody exists."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from letalone.answers.promise import best_guess, most_caught
from letalone.cli.tables.demo import BORN_BY, BUDGET, MOST_COST, OLD, UNIT, ask_both
from letalone.engines.duckdb.duck_engine import DuckEngine
from letalone.errors import NeighboursDiffer
from letalone.ledger import Ledger
from letalone.privacy import REPLACE, PureDP, compose
from letalone.sample.hospital import MOST_VISITS, TODAY, WARDS, HospitalVisits, visits
from screens import check_screen, offered

Letalone = Callable[..., Any]
PATIENT = REPLACE.of("patient")


@pytest.fixture(scope="module")
def hospital() -> HospitalVisits:
    return visits(400)


def test_the_questions_go_through_the_engine_and_are_charged_to_a_ledger(
    hospital: HospitalVisits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[int] = []
    measure = DuckEngine.measure

    def counted(self: DuckEngine, *parts: Any) -> Any:
        measured.append(1)
        return measure(self, *parts)

    monkeypatch.setattr(DuckEngine, "measure", counted)
    found = ask_both(hospital, tmp_path)
    assert len(measured) == 2
    with Ledger.open(tmp_path / "visits.letalone.db", create=False) as ledger:
        kept = ledger.data_set("visits")
    assert (kept.budget, kept.releases, kept.neighbours.unit) == (BUDGET, 2, UNIT)
    assert (kept.spent.epsilon, kept.remaining) == (1, found.remaining)
    assert found.privacy.epsilon(0) == 1.0


def test_the_exact_figures_are_those_of_the_whole_table(
    hospital: HospitalVisits, tmp_path: Path
) -> None:
    """Nobody has more rows than count, so answer and exact figure differ by the noise alone."""
    found = ask_both(hospital, tmp_path)
    assert np.bincount(hospital.patient_id).max() <= MOST_VISITS
    assert f"at most {MOST_VISITS} rows" in found.wards.release.notes[0]
    by_ward = {ward: hospital.cost[hospital.ward == ward] for ward in WARDS}
    assert found.wards.exact["visits"] == tuple(len(by_ward[ward]) for ward in WARDS)
    bills = [sum(min(cost, MOST_COST) for cost in by_ward[w]) / len(by_ward[w]) for w in WARDS]
    assert found.wards.exact["bill"] == pytest.approx(bills)
    born = zip(hospital.patient_id.tolist(), hospital.birth_date.tolist(), strict=True)
    old = {patient for patient, day in born if day <= BORN_BY}
    assert found.older.exact == {"patients": (len(old),)}
    assert str(TODAY) == f"{BORN_BY.year + OLD}-01-01"


def test_every_answer_is_near_its_exact_figure(letalone: Letalone) -> None:
    """One of 13 noises passes six times its 95 % bar less than once in e^18/13 (5·10^6) runs."""
    found = letalone("demo", "--json").json()
    for question in found["questions"]:
        for row in question["rows"]:
            for name in [name.removesuffix("_exact") for name in row if name.endswith("_exact")]:
                bar = row[f"{name}_high"] - row[f"{name}_low"]
                assert abs(row[name] - row[f"{name}_exact"]) <= 3 * bar, (name, row)


def test_noise_is_fresh_each_time(letalone: Letalone) -> None:
    one, other = letalone("demo", "--json").json(), letalone("demo", "--json").json()
    assert one["epsilon"] == other["epsilon"] == 1.0
    assert one["questions"] != other["questions"]
    exact = [run["questions"][1]["rows"][0]["bill_exact"] for run in (one, other)]
    assert exact[0] == exact[1], "the table is the same"


def test_the_screen_fits_says_that_all_is_made_up_and_leads_on(letalone: Letalone) -> None:
    shown = letalone("demo")
    words = check_screen(shown)
    assert "a hospital that does not exist: 15,283 visits of 5,000 patients, made up" in words
    assert "shown only because nobody in it is real" in words
    assert "Spent ε = 0.1 + 0.9, to protect each patient_id (add or remove one)" in words
    assert "Left: about ε = 1 of ε = 2." in words
    assert re.search(r"^Oncology +[\d,]+ \[[\d,]+, [\d,]+\] +992 +[\d,]+ \[", shown.out, re.M)
    init, query, explain = offered(shown.out)
    assert init == ["init", "my.csv"]
    assert query[:2] == ["query", "my.csv"]
    assert explain == ["explain", "epsilon", "1"]


def test_what_epsilon_means_is_what_explain_says(letalone: Letalone) -> None:
    words = check_screen(letalone("demo"))
    guess = re.search(r"wins at most ([\d.]+) % of the time", words)
    caught = re.search(r"finds a patient at most ([\d.]+) % of the time", words)
    assert guess is not None
    assert caught is not None
    assert float(guess[1]) == pytest.approx(100 * best_guess(PureDP(1)), abs=0.1)
    assert float(caught[1]) == pytest.approx(100 * most_caught(PureDP(1)), abs=0.1)
    assert f"win at most {guess[1]} %" in letalone("explain", "epsilon", "1").out


def test_a_narrow_screen_leaves_columns_out_and_breaks_no_row(
    letalone: Letalone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    out = letalone("demo").out
    assert re.search(r"^Oncology +[\d,]+ \[[\d,]+, [\d,]+\] +[\d,]+ \[[\d,]+, [\d,]+\]$", out, re.M)
    table = out[: out.index("Run it again")]
    assert max(map(len, table.splitlines())) <= 60


def test_json_holds_the_budget_and_every_answer_with_its_exact_figure(letalone: Letalone) -> None:
    found = letalone("demo", "--json").json()
    assert set(found) == {
        "format", "command", "made_up", "patients", "visits", "unit", "neighbours", "confidence",
        "questions", "epsilon", "delta", "budget", "remaining",
    }  # fmt: skip
    assert found["made_up"] is True
    assert (found["budget"]["epsilon"], found["remaining"]["epsilon"]) == ("2", "1")
    older, wards = found["questions"]
    assert set(older["rows"][0]) == {f"patients{end}" for end in ("", "_low", "_high", "_exact")}
    assert [row["ward"] for row in wards["rows"]] == list(WARDS)


def test_nothing_is_left_behind(
    letalone: Letalone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert letalone("demo", "--json").code == 0
    assert list(tmp_path.iterdir()) == []


def test_d4_the_unit_is_a_patient_and_counting_visits_as_if_they_were_patients_breaks_it() -> None:
    """Protecting rows does not protect a person who has many; the units do not mix either."""
    table = visits(60, seed=3)
    busiest = int(np.bincount(table.patient_id).argmax())
    left = table.patient_id[table.patient_id != busiest]
    assert len(table) - len(left) > 1, "one patient moves a count of visits by more than one"
    assert len(set(table.patient_id.tolist())) - len(set(left.tolist())) == 1

    per_visit = PureDP(1).with_neighbours(REPLACE.of("visit"))
    per_patient = PureDP(1).with_neighbours(PATIENT)
    with pytest.raises(NeighboursDiffer, match=r"one visit.*one patient.*\.group\(k\)"):
        compose(per_visit, per_patient)
    # A visit's guarantee becomes a patient's by the group: 20 visits at most cost 20 times.
    converted = per_visit.group(MOST_VISITS).labelled(PATIENT)
    assert compose(converted, per_patient).epsilon(0) == 21.0
