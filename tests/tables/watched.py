"""Mechanisms at work: what each is given and with how much noise; none is drawn.

`watched` runs a plan on a table and writes down, for every mechanism in turn, its noise and the
exact numbers that it is given. `losses` compares two such lists, of neighbouring tables: what is
revealed by the mechanisms' own laws, whatever the plan says about sensitivities and shares.
"""

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np

from letalone.mechanisms import Exponential, Gaussian, Geometric, TopK
from letalone.tables.columns import Answer
from letalone.tables.compiled import Compiled
from letalone.tables.noise import Noise
from letalone.tables.vectors import VectorPart
from tables.memory_engine import MemoryEngine

Table = tuple[int, MemoryEngine]
"""Units, and how often each of them is there."""


@dataclass(frozen=True)
class Work:
    """One mechanism: the exact numbers, and what a difference of 1 costs."""

    kind: str
    numbers: Any
    rate: Fraction


@dataclass(frozen=True)
class Loss:
    """What neighbours lose: a pure part, and the square of mu of Gaussian noises."""

    pure: Fraction
    squares: Fraction


def watched(whole: Compiled, tables: list[Table]) -> list[Work]:
    """What the mechanisms of a plan are given for a table, in the order of their work."""
    found: list[Work] = []

    def noise(self: Noise, vector: Any, _bits: Any) -> Any:
        found.append(_noised(self.mechanism, vector))
        return vector.astype(np.float64)

    def geometric(self: Geometric, value: Any, **_: Any) -> Any:
        found.append(_noised(self, value))
        return np.array(value)

    def choice(self: Exponential, utilities: Any, **_: Any) -> int:
        found.append(Work("choice", utilities, self.factor))
        return 1

    def order(self: TopK, utilities: Any, **_: Any) -> list[int]:
        found.append(Work("choice", utilities, self.factor * self.k))
        return list(range(self.k))

    def nothing(self: VectorPart, *_: Any) -> dict[str, Answer]:
        """What is read off noisy vectors needs time, and reveals no more."""
        return dict.fromkeys(self.names, Answer(*[np.zeros(0)] * 3))

    with ExitStack() as stack:
        instead = [
            (Noise, "release", noise),
            (Geometric, "release", geometric),
            (Exponential, "choose_index", choice),
            (TopK, "choose_indices", order),
            *((part, "answers", nothing) for part in VectorPart.__subclasses__()),
        ]
        for where, name, work in instead:
            stack.enter_context(patch.object(where, name, work))
        if whole.discovery is not None:
            whole = whole.with_keys(_discovered(whole, tables))
            found.append(Work("keys", whole.keys, Fraction(0)))
        whole.finish(_measured(whole, tables))
    return found


def losses(one: list[Work], other: list[Work]) -> Loss:
    """The most that one output may be likelier for one table than for the other."""
    pure = squares = Fraction(0)
    for left, right in zip(one, other, strict=True):
        assert (left.kind, left.rate) == (right.kind, right.rate)
        if left.kind == "keys":
            assert left.numbers == right.numbers
            continue
        apart = [a - b for a, b in zip(_flat(left.numbers), _flat(right.numbers), strict=True)]
        if left.kind == "gaussian":
            squares += left.rate**2 * sum(step**2 for step in apart)
        elif left.kind == "geometric":
            pure += left.rate * sum(map(abs, apart))
        else:  # a choice is drawn anew where all utilities move alike, so their range counts
            pure += left.rate * (max(apart) - min(apart))
    return Loss(pure, squares)


def _measured(whole: Compiled, tables: list[Table]) -> list[Any]:
    """Measures add up over units."""
    found = [
        [times * np.array(one, dtype=object) for one in engine.measure(whole.scope, whole.measures)]
        for times, engine in tables
    ]
    return [sum(each[1:], each[0]).tolist() for each in zip(*found, strict=True)]


def _discovered(whole: Compiled, tables: list[Table]) -> list[Any]:
    found: Counter[Any] = Counter()
    for times, engine in tables:
        found.update({key: times * units for key, units in engine.discover(whole.scope)})
    return list(found.items())


def _noised(mechanism: Geometric | Gaussian, vector: Any) -> Work:
    if isinstance(mechanism, Gaussian):
        return Work("gaussian", vector, 1 / mechanism.sigma)
    return Work("geometric", vector, 1 / mechanism.scale)


def _flat(numbers: Any) -> list[int]:
    return [int(number) for number in np.asarray(numbers).ravel()]
