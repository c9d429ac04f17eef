"""Exact integers as an engine would return them, for one array of values a key; NaN is missing."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.engines.core.measures import (
    CellCounts,
    DistinctUnits,
    GridSum,
    Measure,
    Rows,
    RowsWith,
)

Floats = NDArray[np.float64]


def exact(measures: Sequence[Measure], groups: Sequence[Floats], *, lattice: int = 1) -> list[Any]:
    """Of whole rows; lattice: what each of them counts."""
    return [[_times(_one(measure, x), lattice) for x in groups] for measure in measures]


def _times(number: Any, lattice: int) -> Any:
    return [lattice * n for n in number] if isinstance(number, list) else lattice * number


def _one(measure: Measure, values: Floats) -> Any:
    there = values[~np.isnan(values)]
    match measure:
        case Rows() | DistinctUnits():
            return len(values)
        case RowsWith():
            return len(there)
        case GridSum(low=low, high=high, shift=shift, power=power):
            places = np.clip(np.floor(np.ldexp(there, shift)), low, high).astype(np.int64)
            if power == 1:
                return int(np.sum(places - low))
            about = places - (low + high) // 2
            # Below 2^62 each: halves of 31 bits add up without overflow.
            squares = about * about
            return (int(np.sum(squares >> 31)) << 31) + int(np.sum(squares & (2**31 - 1)))
        case CellCounts(lower=lower, step=step, count=count):
            cells = np.floor((there - float(lower)) / float(step))
            places = np.clip(cells, 0, count - 1).astype(np.int64)
            return np.bincount(places, minlength=count).tolist()


def skewed(seed: int, *, keys: int, rows: int, upper: float = 1000.0) -> list[Floats]:
    """About so many rows a key, with values between 0 and `upper`, most of them small."""
    generator = np.random.Generator(np.random.PCG64(seed))
    sizes = generator.poisson(rows, keys)
    return [upper * generator.beta(1.2, 3.5, size) for size in sizes]
