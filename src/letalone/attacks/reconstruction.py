"""Reconstruction: too many answers that are too exact give back the table.

A table has n people with a secret bit each. An attacker asks m questions, "how many of these have
it?", each about a random half of the people, and gets answers with an error. Two ways back:

    least squares       the vector nearest to all answers, each entry rounded to 0 or 1
    linear programme    of all vectors in [0, 1]^n, that whose largest error is the smallest

Dinur and Nissim: where the error is small against √n nearly all bits come back. Least squares
recovers about Φ(√(m - n) / (4 sd)) of them where m is at least 4 n: an entry of the nearest vector
is off by a normal error of variance 4 sd² / (m - n), and wrong where that is beyond 1/2. Noise of
a private release grows with the number of questions, so that asking more does not help.

Theorem.  Replacing a bit moves each question that it is in by at most 1, so geometric noise whose
sensitivity is the most questions that a bit is in gives ε to all answers together. Where the bits
are independent and 1 with probability q, nobody who sees them is surer of a bit than `surest`:
q e^ε / (q e^ε + 1 - q) for q at least 1/2. That holds given the other bits too, so the number of
right guesses is at most as large as a binomial one, and `Guesses.exceeds` is true with probability
at most 1 - confidence.
  Proven:   docs/explanation/proofs/geometric.md; by Bayes' rule, since e^ε bounds the ratio of the
            likelihoods of a bit whatever the others are
  Tested:   tests/attacks/test_reconstruction.py: the formula; within the bound, which is reached
            for one bit and one question; noise that forgets the number of questions is beyond it

Dinur, Nissim: Revealing information while preserving privacy (2003). Steinke, Nasr, Jagielski:
Privacy auditing with one (1) training run (2023), for the binomial bound.
"""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.special import ndtr

from letalone.answers.promise import as_percent
from letalone.attacks.counted_table import Counted, Whole, read, truths
from letalone.attacks.rates import least, most
from letalone.attacks.result import AttackReport, Line
from letalone.drawing.chart import AxisKind, Chart, ChartAxis, Series, SeriesStyle
from letalone.engines.frames.coded import FIRST
from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, EPSILON, Number
from letalone.mechanisms import Geometric
from letalone.randomness.bits import SYSTEM, BitSource

ERROR_FACTORS = (0.125, 0.25, 0.5, 1, 2, 4, 8)  # of the answers, at most so many times √n
EPSILON_FACTORS = (Fraction(1, 10), Fraction(1), Fraction(10), Fraction(100))  # ε, for the picture
PROGRAMMES = 2  # solved for each size of the error
PER_BIT = 4  # questions, from which on the formula fits
FORMULA_STEPS = 60  # of the formula, along the axis
Floats = NDArray[np.float64]
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


@dataclass(frozen=True, slots=True)
class Recovered:
    """How many bits came back from answers that are off by at most `error`."""

    error: int
    least_squares: Guesses
    linear_programme: Guesses
    predicted: float
    _json: ClassVar[str] = (
        "error deviation least_squares=least_squares.share"
        " linear_programme=linear_programme.share predicted"
    )

    @property
    def deviation(self) -> float:
        """The standard deviation of an error that is any whole number up to `error`."""
        return sqrt(self.error * (self.error + 1) / 3)


@dataclass(frozen=True, slots=True)
class Protected:
    """How many bits came back from private answers, and how sure anybody can be of one."""

    epsilon: float
    deviation: float
    least_squares: Guesses
    allowed: float
    _json: ClassVar[str] = (
        "epsilon deviation least_squares=least_squares.share interval=least_squares.interval"
        " most_allowed=allowed"
    )


