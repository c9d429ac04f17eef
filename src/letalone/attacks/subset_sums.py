"""Questions about random subsets of people with a secret bit, and two ways back from the answers.

Tested:   tests/attacks/test_reconstruction.py
"""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

from dataclasses import dataclass
from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.special import ndtr

from letalone.attacks.rates import least, most
from letalone.exact.typed import Number

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
HALF = 0.5
RANK = 1e-10  # directions that the questions see less of, relative to the most seen, are left at 0
ROUND_UP = 1 + 2.0**-48  # more than the few operations of `surest` lose


@dataclass(frozen=True, slots=True)
class Guesses:
    """How many bits were guessed right."""

    right: int
    bits: int

    @classmethod
    def of(cls, found: Floats, secret: Whole) -> "Guesses":
        """Those above 1/2 are taken for a 1."""
        return cls(int(((found > HALF) == (secret > 0)).sum()), secret.size)

    @property
    def share(self) -> float:
        """The share of right guesses."""
        return self.right / self.bits

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Where the chance of a right guess lies, were they independent."""
        miss = (1 - confidence) / 2
        return least(self.right, self.bits, miss), most(self.right, self.bits, miss)

    def exceeds(self, allowed: float, confidence: float = 0.95) -> bool:
        """Whether more are right than the bound allows, beyond sampling error."""
        return least(self.right, self.bits, 1 - confidence) > allowed


@dataclass(frozen=True, slots=True, eq=False)
class SubsetSums:
    """A row a question, a column a person: 1 where the question is about them."""

    subsets: Whole
    back: Floats  # the pseudo-inverse, which takes answers to the nearest vector

    @property
    def questions(self) -> int:
        return self.subsets.shape[0]

    @property
    def people(self) -> int:
        return self.subsets.shape[1]

    @property
    def sensitivity(self) -> int:
        """The most questions that one person is in: by so much all answers move, at most."""
        return max(1, int(self.subsets.sum(axis=0).max()))

    def secret(self, generator: np.random.Generator, share: float, tables: int) -> Whole:
        """Independent bits, a column a table."""
        return (generator.random((self.people, tables)) < share).astype(np.int64)

    def answers(self, secret: Whole) -> Whole:
        return self.subsets @ secret

    def least_squares(self, answers: Floats | Whole) -> Floats:
        """The vectors nearest to the answers, a column a table."""
        return self.back @ answers

    def linear_programme(self, answers: Floats | Whole) -> Floats:
        """The vector in [0, 1]^n whose largest error on the answers is the smallest."""
        slack = np.ones((self.questions, 1))
        above, below = np.hstack([self.subsets, -slack]), np.hstack([-self.subsets, -slack])
        solution = linprog(
            np.append(np.zeros(self.people), 1.0),
            A_ub=np.vstack([above, below]),
            b_ub=np.concatenate([answers, -answers]),
            bounds=[(0, 1)] * self.people + [(0, None)],
            method="highs",
        )
        return np.asarray(solution.x[:-1], np.float64)


def draw_questions(generator: np.random.Generator, *, people: int, questions: int) -> SubsetSums:
    """Each question is about each person or not, as a fair coin says."""
    subsets = generator.integers(0, 2, (questions, people))
    square = np.linalg.pinv(subsets.T @ subsets, rcond=RANK, hermitian=True)
    return SubsetSums(subsets, np.asarray(square @ subsets.T, np.float64))


def surest(epsilon: Number, share: float = HALF) -> float:
    """How sure anybody can be of a bit that is 1 with this probability; rounded up."""
    likely = max(share, 1 - share)
    unlikely = (1 - likely) / likely * exp(-float(epsilon))
    return min(1.0, ROUND_UP / (1 + unlikely))


def predict_share(people: int, questions: int, deviation: float) -> float:
    """About how many bits least squares recovers, where questions are at least 4 times people."""
    if deviation == 0:
        return 1.0 if questions >= people else HALF
    return float(ndtr(sqrt(max(questions - people, 0)) / (4 * deviation)))
