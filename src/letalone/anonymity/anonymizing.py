"""A table with k, l and t: its quasi-identifiers made coarser, few rows left out, and checked.

    made = la.anonymity.anonymize(frame, quasi_identifiers=["zip"], sensitive=["ill"], k=5)
    made.table, made.suppressed, made.information_lost

The result has the quasi-identifiers as text and the sensitive columns as they were. All other
columns are dropped, that of the unit too: a name or a number of a file would undo the rest. Rows
are sorted by their values, so that their order tells nothing.

Theorem.  The result has k, l and t as asked, or there is no result.
  Proven:   the table that is returned is measured, and returned only if it holds
  Tested:   tests/anonymity/test_anonymize.py measures it in plain Python
  Assumed:  a row is a person, unless a unit is named; k, l and t then count people

It is anonymous in this sense only: `letalone.anonymity.limits` attacks it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from letalone.anonymity import diversity
from letalone.anonymity.hierarchies import ALL, SPECIAL, Ladder, covered_codes, labels, ladder_of
from letalone.anonymity.kinds import natural
from letalone.anonymity.measuring import Anonymity, measure
from letalone.anonymity.mondrian import OUT, MondrianTable, Promise, partition, table_of
from letalone.anonymity.value_cells import ValueCells, Whole, combine_codes, read_cells
from letalone.engines.frames.arrow import ArrowTable as ArrowTable
from letalone.engines.frames.arrow import table_of as table_of_columns
from letalone.engines.frames.coded import FIRST, as_kind, label_places
from letalone.engines.frames.to_arrow import family_of
from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Spelled, problem
from letalone.exact.typed import COUNT, PROBABILITY, Number
from letalone.plans.schema import unknown_column


@dataclass(frozen=True, slots=True)
class Anonymized:
    """The table, in the kind of frame that was given (files: an Arrow table), and what it cost.

    `information_lost` is between 0 (nothing) and 1 (everything): how much of each column's
    range a row's label stands for, on average; a suppressed row has lost everything.
    """

    table: object = field(repr=False)
    as_arrow: ArrowTable = field(repr=False)
    anonymity: Anonymity
    rows: int
    suppressed: int
    lost: Mapping[str, float]
    coarsened: Mapping[str, str]
    dropped: tuple[str, ...]

    @property
    def information_lost(self) -> float:
        """The mean over all quasi-identifiers."""
        return sum(self.lost.values()) / len(self.lost)

    def to_json(self) -> dict[str, object]:
        """The report, without any value of the table."""
        return {
            "rows": self.rows,
            "suppressed": self.suppressed,
            "information_lost": self.information_lost,
            "lost": dict(self.lost),
            "coarsened": dict(self.coarsened),
            "dropped": list(self.dropped),
            "anonymity": self.anonymity.to_json(),
        }

    def __str__(self) -> str:
        lost = ", ".join(f"{name} {share:.1%}" for name, share in self.lost.items())
        dropped = f"; dropped: {', '.join(self.dropped)}" if self.dropped else ""
        return (
            f"{self.suppressed:,} of {self.rows:,} rows suppressed{dropped}\n"
            f"information lost: {self.information_lost:.1%} ({lost})\n{self.anonymity}"
        )


def anonymize(
    table: object,
    *,
    quasi_identifiers: Iterable[str],
    sensitive: Iterable[str] = (),
    k: int,
    l: int | None = None,  # noqa: E741  (the name that the literature gives it)
    t: Number | None = None,
    unit: str | None = None,
    hierarchies: Mapping[str, object] | None = None,
    max_suppressed: Number = 0.01,
    table_name: str | None = None,
) -> Anonymized:
    """A table in which each person shares their quasi-identifiers with k - 1 others, or more.

    `l` asks for so many sensitive values in each group, `t` for a total variation of at most t
    from the whole table. `unit` is the column that identifies a person; else a row is a person.
    At most the share `max_suppressed` of the rows is left out.
    """
    secret = [sensitive] if isinstance(sensitive, str) else list(sensitive)
    promise = _promise(k, l, t, sensitive=secret)
    share = PROBABILITY.typed("max_suppressed", max_suppressed)
    cells = read_cells(
        table,
        quasi_identifiers=quasi_identifiers,
        sensitive=secret,
        unit=unit,
        table_name=table_name,
    )
    _check_possible(cells, promise)
    ladders = _ladders(cells, hierarchies or {})
    secrets = tuple(column.codes for column in cells.sensitive)
    cut = table_of(ladders, cells.rows, secrets, cells.person)
    made = _make_partition(cut, cells, promise, allowance=int(share * cells.total))
    return _result(made, cells, ladders, kind=family_of(table) or "arrow")


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    part: Whole
    labels: dict[str, tuple[list[str], Whole]]
    table: ArrowTable
    anonymity: Anonymity


def _make_partition(
    cut: MondrianTable, cells: ValueCells, promise: Promise, *, allowance: int
) -> _Made:
    """A partition that holds: with rows left out, and more of them, and else with none.

    The last try is one part. Parts with the same labels are one group, which may be further from
    the table than either if a person is in both.
    """
    part = partition(cut, promise, allowance=allowance)
    while cells.rows[part == OUT].sum() <= allowance and (part != OUT).any():
        made = _label_partition(cut, cells, part)
        if _keeps(made.anonymity, promise):
            return made
        part = np.where(_failing(made, cut, promise), OUT, part)
    for part in (partition(cut, promise), np.zeros(len(cells.rows), np.int64)):
        made = _label_partition(cut, cells, part)
        if _keeps(made.anonymity, promise):
            return made
    raise ParameterError(
        "No table was found that keeps what was asked. Ask for a smaller k or l or a larger t."
    )


def _label_partition(cut: MondrianTable, cells: ValueCells, part: Whole) -> _Made:
    """The table of a partition, and its measure: what is released is what is measured.

    The unit is there to be counted only, and is not in the table.
    """
    kept = np.flatnonzero(part != OUT)
    labels = {
        ladder.column.name: _labels(ladder, part[kept], ladder.column.codes[kept])
        for ladder in cut.ladders
    }
    keys = [column.codes[kept] for column in cells.sensitive]
    keys = [*(places for _, places in labels.values()), *keys]
    order = np.lexsort(keys[::-1])
    rows = np.repeat(order, cells.rows[kept][order])
    columns = [(name, label_places(names, at[rows])) for name, (names, at) in labels.items()]
    columns += [(column.name, column.taken(column.codes[kept][rows])) for column in cells.sensitive]
    unit = [] if cells.unit is None else [cells.unit]
    person = [(column.name, column.taken(column.codes[kept][rows])) for column in unit]
    anonymity = measure(
        table_of_columns([*columns, *person]),
        quasi_identifiers=list(labels),
        sensitive=[column.name for column in cells.sensitive],
        unit=cells.unit and cells.unit.name,
    )
    return _Made(part, labels, table_of_columns(columns), anonymity)


def _labels(ladder: Ladder, part: Whole, codes: Whole) -> tuple[list[str], Whole]:
    """The labels of a column, in order, and the place of each cell's label among them."""
    ends = _ends(part, codes)
    _, first, place = np.unique(combine_codes(ends), return_index=True, return_inverse=True)
    low, high, none = (end[first] for end in ends)
    names = np.full(len(first), "", object)
    names[high > 0] = labels(ladder, low[high > 0], high[high > 0])
    pairs = zip(names.tolist(), none.tolist(), strict=True)
    return [_with_specials(name, flags) for name, flags in pairs], place[part]


