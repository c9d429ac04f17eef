"""`letalone demo`: one patient moves each answer by no more than was declared."""

import re
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest

from letalone.cli.questions import (
    CAUSES,
    CENTS,
    MOST_CENTS,
    MOST_WARDS,
    PATIENT,
    Patients,
    Question,
    ask_all,
)
from letalone.errors import NeighboursDiffer
from letalone.privacy import REPLACE, PureDP, compose
from letalone.sample.hospital import MOST_VISITS, WARDS, Visits, visits
from seeded import SeededBits

Letalone = Callable[..., "object"]


def with_other_visits(table: Visits, patient: int, generator: np.random.Generator) -> Visits:
    """The same table with one patient replaced by someone with up to 30 wild visits."""
    keep = table.patient_id != patient
    count = int(generator.integers(1, 31))
    wild = {
        "patient_id": np.full(count, patient),
        "ward": generator.choice(WARDS, count),
        "zip": np.full(count, "99999"),
        "birth_date": np.full(count, np.datetime64(generator.choice(["1900-01-01", "2025-12-31"]))),
        "gender": np.full(count, "F"),
        "diagnosis": generator.choice(CAUSES, count),
        "cost": generator.choice([0.0, 1.0, 1e9], count),
    }
    columns = {
        name: np.concatenate([column[keep], wild[name]]) for name, column in table.columns().items()
    }
    return Visits(**columns)  # pyright: ignore[reportArgumentType]


def counted(patients: Patients) -> dict[str, np.ndarray]:
    """The exact numbers that noise is added to, as vectors."""
    return {
        "older": np.array([patients.is_old.sum()]),
        "wards": np.array([sum(ward in seen for seen in patients.wards) for ward in WARDS]),
        "cost": np.array([patients.first_cost_in_cents.sum()]),
        "cause": np.array([(patients.first_diagnosis == name).sum() for name in CAUSES]),
    }


def test_replacing_a_patient_moves_each_answer_by_what_was_declared_and_no_further() -> None:
    generator = np.random.default_rng(7)
    table = visits(60, seed=3)
    # One patient in all six wards, so that the bound on wards has something to cut.
    everywhere = with_other_visits(table, 1, np.random.default_rng(11))
    before = counted(Patients.of(everywhere))
    furthest = dict.fromkeys(before, 0)
    for _ in range(400):
        after = counted(Patients.of(with_other_visits(everywhere, 1, generator)))
        for name, exact in before.items():
            change = np.abs(after[name] - exact)
            moved = change.max() if name == "cause" else change.sum()
            furthest[name] = max(furthest[name], int(moved))
    assert furthest["older"] == 1
    assert furthest["cause"] == 1
    assert furthest["wards"] == 2 * MOST_WARDS
    assert furthest["cost"] <= MOST_CENTS
    assert furthest["cost"] >= MOST_CENTS - 100 * CENTS


def test_the_declared_sensitivities_are_the_ones_the_noise_is_made_for() -> None:
    """epsilon = sensitivity / scale, so each curve shows the bound that was used."""
    older, wards, cost, *_ = ask_all(Patients.of(visits(60)))
    stored = [question.privacy.to_json() for question in (older, wards, cost)]
    assert [one["sensitivity"] for one in stored] == ["1", str(2 * MOST_WARDS), str(MOST_CENTS)]
    assert [one["scale"] for one in stored] == ["20", "40/3", "4000000"]


def test_every_answer_is_about_the_same_neighbours_and_the_total_is_exactly_one() -> None:
    questions = ask_all(Patients.of(visits(60)))
    total = compose(*(question.privacy for question in questions))
    assert total.neighbours == PATIENT
    assert total.epsilon(0) == 1.0


def misses(questions: list[Question], *, narrowed: float = 1.0) -> list[bool]:
    """Which of the four intervals (that of the wards is a joint one) miss the truth."""
    held: list[bool] = []
    for question in questions:
        of_lines = [
            abs(float(line.exact) - (line.high + line.low) / 2)
            <= narrowed * (line.high - line.low) / 2
            for line in question.lines
            if line.low is not None and line.high is not None
        ]
        held += [all(of_lines)] if of_lines else []
    return [not one for one in held]


def test_intervals_hold_the_truth_as_often_as_they_say_and_would_not_at_half_the_width() -> None:
    """200 seeded runs at 95 %, 10 misses of each expected at most. A correct program has more
    than 30 of one with probability below 1e-6 over seeds."""
    patients, bits = Patients.of(visits(300)), SeededBits(21)
    runs = [ask_all(patients, bits=bits) for _ in range(200)]
    missed = np.sum([misses(questions) for questions in runs], axis=0)
    assert missed.shape == (4,)
    assert missed.max() <= 30
    narrowed = np.sum([misses(questions, narrowed=0.5) for questions in runs], axis=0)
    assert narrowed.min() > 30, "too few runs to see an error bar of half the width"


