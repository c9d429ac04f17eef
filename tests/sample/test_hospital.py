"""The sample data: the same table for the same seed, and patients who stay themselves."""

import csv
from pathlib import Path

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.sample.hospital import DIAGNOSES, MOST_VISITS, TODAY, WARDS, reaches_age, visits


def test_the_same_seed_gives_the_same_table_and_another_seed_another() -> None:
    one, again, other = visits(300, seed=1), visits(300, seed=1), visits(300, seed=2)
    for name, column in one.columns().items():
        assert np.array_equal(column, again.columns()[name])
    assert len(one) != len(other) or not np.array_equal(one.cost, other.cost)


def test_the_table_of_the_demo_is_the_one_it_has_always_been() -> None:
    """Later examples quote it; numpy promises the stream of `random`, and we use no other."""
    table = visits()
    assert len(table) == 15283
    assert table.patient_id[:4].tolist() == [926, 1746, 880, 1593]
    assert table.cost[:4].tolist() == [52.19, 205.81, 219.07, 639.56]


def test_every_patient_comes_one_to_twenty_times_and_most_come_seldom() -> None:
    patients, times = np.unique(visits().patient_id, return_counts=True)
    assert patients.tolist() == list(range(1, 5001))
    assert times.min() == 1
    assert times.max() == MOST_VISITS
    assert np.median(times) <= 2 < times.mean()


@pytest.mark.parametrize("name", ["zip", "birth_date", "gender"])
def test_a_patient_keeps_zip_birth_date_and_gender(name: str) -> None:
    table = visits()
    pairs = {*zip(table.patient_id.tolist(), table.columns()[name].tolist(), strict=True)}
    assert len(pairs) == 5000


def test_values_are_the_declared_ones() -> None:
    table = visits()
    assert set(table.ward.tolist()) == set(WARDS)
    assert set(table.diagnosis.tolist()) == {name for name, *_ in DIAGNOSES}
    assert set(table.gender.tolist()) == {"F", "M"}
    assert all(len(code) == 5 and code.isdigit() for code in table.zip.tolist())
    assert np.all(table.birth_date <= TODAY)
    assert table.cost.min() > 0


def test_nearly_everyone_is_unique_by_zip_birth_date_and_gender() -> None:
    """Claim A1 needs it later: names can be taken away, people stay recognisable."""
    table = visits()
    marks = {
        *zip(table.zip.tolist(), table.birth_date.tolist(), table.gender.tolist(), strict=True)
    }
    assert len(marks) > 0.95 * 5000


def test_an_age_counts_birthdays_and_not_days() -> None:
    """65 times 365 days are 16 or 17 days short of 65 years."""
    born = np.array(["1960-12-31", "1961-01-01", "1961-01-02", "1961-01-17"], "datetime64[D]")
    assert reaches_age(65, born).tolist() == [True, True, False, False]
    assert str(TODAY) == "2026-01-01"
    assert not str(TODAY).endswith("02-29")


def test_columns_cannot_be_changed_by_accident() -> None:
    with pytest.raises(ValueError, match="read-only"):
        visits(3).cost[0] = 0.0


def test_the_text_file_holds_the_table(tmp_path: Path) -> None:
    table = visits(40)
    table.to_csv(tmp_path / "visits.csv")
    with (tmp_path / "visits.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(table.columns())
    assert [int(row["patient_id"]) for row in rows] == table.patient_id.tolist()
    assert [row["birth_date"] for row in rows] == np.datetime_as_string(table.birth_date).tolist()
    assert [float(row["cost"]) for row in rows] == table.cost.tolist()


@pytest.mark.parametrize("patients", [0, -1, 1.5, float("nan"), "many"])
def test_a_number_of_patients_below_one_is_refused(patients: object) -> None:
    with pytest.raises(ParameterError, match=r"patients is .* but must be a whole number"):
        visits(patients)  # pyright: ignore[reportArgumentType]
