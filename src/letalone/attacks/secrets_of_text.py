"""Secrets of a known form in a model of text: ranked among all of that form, and searched for.

A pattern is text in which # stands for a digit and @ for a letter. The rank of a secret is the
number of texts of the pattern that the model finds at least as likely as it, so a tie counts
against the attacker. Its exposure is log2 of their number less log2 of the rank: 0 where the model
says nothing of it, all bits of the secret where nothing is as likely.

Theorem.  If a secret is drawn evenly and the model does not depend on it, its exposure is at least
t with probability at most 2^-t: of N texts at most k have a rank of at most k.
  Tested:   tests/attacks/test_canaries.py

Carlini, Liu, Erlingsson, Kos, Song: The secret sharer: evaluating and testing unintended
memorization in neural networks (2019).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2, prod

import numpy as np

from letalone.attacks.characters import END, SIGNS, Model, Whole, encode_text
from letalone.errors import ParameterError

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
    return [_read(row[model.context : -1]) for row in texts]


def _read(row: Whole) -> str:
    return "".join(SIGNS[code] for code in row.tolist())
