"""Builds SQL statements from a scope and measures; their results are whole numbers.

Rows alone are bounded by their stored rank. Where groups are bounded or totals clipped, rows
are first added up for each unit and group ("pairs"), and the pairs are bounded:

  Theorem.  What a unit adds to the results depends on that unit's rows and ranks alone. It
  is in at most max_groups groups, with at most max_rows rows in each, and clipped, in each
  with one row whose place lies in low … high.
    Proven:   each window is partitioned by the unit, and each GROUP BY below it has the unit
              among its keys. Ranks of one unit differ, so the smallest rank of a group is
              another one for each group, DENSE_RANK counts the groups, and at most
              max_groups have a place of at most max_groups. ROW_NUMBER likewise; a pair of
              at most max_rows rows keeps them all, so only larger ones are put in order (all
              are where the dialect says that the table must not be read again).
    Tested:   tests/engines/test_engine_laws.py, against a slow evaluation in Python

Keys stand in a table of their own and are joined last (to pairs: before groups are chosen,
so that unlisted groups take nobody's place).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from letalone.engines import amounts, measures, syntax
from letalone.engines.measures import Exact, GridSum, Measure, RowScope, looked_at
from letalone.engines.rows import ScopeRows, Tables
from letalone.engines.syntax import BIGINT, Sql
from letalone.engines.terms import Term
from letalone.engines.units import as_table_of_units
from letalone.errors import ParameterError, UnsupportedQuery
from letalone.plans.expressions import Expression

KEYS = "letalone_keys"
NUMBER = "number"  # the column of the keys that says which key it is
# Grouped by a value, too, so each has a statement of its own.
ALONE = (measures.CellCounts, measures.DistinctValues)


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure, and the columns of the result that make its value."""

    number: int  # of the measure among those that were asked for
    measure: Measure
    columns: tuple[int, ...]
    clipped: bool

    def value(self, row: Sequence[int | None]) -> int:
        numbers = [row[column] or 0 for column in self.columns]
        match self.measure:
            case GridSum(power=1) as grid if not self.clipped:
                return numbers[0] + (amounts.middle(grid) - grid.low) * numbers[1]
            case _:
                return numbers[0]


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL, and how to read it. Result columns: the key's number, the cell (Cells only), sums."""

    sql: exp.Select
    figures: tuple[Figure, ...]
    grouped: bool

    def read(self, rows: Sequence[Sequence[int | None]], keys: int) -> list[Exact]:
        """The values of each measure, for each key; 0 where the result has no row."""
        numbered = rows if self.grouped else [(0, *row) for row in rows]
        match self.figures:
            case (Figure(measure=measures.CellCounts(count=count)),):
                cells = [[0] * count for _ in range(keys)]
                for key, number, rows_in_it in numbered:
                    cells[key or 0][number or 0] = rows_in_it or 0
                return [cells]
            case figures:
                values = [[0] * keys for _ in figures]
                for key, *sums in numbered:
                    for exact, figure in zip(values, figures, strict=True):
                        exact[key or 0] = figure.value(sums)
                return list(values)


def needs_ranks(scope: RowScope) -> bool:
    """Whether the bounding chooses among the rows of a unit."""
    bounding = scope.bounding
    chooses = bounding.max_rows is not None or (bounding.max_groups is not None and scope.groups)
    return scope.schema.unit is not None and bool(chooses) and scope.per_unit is None


def build_statements(scope: RowScope, asked: Sequence[Measure], tables: Tables) -> list[Statement]:
    """One statement for all measures but those that group by values, and one for each of these."""
    if scope.groups and scope.keys is None:  # their order and number would be the data's
        raise ParameterError("Measures of groups need the keys of the groups. List them.")
    scope, tables = as_table_of_units(scope, tables)
    numbered = list(enumerate(asked))
    plain = [pair for pair in numbered if not isinstance(pair[1], ALONE)]
    cells = [[pair] for pair in numbered if isinstance(pair[1], ALONE)]
    lots = [plain, *cells] if plain else cells
    return [_Builder(scope, lot, tables).all_keys() for lot in lots]


