"""An answer filtered, sorted and cut: HAVING, ORDER BY, LIMIT and OFFSET on what was released.

All of it looks at the noisy numbers alone, so it costs nothing and needs no proof of its own:
post-processing. The ledger stores, and a receipt signs, the whole answer; what is here is a view
of it, so the same question in another order is the same question, and free.

  Tested:   tests/answers/test_arranged.py
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from letalone.answers.cell_operations import (
    COMPARISONS,
    calculate,
    kind_of,
    kind_of_result,
)
from letalone.answers.columns import Cell, CellKind, KeyColumn, Output
from letalone.answers.release import ReleaseRecord
from letalone.answers.row_formulas import (
    COUNTING,
    Calculation,
    Fixed,
    KeyLookUp,
    Order,
    OutputRef,
    RowFormula,
    WindowFunction,
    compute_column,
    sort_rows,
    without_nan,
)

TOTALS = "The total is that of the listed groups."  # rows may be in none of them
AnyRelease = TypeVar("AnyRelease", bound=ReleaseRecord)


@dataclass(frozen=True, slots=True)
class HavingTest:
    """A comparison (= <> < <= > >=), `and`, `or`, `not` or `missing`; true, false or unknown."""

    op: str
    parts: tuple["Condition", ...]

    __test__ = False  # not one of pytest's


Condition = OutputRef | Fixed | HavingTest


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Which rows of an answer are shown, and in which order; `hidden` columns are not.

    `computed` are columns made of those of the answer, over the rows that pass `having`; of these
    rows `keep` leaves some out afterwards, as QUALIFY does. `stacked` lays one row out as several:
    each column has a name, and the names of its cells in that row.
    """

    having: Condition | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    hidden: tuple[str, ...] = ()
    computed: tuple[tuple[str, RowFormula], ...] = ()
    keep: Condition | None = None
    stacked: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def in_words(self, keys: Collection[str] = ()) -> str:
        """How rows are shown; the order of groups, whose names are `keys`, needs no word."""
        looked_at = self._looked_at()
        by_groups = bool(looked_at) and looked_at <= {*keys}
        if by_groups and self.order and self.limit is None and not self.offset:
            return replace(self, order=()).in_words(keys)
        tests = [condition for condition in (self.having, self.keep) if condition is not None]
        sentences = [f"only those with {_words(condition)}" for condition in tests]
        if self.order:
            ways = [
                f"{order.name}{' downwards' if order.descending else ''}" for order in self.order
            ]
            sentences.append(f"sorted by {', '.join(ways)}")
        if self.offset:
            sentences.append(f"without the first {self.offset:,}")
        if self.limit is not None:
            sentences.append(f"at most {self.limit:,} of them")
        looked = {name for name, formula in self.computed if isinstance(formula, KeyLookUp)}
        looked |= {name for _, cells in self.stacked for name in cells}
        names = [name for name, _ in self.computed if name not in {*self.hidden, *looked}]
        formulas = f"Computed from the noisy numbers, without a range: {', '.join(names)}."
        by_what = "" if by_groups else ": by the noisy numbers"
        rows = f"Rows are {'; '.join(sentences)}{by_what}." if sentences else ""
        total = TOTALS if any(_has_total(formula) for _, formula in self.computed) else ""
        return " ".join(words for words in (rows, formulas if names else "", total) if words)

    def _looked_at(self) -> set[str]:
        """The columns that decide which rows are shown, and their order."""
        conditions = [condition for condition in (self.having, self.keep) if condition is not None]
        names = {name for condition in conditions for name in _names(condition)}
        return names | {order.name for order in self.order}


def _has_total(formula: RowFormula) -> bool:
    """Whether it adds up all rows of an answer."""
    match formula:
        case WindowFunction("sum", _, (), (), None):
            return True
        case Calculation(_, parts):
            return any(map(_has_total, parts))
        case _:
            return False


def _names(condition: "Condition") -> Iterator[str]:
    if isinstance(condition, OutputRef):
        yield condition.name
    elif isinstance(condition, HavingTest):
        yield from (name for part in condition.parts for name in _names(part))


AS_IT_IS = Arrangement()


def arrange_release(release: AnyRelease, how: Arrangement) -> AnyRelease:
    """The view of a release; the receipt that goes with it is that of the whole."""
    if how == AS_IT_IS:
        return release
    whole = release
    release, rows, kept = _compute_columns(release, how)
    if how.stacked:
        release = _stacked(release, how.stacked)
        rows = release.rows()
        kept = list(range(len(rows)))
    places = kept
    for order in reversed(how.order):
        places = sort_rows(places, [row.get(order.name) for row in rows], order)
    end = None if how.limit is None else how.offset + how.limit
    places = places[how.offset : end]
    shown = tuple(output for output in release.outputs if output.aggregate not in how.hidden)
    standing = release.standing
    none_passes = _none_passes(how) if rows and not kept else None
    keys = [column.name for column in whole.keys]
    remarks = (standing.remark, how.in_words(keys), none_passes)
    remark = " ".join(words for words in remarks if words)
    return replace(
        release,
        keys=tuple(
            replace(column, values=tuple(column.values[place] for place in places))
            for column in release.keys
            if column.name not in how.hidden
        ),
        outputs=tuple(_output(output, places) for output in shown),
        standing=replace(standing, remark=remark or None, none_passes=none_passes),
    )


