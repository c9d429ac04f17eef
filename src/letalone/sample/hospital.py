"""A hospital that does not exist: its patients and their visits.

Each patient has an id, a ZIP code, a birth date and a gender that stay the same, and
between 1 and 20 visits, mostly few. Each visit has a ward, a diagnosis and a cost. The
rows are in the order of the visits. The same seed gives the same table.

The random numbers here are data, not noise: numpy's generator is the right tool for
them, and would be the wrong one for anything that has to hide a person.

  Tested:   the shape, the skew, constancy within a patient, and the same table twice
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from letalone.exact.typed import COUNT

TODAY = np.datetime64("2026-01-01", "D")
MOST_VISITS = 20
OLDEST_IN_DAYS = 95 * 365

WARDS = ("Cardiology", "Emergency", "Oncology", "Orthopaedics", "Psychiatry", "Respiratory")

# diagnosis, its ward, how often it comes up, its usual cost
DIAGNOSES = (
    ("asthma", "Respiratory", 9, 260.0),
    ("back pain", "Orthopaedics", 15, 310.0),
    ("breast cancer", "Oncology", 4, 1900.0),
    ("bronchitis", "Respiratory", 11, 180.0),
    ("depression", "Psychiatry", 8, 420.0),
    ("diabetes", "Cardiology", 10, 350.0),
    ("fracture", "Orthopaedics", 12, 880.0),
    ("heart failure", "Cardiology", 6, 1450.0),
    ("hypertension", "Cardiology", 18, 210.0),
    ("lung cancer", "Oncology", 3, 2300.0),
)


@dataclass(frozen=True, slots=True, eq=False)
class HospitalVisits:
    """The table of visits: one read-only array a column, one entry a visit."""

    patient_id: NDArray[np.int64]
    ward: NDArray[np.str_]
    zip: NDArray[np.str_]
    birth_date: NDArray[np.datetime64]
    gender: NDArray[np.str_]
    diagnosis: NDArray[np.str_]
    cost: NDArray[np.float64]

    def __post_init__(self) -> None:
        for column in self.columns().values():
            column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.patient_id)

    def columns(self) -> dict[str, NDArray[np.generic]]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def to_csv(self, path: str | Path) -> None:
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.columns())
            rows = zip(*(column.tolist() for column in self.columns().values()), strict=True)
            writer.writerows(rows)


def reaches_age(years: int, birth_dates: NDArray[np.datetime64]) -> NDArray[np.bool_]:
    """Who has had this many birthdays by `TODAY`, by the calendar.

    Whoever was born on 29 February has the birthday on 1 March of other years.
    """
    year, month, day = str(TODAY).split("-")
    latest = f"{int(year) - years:04d}-{month}-{day}"  # `TODAY` is no 29 February
    return birth_dates <= np.datetime64(latest, "D")


def visits(patients: int = 5000, *, seed: int = 1890) -> HospitalVisits:
    """The visits of so many patients; every patient has at least one."""
    count = int(COUNT.typed("patients", patients))
    generator = np.random.default_rng(seed)
    zip_code = _zip_codes(generator, count)
    age_in_days = (OLDEST_IN_DAYS * generator.random(count) ** 0.8).astype(np.int64)
    gender = np.where(generator.random(count) < 0.52, "F", "M")
    usual = _pick(generator, [weight for _, _, weight, _ in DIAGNOSES], count)

    person = _visiting_order(generator, count)
    known = generator.random(len(person)) < 0.6
    other = _pick(generator, [weight for _, _, weight, _ in DIAGNOSES], len(person))
    diagnosis = np.where(known, usual[person], other)
    return HospitalVisits(
        patient_id=person + 1,
        ward=_wards(generator, diagnosis),
        zip=zip_code[person],
        birth_date=(TODAY - age_in_days)[person],
        gender=gender[person],
        diagnosis=np.array([name for name, *_ in DIAGNOSES])[diagnosis],
        cost=_costs(generator, diagnosis),
    )


def _visiting_order(generator: np.random.Generator, patients: int) -> NDArray[np.int64]:
    """For each visit, in order of time, which patient it is."""
    skew = [number**-1.6 for number in range(1, MOST_VISITS + 1)]
    times = 1 + _pick(generator, skew, patients)
    person = np.repeat(np.arange(patients), times)
    return person[np.argsort(generator.random(len(person)), kind="stable")]


def _zip_codes(generator: np.random.Generator, count: int) -> NDArray[np.str_]:
    skew = [1 / (number + 3) for number in range(40)]
    codes = np.array([f"{2100 + 7 * number:05d}" for number in range(40)])
    return codes[_pick(generator, skew, count)]


def _wards(generator: np.random.Generator, diagnosis: NDArray[np.int64]) -> NDArray[np.str_]:
    usual = np.array([ward for _, ward, _, _ in DIAGNOSES])[diagnosis]
    return np.where(generator.random(len(diagnosis)) < 0.15, "Emergency", usual)


def _costs(generator: np.random.Generator, diagnosis: NDArray[np.int64]) -> NDArray[np.float64]:
    usual = np.array([cost for *_, cost in DIAGNOSES])[diagnosis]
    swing: NDArray[np.float64] = generator.random((3, len(diagnosis))).sum(axis=0) - 1.5
    cost: NDArray[np.float64] = usual * np.exp(1.1 * swing)
    return cost.round(2)


def _pick(
    generator: np.random.Generator, weights: Sequence[float], count: int
) -> NDArray[np.int64]:
    """Indices drawn by weight, by inversion: `random` alone is stable across versions."""
    edges = np.cumsum(weights) / np.sum(weights)
    return np.searchsorted(edges[:-1], generator.random(count), side="right").astype(np.int64)