def build_discovery(scope: RowScope, tables: Tables) -> exp.Select:
    """All groups that there are, with their number of units."""
    scope, tables = as_table_of_units(scope, tables)
    return _Builder(scope, [(0, measures.DistinctUnits())], tables).totals()


class _Builder:
    def __init__(
        self, scope: RowScope, numbered: Sequence[tuple[int, Measure]], tables: Tables
    ) -> None:
        asked = self._measures = [measure for _, measure in numbered]
        expressions = [expression for measure in asked for expression in looked_at(measure)]
        self._rows = ScopeRows(scope, expressions, tables)
        self._mark = self._rows.mark
        self._bounding, self._reads_again = scope.bounding, tables.dialect.reads_again
        self._has_unit = scope.schema.unit is not None
        bounded = self._bounding.max_groups is not None and bool(scope.groups)
        self._paired = self._has_unit and (bounded or self._bounding.clip)
        self._clipped = self._paired and self._bounding.clip
        self._keys = [f"{self._mark}key{number}" for number in range(len(scope.groups))]
        self._missing = _may_be_missing(scope, self._keys)
        self._sums: list[Sql] = []
        self._numbers: dict[Sql, int] = {}
        grids = [m for m in asked[::-1] if isinstance(m, GridSum) and m.power == 1]
        self._on_grid = {repr(grid.of): grid for grid in grids}
        self._places: dict[tuple[str, int, int, int], Term] = {}
        self._together: dict[str, list[Term]] = {}
        self._distinct = any(isinstance(measure, measures.DistinctValues) for measure in asked)
        self._cell = self._read_cell()
        self._figures = tuple(
            Figure(number, measure, self._columns_of(measure), self._clipped)
            for number, measure in numbered
        )

    def all_keys(self) -> Statement:
        """One row for each key, or for each key and cell that is not empty."""
        totals = self.totals(listed=self._paired)
        if not self._keys:
            return Statement(totals, self._figures, grouped=False)
        keys = syntax.rename(syntax.table(KEYS), "keys")
        columns = [syntax.column(NUMBER, "keys")]
        columns += [syntax.column(name, "totals") for name in self._result_names()]
        query = syntax.select(columns, keys)
        side = "" if self._cell and not self._distinct else "LEFT"
        on = _same_keys(self._keys, "keys", "totals", missing=self._missing)
        query.append("joins", exp.Join(this=syntax.subquery(totals, "totals"), side=side, on=on))
        return Statement(query, self._figures, grouped=True)

    def totals(self, *, listed: bool = False) -> exp.Select:
        sums = self._of_pairs(listed=listed) if self._paired else self._of_rows()
        return self._values_counted(sums) if self._distinct else sums

    def _values_counted(self, values: exp.Select) -> exp.Select:
        """How many different values each group has, from a row for each group and value."""
        keys = [syntax.column(name) for name in self._keys]
        number = syntax.alias(exp.Count(this=exp.Star()), f"{self._mark}sum0")
        source = syntax.subquery(values, f"{self._mark}values")
        return syntax.group_by(syntax.select([*keys, number], source), keys)

    # Rows

    def _of_rows(self) -> exp.Select:
        counts_units = any(isinstance(m, measures.DistinctUnits) for m in self._measures)
        with_unit = self._has_unit and (self._bounding.max_rows is None or counts_units)
        columns = [*self._by(), *self._named(self._sums)]
        in_a_cell = [syntax.is_present(syntax.column(f"{self._mark}cell"))] if self._cell else []
        rows = self._rows.select(with_unit=with_unit, bounded=self._bounded())
        query = syntax.select(columns, rows, where=in_a_cell)
        return syntax.group_by(query, self._by())

    def _bounded(self) -> list[Sql]:
        """Rows that have a unit, and not too many of them; a row without a unit has no rank."""
        if not self._has_unit:
            return []
        if self._paired or self._bounding.max_rows is None:
            return [syntax.is_present(self._rows.unit)]
        limit = syntax.whole(self._bounding.max_rows)
        return [syntax.operation(exp.LTE, self._rows.rank, limit)]

    def _by(self) -> list[Sql]:
        cells = [f"{self._mark}cell"] if self._cell else []
        return [syntax.column(name) for name in (*self._keys, *cells)]

    def _named(self, sums: Sequence[Sql]) -> list[Sql]:
        return [syntax.alias(sql, f"{self._mark}sum{number}") for number, sql in enumerate(sums)]

    def _result_names(self) -> list[str]:
        cells = [f"{self._mark}cell"] if self._cell and not self._distinct else []
        return [*cells, *(f"{self._mark}sum{number}" for number in range(len(self._sums)))]

    # Pairs of a unit and a group

    def _of_pairs(self, *, listed: bool) -> exp.Select:
        bounds_rows = self._bounding.max_rows is not None
        at_once = self._cell or not self._reads_again
        pairs = self._pairs(turns=bounds_rows and at_once)
        if listed and self._keys:
            pairs = self._listed(pairs)
        where: list[Sql] = []
        if self._bounding.max_groups is not None and self._keys:
            pairs = self._placed(pairs)
            limit = syntax.whole(self._bounding.max_groups)
            where.append(syntax.operation(exp.LTE, syntax.column(f"{self._mark}place"), limit))
        if self._cell:
            where.append(syntax.is_present(syntax.column(f"{self._mark}cell")))
        sums = [exp.Sum(this=self._of_pair(number)) for number in range(len(self._sums))]
        columns = [*self._by(), *self._named(sums)]
        source = syntax.subquery(pairs, f"{self._mark}pairs kept")
        if bounds_rows and not at_once:
            chosen = syntax.select([exp.Star()], source, where=where)
            source, where = self._few_rows(chosen), []
        return syntax.group_by(syntax.select(columns, source, where=where), self._by())

    def _few_rows(self, chosen: exp.Select) -> Sql:
        """Pairs with few rows as they are; only those with more have their rows put in order."""
        name, limit = f"{self._mark}chosen", syntax.whole(self._bounding.max_rows or 0)
        rows, pairs = syntax.column(f"{self._mark}rows"), syntax.table(name)
        unit = f"{self._mark}unit"
        names = [unit, *self._keys, *self._result_names()]
        columns = [syntax.column(column) for column in names]
        light = syntax.select(columns, pairs, where=[syntax.operation(exp.LTE, rows, limit)])
        by = [syntax.column(column) for column in (unit, *self._keys)]
        many = syntax.select(by, pairs, where=[syntax.operation(exp.GT, rows, limit)])
        heavy = self._pairs(turns=True, only=many)
        both = exp.Union(this=light, expression=heavy, distinct=False)
        return syntax.subquery(syntax.with_table(both, chosen, name), f"{self._mark}kept")

    def _pairs(self, *, turns: bool, only: exp.Select | None = None) -> exp.Select:
        by = [self._rows.unit, *self._by()]
        columns = [*by, *self._named(self._sums)]
        source = self._rows.select(with_unit=True, bounded=self._bounded())
        where: list[Sql] = []
        if turns:
            limit, turn = self._bounding.max_rows or 0, syntax.column(f"{self._mark}turn")
            source = self._turns(source, only)
            where = [syntax.operation(exp.LTE, turn, syntax.whole(limit))]
        if only is None:
            columns.append(syntax.alias(exp.Count(this=exp.Star()), f"{self._mark}rows"))
            if self._bounding.max_groups is not None and self._keys:
                first = exp.Min(this=self._rows.rank)
                columns.append(syntax.alias(first, f"{self._mark}first"))
        return syntax.group_by(syntax.select(columns, source, where=where), by)

    def _turns(self, source: Sql, only: exp.Select | None) -> Sql:
        """Rows (of some pairs only) with their place among those of their unit and group."""
        by = [self._rows.unit, *(syntax.column(name) for name in self._keys)]
        rows = syntax.select([exp.Star()], source)
        if only is not None:
            rows = _semi_join(rows, only, [f"{self._mark}unit"], missing=self._keys)
        turn = syntax.window(exp.RowNumber(), self._rows.rank, partition=by)
        columns = [exp.Star(), syntax.alias(turn, f"{self._mark}turn")]
        chosen = syntax.subquery(rows, f"{self._mark}some")
        return syntax.subquery(syntax.select(columns, chosen), f"{self._mark}turns")

    def _listed(self, pairs: exp.Select) -> exp.Select:
        everything = exp.Column(this=exp.Star(), table=exp.to_identifier("pairs", quoted=True))
        query = syntax.select([everything], syntax.subquery(pairs, "pairs"))
        keys = syntax.rename(syntax.table(KEYS), "listed")
        on = _same_keys(self._keys, "listed", "pairs", missing=self._missing)
        query.append("joins", exp.Join(this=keys, kind="INNER", on=on))
        return query

    def _placed(self, pairs: exp.Select) -> exp.Select:
        """The pairs with the place of their group among those of their unit."""
        first = syntax.column(f"{self._mark}first")
        if self._cell:  # there is a row for each cell: the group's first is the smallest
            by = [self._rows.unit, *(syntax.column(name) for name in self._keys)]
            name = f"{self._mark}first of all"
            least = syntax.alias(syntax.window(exp.Min(this=first), partition=by), name)
            source = syntax.subquery(pairs, f"{self._mark}cells")
            pairs, first = syntax.select([exp.Star(), least], source), syntax.column(name)
        place = syntax.window(exp.DenseRank(), first, partition=[self._rows.unit])
        columns = [exp.Star(), syntax.alias(place, f"{self._mark}place")]
        return syntax.select(columns, syntax.subquery(pairs, f"{self._mark}pairs"))

    def _of_pair(self, number: int) -> Sql:
        """What a pair adds: its own sum, or 1 for a unit, or its clipped total."""
        column = syntax.column(f"{self._mark}sum{number}")
        kind = [figure.measure for figure in self._figures if figure.columns[0] == number]
        match kind[0] if kind else None:
            case measures.DistinctUnits():
                return syntax.whole(1)
            case measures.Rows() if self._clipped:
                return syntax.whole(1)
            case measures.RowsWith() if self._clipped:
                return syntax.call("LEAST", column, syntax.whole(1))
            case GridSum() as grid if self._clipped:
                return _clip(column, grid)
            case _:
                return column

    # What is added up

    def _columns_of(self, measure: Measure) -> tuple[int, ...]:
        match measure:
            case measures.Rows() | measures.CellCounts() | measures.DistinctValues():
                return (self._add(exp.Count(this=exp.Star())),)
            case measures.DistinctUnits():
                return (self._add(self._units()),)
            case measures.RowsWith(of):
                return (self._add(exp.Count(this=self._presence(of))),)
            case GridSum():
                return self._grid_columns(measure)
            case measures.ProductSum():
                return (self._add(self._product(measure)),)

    def _units(self) -> Sql:
        if not self._has_unit or self._paired:
            return exp.Count(this=exp.Star())
        return exp.Count(this=exp.Distinct(expressions=[self._rows.unit]))

    def _grid_columns(self, grid: GridSum) -> tuple[int, ...]:
        where = self._place(grid)
        if grid.power == 2 and not self._clipped:
            squared = amounts.square(where, self._rows.levels)
            return (self._add(self._total(squared.sql, amounts.widest(grid) ** 2)),)
        largest = max(abs(grid.low), abs(grid.high)) if self._clipped else amounts.widest(grid)
        total = self._add(self._total(where.sql, largest))
        return (total,) if self._clipped else (total, self._add(exp.Count(this=where.sql)))

    def _product(self, wanted: measures.ProductSum) -> Sql:
        if self._clipped:
            raise UnsupportedQuery(
                "A clipped total has no product with another: it is made of several values."
                " Bound the rows of a unit instead: max_rows=."
            )
        key = repr(wanted.places)
        if key not in self._together:
            places = [self._place(grid) for grid in wanted.places]
            self._together[key] = amounts.where_all_are(places, self._rows.levels)
        factors = self._together[key]
        if not any(wanted.powers):
            return exp.Count(this=factors[0].sql)
        value = amounts.product(factors, wanted)
        if wanted.largest < amounts.LARGEST_LONG:
            return self._total(value, wanted.largest)
        return exp.Sum(this=value)

    def _total(self, of: Sql, most: int) -> Sql:
        return self._rows.levels.dialect.total(of, most)

    def _presence(self, of: Expression) -> Sql:
        """NULL where the expression is; its offset on a grid, if that is computed anyway."""
        grid = self._on_grid.get(repr(of))
        return self._rows.value(of).sql if grid is None else self._place(grid).sql

    def _place(self, grid: GridSum) -> Term:
        """The place on a grid (its offset, unless clipped) as a column, once for each grid."""
        key = (repr(grid.of), grid.low, grid.high, grid.shift)
        if key not in self._places:
            levels, make = self._rows.levels, amounts.place if self._clipped else amounts.offset
            self._places[key] = levels.name(make(self._rows.term(grid.of), grid, levels))
        return self._places[key]

    def _add(self, sql: Sql) -> int:
        """The number of the sum; a pair's columns are never shared, since each is treated alone."""
        if not self._paired and sql in self._numbers:
            return self._numbers[sql]
        self._numbers[sql] = len(self._sums)
        self._sums.append(sql)
        return len(self._sums) - 1

    def _read_cell(self) -> bool:
        cells = [measure for measure in self._measures if isinstance(measure, ALONE)]
        if cells and self._clipped:
            raise UnsupportedQuery(
                "A clipped total has no place in a histogram: it is made of several values."
                " Bound the rows of a unit instead: max_rows=."
            )
        for measure in cells:
            levels, rows = self._rows.levels, self._rows
            if isinstance(measure, measures.CellCounts):
                cell = amounts.cell(rows.term(measure.of), measure, levels)
            else:
                cell = rows.value(measure.of)
            levels.name(cell, f"{self._mark}cell")
        return bool(cells)


