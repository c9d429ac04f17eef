"""People to train models on: a table as rows of numbers and labels, a row for each person.

Flags and categories become columns of −1 and 1, or of 0 and 1; numbers and dates are brought to
−1 … 1. Bounds and values are read off the whole table, which models then take for known: it is
the same table whoever of its people a model is trained on.

  Tested:   tests/attacks/test_membership.py
"""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.attacks.counted_table import names_of, read
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.engines.frames.coded import FIRST, Coded
from letalone.errors import ParameterError

Floats = NDArray[np.float64]
Labels = NDArray[Any]
MAX_CATEGORIES = 12  # a column of numbers with no more values than this is a category
MAX_VALUES = 30  # text with more values is no feature
MIN_PEOPLE = 20
MIN_NORM = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPeople:
    """Rows, labels, and where in a row the features of each column are."""

    rows: Floats
    labels: Labels
    target: str
    places: dict[str, slice]

    @property
    def norm(self) -> float:
        """No row is longer."""
        return max(MIN_NORM, float(np.sqrt((self.rows**2).sum(axis=1).max())))

    @property
    def is_numeric(self) -> bool:
        return self.labels.dtype.kind == "f"

    def taken(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> "TrainingPeople":
        return TrainingPeople(self.rows[chosen], self.labels[chosen], self.target, self.places)


def people_of(
    table: object,
    *,
    target: str,
    features: Iterable[str],
    people: int,
    generator: np.random.Generator,
) -> TrainingPeople:
    """So many people drawn from a table; its columns are features if none are named."""
    with closing(open_duck(table)) as engine:
        every = [column.name for column in engine.schema().columns]
    named = names_of("features", features) if features else []
    wanted = named or [name for name in every if name != target]
    counted = read(table, [*wanted, target])
    columns = {name: _features(counted.columns[name]) for name in wanted if name != target}
    _check(columns, named)
    kept = {name: part for name, part in columns.items() if part is not None}
    rows = np.hstack([part[counted.columns[name].codes] for name, part in kept.items()])
    labels, known = _labels(counted.columns[target])
    codes = counted.columns[target].codes
    everyone = TrainingPeople(rows, labels[codes], target, _places(kept))
    return _draw_people(everyone, known[codes] * counted.rows, people, generator)


def people_of_arrays(
    rows: Any, labels: Any, *, people: int, generator: np.random.Generator
) -> TrainingPeople:
    """So many people drawn from rows of numbers, with a label each."""
    matrix, marks = np.asarray(rows, np.float64), np.asarray(labels)
    if matrix.ndim != 2 or marks.shape != matrix.shape[:1] or not np.isfinite(matrix).all():
        raise ParameterError(
            "The table is a pair, and must then be finite numbers, a row for each person, and as"
            " many labels."
        )
    if marks.dtype.kind == "f":
        marks = (
            _scale_numbers(marks)
            if len(np.unique(marks)) > MAX_CATEGORIES
            else marks.astype(np.str_)
        )
    places = {str(number): slice(number, number + 1) for number in range(matrix.shape[1])}
    everyone = TrainingPeople(matrix, marks, "the label", places)
    return _draw_people(everyone, np.ones(len(marks), np.int64), people, generator)


def _draw_people(
    everyone: TrainingPeople, times: NDArray[Any], people: int, generator: Any
) -> TrainingPeople:
    """Distinct rows of the table, in an order that does not depend on how it was read."""
    order = np.lexsort((*everyone.rows.T, everyone.labels))
    order = np.repeat(order, times[order])
    if len(order) < MIN_PEOPLE:
        raise ParameterError(
            f"The table has {len(order)} people whose {everyone.target} is known, but models need"
            f" at least {MIN_PEOPLE}. Give a larger one."
        )
    chosen = generator.permutation(len(order))[:people]
    return everyone.taken(order[chosen])


def _places(kept: dict[str, Floats]) -> dict[str, slice]:
    ends = np.cumsum([0, *(part.shape[1] for part in kept.values())])
    return {name: slice(int(ends[n]), int(ends[n + 1])) for n, name in enumerate(kept)}


def _features(column: Coded) -> Floats | None:
    """What each code of a column becomes; None where it has too many values of no order."""
    values = column.size - FIRST
    numbers = _numbers(column) if values > MAX_CATEGORIES else None
    if numbers is not None:
        return _pad_missing(_scale_numbers(numbers)[:, None])
    if values == 0 or values > MAX_VALUES:
        return None
    if values <= 2:
        return _pad_missing(np.array([[-1.0], [1.0]])[2 - values :])
    return _pad_missing(np.eye(values))


def _pad_missing(part: Floats) -> Floats:
    """Missing values, which have the first codes, are 0."""
    return np.vstack([np.zeros((FIRST, part.shape[1])), part])


def _scale_numbers(values: Floats) -> Floats:
    """To −1 … 1; what is infinite goes to the ends."""
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    share = (np.clip(values, low, high) - low) / max(high - low, MIN_NORM)
    return np.nan_to_num(2 * share - 1)


def _numbers(column: Coded) -> Floats | None:
    """Numbers, dates and times as floats; also where a file has them as text, as CSV does."""
    if column.is_dated:
        return column.moments().astype(np.float64)
    if column.is_ordered:
        return column.numbers()
    for kind in (np.float64, "datetime64[s]"):
        try:
            return np.array(column.texts()).astype(kind).astype(np.float64)
        except ValueError:
            continue
    return None


def _labels(column: Coded) -> tuple[Labels, NDArray[np.bool_]]:
    """What each code of the target means, and whether it is known."""
    known = np.arange(column.size) >= FIRST
    values = column.size - FIRST
    numbers = _numbers(column) if values > MAX_CATEGORIES else None
    if numbers is not None:
        return np.concatenate([np.zeros(FIRST), _scale_numbers(numbers)]), known
    if values < 2 or values > MAX_CATEGORIES:
        raise ParameterError(
            f"{column.name!r} has {values} values, but what is predicted must be"
            f" numbers, or from 2 to {MAX_CATEGORIES} classes. Name another target."
        )
    return np.array([""] * FIRST + column.texts()), known


def _check(columns: dict[str, Floats | None], named: list[str]) -> None:
    bad = [name for name in named if name in columns and columns[name] is None]
    if bad:
        raise ParameterError(
            f"Column {bad[0]!r} has no value, or text of more than {MAX_VALUES} values, which is"
            " not a feature. Leave it out of features."
        )
    if not any(part is not None for part in columns.values()):
        raise ParameterError(
            "No column is left to predict from. Give a table with columns of numbers, or of text"
            f" with at most {MAX_VALUES} values."
        )
