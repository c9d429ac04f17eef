"""Studies to look for a person in: the target, with them and without them.

Each trial has a target, the others of a study, and somebody who takes the target's place. All
are drawn independently of the trial's other world, so the two worlds differ in one person.

  Tested:   tests/attacks/test_frequencies.py
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from letalone.attacks.counted_table import Counted, names_of, read
from letalone.errors import ParameterError

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
RARE = 0.05  # attributes of the stage are at least so frequent, and so rare


@dataclass(frozen=True, slots=True, eq=False)
class Pools:
    """One row a trial, one column an attribute; counts are of a study with so many people."""

    people: int
    target: Floats
    population: Floats
    with_target: Floats
    without_target: Floats

    @property
    def attributes(self) -> int:
        return self.target.shape[1]

    def first(self, attributes: int) -> "Pools":
        parts = (self.target, self.population, self.with_target, self.without_target)
        return Pools(self.people, *(part[:, :attributes] for part in parts))

    def released(self, noise: Callable[[Whole], Whole]) -> "Pools":
        both = (self.with_target, self.without_target)
        inside, outside = (noise(counts.astype(np.int64)).astype(np.float64) for counts in both)
        return replace(self, with_target=inside, without_target=outside)


def draw_pools(
    generator: np.random.Generator, *, people: int, attributes: int, trials: int
) -> Pools:
    """Studies of a made-up population with independent attributes."""
    share = RARE + (1 - 2 * RARE) * generator.random(attributes)
    shape = (trials, attributes)
    others = generator.binomial(people - 1, share, shape)
    target, other = ((generator.random(shape) < share).astype(np.float64) for _ in range(2))
    return Pools(people, target, np.broadcast_to(share, shape), others + target, others + other)


def pools_of_table(
    generator: np.random.Generator,
    table: object,
    columns: Iterable[str],
    *,
    people: int,
    trials: int,
) -> Pools:
    """Studies drawn from the rows of a table; the rest of its rows stands for the population."""
    matrix = _matrix(read(table, names_of("columns", columns)))
    rows, attributes = matrix.shape
    if rows < people + 2:
        raise ParameterError(
            f"people is {people}, but the table must have at least two rows more than a study."
            " Lower people."
        )
    parts = [np.empty((trials, attributes)) for _ in range(4)]
    total = matrix.sum(axis=0)
    for trial in range(trials):
        order = generator.choice(rows, people + 1, replace=False)
        chosen = matrix[order]
        target, other, others = chosen[0], chosen[1], chosen[2:].sum(axis=0)
        rest = (total - target - other - others) / (rows - people - 1)
        for part, value in zip(parts, (target, rest, others + target, others + other), strict=True):
            part[trial] = value
    return Pools(people, *parts)


def _matrix(counted: Counted) -> Floats:
    """A row for each person, a column for each attribute: 1 where they have it."""
    columns = [
        truths(column.name, column.texts())[column.codes] for column in counted.columns.values()
    ]
    return np.repeat(np.stack(columns, axis=1), counted.rows, axis=0)


def truths(name: str, texts: list[str]) -> Floats:
    """What each code of a column means; a missing value is a 0."""
    meaning = {"0": 0.0, "1": 1.0, "false": 0.0, "true": 1.0, "0.0": 0.0, "1.0": 1.0}
    if not {text.lower() for text in texts} <= set(meaning):
        raise ParameterError(f"Column {name!r} must hold 0 and 1, or false and true.")
    return np.array([0.0, 0.0, *(meaning[text.lower()] for text in texts)])