def _compute_columns(
    release: AnyRelease, how: Arrangement
) -> tuple[AnyRelease, Sequence[Mapping[str, Cell]], list[int]]:
    """The release with its computed columns, its rows, and the places of those that are kept."""
    rows = _with_looked_up(release.rows(), how)
    kept = _passing(how.having, rows, range(len(rows)))
    if not how.computed:
        return release, rows, _passing(how.keep, rows, kept)
    known = [dict(rows[at]) for at in kept]
    for name, formula in how.computed:
        column = compute_column(formula, known)
        for row, cell in zip(known, column, strict=True):
            row.setdefault(name, cell)  # for those that are computed from it
        cells = dict(zip(kept, column, strict=True))
        kind = _kind(formula, release)
        values = tuple(_as_kind(cells.get(place), kind) for place in range(len(rows)))
        added = Output(name, name, "", kind, values)
        release = replace(release, outputs=(*release.outputs, added))
    rows = release.rows()
    return release, rows, _passing(how.keep, rows, kept)


def _with_looked_up(
    rows: Sequence[Mapping[str, Cell]], how: Arrangement
) -> Sequence[Mapping[str, Cell]]:
    """The rows with the columns that keys alone decide: HAVING may speak of these."""
    looked = {
        name: compute_column(formula, rows)
        for name, formula in how.computed
        if isinstance(formula, KeyLookUp)
    }
    if not looked:
        return rows
    return [
        {**{name: column[place] for name, column in looked.items()}, **row}
        for place, row in enumerate(rows)
    ]


def _stacked(release: AnyRelease, columns: Sequence[tuple[str, tuple[str, ...]]]) -> AnyRelease:
    """One row as several: texts are what groups are called, else rows are numbered."""
    known = {output.name: output for output in release.outputs}
    outputs: list[Output] = []
    for name, cells in columns:
        parts = [known[cell] for cell in cells]
        kinds = {part.kind for part in parts}
        kind = parts[0].kind if len(kinds) == 1 else CellKind.NUMBER
        low, high = (
            tuple(None if ends is None else _as_kind(ends[0], kind) for ends in of_parts)
            for of_parts in ([part.low for part in parts], [part.high for part in parts])
        )
        values = tuple(_as_kind(part.values[0], kind) for part in parts)
        ranged = any(part.low is not None for part in parts)
        ends = (low, high) if ranged else (None, None)
        outputs.append(Output(name, name, "", kind, values, *ends))
    names = [output for output in outputs if output.kind is CellKind.TEXT]
    keys = tuple(KeyColumn(output.name, output.kind, output.values) for output in names)
    if not keys:
        rows = tuple(range(1, len(columns[0][1]) + 1))
        keys = (KeyColumn("row", CellKind.INTEGER, rows),)
    return replace(release, keys=keys, outputs=tuple(o for o in outputs if o not in names))


def _passing(
    condition: Condition | None, rows: Sequence[Mapping[str, Cell]], places: Iterable[int]
) -> list[int]:
    if condition is None:
        return list(places)
    return [place for place in places if _value(condition, rows[place]) is True]


def _kind(formula: RowFormula, release: ReleaseRecord) -> CellKind:
    """What a computed column holds."""
    match formula:
        case WindowFunction(function) if function in COUNTING:
            return CellKind.INTEGER
        case WindowFunction(function, of) if of is not None and function not in ("sum", "avg"):
            return _kind(of, release)
        case OutputRef(name):
            columns = (*release.keys, *release.outputs)
            return next((c.kind for c in columns if c.name == name), CellKind.NUMBER)
        case KeyLookUp(_, known):
            cells = [cell for _, cell in known if cell is not None]
            return next((kind_of(cell) for cell in cells), CellKind.TEXT)
        case Calculation(op, parts):
            return kind_of_result(op, [_kind_of_part(part, release) for part in parts])
        case Fixed(value):
            return kind_of(value)
        case WindowFunction():
            return CellKind.NUMBER


def _kind_of_part(formula: RowFormula, release: ReleaseRecord) -> CellKind | None:
    """None of a missing constant, which may stand for any."""
    return None if formula == Fixed(None) else _kind(formula, release)


def _as_kind(cell: Cell, kind: CellKind) -> Cell:
    """The cell; missing where a column of its kind cannot hold it."""
    if cell is None or kind_of(cell) is kind:
        return cell
    if kind is not CellKind.NUMBER or not isinstance(cell, int | float):
        return None
    try:
        return float(cell)
    except OverflowError:
        return None


def _none_passes(how: Arrangement) -> str:
    """That HAVING keeps nothing, and which question shows all rows and was paid for."""
    moved = " and with what it compares at the end of SELECT" if how.hidden else ""
    return f"No row passes HAVING. The same question without it{moved} is free."


def _value(condition: Condition, row: Mapping[str, Cell]) -> Cell:
    match condition:
        case OutputRef(name):
            return without_nan(row.get(name))
        case Fixed(value):
            return value
        case HavingTest(op, parts):
            return calculate(op, [_value(part, row) for part in parts])


def _output(output: Output, places: Sequence[int]) -> Output:
    values, low, high = (
        None if cells is None else tuple(cells[place] for place in places)
        for cells in (output.values, output.low, output.high)
    )
    return replace(output, values=values or (), low=low, high=high)


def _words(condition: Condition) -> str:
    match condition:
        case OutputRef(name):
            return name
        case Fixed(value):
            return repr(value) if isinstance(value, str) else f"{value}"
        case HavingTest("not", (of,)):
            return f"not ({_words(of)})"
        case HavingTest("missing", (of,)):
            return f"{_words(of)} missing"
        case HavingTest(op, parts):
            within = [_words(p) if op in COMPARISONS else f"({_words(p)})" for p in parts]
            return f" {op} ".join(within)
