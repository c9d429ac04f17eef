"""What reconstruction found: how much of a secret column came back, in numbers, words, a picture.

Tested:   tests/attacks/test_reconstruction.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from letalone.answers.promise import percent
from letalone.attacks.picture import Picture, Series, Shape
from letalone.attacks.result import AttackResult, Line
from letalone.attacks.subset_sums import Guesses, predicted

STEPS = 60  # of the formula, along the axis


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
        "epsilon deviation least_squares=least_squares.share interval=_interval"
        " most_allowed=allowed"
    )

    @property
    def _interval(self) -> tuple[float, float]:
        return self.least_squares.interval()


@dataclass(frozen=True, slots=True)
class Reconstruction(AttackResult):
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
        return next(one for one in self.private if one.epsilon == self.epsilon)

    @property
    def blind(self) -> float:
        """How many are right who always guess the commoner bit."""
        return max(self.share, 1 - self.share)

    @property
    def words(self) -> str:
        """A paragraph for a privacy officer."""
        small = [one for one in self.plain if 2 * one.error <= sqrt(self.people)][-1]
        large = self.plain[-1]
        ours = self.protected
        return (
            f"{self.questions:,} questions, how many of a random half of {self.people:,} people"
            f" have the secret, were answered with an error of at most {small.error:,}:"
            f" {percent(small.linear_programme.share)} of the secrets came back. With an error"
            f" of up to {large.error:,} it was {percent(large.linear_programme.share)}. Guessing"
            f" blindly is right about {percent(self.blind)}. Through letalone, at"
            f" ε = {self.epsilon:g} for all questions together,"
            f" {percent(ours.least_squares.share)} came back, and nobody can be surer of any one"
            f" than {percent(ours.allowed)}, however they compute."
        )

    def lines(self) -> list[Line]:
        """The numbers to compare."""
        ours = self.protected
        rest = (one for one in self.private if one is not ours)
        others = {f"{one.epsilon:g}": percent(one.least_squares.share) for one in rest}
        return [
            ("secrets recovered", "", percent(ours.least_squares.share)),
            *(_line(one) for one in self.plain),
            (f"  at ε = {', '.join(others)}", "", ", ".join(others.values())),
            ("typical error (sd)", "", f"{ours.deviation:,.0f}"),
            ("blind guess", percent(self.blind), percent(self.blind)),
            ("sure of one person (D6)", "no limit", f"at most {percent(ours.allowed)}"),
        ]

    def _picture(self) -> Picture:
        """The share that came back, by the error over √n: the fall is where that is about 1."""
        title = "How much of a secret column comes back, by the error"
        across = "standard deviation of the error / √n"
        shown = (*_plain_series(self), *_private_series(self))
        return Picture(title, across, "share recovered", shown, logarithmic=True)


def _line(one: Recovered) -> Line:
    words = "exact answers" if one.error == 0 else f"off by up to {one.error:,}"
    squares, programme = percent(one.least_squares.share), percent(one.linear_programme.share)
    return f"  {words}: programme, squares", f"{programme}, {squares}", ""


def _plain_series(found: Reconstruction) -> list[Series]:
    noisy = [one for one in found.plain if one.error]
    root = sqrt(found.people)
    across = tuple(one.deviation / root for one in noisy)
    last = max(one.deviation / root for one in found.private)
    everywhere = np.geomspace(min(across, default=last), max(last, *across), STEPS).tolist()
    formula = [predicted(found.people, found.questions, place * root) for place in everywhere]
    squares = tuple(one.least_squares.share for one in noisy)
    programme = tuple(one.linear_programme.share for one in noisy)
    return [
        Series("Φ(√(m − n) / (4 sd))", tuple(everywhere), tuple(formula)),
        Series("least squares", across, squares, Shape.POINTS),
        Series("linear programme", across, programme, Shape.POINTS),
    ]


def _private_series(found: Reconstruction) -> list[Series]:
    ordered: Sequence[Protected] = sorted(found.private, key=lambda one: one.deviation)
    across = tuple(one.deviation / sqrt(found.people) for one in ordered)
    ours = tuple(one.least_squares.share for one in ordered)
    allowed = tuple(one.allowed for one in ordered)
    names = ", ".join(f"{one.epsilon:g}" for one in ordered)
    return [
        Series(f"letalone, ε = {names} (left to right)", across, ours, Shape.POINTS),
        Series("sure of one person, at most (D6)", across, allowed, Shape.BOUND),
    ]