def test_noise_is_fresh_each_time(letalone: Letalone) -> None:
    one, other = letalone("demo", "--json").json(), letalone("demo", "--json").json()
    assert one["epsilon"] == other["epsilon"] == 1.0
    assert one["questions"] != other["questions"]


def flowing(out: str) -> str:
    return " ".join(out.split())


def test_the_screen_says_that_exact_answers_are_of_bounded_data_and_made_up(
    letalone: Letalone,
) -> None:
    out = letalone("demo").out
    assert "exact*" in out
    assert re.search(r"^all together +1 *$", out, re.M)
    assert "letalone explain epsilon 1" in out
    assert "at most two wards a patient, costs cut at 2,000" in flowing(out)
    assert "shown only because they are made up" in flowing(out)
    assert "bars of the six wards hold jointly" in flowing(out)
    assert re.search(r"at most \d+ below the top", out)
    assert MOST_WARDS == 2
    assert MOST_CENTS == 2000 * CENTS


def test_the_exact_column_is_of_the_bounded_data_and_not_of_all_visits(letalone: Letalone) -> None:
    table = visits()
    shown = letalone("demo", "--json").json()["questions"]
    exact = {answer["label"]: answer["exact"] for one in shown for answer in one["answers"]}
    all_seen = {ward: len(np.unique(table.patient_id[table.ward == ward])) for ward in WARDS}
    assert all(exact[f"at {ward}"] <= count for ward, count in all_seen.items())
    assert any(exact[f"at {ward}"] < count for ward, count in all_seen.items())


def test_the_screen_explains_why_its_guess_is_below_that_of_its_epsilon(
    letalone: Letalone,
) -> None:
    """The sentence names both numbers, the second the one that `explain epsilon` shows."""
    out = flowing(letalone("demo").out)
    guess = re.search(r"wins at most ([\d.]+) % of the time", out)
    worst = re.search(r"all that ε = 1 allows would make it ([\d.]+) %", out)
    assert guess is not None
    assert worst is not None
    assert float(guess[1]) < float(worst[1])
    assert f"win at most {worst[1]} %" in letalone("explain", "epsilon", "1").out


def test_a_narrow_screen_leaves_a_column_out_and_breaks_no_row(
    letalone: Letalone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    out = letalone("demo").out
    assert "exact*" not in out
    assert re.search(r"^first diagnosis +[a-z ]+ +≤ \d+ below the top +0.1$", out, re.M)
    assert max(map(len, out.splitlines()[:-1])) <= 60


def test_json_holds_every_answer_with_its_interval(letalone: Letalone) -> None:
    found = letalone("demo", "--json").json()
    assert found["made_up"] is True
    assert len(found["questions"]) == 5
    prices = [question["epsilon"] for question in found["questions"]]
    assert sum(map(Fraction, map(str, prices))) == 1
    for question in found["questions"]:
        for answer in question["answers"]:
            assert {"label", "value", "low", "high", "shortfall", "exact", "unit"} == set(answer)
            assert (answer["low"] is None) == (answer["shortfall"] is not None)


@pytest.mark.parametrize("field", [field.name for field in fields(Patients)])
def test_there_is_one_entry_for_each_patient(field: str) -> None:
    patients = Patients.of(visits(60))
    assert len(getattr(patients, field)) == len(patients) == 60


def test_d4_the_unit_is_a_patient_and_counting_visits_as_if_they_were_patients_breaks_it() -> None:
    """Protecting rows does not protect a person who has many; the units do not mix either."""
    table = visits(60, seed=3)
    busiest = int(np.bincount(table.patient_id).argmax())
    kept = table.patient_id != busiest
    left = Visits(**{name: column[kept] for name, column in table.columns().items()})  # pyright: ignore
    assert len(table) - len(left) > 1, "one patient moves a count of visits by more than one"
    assert len(Patients.of(table)) - len(Patients.of(left)) == 1

    per_visit = PureDP(1).with_neighbours(REPLACE.of("visit"))
    per_patient = PureDP(1).with_neighbours(PATIENT)
    with pytest.raises(NeighboursDiffer, match=r"one visit.*one patient.*\.group\(k\)"):
        compose(per_visit, per_patient)
    # A visit's guarantee becomes a patient's by the group: 20 visits at most cost 20 times.
    converted = per_visit.group(MOST_VISITS).labelled(PATIENT)
    assert compose(converted, per_patient).epsilon(0) == 21.0