@dataclass(frozen=True, slots=True)
class Reconstruction(AttackReport):
    """How much of a secret column comes back from sums over random subsets.

    `people` bits, of which a `share` is 1; `questions` about them. `plain` is by the size of the
    error, `private` by ε: one of these is `epsilon`.
    """

    people: int
    questions: int
    share: float
    plain: tuple[Recovered, ...]
    private: tuple[Protected, ...]
    epsilon: float
    _json: ClassVar[str] = (
        "people questions share plain private most_allowed=protected.allowed epsilon"
    )

    @property
    def protected(self) -> Protected:
        """The private release at `epsilon`."""
        return next(release for release in self.private if release.epsilon == self.epsilon)

    @property
    def blind(self) -> float:
        """How many are right who always guess the commoner bit."""
        return max(self.share, 1 - self.share)

    @property
    def words(self) -> str:
        small = [level for level in self.plain if 2 * level.error <= sqrt(self.people)][-1]
        large = self.plain[-1]
        ours = self.protected
        return (
            f"{self.questions:,} questions, how many of a random half of {self.people:,} people"
            f" have the secret, were answered with an error of at most {small.error:,}:"
            f" {as_percent(small.linear_programme.share)} of the secrets came back. With an error"
            f" of up to {large.error:,} it was {as_percent(large.linear_programme.share)}. Guessing"
            f" blindly is right about {as_percent(self.blind)}. Through letalone, at"
            f" ε = {self.epsilon:g} for all questions together,"
            f" {as_percent(ours.least_squares.share)} came back, and nobody can be surer of any one"
            f" than {as_percent(ours.allowed)}, however they compute."
        )

    def lines(self) -> list[Line]:
        ours = self.protected
        rest = (level for level in self.private if level is not ours)
        others = {f"{level.epsilon:g}": as_percent(level.least_squares.share) for level in rest}
        return [
            ("secrets recovered", "", as_percent(ours.least_squares.share)),
            *(_line(level) for level in self.plain),
            (f"  at ε = {', '.join(others)}", "", ", ".join(others.values())),
            ("typical error (sd)", "", f"{ours.deviation:,.0f}"),
            ("blind guess", as_percent(self.blind), as_percent(self.blind)),
            ("sure of one person", "no limit", f"at most {as_percent(ours.allowed)}"),
        ]

    def _picture(self) -> Chart:
        """The share that came back, by the error over √n: the fall is where that is about 1."""
        title = "How much of a secret column comes back, by the error"
        across = "standard deviation of the error / √n"
        shown = (*_plain_series(self), *_private_series(self))
        return Chart(
            title, ChartAxis(across, AxisKind.FACTORS), ChartAxis("share recovered"), shown
        )


def _line(level: Recovered) -> Line:
    words = "exact answers" if level.error == 0 else f"off by up to {level.error:,}"
    ways = (level.least_squares, level.linear_programme)
    squares, programme = (as_percent(result.share) for result in ways)
    return f"  {words}: programme, squares", f"{programme}, {squares}", ""


def _plain_series(result: Reconstruction) -> list[Series]:
    noisy = [level for level in result.plain if level.error]
    root = sqrt(result.people)
    across = tuple(level.deviation / root for level in noisy)
    last = max(level.deviation / root for level in result.private)
    everywhere = np.geomspace(min(across, default=last), max(last, *across), FORMULA_STEPS).tolist()
    formula = [predict_share(result.people, result.questions, place * root) for place in everywhere]
    squares = tuple(level.least_squares.share for level in noisy)
    programme = tuple(level.linear_programme.share for level in noisy)
    return [
        Series("Φ(√(m − n) / (4 sd))", tuple(everywhere), tuple(formula)),
        Series("least squares", across, squares, SeriesStyle.POINTS),
        Series("linear programme", across, programme, SeriesStyle.POINTS),
    ]


def _private_series(result: Reconstruction) -> list[Series]:
    ordered: Sequence[Protected] = sorted(result.private, key=lambda release: release.deviation)
    across = tuple(release.deviation / sqrt(result.people) for release in ordered)
    ours = tuple(release.least_squares.share for release in ordered)
    allowed = tuple(release.allowed for release in ordered)
    names = ", ".join(f"{release.epsilon:g}" for release in ordered)
    return [
        Series(f"letalone, ε = {names} (left to right)", across, ours, SeriesStyle.POINTS),
        Series("sure of one person, at most", across, allowed, SeriesStyle.BOUND),
    ]