def _ends(part: Whole, codes: Whole) -> tuple[Whole, Whole, Whole]:
    """Of each part: the first and last code of a value (0: it has none), and which others."""
    low, high, none = np.zeros((3, int(part.max()) + 1), np.int64)
    value = codes >= FIRST
    low[part[value]] = np.iinfo(np.int64).max
    np.minimum.at(low, part[value], codes[value])
    np.maximum.at(high, part[value], codes[value])
    np.bitwise_or.at(none, part[~value], codes[~value] + 1)
    return low, high, none


def _with_specials(name: str, none: int) -> str:
    """The label of a group that may also hold missing values and NaN."""
    specials = [word for number, word in enumerate(SPECIAL) if none & (number + 1)]
    return ALL if name == ALL else " or ".join([*specials, *[name] * bool(name)])


def _keeps(found: Anonymity, promise: Promise) -> bool:
    keeps_l = promise.l is None or found.l >= promise.l
    return found.k >= promise.k and keeps_l and (promise.t is None or found.t <= promise.t)


def _failing(made: _Made, cut: MondrianTable, promise: Promise) -> NDArray[np.bool_]:
    """The cells in groups of the released table that do not keep the promise."""
    kept = made.part != OUT
    rows, unit = cut.rows[kept], None if cut.unit is None else cut.unit[kept]
    _, group = np.unique(combine_codes([at for _, at in made.labels.values()]), return_inverse=True)
    bad = diversity.people_in(group, rows, unit, groups=int(group.max()) + 1) < promise.k
    for values in cut.sensitive:
        by_value = diversity.people_by_value(group, values[kept], rows, unit=unit)
        if promise.l is not None:
            bad |= diversity.distinct(by_value) < promise.l
        if promise.t is not None:
            in_table = diversity.people_with(values[kept], rows, unit)
            bad |= diversity.closeness(by_value, in_table) > promise.t
    failing = np.zeros(len(kept), np.bool_)
    failing[kept] = bad[group] if bad.any() else True
    return failing


