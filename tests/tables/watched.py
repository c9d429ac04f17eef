"""Mechanisms at work: what each is given and with how much noise; none is drawn.

`watched` runs a plan on a table and writes down, for every mechanism in turn, its noise and the
exact numbers that it is given. `losses` compares two such lists, of neighbouring tables: what is
revealed by the mechanisms' own laws, whatever the plan says about sensitivities and shares.
"""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np

from letalone.mechanisms import Exponential, Gaussian, Geometric, TopK
from letalone.tables.columns import NoisyColumn
from letalone.tables.compiled import Compiled
from letalone.tables.noise import Noise
from letalone.tables.parts.part import VectorPart
from tables.memory_engine import MemoryEngine, Row

ALL_KEYS = tuple((key,) for key in "ABCD")  # where they are to be found; some unit has each


@dataclass(frozen=True)
class Exact:
    """Measures of a table, and its units by key. They add up over units."""

    measures: list[Any]
    units: dict[Any, int]

    def __add__(self, other: "Exact") -> "Exact":
        both = zip(self.measures, other.measures, strict=True)
        units = {key: n + other.units[key] for key, n in self.units.items()}
        return Exact([one + more for one, more in both], units)


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


def measured(whole: Compiled, rows: list[Row], *, times: int = 1) -> Exact:
    """What an engine gives for so many copies of these rows' units."""
    engine, keys = MemoryEngine(rows), whole.keys
    scope = whole.scope
    if whole.discovery is not None:
        scope = replace(scope, keys=(keys := ALL_KEYS))
    found = [np.array(one, dtype=object) for one in engine.measure(scope, whole.measures)]
    units = dict.fromkeys(keys or (), 0)
    if whole.discovery is not None:
        units |= dict(engine.discover(whole.scope))
    return Exact([times * one for one in found], {key: times * n for key, n in units.items()})


def watched(whole: Compiled, exact: Exact) -> list[Work]:
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

    def nothing(self: VectorPart, *_: Any) -> dict[str, NoisyColumn]:
        """What is read off noisy vectors needs time, and reveals no more."""
        return dict.fromkeys(self.names, NoisyColumn(*[np.zeros(0)] * 3))

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
            whole = whole.with_keys(list(exact.units.items()))
            found.append(Work("keys", whole.keys, Fraction(0)))
        whole.finish([numbers.tolist() for numbers in exact.measures])
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


def _noised(mechanism: Geometric | Gaussian, vector: Any) -> Work:
    if isinstance(mechanism, Gaussian):
        return Work("gaussian", vector, 1 / mechanism.sigma)
    return Work("geometric", vector, 1 / mechanism.scale)


def _flat(numbers: Any) -> list[int]:
    return [int(number) for number in np.asarray(numbers).ravel()]
