"""A heat map betrays where few people are: a cell that glows in a desert is somebody.

In 2018 a map of all runs recorded by a sports tracker showed the outlines of military bases: in
town a cell is thousands of people, out there it is a handful. Here a map counts the people in each
cell. Published exactly, every visited cell shows; whoever is alone in a cell is on the map.

The private map counts each person in a bounded number of cells, and every cell, visited or not,
gets noise. A cell stands out where its noisy number is above what an empty one shows more often
than with the stated rate of false alarms.

Theorem.  Whether k people are in a cell or none of them is anywhere, is a question about k people:
no test finds it more often than the trade-off curve of k people together allows (D6, P7).
  Proven:   docs/explanation/proofs/geometric.md; proofs/group.md
  Tested:   tests/attacks/test_heat_map.py: cells with few people against plain Python; few stand
            out in the private map, and crowded ones do
  Assumed:  the area of the map is public (here: from the least to the largest place)

A group of many is not one person: a base with hundreds on it shows in a private map, too.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import ceil, exp, log, log1p, prod
from typing import Any, ClassVar, cast

import numpy as np

from letalone.answers.promise import FALSE_ALARMS, as_percent, most_caught
from letalone.attacks import stage
from letalone.attacks.counted_table import Counted, Whole, names_of, read
from letalone.attacks.result import AttackReport, Line
from letalone.drawing.chart import AxisKind, Chart, ChartAxis, Series, SeriesStyle
from letalone.engines.frames.coded import Coded
from letalone.errors import ParameterError
from letalone.errors.spelling import plural, plural_people
from letalone.exact.typed import COUNT, EPSILON, Number
from letalone.plans.aggregates.requests import count_distinct
from letalone.plans.keys import product
from letalone.privacy import Privacy
from letalone.session.opening import open as open_table

WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
MAX_CELLS = 1_000_000
EDGES = (0, 1, 2, 5, 10, 20, 50)  # cells are told apart by how many people are in them


@dataclass(frozen=True, slots=True)
class Crowd:
    """The cells with at least so many people and fewer than the next: how many stand out."""

    least: int
    most: int | None
    cells: int
    private: int
    _json: ClassVar[str] = "people=label cells private"

    @property
    def label(self) -> str:
        """Such as 2 to 4."""
        if self.most is None:
            return f"{self.least}+"
        return str(self.least) if self.most == self.least else f"{self.least} to {self.most}"


@dataclass(frozen=True, slots=True)
class HeatMap(AttackReport):
    """What a map of people gives away.

    `visited` cells have somebody in them, `lonely` ones fewer than `few` people, of which
    `lonely_private` stand out in the private map. `exposed` people are alone in some cell.
    `crowds` says which cells stand out in the private map, by the people in them.
    """

    cells: int
    visited: int
    few: int
    lonely: int
    lonely_private: int
    exposed: int
    people: int
    crowds: tuple[Crowd, ...]
    cut: int
    scale: float
    privacy: Privacy
    epsilon: float
    _json: ClassVar[str] = (
        "cells visited people few lonely lonely_private exposed crowds false_alarm=alarm"
        " most_allowed=_one_allowed epsilon"
    )

    @property
    def alarm(self) -> float:
        """How often an empty cell stands out in the private map, at most."""
        return exp(-(self.cut + 1) / self.scale) / (1 + exp(-1 / self.scale))

    def allowed(self, people: int) -> float:
        """D6: how often any test can find so many people in a cell, at most."""
        return most_caught(self.privacy.group(people), self.alarm)

    @property
    def _one_allowed(self) -> float:
        return self.allowed(1)

    @property
    def words(self) -> str:
        return (
            f"The map counts {plural_people(self.people)} in {self.visited:,} of"
            f" {plural(self.cells, 'cell')}. {self._lonely()} In a private map with"
            f" ε = {self.epsilon:g}, {self.lonely_private:,} of {plural(self.lonely, 'such cell')}"
            f" stood out, as {as_percent(self.alarm)} of empty cells are expected to; one"
            f" person in a cell is found {as_percent(self._one_allowed)} of the time at most."
        )

    def _lonely(self) -> str:
        cells = f"{plural(self.lonely, 'cell has', 'cells have')} fewer than {self.few:,} people"
        if not self.exposed:
            return f"{cells} in, and nobody is alone in one."
        alone = plural(self.exposed, "person is", "people are")
        return f"{cells} in, and {alone} alone in one: published exactly, the map shows that."

    def lines(self) -> list[Line]:
        shown = [
            (f"cells that show, of those with {crowd.label}", _of(crowd, today=True), _of(crowd))
            for crowd in self.crowds
        ]
        limit = f"at most {as_percent(self._one_allowed)}"
        return [*shown, ("one person in a cell found", "no limit", limit)]

    def _picture(self) -> Chart:
        shown = [crowd for crowd in self.crowds if crowd.cells]
        places = tuple(float(place) for place in range(len(shown)))
        today = tuple(float(crowd.least > 0) for crowd in shown)
        private = tuple(crowd.private / crowd.cells for crowd in shown)
        limits = tuple(_limit(self, crowd) for crowd in shown)
        series = (
            Series("published today", places, today, SeriesStyle.BARS),
            Series(f"letalone, ε = {self.epsilon:g}", places, private, SeriesStyle.BARS),
            Series(self._limit_label, places, limits, SeriesStyle.BOUND),
        )
        labels = tuple(crowd.label for crowd in shown)
        title = "A heat map: which cells show that somebody was there"
        return Chart(
            title,
            ChartAxis("people in the cell", AxisKind.NAMES, labels),
            ChartAxis("share of cells"),
            series,
        )


def find_cells(
    table: object = None,
    *,
    person: str = "person",
    place: Iterable[str] = ("x", "y"),
    few: Number = 10,
    max_cells: Number = 10,
    epsilon: Number = 1.0,
) -> HeatMap:
    """Looks for cells of a map that betray people, published exactly and privately.

    table: a file or frame with a row for each time that a person was in a cell; without one,
    made-up tracks. place: the columns that name a cell; whole numbers are a grid.
    max_cells: each person counts in so many cells of the private map, chosen at random.
    """
    spent, kept = EPSILON.typed("epsilon", epsilon), int(COUNT.typed("max_cells", max_cells))
    names = names_of("place", place)
    rows = read(stage.tracks() if table is None else table, [person, *names]).known()
    keys = product(*_axes([rows.columns[name] for name in names]))
    scale = float(kept / spent)  # a person counts once in each of so many cells
    cut = _cut(scale)
    released, privacy = _release_map(
        rows, person, names, keys, max_cells=kept, epsilon=float(spent)
    )
    exact, alone = _exact(rows, person, names)
    true = np.array([exact.get(key, 0) for key in keys])
    few_people = int(COUNT.typed("few", few))
    lonely = (true > 0) & (true < few_people)
    return HeatMap(
        cells=len(keys),
        visited=len(exact),
        few=few_people,
        lonely=int(lonely.sum()),
        lonely_private=int((lonely & (released > cut)).sum()),
        exposed=alone,
        people=len(np.unique(rows.columns[person].codes)),
        crowds=_crowds(true, released > cut),
        cut=cut,
        scale=scale,
        privacy=privacy,
        epsilon=float(spent),
    )


def _axes(columns: Sequence[Coded]) -> list[list[object]]:
    """The places along each axis; refused where there are none, or too many cells."""
    for column in columns:
        _check_place(column)
    axes = [_values(column) for column in columns]
    cells = prod(map(_length, axes))
    if cells > MAX_CELLS:
        raise ParameterError(
            f"The map has {cells:,} cells, from the least to the largest place, but may have"
            f" {MAX_CELLS:,} at most. Divide the places and round them: a coarser grid."
        )
    return [list(axis) for axis in axes]


def _check_place(column: Coded) -> None:
    if not len(column.codes):
        raise ParameterError(
            "No row has a person and a value in every column of place. Name other columns, or give"
            " a table with places."
        )
    if (
        column.is_ordered
        and not column.is_dated
        and not all(isinstance(value, int) for value in column.objects(np.unique(column.codes)))
    ):
        raise ParameterError(
            f"Column {column.name!r} in place holds numbers that are not whole, but cells of a map"
            " are named by whole numbers, text or dates. Round it: a grid of squares."
        )


def _length(values: Sequence[object]) -> int:
    """As `len`, which has a limit of its own for a range."""
    return values.stop - values.start if isinstance(values, range) else len(values)


def _values(column: Coded) -> Sequence[object]:
    """The places along one axis: of whole numbers all between the least and the largest."""
    values = column.objects(np.unique(column.codes))
    if not all(WHOLE.fullmatch(str(value)) for value in values):
        return values
    numbers = [int(str(value)) for value in values]
    between = range(min(numbers), max(numbers) + 1)
    if not column.is_text or _length(between) > MAX_CELLS:
        return between
    return [str(value) for value in between]


def _cut(scale: float) -> int:
    """The least number that an empty cell exceeds at most as often as false alarms may come.

    P[Z > cut] = a^(cut + 1) / (1 + a) with a = e^(-1/scale).
    """
    return max(0, ceil(-scale * (log(FALSE_ALARMS) + log1p(exp(-1 / scale)))) - 1)


def _release_map(
    rows: Counted,
    person: str,
    names: list[str],
    keys: tuple[tuple[object, ...], ...],
    *,
    max_cells: int,
    epsilon: float,
) -> tuple[Whole, Privacy]:
    """The private map, in the order of the keys, and what it reveals."""
    with closing(open_table(rows.as_frame(), unit=person, budget=epsilon)) as table:
        question = table.group_by(*names, keys=keys).bound(max_groups=max_cells)
        answer = question.agg(n=count_distinct()).release(epsilon=epsilon)
    numbers: dict[tuple[object, ...], int] = {
        tuple(row[name] for name in names): cast("int", row["n"]) for row in answer.rows()
    }
    return np.array([numbers[key] for key in keys]), answer.privacy


def _exact(
    rows: Counted, person: str, names: list[str]
) -> tuple[dict[tuple[object, ...], int], int]:
    """The people in each visited cell, and how many people are alone in some cell."""
    parts = [rows.columns[name].codes for name in names]
    cells, inverse, people = np.unique(
        np.stack(parts), axis=1, return_inverse=True, return_counts=True
    )
    columns = [rows.columns[name].objects(codes) for name, codes in zip(names, cells, strict=True)]
    alone = np.unique(rows.columns[person].codes[people[inverse.ravel()] == 1])
    return dict(zip(zip(*columns, strict=True), people.tolist(), strict=True)), len(alone)


def _crowds(true: Whole, stands_out: np.ndarray[Any, np.dtype[np.bool_]]) -> tuple[Crowd, ...]:
    ends = [*(edge - 1 for edge in EDGES[1:]), None]
    crowds: list[Crowd] = []
    for least, highest in zip(EDGES, ends, strict=True):
        here = (true >= least) & (True if highest is None else true <= highest)
        crowds.append(Crowd(least, highest, int(here.sum()), int((here & stands_out).sum())))
    return tuple(crowds)


def _of(crowd: Crowd, *, today: bool = False) -> str:
    shown = (crowd.cells if crowd.least else 0) if today else crowd.private
    return f"{shown:,} of {crowd.cells:,}"


def _limit(result: HeatMap, crowd: Crowd) -> float:
    """What D6 allows for the most crowded of these cells."""
    return 1.0 if crowd.most is None else result.allowed(crowd.most) if crowd.most else result.alarm
