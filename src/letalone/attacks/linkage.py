"""Linkage: a table without names, joined with a register that has them.

Latanya Sweeney found the hospital record of the governor of Massachusetts, William Weld, with a
voter list: ZIP code, birth date and gender were in both.

Let n people of the table and c people of the register have the same combination. Where n = c = 1
they are the same person. Where c = 1 and n is more, all of them fit one person, and at most one of
these matches is right: the others are not in the register. Else a guess is right once in
max(n, c) times.

Theorem.  After an ε-private release, however the attacker computes and whatever register they
hold, a test for one person with a rate a of false alarms is right at most 1 - f(a) of the time,
where f is the trade-off curve of the release (D6).
  Proven:   docs/explanation/proofs/tradeoff.md
  Tested:   tests/attacks/test_linkage.py: counts against a join in plain Python
  Assumed:  the register has everyone of the table, without which a sole candidate may be wrong;
            where n > c it cannot, and then all c of them are taken to be among the n

Sweeney: Simple demographics often identify people uniquely (2000).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from letalone.anonymity.value_cells import combine_codes
from letalone.answers.promise import FALSE_ALARMS, as_percent, at_most, best_guess
from letalone.attacks import stage
from letalone.attacks.counted_table import MISSING, Counted, Whole, joint_keys, names_of, read
from letalone.attacks.result import AttackReport, Line
from letalone.drawing.chart import AxisKind, Chart, ChartAxis, Series, SeriesStyle
from letalone.errors import ParameterError
from letalone.errors.spelling import plural_rows
from letalone.exact.typed import EPSILON, Number
from letalone.privacy import PureDP

MAX_SIZE_SHOWN = 10  # sizes of candidate sets that are told apart
QUASI_IDENTIFIERS = ("zip", "birth_date", "gender")


@dataclass(frozen=True, slots=True)
class Linkage(AttackReport):
    """What a register says about the rows of a table.

    `candidates[c]` are the rows that c people of the register fit, `certain` those that one
    fits whom nobody else of the table fits, and `expected` how many a guess among the candidates
    gets right, on average. `matches` are people of the table whom one of the register fits, and
    `possible` how many of these can be right at once. `people` and `certain_people` count persons,
    where a column tells them apart; else a row is a person. `examples` are names found, with the
    sensitive value of their row.
    """

    rows: int
    register: int
    quasi_identifiers: tuple[str, ...]
    candidates: dict[int, int]
    certain: int
    matches: int
    possible: int
    expected: float
    people: int | None
    certain_people: int | None
    examples: tuple[dict[str, str], ...]
    epsilon: float
    _json: ClassVar[str] = (
        "rows register quasi_identifiers candidates certain matches possible expected people"
        " certain_people examples epsilon best_guess=_best_guess"
    )

    @property
    def _best_guess(self) -> float:
        return best_guess(PureDP(self.epsilon))

    @property
    def words(self) -> str:
        names = ", ".join(self.quasi_identifiers)
        return (
            f"The table has no names. Joined with a register on {names}, {self._found()}"
            f"{self._shared()} Guessing among the candidates would be right for"
            f" {plural_rows(round(self.expected))}. All this assumes that everyone of the table is"
            " in the register: else the one who fits may be somebody else. A private release has no"
            f" rows to join: with ε = {self.epsilon:g} in all, a bet at even odds on one person is"
            f" won {at_most(self._best_guess)}, whatever register the attacker holds."
        )

    def _found(self) -> str:
        if not self.certain:
            return (
                f"none of its {plural_rows(self.rows)} fits one person alone: no name is certain."
            )
        fit = "fits" if self.certain == 1 else "fit"
        example = ", ".join(self.examples[0].values()) if self.examples else ""
        example = f" One of them: {example}." if self.examples else ""
        back = "the name is back" if self.certain == 1 else "the names are back"
        return (
            f"{self.certain:,} of its {plural_rows(self.rows)} {fit} one person whom nobody else"
            f" in it fits: {back}.{example}"
        )

    def _shared(self) -> str:
        """About people of the table who fit the same one of the register."""
        if self.matches == self.possible:
            return ""
        whose = "people" if self.people is not None else "rows (each counts as a person)"
        return (
            f" Several {whose} of the table fit the same person and contradict each other: of"
            f" {self.matches:,} matches at most {self.possible:,}"
            f" ({as_percent(self.possible / self.matches)}) can be right."
        )

    def lines(self) -> list[Line]:
        caught = f"at most {as_percent(self._most_caught)}"
        alarms = f"one person found, {as_percent(FALSE_ALARMS)} false alarms"
        rows = [
            ("rows that fit one person alone", f"{self.certain:,}", "no rows"),
            ("share of rows", as_percent(self.certain / self.rows), ""),
            ("matches that can be right", f"{self.possible:,} of {self.matches:,}", ""),
            ("right guesses among candidates", f"{self.expected:,.0f}", ""),
            ("rows that nobody fits", f"{self.candidates.get(0, 0):,}", ""),
            (alarms, "no limit", caught),
        ]
        if self.people is not None:
            shown = f"{self.certain_people:,} of {self.people:,}"
            rows.insert(1, ("people found", shown, ""))
        return rows

    def _picture(self) -> Chart:
        sizes = range(MAX_SIZE_SHOWN + 1)
        large = sum(rows for size, rows in self.candidates.items() if size > MAX_SIZE_SHOWN)
        rows = [*(self.candidates.get(size, 0) for size in sizes), large]
        bars = Series("rows", tuple(map(float, range(len(rows)))), tuple(rows), SeriesStyle.BARS)
        places = (*map(str, sizes), f"> {MAX_SIZE_SHOWN}")
        title = f"{self.certain:,} of {plural_rows(self.rows)} without names fit one person alone"
        return Chart(
            title,
            ChartAxis("people who fit the row", AxisKind.NAMES, places),
            ChartAxis("rows"),
            (bars,),
        )


def link(
    table: object = None,
    register: object = None,
    *,
    quasi_identifiers: Iterable[str] = QUASI_IDENTIFIERS,
    name: str | None = None,
    person: str | None = None,
    sensitive: str | None = None,
    epsilon: Number = 1.0,
) -> Linkage:
    """Joins a table without names with a register of names: how many rows are whose, surely.

    table, register: files or frames; without both, a made-up town with its hospital.
    quasi_identifiers: columns of both, compared as text; a missing value fits nobody.
    name: a column of the register, for examples of who was found.
    person: a column of the table that tells its people apart, such as a pseudonym.
    sensitive: a column of the table that the examples show.
    """
    spent = float(EPSILON.typed("epsilon", epsilon))
    if (table is None) != (register is None):
        raise ParameterError("A table and a register belong together: give both, or none.")
    if table is None:
        town = stage.make_town()
        table, register = town.hospital, town.register
        name, person, sensitive = "name", "patient_id", "diagnosis"
    names = names_of("quasi_identifiers", quasi_identifiers)
    more = [column for column in (person, sensitive) if column is not None]
    rows = read(table, [*names, *more])
    known = read(register, [*names, *([name] if name else [])])
    return _link_tables(rows, known, names, (name, person, sensitive), spent)


def _link_tables(
    rows: Counted,
    known: Counted,
    names: Sequence[str],
    shown: tuple[str | None, str | None, str | None],
    epsilon: float,
) -> Linkage:
    name, person, _ = shown
    keys, known_keys = joint_keys(rows, known, names)
    fits = _fitting(keys, known_keys, known.rows)
    sizes = np.bincount(np.minimum(fits, fits.max()), weights=rows.rows)
    sharing = _sharing(keys, rows, person)
    is_fitted, sole = fits > 0, fits == 1
    sure = sole & (sharing == 1)
    _, one_of_each = np.unique(keys[sole], return_index=True)
    return Linkage(
        rows=rows.total,
        register=known.total,
        quasi_identifiers=tuple(names),
        candidates={size: int(count) for size, count in enumerate(sizes.tolist()) if count},
        certain=int(rows.rows[sure].sum()),
        matches=int(sharing[sole][one_of_each].sum()),
        possible=len(one_of_each),
        expected=float((rows.rows[is_fitted] / np.maximum(fits, sharing)[is_fitted]).sum()),
        people=None if person is None else _people(rows, person),
        certain_people=None if person is None else _people(rows.taken(sure), person),
        examples=() if name is None else _examples(rows, known, (keys, known_keys), sure, shown),
        epsilon=epsilon,
    )


def _fitting(keys: Whole, known: Whole, people: Whole) -> Whole:
    """How many people of the register fit each combination of the table."""
    values, inverse = np.unique(known, return_inverse=True)
    number = np.bincount(inverse, weights=people, minlength=len(values)).astype(np.int64)
    place = np.minimum(np.searchsorted(values, keys), len(values) - 1)
    return np.where((values[place] == keys) & (keys != MISSING), number[place], 0)


def _sharing(keys: Whole, rows: Counted, person: str | None) -> Whole:
    """How many people of the table have each combination; rows, where nothing tells them apart."""
    _, inverse = np.unique(keys, return_inverse=True)
    if person is None:
        return np.bincount(inverse, weights=rows.rows).astype(np.int64)[inverse]
    pairs = combine_codes([inverse.astype(np.int64), rows.columns[person].codes])
    _, first = np.unique(pairs, return_index=True)
    return np.bincount(inverse[first])[inverse]


def _people(rows: Counted, person: str) -> int:
    return len(np.unique(rows.columns[person].codes))


def _examples(
    rows: Counted,
    known: Counted,
    keys: tuple[Whole, Whole],
    sure: NDArray[np.bool_],
    shown: tuple[str | None, str | None, str | None],
) -> tuple[dict[str, str], ...]:
    name, _, sensitive = shown
    examples: list[dict[str, str]] = []
    places = np.flatnonzero(sure)
    for place in places[np.argsort(keys[0][places], kind="stable")][:3].tolist():
        owner = np.flatnonzero(keys[1] == keys[0][place])[:1]
        cells = {} if name is None else {"name": _text(known, name, int(owner[0]))}
        cells |= {} if sensitive is None else {sensitive: _text(rows, sensitive, place)}
        examples.append(cells)
    return tuple(examples)


def _text(table: Counted, name: str, place: int) -> str:
    column = table.columns[name]
    return str(column.objects(column.codes[place : place + 1])[0])
