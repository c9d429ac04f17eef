"""The stage: made-up data that the attacks play on. Nobody in it exists.

A town with a register of names and a hospital table without them; taxi trips whose medallions
are hashed; film ratings, many but each by few; tracks of people who run, some of them in a
desert; the diary of a clinic; a study to train models on, which asks more questions than it has
people, as studies of genes do. The same seed gives the same stage. The random numbers are data,
not noise.

  Tested:   tests/attacks/test_stage.py, test_membership.py, test_inversion.py
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import md5

import numpy as np
from numpy.typing import NDArray

from letalone.engines.frames import arrow
from letalone.sample.hospital import visits

GIVEN = ("Ada", "Ben", "Cleo", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "June", "Kai", "Lena")
FAMILY = ("Alder", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Maple", "Oak", "Rowan")
VERBS = ("came on", "was seen on", "called on", "left on")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
COMPLAINTS = ("a cough", "a fever", "back pain", "a broken arm", "a rash", "a headache")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

GRID = 40  # cells of the map, along each side
TOWN, BASE = 12, (31, 31)  # the town is the corner below 12; the base is far out in the desert
GARRISON, LAP = 6, 12  # people at the base, and cells of their round
HIKERS = 80  # people who were once somewhere far out
GENES, SHARES = np.array(["AA", "AG", "GG"]), (0.5, 0.3, 0.2)
TARGET, OUTCOME, SENSITIVE = "income", "dose", "gene"


@dataclass(frozen=True, slots=True)
class Town:
    """Two tables of the same people: one with names, one with diagnoses."""

    register: arrow.ArrowTable
    hospital: arrow.ArrowTable


def make_town(inhabitants: int = 20_000, *, patients: int = 5_000, seed: int = 1890) -> Town:
    """Everyone is in the register; some of them are in the hospital's table."""
    generator = np.random.default_rng(seed)
    everyone = visits(inhabitants, seed=seed)
    _, first = np.unique(everyone.patient_id, return_index=True)
    ill = np.zeros(inhabitants + 1, np.bool_)
    ill[1 + generator.permutation(inhabitants)[:patients]] = True
    kept = ill[everyone.patient_id]
    shown = ("zip", "birth_date", "gender")
    columns = everyone.columns()
    named = {name: columns[name][first] for name in shown}
    return Town(
        register=as_table({"name": _names(generator, inhabitants), **named}),
        hospital=as_table({name: column[kept] for name, column in columns.items()}),
    )


def taxis(trips: int = 5_000, *, seed: int = 2014) -> arrow.ArrowTable:
    """Trips with the medallion as an unsalted MD5: 9A99, as in New York in 2014."""
    generator = np.random.default_rng(seed)
    digits = generator.integers(0, 10, (trips, 3))
    letters = generator.integers(0, len(LETTERS), trips)
    medallions = [f"{a}{LETTERS[b]}{c}{d}" for (a, c, d), b in zip(digits, letters, strict=True)]
    hashes = [md5(text.encode(), usedforsecurity=False).hexdigest() for text in medallions]
    return as_table({"medallion": np.array(hashes), "fare": generator.integers(5, 80, trips)})


def ratings(people: int = 2_000, *, films: int = 1_000, seed: int = 2006) -> arrow.ArrowTable:
    """Who rated which film in which month: few films are seen by most, most films by few."""
    generator = np.random.default_rng(seed)
    number = generator.integers(10, 60, people)
    person = np.repeat(np.arange(people), number)
    # The share of film i falls as 1 / (i + 10).
    film = (10 * (((films + 10) / 10) ** generator.random(len(person)) - 1)).astype(np.int64)
    month = generator.integers(0, 24, len(person))
    once = np.unique(np.stack([person, film]), axis=1, return_index=True)[1]
    return as_table({"person": person[once], "film": film[once], "month": month[once]})


def tracks(people: int = 2_000, *, seed: int = 2018) -> arrow.ArrowTable:
    """Cells of a map that people ran through: in town, alone far out, or round a desert base."""
    generator = np.random.default_rng(seed)
    number = generator.integers(3, 15, people)
    number[:GARRISON] = 0
    person = np.repeat(np.arange(people), number)
    in_town = (generator.random((2, len(person))) ** 1.5 * TOWN).astype(np.int64)
    hikers = np.arange(GARRISON, min(GARRISON + HIKERS, people))
    far_out = generator.integers(0, GRID, (2, len(hikers)))
    soldiers = np.repeat(np.arange(GARRISON), LAP)
    lap = np.array([[BASE[0] + step % 4, BASE[1] + step // 4] for step in range(LAP)] * GARRISON).T
    x, y = np.concatenate([in_town, far_out, lap], axis=1)
    return as_table({"person": np.concatenate([person, hikers, soldiers]), "x": x, "y": y})


def notes(lines: int = 20_000, *, seed: int = 2019) -> list[str]:
    """Lines of a clinic's diary, all of the same few forms."""
    parts = (GIVEN, FAMILY, VERBS, DAYS, COMPLAINTS, range(8, 20))
    draws = np.random.default_rng(seed).integers(0, [len(part) for part in parts], (lines, 6))
    return [
        f"{GIVEN[a]} {FAMILY[b]} {VERBS[c]} {DAYS[d]} with {COMPLAINTS[e]} at {8 + hour}".lower()
        for a, b, c, d, e, hour in draws.tolist()
    ]


def as_table(columns: Mapping[str, NDArray[np.generic]]) -> arrow.ArrowTable:
    """An Arrow table of some arrays."""
    return arrow.table_of([(name, arrow.array_of(column)) for name, column in columns.items()])


def _names(generator: np.random.Generator, count: int) -> NDArray[np.str_]:
    draws = generator.integers(0, [len(GIVEN), len(LETTERS), len(FAMILY)], (count, 3))
    return np.array([f"{GIVEN[a]} {LETTERS[b]}. {FAMILY[c]}" for a, b, c in draws])


def study(people: int = 100, *, answers: int = 150, seed: int = 2014) -> arrow.ArrowTable:
    """Yes-or-no answers, a gene, the dose of a drug that it calls for, and an income."""
    generator = np.random.default_rng(seed)
    yes = generator.random((people, answers)) < generator.uniform(0.2, 0.8, answers)
    sides = np.where(yes, 1.0, -1.0)
    gene = generator.choice(len(GENES), people, p=SHARES)
    dose, earned = (
        sides @ generator.normal(size=answers) / np.sqrt(answers) + generator.normal(size=people)
        for _ in range(2)
    )
    columns = {f"answer_{number + 1}": yes[:, number] for number in range(answers)}
    income = np.where(earned > np.median(earned), "high", "low")
    return as_table(
        {**columns, SENSITIVE: GENES[gene], OUTCOME: 30 + 5 * dose - 4 * gene, TARGET: income}
    )
