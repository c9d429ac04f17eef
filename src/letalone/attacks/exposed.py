"""What was extracted from a model of text: numbers, words, a picture.

Tested:   tests/attacks/test_canaries.py
"""

from dataclasses import dataclass
from math import e, floor, log2
from statistics import median
from typing import ClassVar

from letalone.answers.promise import most_caught, percent
from letalone.attacks.picture import Picture, Series, Shape
from letalone.attacks.result import AttackResult, Line, Numbers
from letalone.privacy import Privacy

SELDOM = 0.05  # D6 is drawn where it is passed at most so often


@dataclass(frozen=True, slots=True)
class Exposed(Numbers):
    """Secrets that stood in the text `repetitions` times each: how many bits a model gives away.

    `extracted` are those that beam search found at once.
    """

    repetitions: int
    exposures: tuple[float, ...]
    extracted: int
    _json: ClassVar[str] = "repetitions exposures extracted"

    @property
    def usual(self) -> float:
        """The median exposure, in bits."""
        return median(self.exposures)


@dataclass(frozen=True, slots=True)
class Canaries(AttackResult):
    """How much of planted secrets comes out of an ordinary model, and of a private one.

    `space` is the number of secrets of the pattern. `own` are secrets of that form that were in
    the text, `own_found` of each model were among the first of beam search. `fit` is how many bits
    each model takes for a sign of the text.
    """

    pattern: str
    space: int
    lines_of_text: int
    ordinary: tuple[Exposed, ...]
    private: tuple[Exposed, ...]
    own: int
    own_found: tuple[int, int]
    fit: tuple[float, float]
    privacy: Privacy
    epsilon: float
    _json: ClassVar[str] = (
        "pattern space lines=lines_of_text ordinary private=_private_with_limits"
        " own_secrets=_own_secrets bits_per_sign=fit most_guessed epsilon"
    )

    @property
    def most_guessed(self) -> float:
        """D6: how often anybody guesses at once a secret that stood in one line."""
        return most_caught(self.privacy, 1 / self.space)

    def most_exposed(self, repetitions: int) -> float:
        """D6: an exposure that is passed at most once in 20 times."""
        return most_exposed(repetitions * self.epsilon, self.space)

    @property
    def words(self) -> str:
        """A paragraph for a privacy officer."""
        (ordinary, *_), (private, *_) = self.ordinary, self.private
        tried = len(ordinary.exposures)
        times = _times(ordinary.repetitions)
        return (
            f"A secret of the form '{self.pattern}' was planted {times} in {self.lines_of_text:,}"
            f" lines of text, a new one for each of {tried:,} trainings. A small model of the text,"
            f" asked to go on after the known words, told it in {ordinary.extracted:,} of them. The"
            f" same model trained at ε = {self.epsilon:g} for each line told it in"
            f" {private.extracted:,}; whoever guesses"
            f" from it is right about a secret of one line at most"
            f" {_rarely(self.most_guessed)} (blindly: once in {self.space:,})."
            " What hundreds of lines share is still learned."
        )

    def lines(self) -> list[Line]:
        """The numbers to compare."""
        (ordinary, *_), (private, *_) = self.ordinary, self.private
        told = _out_of((ordinary.extracted, private.extracted), len(ordinary.exposures))
        pairs = zip(self.ordinary, self.private, strict=True)
        limit = f"at most {_rarely(self.most_guessed)}"
        fit = f"{self.fit[0]:.2f}", f"{self.fit[1]:.2f}"
        return [
            (f"secrets extracted, {_times(ordinary.repetitions)} in the text", *told),
            ("any guess, secret in one line (D6)", "no limit", limit),
            *self._own_line(),
            *(self._line(*pair) for pair in pairs),
            ("bits that a sign of the text takes", *fit),
        ]

    def _own_line(self) -> list[Line]:
        if not self.own:
            return []
        return [("own secrets of the text found", *_out_of(self.own_found, self.own))]

    def _line(self, ordinary: Exposed, private: Exposed) -> Line:
        words = f"  exposure of {log2(self.space):.1f} bits, {_times(ordinary.repetitions)}"
        limit = self.most_exposed(ordinary.repetitions)
        return words, f"{ordinary.usual:.1f}", f"{private.usual:.1f} (D6: {limit:.1f})"

    @property
    def _private_with_limits(self) -> tuple[dict[str, object], ...]:
        return tuple(
            exposed.to_json() | {"most_exposed": self.most_exposed(exposed.repetitions)}
            for exposed in self.private
        )

    @property
    def _own_secrets(self) -> dict[str, object]:
        return {"number": self.own, "found": self.own_found}

    def _picture(self) -> Picture:
        """Exposure by how often the secret stood in the text; beside it what D6 allows."""
        across = tuple(float(one.repetitions) for one in self.private)
        limits = tuple(self.most_exposed(one.repetitions) for one in self.private)
        shown = (
            _points("ordinary model", self.ordinary),
            _points(f"private model, ε = {self.epsilon:g} a line", self.private),
            Series("passed once in 20 times, at most (D6)", across, limits, Shape.BOUND),
        )
        title = f"A secret of {log2(self.space):.1f} bits in the text: how many the model tells"
        words = "lines that hold the secret"
        return Picture(title, words, "exposure in bits", shown, logarithmic=True)


def most_exposed(epsilon: float, space: int) -> float:
    """The exposure t with e^ε 2^-t = 1/20, by D6; or all bits of the secret."""
    return min(log2(space), epsilon * log2(e) + log2(1 / SELDOM))


def _out_of(pair: tuple[int, int], number: int) -> tuple[str, str]:
    first, second = pair
    return f"{first:,} of {number:,}", f"{second:,} of {number:,}"


def _rarely(chance: float) -> str:
    """How often, never less than it is: in percent, or once in so many times."""
    return percent(chance) if chance > SELDOM else f"once in {floor(1 / chance):,}"


def _times(repetitions: int) -> str:
    return "once" if repetitions == 1 else f"{repetitions:,} times"


def _points(label: str, found: tuple[Exposed, ...]) -> Series:
    pairs = [(float(one.repetitions), bits) for one in found for bits in one.exposures]
    across, up = zip(*pairs, strict=True)
    return Series(label, across, up, Shape.POINTS)