def _clip(total: Sql, grid: GridSum) -> Sql:
    """What a unit's own total adds, clipped to one row's range; NULL stays NULL."""
    low, high = syntax.whole(grid.low), syntax.whole(grid.high)
    below = (syntax.operation(exp.LT, total, low), low)
    above = (syntax.operation(exp.GT, total, high), high)
    clipped = syntax.cast_to(syntax.case(below, above, otherwise=total), BIGINT)
    if grid.power == 1:
        return syntax.operation(exp.Sub, clipped, low)
    offset = syntax.operation(exp.Sub, clipped, syntax.whole((grid.low + grid.high) // 2))
    return syntax.operation(exp.Mul, offset, offset)


def _semi_join(
    rows: exp.Select, only: exp.Select, names: Sequence[str], *, missing: Sequence[str]
) -> exp.Select:
    """The rows whose columns of these names, and of those that may be NULL, are in another."""
    query = syntax.select([exp.Star()], syntax.subquery(rows, "rows"))
    on = _same_keys([*names, *missing], "rows", "only", missing=missing)
    query.append("joins", exp.Join(this=syntax.subquery(only, "only"), kind="SEMI", on=on))
    return query


def _may_be_missing(scope: RowScope, names: Sequence[str]) -> list[str]:
    """The columns of the keys in which a listed key is NULL: what is listed, not what is there."""
    keys = scope.keys or ()
    return [name for number, name in enumerate(names) if any(key[number] is None for key in keys)]


def _same_keys(names: Sequence[str], left: str, right: str, *, missing: Sequence[str]) -> Sql:
    """Equality; of those columns that may be NULL on both sides also of NULL with itself."""
    kinds = [exp.NullSafeEQ if name in missing else exp.EQ for name in names]
    sides = [(syntax.column(name, left), syntax.column(name, right)) for name in names]
    pairs = [syntax.operation(kind, *both) for kind, both in zip(kinds, sides, strict=True)]
    return syntax.join_conditions(exp.And, pairs)
