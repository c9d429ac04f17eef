"""Canaries: a model of text remembers a secret that stood in one line.

A secret (a canary) of a known form is planted in a text, a small model is trained on it
(`characters`), and an attacker who has the model asks: of all secrets of this form, how likely does
the model find this one (exposure)? And which does it tell by itself, going on after the known words
(beam search)? The same model trained privately is asked the same.

Theorem.  The model does not depend on the secret where that was not planted; then a guess is right
once in N times, and an exposure is at least t once in 2^t times or less. A model that is ε-private
for a line, and so rε for r of them, changes neither by more than D6 allows: a guess at a secret of
one line is right at most 1 - tradeoff(1 / N) of the time, and an exposure of at least t has
probability at most e^(rε) 2^-t.
  Proven:   docs/explanation/proofs/tradeoff.md, proofs/group.md; the model in `characters`, the
            exposure in `secrets_of_text`
  Tested:   tests/attacks/test_canaries.py: all is told by an ordinary model; a private one is
            within D6, and one with noise for a sign in place of a line is not

Carlini, Liu, Erlingsson, Kos, Song: The secret sharer: evaluating and testing unintended
memorization in neural networks (2019).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import cast

import numpy as np

from letalone.attacks import stage
from letalone.attacks.characters import Model, Reading, Whole, privately_trained, trained
from letalone.attacks.exposed import Canaries, Exposed
from letalone.attacks.secrets_of_text import Pattern, beam_search, exposure
from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, EPSILON, Number
from letalone.randomness.bits import SYSTEM, BitSource

PATTERN = "the door code is #####"
REPETITIONS = (1, 4, 16, 64, 256, 1024)
BEAM = 64
Training = Callable[[Whole], Model]


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
        return privately_trained(counts, noise, bits=bits)

    drawn = np.random.default_rng(seed).integers(
        0, form.size, (len(numbers), int(COUNT.typed("secrets", secrets)))
    )
    every = list(zip(numbers, drawn.tolist(), strict=True))
    models = (trained(planting.counts), private(planting.counts))
    own = form.found_in(lines)
    told = [len(own & set(beam_search(model, form, BEAM))) for model in models]
    fit = [model.bits_per_sign(lines, reading.length) for model in models]
    return Canaries(
        pattern=form.text,
        space=form.size,
        lines_of_text=len(lines),
        ordinary=tuple(planting.exposed(trained, times, chosen) for times, chosen in every),
        private=tuple(planting.exposed(private, times, chosen) for times, chosen in every),
        own=len(own),
        own_found=(told[0], told[1]),
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
        """Trains a model for each secret, and asks it."""
        exposures: list[float] = []
        extracted = 0
        for secret in secrets:
            told = self.form.number(secret)
            model = train(self.counts + times * self.reading.counts([told]))
            exposures.append(exposure(model, self.form, secret))
            extracted += beam_search(model, self.form, BEAM)[0] == told
        return Exposed(times, tuple(exposures), extracted)


def _numbers(repetitions: Number | Iterable[Number]) -> list[int]:
    """Each once, the smallest first."""
    several = list(repetitions) if isinstance(repetitions, Iterable) else [repetitions]
    if not several:
        raise ParameterError("repetitions is empty. Say how many lines hold a secret, such as 1.")
    return sorted({int(COUNT.typed("repetitions", one)) for one in several})


def _lines(text: object) -> list[str]:
    """The lines of a text that have something in them."""
    if text is None:
        return stage.notes()
    is_path = isinstance(text, str | PathLike)
    lines = _read(Path(cast("str", text))) if is_path else _checked(text)
    found = [line for line in lines if line.strip()]
    if not found:
        raise ParameterError("The text has no lines: there is nothing to train on. Give another.")
    return found


def _checked(text: object) -> list[str]:
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