def reconstruct(
    table: object = None,
    *,
    column: str | None = None,
    equals: object = None,
    rows: Number = 100,
    questions: Number | None = None,
    epsilon: Number = 1.0,
    trials: Number = 50,
    seed: int = 2003,
    bits: BitSource = SYSTEM,
) -> Reconstruction:
    """Recovers a secret column from sums over subsets, plain and private.

    table, column: a file or frame and its secret; without them, made-up bits. equals: the value
    that makes the bit 1; without it the column must hold 0 and 1. rows: how many people, each with
    the bit of a row that is drawn from the table, so that one may stand there twice.
    questions: four for each person, if none are given. trials: tables drawn for each size of noise.
    bits: where the noise of the private release comes from.
    """
    people, draws = int(COUNT.typed("rows", rows)), int(COUNT.typed("trials", trials))
    number = PER_BIT * people if questions is None else int(COUNT.typed("questions", questions))
    spent = EPSILON.typed("epsilon", epsilon)
    share = _share(table, column, equals)
    generator = np.random.default_rng(seed)
    sums = draw_questions(generator, people=people, questions=number)
    levels = sorted({round(times * sqrt(people)) for times in ERROR_FACTORS} | {0})
    plain = [_recover_plain(sums, generator, share, error=error, trials=draws) for error in levels]
    private = [
        _recover_private(sums, generator, share, epsilon=times * spent, trials=draws, bits=bits)
        for times in EPSILON_FACTORS
    ]
    return Reconstruction(people, number, share, tuple(plain), tuple(private), float(spent))


def _share(table: object, column: str | None, equals: object) -> float:
    if table is None:
        return HALF
    if column is None:
        raise ParameterError("column is missing. Name the column whose values are the secret.")
    counted = read(table, [column])
    share = float(_ones(counted, column, equals) @ counted.rows / counted.total)
    if share in (0, 1):
        raise ParameterError(
            f"The rows of {column!r} are all alike: there is nothing to find out."
            " Name another value in equals, or another column."
        )
    return share


def _ones(counted: Counted, column: str, equals: object) -> Any:
    coded = counted.columns[column]
    if equals is None:
        return truths(column, coded.texts())[coded.codes]
    same = [text == str(equals) for text in coded.texts()]
    return np.array([False] * FIRST + same, np.float64)[coded.codes]


def _recover_plain(
    sums: SubsetSums, generator: np.random.Generator, share: float, *, error: int, trials: int
) -> Recovered:
    """Both attacks on answers whose error is any whole number up to `error`, equally often."""
    secret = sums.secret(generator, share, trials)
    exact = sums.answers(secret)
    given = exact + generator.integers(-error, error + 1, exact.shape)
    deviation = sqrt(error * (error + 1) / 3)
    return Recovered(
        error=error,
        least_squares=Guesses.of(sums.least_squares(given), secret),
        linear_programme=_solve_programmes(sums, given[:, :PROGRAMMES], secret[:, :PROGRAMMES]),
        predicted=predict_share(sums.people, sums.questions, deviation),
    )


def _solve_programmes(sums: SubsetSums, given: Any, secret: Any) -> Guesses:
    guesses = [sums.linear_programme(answers) for answers in given.T]
    return Guesses.of(np.stack(guesses, axis=1), secret)


def _recover_private(
    sums: SubsetSums,
    generator: np.random.Generator,
    share: float,
    *,
    epsilon: Fraction,
    trials: int,
    bits: BitSource,
) -> Protected:
    """Least squares on the same sums through the geometric mechanism, ε for all together."""
    noise = Geometric(epsilon=epsilon, sensitivity=sums.sensitivity)
    secret = sums.secret(generator, share, trials)
    given = noise.release(sums.answers(secret), bits=bits)
    guesses = Guesses.of(sums.least_squares(given), secret)
    spent = float(noise.epsilon)
    # √(2a) / (1 - a) with a = e^(-1/scale), which is 1 as a float where the scale is large.
    deviation = sqrt(2 * exp(-1 / noise.scale)) / -expm1(-1 / noise.scale)
    return Protected(spent, deviation, guesses, surest(spent, share))
