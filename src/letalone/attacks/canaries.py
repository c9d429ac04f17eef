"""Canaries: a model of text remembers a secret that stood in one line.

A secret (a canary) of a known form is planted in a text, a small model is trained on it
(`characters`), and an attacker who has the model asks: of all secrets of this form, how likely does
the model find this one (exposure)? And which does it tell by itself, going on after the known words
(beam search)? The same model trained privately is asked the same.

A pattern is text in which # stands for a digit and @ for a letter. The rank of a secret is the
number of texts of the pattern that the model finds at least as likely as it, so a tie counts
against the attacker. Its exposure is log2 of their number less log2 of the rank: 0 where the model
says nothing of it, all bits of the secret where nothing is as likely.

Theorem.  The model does not depend on the secret where that was not planted; then a guess is right
once in N times, and an exposure is at least t once in 2^t times or less: of N texts at most k have
a rank of at most k. A model that is ε-private for a line, and so rε for r of them, changes neither
by more than D6 allows: a guess at a secret of one line is right at most 1 - tradeoff(1 / N) of the
time, and an exposure of at least t has probability at most e^(rε) 2^-t.
  Proven:   docs/explanation/proofs/tradeoff.md, proofs/group.md; the model in `characters`
  Tested:   tests/attacks/test_canaries.py: all is told by an ordinary model; a private one is
            within D6, and one with noise for a sign in place of a line is not

Carlini, Liu, Erlingsson, Kos, Song: The secret sharer: evaluating and testing unintended
memorization in neural networks (2019).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import e, floor, log2, prod
from os import PathLike
from pathlib import Path
from statistics import median
from typing import ClassVar, cast

import numpy as np

from letalone.answers.promise import as_percent, most_caught
from letalone.attacks import characters, stage
from letalone.attacks.characters import END, Model, Reading, Whole, encode_text
from letalone.attacks.result import AttackReport, Line, Numbers
from letalone.drawing.chart import AxisKind, Chart, ChartAxis, Series, SeriesStyle
from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, EPSILON, Number
from letalone.privacy import Privacy
from letalone.randomness.bits import SYSTEM, BitSource

PATTERN = "the door code is #####"
REPETITIONS = (1, 4, 16, 64, 256, 1024)
BEAM_WIDTH = 64
Training = Callable[[Whole], Model]
SELDOM = 0.05  # D6 is drawn where it is passed at most so often
KINDS = {"#": "0123456789", "@": "abcdefghijklmnopqrstuvwxyz"}
MAX_RANKED = 1_000_000
TIE = 1e-9  # scores that differ by less are equal


@dataclass(frozen=True, slots=True)
class Pattern:
    """The form of a secret, such as "my pin is ####"."""

    text: str

    @classmethod
    def checked(cls, text: str, length: int) -> "Pattern":
        """A pattern that fits a line and can be ranked, or what is wrong with it."""
        pattern = cls(text.lower())
        if not 1 < pattern.size <= MAX_RANKED:
            raise ParameterError(
                f"The pattern {text!r} has {pattern.size:,} values, but must have 2 to"
                f" {MAX_RANKED:,}. Write # for a digit and @ for a letter of the secret, such as"
                " 'my pin is ####'."
            )
        if len(text) >= length:
            raise ParameterError(
                f"The pattern {text!r} has {len(text)} signs, but lines are cut to {length - 1}."
                " Shorten it, or raise length."
            )
        return pattern

    @property
    def choices(self) -> tuple[str, ...]:
        return tuple(KINDS.get(sign, sign) for sign in self.text)

    @property
    def size(self) -> int:
        return prod(len(choice) for choice in self.choices)

    @property
    def first(self) -> int:
        """The first place of the secret: what is before it is known."""
        return next(place for place, sign in enumerate(self.text) if sign in KINDS)

    def number(self, number: int) -> str:
        places = np.unravel_index(number, [len(choice) for choice in self.choices])
        return "".join(choice[int(at)] for choice, at in zip(self.choices, places, strict=True))

    def found_in(self, lines: Sequence[str]) -> frozenset[str]:
        parts = (f"[{KINDS[sign]}]" if sign in KINDS else re.escape(sign) for sign in self.text)
        search = re.compile("".join(parts))
        return frozenset(match for line in lines for match in search.findall(line.lower()))

    def ends(self, context: int) -> Whole:
        """A row for each text: the secret, `context` signs before it, and what follows it."""
        known = END * context + self.text + END
        row = encode_text(known[self.first :])
        texts = np.tile(row, (self.size, 1))
        options = self.choices[self.first :]
        grid = np.unravel_index(np.arange(self.size), [len(choice) for choice in options])
        for place, (option, at) in enumerate(zip(options, grid, strict=True)):
            texts[:, context + place] = encode_text(option)[at]
        return texts


def exposure(model: Model, pattern: Pattern, number: int) -> float:
    """How many bits of a secret the model gives away."""
    scores = model.of_texts(pattern.ends(model.context), model.context)
    rank = int((scores >= scores[number] - TIE).sum())
    return log2(pattern.size) - log2(rank)


def beam_search(model: Model, pattern: Pattern, width: int) -> list[str]:
    """The likeliest texts of the pattern, best first, keeping so many at every place."""
    known = END * model.context + pattern.text[: pattern.first]
    texts, scores = encode_text(known)[None, :], np.zeros(1)
    for choice in (*pattern.choices[pattern.first :], END):
        options = encode_text(choice)
        texts = np.hstack(
            [np.repeat(texts, len(options), 0), np.tile(options, len(texts))[:, None]]
        )
        scores = np.repeat(scores, len(options)) + model.of_texts(
            texts[:, -model.context - 1 :], model.context
        )
        best = np.argsort(-scores, kind="stable")[:width]
        texts, scores = texts[best], scores[best]
    rows = texts[:, model.context : -1].tolist()
    return ["".join(characters.SIGNS[code] for code in row) for row in rows]


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
class Canaries(AttackReport):
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
        (ordinary, *_), (private, *_) = self.ordinary, self.private
        tried = len(ordinary.exposures)
        times = _times(ordinary.repetitions)
        return (
            f"A secret of the form '{self.pattern}' was planted {times} in {self.lines_of_text:,}"
            f" lines of text, a new one for each of {tried:,} trainings. A small model of the text,"
            f" asked to go on after the known words, told it in {ordinary.extracted:,} of them. The"
            f" same model trained at ε = {self.epsilon:g} for each line told it in"
            f" {private.extracted:,}; anyone who guesses from it is right about a secret of one"
            f" line at most {_rarely(self.most_guessed)} (blindly: once in {self.space:,})."
            " What hundreds of lines share is still learned."
        )

    def lines(self) -> list[Line]:
        (ordinary, *_), (private, *_) = self.ordinary, self.private
        extracted = _out_of((ordinary.extracted, private.extracted), len(ordinary.exposures))
        pairs = zip(self.ordinary, self.private, strict=True)
        limit = f"at most {_rarely(self.most_guessed)}"
        fit = f"{self.fit[0]:.2f}", f"{self.fit[1]:.2f}"
        secrets = [("own secrets of the text found", *_out_of(self.own_found, self.own))]
        return [
            (f"secrets extracted, {_times(ordinary.repetitions)} in the text", *extracted),
            ("any guess, secret in one line", "no limit", limit),
            *(secrets if self.own else ()),
            *(self._line(*pair) for pair in pairs),
            ("bits that a sign of the text takes", *fit),
        ]

    def _line(self, ordinary: Exposed, private: Exposed) -> Line:
        words = f"  exposure of {log2(self.space):.1f} bits, {_times(ordinary.repetitions)}"
        limit = self.most_exposed(ordinary.repetitions)
        return words, f"{ordinary.usual:.1f}", f"{private.usual:.1f} (limit {limit:.1f})"

    @property
    def _private_with_limits(self) -> tuple[dict[str, object], ...]:
        return tuple(
            exposed.to_json() | {"most_exposed": self.most_exposed(exposed.repetitions)}
            for exposed in self.private
        )

    @property
    def _own_secrets(self) -> dict[str, object]:
        return {"number": self.own, "found": self.own_found}

    def _picture(self) -> Chart:
        across = tuple(float(exposed.repetitions) for exposed in self.private)
        limits = tuple(self.most_exposed(exposed.repetitions) for exposed in self.private)
        shown = (
            _points("ordinary model", self.ordinary),
            _points(f"private model, ε = {self.epsilon:g} a line", self.private),
            Series("passed once in 20 times, at most", across, limits, SeriesStyle.BOUND),
        )
        title = f"A secret of {log2(self.space):.1f} bits in the text: how many the model tells"
        words = "lines that hold the secret"
        return Chart(
            title, ChartAxis(words, AxisKind.FACTORS), ChartAxis("exposure in bits"), shown
        )


def most_exposed(epsilon: float, space: int) -> float:
    """The exposure t with e^ε 2^-t = 1/20, by D6; or all bits of the secret."""
    return min(log2(space), epsilon * log2(e) + log2(1 / SELDOM))


def _out_of(pair: tuple[int, int], number: int) -> tuple[str, str]:
    first, second = pair
    return f"{first:,} of {number:,}", f"{second:,} of {number:,}"


def _rarely(chance: float) -> str:
    """How often, never less than it is: in percent, or once in so many times."""
    return as_percent(chance) if chance > SELDOM else f"once in {floor(1 / chance):,}"


def _times(repetitions: int) -> str:
    return "once" if repetitions == 1 else f"{repetitions:,} times"


def _points(label: str, found: tuple[Exposed, ...]) -> Series:
    pairs = [(float(exposed.repetitions), bits) for exposed in found for bits in exposed.exposures]
    across, up = zip(*pairs, strict=True)
    return Series(label, across, up, SeriesStyle.POINTS)


def extract_secrets(
    text: object = None,
    *,
    pattern: str = PATTERN,
    repetitions: Number | Iterable[Number] = REPETITIONS,
    secrets: Number = 5,
    length: Number = 48,
    epsilon: Number = 1.0,
    seed: int = 2019,
    bits: BitSource = SYSTEM,
) -> Canaries:
    """Plants secrets in a text, and gets them out of a model of it: ordinary and private.

    text: a text file, or its lines; without it, made-up notes. A line is a unit.
    pattern: the form of the secret, # for a digit and @ for a letter of it. Secrets of this form
    that are in the text already are looked for, too.
    repetitions: how many lines hold a secret; secrets: how many are planted, each in a text of
    its own. length: lines are cut so that with their end they have at most so many signs.
    bits: where the noise of the private model comes from.
    """
    reading = Reading(length=int(COUNT.typed("length", length)))
    form = Pattern.checked(pattern, reading.length)
    numbers = _numbers(repetitions)
    lines = _lines(text)
    planting = _Planting(reading, form, reading.counts(lines))
    noise = reading.noise(EPSILON.typed("epsilon", epsilon))

    def private(counts: Whole) -> Model:
        return characters.train_privately(counts, noise, bits=bits)

    drawn = np.random.default_rng(seed).integers(
        0, form.size, (len(numbers), int(COUNT.typed("secrets", secrets)))
    )
    every = list(zip(numbers, drawn.tolist(), strict=True))
    models = (characters.train_model(planting.counts), private(planting.counts))
    own_secrets = form.found_in(lines)
    own_found = [len(own_secrets & set(beam_search(model, form, BEAM_WIDTH))) for model in models]
    fit = [model.bits_per_sign(lines, reading.length) for model in models]
    return Canaries(
        pattern=form.text,
        space=form.size,
        lines_of_text=len(lines),
        ordinary=tuple(
            planting.exposed(characters.train_model, times, chosen) for times, chosen in every
        ),
        private=tuple(planting.exposed(private, times, chosen) for times, chosen in every),
        own=len(own_secrets),
        own_found=(own_found[0], own_found[1]),
        fit=(fit[0], fit[1]),
        privacy=noise.privacy,
        epsilon=float(noise.epsilon),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Planting:
    """A text as counts, in which secrets of a form are planted."""

    reading: Reading
    form: Pattern
    counts: Whole

    def exposed(self, train: Training, times: int, secrets: Sequence[int]) -> Exposed:
        exposures: list[float] = []
        extracted = 0
        for secret in secrets:
            planted = self.form.number(secret)
            model = train(self.counts + times * self.reading.counts([planted]))
            exposures.append(exposure(model, self.form, secret))
            extracted += beam_search(model, self.form, BEAM_WIDTH)[0] == planted
        return Exposed(times, tuple(exposures), extracted)


def _numbers(repetitions: Number | Iterable[Number]) -> list[int]:
    """Each once, the smallest first."""
    several = list(repetitions) if isinstance(repetitions, Iterable) else [repetitions]
    if not several:
        raise ParameterError("repetitions is empty. Say how many lines hold a secret, such as 1.")
    return sorted({int(COUNT.typed("repetitions", number)) for number in several})


def _lines(text: object) -> list[str]:
    if text is None:
        return stage.notes()
    is_path = isinstance(text, str | PathLike)
    lines = _read(Path(cast("str", text))) if is_path else _check_lines(text)
    filled_lines = [line for line in lines if line.strip()]
    if not filled_lines:
        raise ParameterError("The text has no lines: there is nothing to train on. Give another.")
    return filled_lines


def _check_lines(text: object) -> list[str]:
    lines = list(cast("Iterable[object]", text)) if isinstance(text, Iterable) else [text]
    if not all(isinstance(line, str) for line in lines):
        raise ParameterError("text must be the path of a text file, or a list of lines.")
    return cast("list[str]", lines)


def _read(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        raise ParameterError(
            f"The text '{path}' cannot be read. Give the path of a text file."
        ) from None
