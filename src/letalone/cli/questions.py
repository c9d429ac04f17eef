"""Five questions to a made-up hospital, each with a bound on what one patient can change.

The unit is a patient and neighbours are REPLACE: everything about one patient, with all
visits, may be different. That there are 5000 patients is then public, and a survey in
which everyone answers fits beside the other questions. One patient moves each answer by a
known amount, whatever the data:

  older    a count of patients: by 1
  wards    up to two wards of a patient are counted, each once: by 4 in L1
  cost     one visit a patient, clipped to 0 … 2000 and summed in whole cents: by 200,000
  cause    one diagnosis a patient; its count is the score: by 1
  survey   every patient randomises their own yes or no

  Proven:   each mechanism on its own page; that the epsilons add up is claim P3
  Tested:   the bounds, by replacing one patient with very different ones; the total
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from letalone.mechanisms import Exponential, Geometric, RandomizedResponse, sensitivity
from letalone.privacy import REPLACE, Privacy
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.sample.hospital import DIAGNOSES, WARDS, Visits, aged

PATIENT = REPLACE.of("patient")
CONFIDENCE = 0.95
OLD = 65
MOST_WARDS = 2  # three of six would not help: a set of six wards changes by at most 6 anyway
CENTS = 100
MOST_CENTS = 2000 * CENTS
CAUSES = tuple(name for name, *_ in DIAGNOSES)


@dataclass(frozen=True, slots=True)
class Line:
    """One private answer and its interval, or for a choice how much better another may be.

    `exact` is the answer without noise, of the same bounded data; it may be shown only because
    the data are made up.
    """

    label: str
    value: float | str
    exact: float | str
    low: float | None = None
    high: float | None = None
    shortfall: float | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its answer (one line, or one a group) and what it revealed."""

    text: str
    lines: tuple[Line, ...]
    privacy: Privacy


@dataclass(frozen=True, slots=True, eq=False)
class Patients:
    """One entry a patient, so that nobody counts for more than intended."""

    is_old: NDArray[np.bool_]
    wards: tuple[frozenset[str], ...]
    first_cost_in_cents: NDArray[np.int64]
    first_diagnosis: NDArray[np.str_]
    was_depressed: NDArray[np.bool_]

    @classmethod
    def of(cls, visits: Visits) -> "Patients":
        """Bound what each patient contributes."""
        patients, first = np.unique(visits.patient_id, return_index=True)
        cents = np.rint(visits.cost[first] * CENTS).astype(np.int64)
        depressed = visits.patient_id[visits.diagnosis == "depression"]
        return cls(
            is_old=aged(OLD, visits.birth_date[first]),
            wards=_first_wards(visits),
            first_cost_in_cents=np.clip(cents, 0, MOST_CENTS),
            first_diagnosis=visits.diagnosis[first],
            was_depressed=np.isin(patients, depressed),
        )

    def __len__(self) -> int:
        return len(self.is_old)


def ask_all(patients: Patients, *, bits: BitSource = SYSTEM) -> list[Question]:
    """The five answers, with fresh noise."""
    return [ask(patients, bits) for ask in (older, wards, cost, cause, survey)]


def older(patients: Patients, bits: BitSource) -> Question:
    """How many patients are 65 or older."""
    mechanism = Geometric(epsilon=0.05, sensitivity=sensitivity.count(neighbours=PATIENT))
    exact = int(patients.is_old.sum())
    error = mechanism.error(CONFIDENCE)
    line = _around("65 or older", mechanism.release(exact, bits=bits), exact, error)
    return Question("How many patients are 65 or older?", (line,), mechanism.privacy)


def wards(patients: Patients, bits: BitSource) -> Question:
    """How many patients each ward has seen."""
    bound = sensitivity.histogram(neighbours=PATIENT, rows=MOST_WARDS)
    mechanism = Geometric(epsilon=0.3, sensitivity=bound)
    exact = [sum(ward in seen for seen in patients.wards) for ward in WARDS]
    error = mechanism.error(CONFIDENCE, size=len(WARDS))
    released = mechanism.release(np.array(exact), bits=bits).tolist()
    lines = [
        _around(f"at {ward}", value, count, error)
        for ward, value, count in zip(WARDS, released, exact, strict=True)
    ]
    return Question("How many patients did each ward see?", tuple(lines), mechanism.privacy)


def cost(patients: Patients, bits: BitSource) -> Question:
    """The mean cost of a first visit: a noisy sum of whole cents, over a public number."""
    bound = sensitivity.sum(0, MOST_CENTS, neighbours=PATIENT)
    mechanism = Geometric(epsilon=0.05, sensitivity=bound)
    exact = int(patients.first_cost_in_cents.sum())
    share = CENTS * len(patients)
    value, error = mechanism.release(exact, bits=bits) / share, mechanism.error(CONFIDENCE) / share
    line = _around("mean first bill", value, exact / share, error)
    return Question("What does a first visit cost on average?", (line,), mechanism.privacy)


def cause(patients: Patients, bits: BitSource) -> Question:
    """The diagnosis that brings most patients here first."""
    mechanism = Exponential(epsilon=0.1, sensitivity=sensitivity.count(neighbours=PATIENT))
    counts = [int((patients.first_diagnosis == name).sum()) for name in CAUSES]
    chosen = mechanism.choose(CAUSES, counts, bits=bits)
    shortfall = mechanism.shortfall(len(CAUSES), CONFIDENCE)
    exact = CAUSES[int(np.argmax(counts))]
    line = Line("first diagnosis", chosen, exact, shortfall=shortfall)
    return Question("What do most patients come for first?", (line,), mechanism.privacy)


def survey(patients: Patients, bits: BitSource) -> Question:
    """The share of patients ever treated for depression, from randomised answers."""
    mechanism = RandomizedResponse(epsilon=0.5)
    found = mechanism.estimate(mechanism.release(patients.was_depressed, bits=bits), CONFIDENCE)
    value, low, high = (100 * float(part) for part in (found.value, found.low, found.high))
    exact = 100 * float(patients.was_depressed.mean())
    line = Line("depression", value, exact, low, high, unit=" %")
    return Question("Ever treated for depression?", (line,), mechanism.privacy)


def _around(label: str, value: float, exact: float, error: float) -> Line:
    return Line(label, value, exact, value - error, value + error)


def _first_wards(visits: Visits) -> tuple[frozenset[str], ...]:
    seen: dict[int, set[str]] = defaultdict(set)
    for patient, ward in zip(visits.patient_id.tolist(), visits.ward.tolist(), strict=True):
        if len(seen[patient]) < MOST_WARDS:
            seen[patient].add(ward)
    return tuple(frozenset(seen[patient]) for patient in sorted(seen))
