"""Sparse histories: how many points identify a person.

A history is a list of points: films rated in a month, cells a telephone was in at an hour. Most
points are shared by few people, so a handful of them is shared by nobody else. The attacker knows
some points of one person, from a conversation or another site, and looks who in the table has all
of them. Where that is one person, the rest of their history is known.

  Tested:   tests/attacks/test_histories.py: against a search in plain Python; a crowd in which
            everybody is alike is not told apart

Narayanan, Shmatikov: Robust de-anonymization of large sparse datasets (2008). de Montjoye,
Hidalgo, Verleysen, Blondel: Unique in the crowd (2013).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from letalone.anonymity.value_cells import combine_codes
from letalone.answers.promise import FALSE_ALARMS, as_percent
from letalone.attacks import stage
from letalone.attacks.counted_table import Counted, Whole, names_of, read
from letalone.attacks.result import AttackReport, Line
from letalone.drawing.chart import Chart, ChartAxis, Series, SeriesStyle
from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, EPSILON, Number


@dataclass(frozen=True, slots=True)
class Curve:
    """For what the attacker knows of each point: the share found, by the number of points.

    `unique[p - 1]` of the people tried are the only ones with their p points (or with all that
    they have, where these are fewer); `right[p - 1]` is how often a guess among those who fit is
    right.
    """

    columns: tuple[str, ...]
    unique: tuple[float, ...]
    right: tuple[float, ...]
    _json: ClassVar[str] = "columns unique right"


@dataclass(frozen=True, slots=True)
class Histories(AttackReport):
    """How few points tell a person from all others. `tried` people were looked for."""

    people: int
    rows: int
    tried: int
    curves: tuple[Curve, ...]
    epsilon: float
    _json: ClassVar[str] = "people rows tried curves most_allowed=_most_caught epsilon"

    @property
    def words(self) -> str:
        curve = self.curves[0]
        last = len(curve.unique)
        number = next((p for p, share in enumerate(curve.unique, 1) if share > 0.5), None)
        enough = f"For most of them, {_points(number)} suffice to tell" if number else "To tell"
        return (
            f"The table has the histories of {self.people:,} people, without names. {enough} one"
            f" from all others{'' if number else ' takes more points'}. With {_points(last)} known,"
            f" {as_percent(curve.unique[-1])} of people are alone, and the rest of their history is"
            f" read off. A private release has no histories in it: with ε = {self.epsilon:g}, one"
            f" person is found {as_percent(self._most_caught)} of the time at most,"
            f" at {as_percent(FALSE_ALARMS)} false alarms, however many of their points are known."
        )

    def lines(self) -> list[Line]:
        limit = f"at most {as_percent(self._most_caught)}"
        return [
            (f"{_points(p)} known ({', '.join(curve.columns)})", as_percent(share), limit)
            for curve in self.curves[:2]
            for p, share in enumerate(curve.unique[:8], 1)
        ]

    def _picture(self) -> Chart:
        across = tuple(float(p) for p in range(1, 1 + len(self.curves[0].unique)))
        curves = [
            Series(f"{', '.join(curve.columns)} known", across, curve.unique)
            for curve in self.curves
        ]
        allowed = (self._most_caught,) * len(across)
        label = f"{self._limit_label}, {as_percent(FALSE_ALARMS)} false alarms"
        limit = Series(label, across, allowed, SeriesStyle.BOUND)
        title = f"How many points tell one of {self.people:,} people from all others"
        up = "share of people who are alone"
        return Chart(title, ChartAxis("points known"), ChartAxis(up), (*curves, limit))


def single_out(
    table: object = None,
    *,
    person: str = "person",
    points: Iterable[str] = ("film", "month"),
    most: Number = 6,
    people: Number = 500,
    epsilon: Number = 1.0,
    seed: int = 2008,
) -> Histories:
    """Looks for people by some points of their history: how many are needed.

    table: a file or frame with a row for each point of a person; without one, made-up ratings.
    points: the columns that make up a point. A second curve knows only the first of them.
    most: the largest number of points known. people: how many are looked for, chosen at random.
    """
    names = names_of("points", points)
    rows = read(stage.ratings() if table is None else table, [person, *names]).known()
    owners = np.unique(rows.columns[person].codes)
    if not len(owners):
        raise ParameterError("No row has a person and a point. Give a table with histories.")
    number, tries = int(COUNT.typed("most", most)), int(COUNT.typed("people", people))
    generator = np.random.default_rng(seed)
    tried = generator.permutation(owners)[:tries]
    known = [tuple(names)] if len(names) == 1 else [tuple(names), (names[0],)]
    return Histories(
        people=len(owners),
        rows=rows.total,
        tried=len(tried),
        curves=tuple(_curve(generator, rows, person, columns, tried, number) for columns in known),
        epsilon=float(EPSILON.typed("epsilon", epsilon)),
    )


def _curve(
    generator: np.random.Generator,
    rows: Counted,
    person: str,
    columns: Sequence[str],
    tried: Whole,
    most: int,
) -> Curve:
    owner = rows.columns[person].codes
    _, point = np.unique(
        combine_codes([rows.columns[name].codes for name in columns]), return_inverse=True
    )
    owner, point = np.unique(np.stack([owner, point]), axis=1)
    by_point = _lists(point, owner)
    by_owner = _lists(owner, point)
    fits = np.array(
        [
            _fitting(generator.permutation(by_owner[owner_code])[:most], by_point, most)
            for owner_code in tried
        ]
    )
    unique, right = (fits == 1).mean(axis=0), (1 / fits).mean(axis=0)
    return Curve(tuple(columns), tuple(unique.tolist()), tuple(right.tolist()))


def _lists(key: Whole, value: Whole) -> dict[int, Whole]:
    order = np.argsort(key, kind="stable")
    keys, starts = np.unique(key[order], return_index=True)
    return dict(zip(keys.tolist(), np.split(value[order], starts[1:]), strict=True))


def _fitting(points: Whole, by_point: dict[int, Whole], most: int) -> list[int]:
    """How many people have the first point, the first two, and so on; at the end all of them."""
    fits: list[int] = []
    candidates = by_point[int(points[0])]
    for point in points.tolist():
        candidates = np.intersect1d(candidates, by_point[point], assume_unique=True)
        fits.append(len(candidates))
    return fits + fits[-1:] * (most - len(fits))


def _points(number: int) -> str:
    return "1 point" if number == 1 else f"{number} points"