def _result(
    made: _Made, cells: ValueCells, ladders: tuple[Ladder, ...], *, kind: str
) -> Anonymized:
    return Anonymized(
        table=as_kind(made.table, kind),
        as_arrow=made.table,
        anonymity=made.anonymity,
        rows=cells.total,
        suppressed=cells.total - made.anonymity.rows,
        lost={ladder.column.name: _lost(ladder, made.part, cells.rows) for ladder in ladders},
        coarsened={ladder.column.name: ladder.words for ladder in ladders},
        dropped=cells.others,
    )


def _lost(ladder: Ladder, part: Whole, rows: Whole) -> float:
    """The mean width of a row's label, between 0 and 1; 1 for rows that were left out."""
    kept = part != OUT
    low, high, none = _ends(part[kept], ladder.column.codes[kept])
    begin, end = covered_codes(ladder, low, high)
    width = ladder.places[end] - ladder.places[begin]
    width = np.where((none > 0) & (high > 0), 1.0, width)  # a value, or none: nothing is known
    shown = float(np.sum(width[part[kept]] * rows[kept]))
    return (shown + float(rows[~kept].sum())) / float(rows.sum())


def _promise(
    k: object,
    l: object,  # noqa: E741
    t: object,
    *,
    sensitive: list[str],
) -> Promise:
    if (l is not None or t is not None) and not sensitive:
        what = "l and t are about sensitive values, but no sensitive column was named. Name one,"
        spelled = Spelled(
            f"{what} such as sensitive=['diagnosis'].", f"{what} such as --sensitive diagnosis."
        )
        raise ParameterError(problem(Code.OTHER, words=spelled))
    return Promise(
        k=int(COUNT.typed("k", k)),
        l=None if l is None else int(COUNT.typed("l", l)),
        t=None if t is None else float(PROBABILITY.typed("t", t)),
    )


def _check_possible(cells: ValueCells, promise: Promise) -> None:
    """The whole table is one group at the coarsest; what it does not keep, no table can."""
    if cells.people < promise.k:
        raise ParameterError(
            f"k is {promise.k}, but the table has fewer"
            f" {'rows' if cells.unit is None else 'people'}. Ask for less."
        )
    for column in cells.sensitive:
        if promise.l is not None and len(np.unique(column.codes)) < promise.l:
            raise ParameterError(
                f"l is {promise.l}, but {column.name!r} has fewer values in the whole table. Ask"
                " for less."
            )


def _ladders(cells: ValueCells, hierarchies: Mapping[str, object]) -> tuple[Ladder, ...]:
    names = [column.name for column in cells.quasi_identifiers]
    for name in hierarchies:
        if name not in names:
            raise unknown_column(name, names, table="the quasi-identifiers")
    return tuple(
        ladder_of(natural(column), hierarchies.get(column.name))
        for column in cells.quasi_identifiers
    )
