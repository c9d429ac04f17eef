"""Groups of rows with several columns, as arrays, and what an engine would measure of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.engines.core.measures import Measure, ProductSum
from letalone.plans.expressions import ColumnRef

Floats = NDArray[np.float64]
Group = Mapping[str, Floats]


def exact(measures: Sequence[Measure], groups: Sequence[Group]) -> list[Any]:
    """Right to twelve digits, which is far more than the noise leaves."""
    return [[_one(measure, group) for group in groups] for measure in measures]


def _one(measure: Measure, group: Group) -> int:
    assert isinstance(measure, ProductSum)
    found = np.ones(len(next(iter(group.values()))))
    for grid, power in zip(measure.places, measure.powers, strict=True):
        assert isinstance(grid.of, ColumnRef)
        places = np.clip(np.floor(np.ldexp(group[grid.of.name], grid.shift)), grid.low, grid.high)
        found *= (places - (grid.low + grid.high) // 2) ** power
    return int(np.sum(found))


def lines(seed: int, *, keys: int, rows: int, steep: float = 5.0, noise: float = 80.0) -> list[Any]:
    """x between 0 and 1000 and a between 0 and 120, x rising with a."""
    generator = np.random.Generator(np.random.PCG64(seed))
    found = []
    for size in np.maximum(generator.poisson(rows, keys), 5):
        a = np.floor(120 * generator.beta(2, 2, size))
        x = np.clip(200 + steep * a + noise * generator.normal(size=size), 0, 1000)
        found.append({"x": x, "a": a})
    return found
