"""Builds SQL statements from a scope and measures; their results are whole numbers.

A row is added up with its weight (`bounding`). Where groups are bounded or totals clipped, rows are
first added up for each unit and group ("pairs"), and the pairs are weighed. Different values and
keys to be discovered are cut instead: a weight does not bound how many a unit has.

  Theorem.  What a unit adds to the results depends on that unit's rows alone, and adds up to no
  more than `measures` says.
    Proven:   docs/explanation/proofs/weights.md: each window is partitioned by the unit, and each
              GROUP BY below it has the unit among its keys
    Tested:   tests/engines/test_engine_laws.py, against a slow evaluation in Python

Keys stand in a table of their own and are joined last (to pairs: before groups are counted, so that
unlisted groups take nobody's place).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from letalone.engines.core import amounts, measures, syntax
from letalone.engines.core.bounding import Weigher, keep_first
from letalone.engines.core.emitting import is_one_of, number_value
from letalone.engines.core.measures import Exact, GridSum, Measure, RowScope, looked_at
from letalone.engines.core.relations_of_units import as_table_of_units
from letalone.engines.core.rows import PlaceOnGrid, ScopeRows, Tables, place_on_grid
from letalone.engines.core.stored_types import with_one_zero
from letalone.engines.core.syntax import BIGINT, HUGEINT, Sql
from letalone.engines.core.terms import SqlTerm
from letalone.errors import ParameterError, UnsupportedQuery
from letalone.plans.clauses import Bounding
from letalone.plans.expressions import Expression
from letalone.plans.types import Type

KEYS = "letalone_keys"
NUMBER = "number"  # the column of the keys that says which key it is
# Grouped by a value, too, so each has a statement of its own.
LISTED = (measures.CellCounts, measures.ValueCounts)
ALONE = (*LISTED, measures.DistinctValues)
Numbered = list[tuple[int, Measure]]


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure, and the columns of the result that make its value.

    A number of rows is one column, or all rows and those in which something is missing.
    factor: what a whole row counts, where the statement has not multiplied with it.
    """

    number: int  # of the measure among those that were asked for
    measure: Measure
    columns: tuple[int, ...]
    clipped: bool
    factor: int

    def value(self, row: Sequence[int | None]) -> int:
        first, *rest = (row[column] or 0 for column in self.columns)
        match self.measure:
            case GridSum(power=1) as grid if not self.clipped:
                rows = rest[0] - sum(rest[1:])
                return self.factor * (first + (amounts.middle(grid) - grid.low) * rows)
            case _:
                return self.factor * (first - sum(rest))


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL, and how to read it. Result columns: the key's number, the cell (if any), sums."""

    sql: exp.Select
    figures: tuple[Figure, ...]
    grouped: bool

    def read(self, rows: Sequence[Sequence[int | None]], keys: int) -> list[Exact]:
        """The values of each measure, for each key; 0 where the result has no row."""
        numbered = rows if self.grouped else [(0, *row) for row in rows]
        match self.figures:
            case (Figure(measure=measures.CellCounts() | measures.ValueCounts() as listed) as one,):
                cells = [[0] * listed.count for _ in range(keys)]
                for key, number, rows_in_it in numbered:
                    cells[key or 0][number or 0] += one.factor * (rows_in_it or 0)
                return [cells]
            case figures:
                values = [[0] * keys for _ in figures]
                for key, *sums in numbered:
                    for exact, figure in zip(values, figures, strict=True):
                        exact[key or 0] = figure.value(sums)
                return list(values)


def counts_rows(scope: RowScope) -> bool:
    """Whether a row's weight depends on how many rows its unit has, in whatever group."""
    has_unit = scope.schema.unit is not None and scope.per_unit is None
    return has_unit and scope.bounding.max_rows is not None and not _is_paired(scope)


def build_statements(scope: RowScope, asked: Sequence[Measure], tables: Tables) -> list[Statement]:
    """One statement for all measures but those that group by values, and one for each of these."""
    if scope.groups and scope.keys is None:  # their order and number would be the data's
        raise ParameterError("Measures of groups need the keys of the groups. List them.")
    scope, tables = as_table_of_units(scope, tables)
    numbered = list(enumerate(asked))
    cells = [[pair] for pair in numbered if isinstance(pair[1], ALONE)]
    plain = [pair for pair in numbered if not isinstance(pair[1], ALONE)]
    units: Numbered = []
    if _weighs_units(scope):
        units = [pair for pair in plain if isinstance(pair[1], measures.DistinctUnits)]
        plain = [pair for pair in plain if pair not in units]
    built = [_Builder(scope, lot, tables).all_keys() for lot in (plain, *cells) if lot]
    by_pairs = replace(scope, bounding=Bounding(max_groups=scope.most_groups))
    return [*built, *([_Builder(by_pairs, units, tables).all_keys()] if units else [])]


def build_discovery(scope: RowScope, tables: Tables) -> exp.Select:
    """All groups that there are, with their number of units."""
    scope, tables = as_table_of_units(scope, tables)
    return _Builder(scope, [(0, measures.DistinctUnits())], tables).discovered()


def _is_paired(scope: RowScope) -> bool:
    """Whether rows are first added up for each unit and group."""
    bounds_groups = scope.bounding.max_groups is not None and bool(scope.groups)
    return scope.schema.unit is not None and (bounds_groups or scope.bounding.clip)


def _weighs_units(scope: RowScope) -> bool:
    """Whether numbers of units need pairs where sums of rows do not."""
    limit, keys = scope.most_groups, len(scope.keys or ())
    has_few = limit is not None and limit < keys
    return (
        bool(scope.groups) and scope.schema.unit is not None and has_few and not _is_paired(scope)
    )


class _Builder:
    def __init__(self, scope: RowScope, numbered: Numbered, tables: Tables) -> None:
        self._measures = [measure for _, measure in numbered]
        expressions = [part for measure in self._measures for part in looked_at(measure)]
        self._rows = ScopeRows(scope, expressions, tables)
        self._mark, self._scope, self._tables = self._rows.mark, scope, tables
        self._weigher = Weigher(scope.lattice, tables.dialect)
        self._has_unit = scope.schema.unit is not None
        self._paired = _is_paired(scope)
        self._clipped = self._paired and scope.bounding.clip
        self._distinct = any(isinstance(m, measures.DistinctValues) for m in self._measures)
        self._limit = None if tables.once or self._clipped else scope.bounding.max_rows
        # Rows have a weight of their own; pairs have theirs when they are added up.
        weighed = self._has_unit and not self._paired and self._limit is not None
        self._weight = self._rows.weight if weighed and not self._distinct else None
        if self._weight is not None and tables.number is not None:
            share = self._weigher.share(self._rows.number, self._limit or 0)
            self._rows.levels.name(SqlTerm(share, Type.INTEGER), self._weight.name)
        self._keys = [f"{self._mark}key{number}" for number in range(len(scope.groups))]
        self._missing = _may_be_missing(scope, self._keys)
        self._sums: list[Sql] = []
        self._numbers: dict[Sql, int] = {}
        grids = [m for m in self._measures[::-1] if isinstance(m, GridSum) and m.power == 1]
        self._on_grid = {repr(grid.of): grid for grid in grids}
        self._places: dict[PlaceOnGrid, SqlTerm] = {}
        self._together: dict[str, list[SqlTerm]] = {}
        self._cell_type = Type.INTEGER
        self._cell = self._read_cell()
        self._figures = tuple(self._figure(*pair) for pair in numbered)

    def _figure(self, number: int, measure: Measure) -> Figure:
        of_units = isinstance(measure, measures.DistinctUnits) and not self._paired
        counted = self._distinct or of_units
        weighs = self._weight is not None or (self._paired and self._pair_weights())
        factor = 1 if weighs and not counted else self._scope.lattice
        return Figure(number, measure, self._columns_of(measure), self._clipped, factor)

    def all_keys(self) -> Statement:
        """One row for each key, or for each key and cell that is not empty."""
        totals = self._totals()
        if not self._keys:
            return Statement(self._numbered(totals), self._figures, grouped=False)
        keys = syntax.rename(syntax.table(KEYS), "keys")
        columns = [syntax.column(NUMBER, "keys")]
        columns += self._results()
        query = syntax.select(columns, keys)
        side = "" if self._cell and not self._distinct else "LEFT"
        on = _same_keys(self._keys, "keys", "totals", missing=self._missing)
        query.append("joins", exp.Join(this=syntax.subquery(totals, "totals"), side=side, on=on))
        return Statement(query, self._figures, grouped=True)

    def discovered(self) -> exp.Select:
        """The groups of all units, each unit in so many at most, with their number of units."""
        limit = self._scope.most_key_groups
        pairs = self._different(self._key_columns)
        if self._has_unit and limit is not None and not self._tables.once:
            pairs = self._keep_first(pairs, limit, parts=self._key_terms)
        number = syntax.alias(exp.Count(this=exp.Star()), f"{self._mark}sum0")
        source = syntax.subquery(pairs, f"{self._mark}pairs")
        columns = self._key_columns
        return syntax.group_by(syntax.select([*columns, number], source), self._key_columns)

    def _totals(self) -> exp.Select:
        if self._distinct:
            return self._values_counted()
        return self._of_pairs() if self._paired else self._of_rows()

    @property
    def _key_columns(self) -> list[Sql]:
        return [syntax.column(name) for name in self._keys]

    @property
    def _key_terms(self) -> list[SqlTerm]:
        kinds = [group.type.of_keys for group in self._scope.groups]
        return [SqlTerm(*pair) for pair in zip(self._key_columns, kinds, strict=True)]

    @property
    def _cell_column(self) -> Sql:
        return syntax.column(f"{self._mark}cell")

    # Cuts

    def _values_counted(self) -> exp.Select:
        """How many different values each group has, of those that a unit may count with."""
        parts = [*self._key_columns, self._cell_column]
        values = self._different(parts)
        if self._has_unit:
            values = self._cut_values(self._listed(values) if self._paired else values)
        once = syntax.group_by(
            syntax.select(parts, syntax.subquery(values, f"{self._mark}kept")), parts
        )
        number = syntax.alias(exp.Count(this=exp.Star()), f"{self._mark}sum0")
        source = syntax.subquery(once, f"{self._mark}values")
        query = syntax.select([*self._key_columns, number], source)
        return syntax.group_by(query, self._key_columns)

    def _cut_values(self, values: exp.Select) -> exp.Select:
        rows, groups = self._scope.bounding.max_rows, self._scope.bounding.max_groups
        keys, cell = self._key_terms, SqlTerm(self._cell_column, self._cell_type)
        if not self._paired:
            return values if rows is None else self._keep_first(values, rows, parts=[*keys, cell])
        if groups is not None and keys:
            values = self._keep_first(values, groups, parts=keys)
        return values if rows is None else self._keep_first(values, rows, parts=[cell], by=keys)

    def _different(self, parts: Sequence[Sql]) -> exp.Select:
        """The different pairs of a unit and these parts."""
        unit = [self._rows.unit] if self._has_unit else []
        where = [syntax.is_present(self._cell_column)] if self._cell else []
        rows = self._rows.select(with_unit=self._has_unit)
        if not unit:  # each row is one
            return syntax.select(list(parts), rows, where=where)
        return syntax.group_by(syntax.select([*unit, *parts], rows, where=where), [*unit, *parts])

    def _keep_first(
        self, rows: exp.Select, most: int, *, parts: Sequence[SqlTerm], by: Sequence[SqlTerm] = ()
    ) -> exp.Select:
        mark = f"{self._mark}{len(by)}"
        return keep_first(
            rows,
            most,
            unit=self._rows.unit,
            unit_text=self._rows.unit_text,
            by=by,
            parts=parts,
            mark=mark,
            dialect=self._tables.dialect,
        )

    # Rows

    def _of_rows(self) -> exp.Select:
        columns = [*self._by(), *self._named(self._sums)]
        in_a_cell = [syntax.is_present(self._cell_column)] if self._cell else []
        query = syntax.select(columns, self._weighed_rows(), where=in_a_cell)
        return syntax.group_by(query, self._by())

    def _weighed_rows(self) -> Sql:
        """The rows with their weight, which stands beside them, is made of a number that does, or
        is computed here."""
        if self._weight is None:
            return self._rows.select(with_unit=self._has_unit)
        uses_unit = any(sql.find(exp.Distinct) for sql in self._sums)
        if self._tables.weights is not None:
            return self._rows.select(with_unit=uses_unit, weighed=True)
        if self._tables.number is not None:
            only = [*self._used(), self._weight.name]
            return self._rows.select(with_unit=uses_unit, only=only)
        only = [*self._used(), self._rows.unit.name] if self._cell else None
        rows = self._rows.select(with_unit=True, only=only)
        number = syntax.window(exp.Count(this=exp.Star()), partition=[self._rows.unit])
        weight = self._weigher.share(number, self._limit or 0)
        named = syntax.alias(weight, self._weight.name)
        columns = [syntax.column(name) for name in self._used()]
        return syntax.subquery(syntax.select([*columns, named], rows), f"{self._mark}weighed")

    def _used(self) -> list[str]:
        """The columns that sums and groups mention."""
        mentioned = [c.name for sql in (*self._by(), *self._sums) for c in sql.find_all(exp.Column)]
        return [name for name in dict.fromkeys(mentioned) if name != f"{self._mark}weight"]

    def _by(self) -> list[Sql]:
        return [*self._key_columns, *([self._cell_column] if self._cell else [])]

    def _named(self, sums: Sequence[Sql]) -> list[Sql]:
        return [syntax.alias(sql, f"{self._mark}sum{number}") for number, sql in enumerate(sums)]

    def _results(self) -> list[Sql]:
        """The cell's number, if there are any, and the sums."""
        names = [f"{self._mark}sum{number}" for number in range(len(self._sums))]
        sums = [syntax.column(name, "totals") for name in names]
        if not self._cell or self._distinct:
            return sums
        cell = syntax.column(f"{self._mark}cell", "totals")
        match self._measures:
            case [measures.ValueCounts(values=values)]:
                return [number_value(SqlTerm(cell, self._cell_type), values), *sums]
            case _:
                return [cell, *sums]

    def _numbered(self, totals: exp.Select) -> exp.Select:
        """Totals of values with the numbers of the values: found once for each, not in each row."""
        if not isinstance(self._measures[0], measures.ValueCounts):
            return totals
        return syntax.select(self._results(), syntax.subquery(totals, "totals"))

    # Pairs of a unit and a group

    def _of_pairs(self) -> exp.Select:
        pairs = self._with_weights(self._listed(self._pairs()))
        where = [syntax.is_present(self._cell_column)] if self._cell else []
        sums = [exp.Sum(this=self._of_pair(number)) for number in range(len(self._sums))]
        source = syntax.subquery(pairs, f"{self._mark}pairs kept")
        query = syntax.select([*self._by(), *self._named(sums)], source, where=where)
        return syntax.group_by(query, self._by())

    def _pairs(self) -> exp.Select:
        by = [self._rows.unit, *self._by()]
        rows = syntax.alias(exp.Count(this=exp.Star()), f"{self._mark}rows")
        only = [*self._used(), self._rows.unit.name]
        source = self._rows.select(with_unit=True, only=only)
        return syntax.group_by(syntax.select([*by, *self._named(self._sums), rows], source), by)

    def _listed(self, pairs: exp.Select) -> exp.Select:
        if not self._keys or self._scope.keys is None:
            return pairs
        everything = exp.Column(this=exp.Star(), table=exp.to_identifier("pairs", quoted=True))
        query = syntax.select([everything], syntax.subquery(pairs, "pairs"))
        keys = syntax.rename(syntax.table(KEYS), "listed")
        on = _same_keys(self._keys, "listed", "pairs", missing=self._missing)
        query.append("joins", exp.Join(this=keys, kind="INNER", on=on))
        return query

    def _with_weights(self, pairs: exp.Select) -> exp.Select:
        """The pairs with the weights of their group and of their rows, as far as they differ."""
        rows = syntax.column(f"{self._mark}rows")
        pair = [self._rows.unit, *self._key_columns]
        groups: Sql = exp.Count(this=exp.Star())
        if self._cell:  # there is a row for each cell: the first of a pair stands for it
            first = syntax.window(exp.RowNumber(), self._cell_column, partition=pair)
            in_pair = syntax.cast_to(syntax.window(exp.Sum(this=rows), partition=pair), BIGINT)
            added = {f"{self._mark}first": first, f"{self._mark}rows in all": in_pair}
            pairs = self._beside(pairs, added, "cells")
            rows = syntax.column(f"{self._mark}rows in all")
            is_first = syntax.operation(
                exp.EQ, syntax.column(f"{self._mark}first"), syntax.whole(1)
            )
            groups = exp.Count(this=syntax.case((is_first, syntax.whole(1))))
        weights: dict[str, Sql] = {}
        if self._bounds_groups():
            number = syntax.window(groups, partition=[self._rows.unit])
            limit = self._scope.bounding.max_groups or 0
            weights[self._pair_weight] = self._weigher.share(number, limit, self._scope.norm)
        if self._limit is not None:
            weights[self._row_weight] = self._weigher.share(rows, self._limit)
        return self._beside(pairs, weights, "pairs") if weights else pairs

    def _beside(self, pairs: exp.Select, added: dict[str, Sql], name: str) -> exp.Select:
        columns = [syntax.alias(sql, column) for column, sql in added.items()]
        source = syntax.subquery(pairs, f"{self._mark}{name}")
        return syntax.select([exp.Star(), *columns], source)

    @property
    def _pair_weight(self) -> str:
        return f"{self._mark}pair weight"

    @property
    def _row_weight(self) -> str:
        return f"{self._mark}row weight"

    def _bounds_groups(self) -> bool:
        """Whether a unit may be in more of the listed groups than may count."""
        limit, keys = self._scope.bounding.max_groups, self._scope.keys
        has_more = limit is not None and (keys is None or limit < len(keys))
        return bool(self._keys) and has_more and not self._tables.once

    def _pair_weights(self) -> bool:
        return self._bounds_groups() or self._limit is not None

    def _of_pair(self, number: int) -> Sql:
        """What a pair adds: its own sum, or 1 for a unit, or its clipped total, with its weight."""
        column = syntax.column(f"{self._mark}sum{number}")
        kind = [figure.measure for figure in self._figures if number in figure.columns]
        of_group = syntax.column(self._pair_weight) if self._bounds_groups() else None
        of_row = syntax.column(self._row_weight) if self._limit is not None else None
        both = self._weigher.both(of_row, of_group)
        match kind[0]:
            case measures.DistinctUnits():
                person = syntax.whole(1 if both is None else self._scope.lattice)
                return person if of_group is None else of_group
            case measures.Rows() if self._clipped:
                return syntax.whole(1) if both is None else both
            case measures.RowsWith() if self._clipped:
                return self._times(syntax.call("LEAST", column, syntax.whole(1)), both)
            case GridSum() as grid if self._clipped:
                narrow = self._tables.dialect.narrow(column)
                return self._times(_clip(narrow, grid), both)
            case _:
                is_count = isinstance(self._sums[number], exp.Count)
                return self._times(column, both, wide=not is_count)

    def _times(self, amount: Sql, weight: Sql | None, *, wide: bool = True) -> Sql:
        """An amount with its weight; of 128 bits, as both may have 64. A number of rows has less
        than 2^43, and a weight 2^20.
        """
        if weight is None:
            return amount
        amount = syntax.cast_to(amount, HUGEINT) if wide else amount
        return syntax.operation(exp.Mul, amount, weight)

    # What is added up

    def _columns_of(self, measure: Measure) -> tuple[int, ...]:
        match measure:
            case measures.Rows() | measures.DistinctValues():
                return (self._add(self._all_rows()),)
            case measures.CellCounts() | measures.ValueCounts():
                return (self._add(self._all_rows()),)
            case measures.DistinctUnits():
                return (self._add(self._units()),)
            case measures.RowsWith(of):
                return self._rows_with(self._presence(of))
            case GridSum():
                return self._grid_columns(measure)
            case measures.ProductSum():
                return self._product(measure)

    def _all_rows(self) -> Sql:
        """The weights of all rows; their number without weights."""
        if self._weight is None:
            return exp.Count(this=exp.Star())
        return self._total(self._weight.copy(), self._scope.lattice)

    def _rows_with(self, present: Sql) -> tuple[int, ...]:
        """All rows, and those in which something is NULL: few, which costs little to add up."""
        if self._weight is None:
            return (self._add(exp.Count(this=present)),)
        missing = syntax.case((syntax.is_null(present), self._weight.copy()))
        return self._add(self._all_rows()), self._add(self._total(missing, self._scope.lattice))

    def _units(self) -> Sql:
        if not self._has_unit or self._paired:
            return exp.Count(this=exp.Star())
        return exp.Count(this=exp.Distinct(expressions=[self._rows.unit]))

    def _grid_columns(self, grid: GridSum) -> tuple[int, ...]:
        product = self._kept_product(grid)
        if product is not None and grid.power == 1:
            return self._add(self._total(product, amounts.EXACT)), *self._rows_with(product)
        where = self._place(grid)
        if grid.power == 2 and not self._clipped:
            squared = amounts.square(where, self._rows.levels)
            return (self._add(self._sum_of(squared.sql, amounts.widest(grid) ** 2)),)
        if self._clipped:
            return (self._add(self._total(where.sql, max(abs(grid.low), abs(grid.high)))),)
        total = self._add(self._sum_of_offsets(where.sql, amounts.widest(grid)))
        return total, *self._rows_with(where.sql)

    def _sum_of_offsets(self, offset: Sql, most: int) -> Sql:
        dialect, weighed = self._rows.levels.dialect, most * self._scope.lattice
        if self._weight is None or weighed >= amounts.EXACT:
            return self._sum_of(dialect.whole(offset), most)
        return self._total(dialect.weighed(offset, self._weight.copy()), weighed)

    def _product(self, wanted: measures.ProductSum) -> tuple[int, ...]:
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
            return self._rows_with(factors[0].sql)
        return (self._add(self._sum_of(amounts.product(factors, wanted), wanted.largest)),)

    def _sum_of(self, amount: Sql, most: int) -> Sql:
        """The sum of amounts of at most this size with their weights: in 128 bits if it must be."""
        if self._weight is not None:
            weighed = most * self._scope.lattice
            wide = weighed >= amounts.LARGEST_LONG > most
            amount = syntax.cast_to(amount, HUGEINT) if wide else amount
            amount, most = syntax.operation(exp.Mul, amount, self._weight.copy()), weighed
        return self._total(amount, most) if most < amounts.LARGEST_LONG else exp.Sum(this=amount)

    def _total(self, of: Sql, most: int) -> Sql:
        return self._rows.levels.dialect.total(of, most)

    def _presence(self, of: Expression) -> Sql:
        """NULL where the expression is; its offset on a grid, if that is computed anyway."""
        grid = self._on_grid.get(repr(of))
        if grid is None:
            return self._rows.value(of).sql
        product = self._kept_product(grid)
        return self._place(grid).sql if product is None else product

    def _kept_product(self, grid: GridSum) -> Sql | None:
        """A row's offset with its weight, where it stands beside the rows; NULL if its value is
        missing."""
        return None if self._weight is None else self._rows.product(grid)

    def _place(self, grid: GridSum) -> SqlTerm:
        """The place on a grid (its offset, unless clipped) as a column, once for each grid."""
        key = place_on_grid(grid)
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
            elif isinstance(measure, measures.ValueCounts):
                once = levels.name(rows.value(measure.of))
                listed = syntax.case((is_one_of(once, measure.values), once.sql))
                cell = replace(once, sql=listed, simple=False)
            else:
                cell = rows.value(measure.of)
                if cell.type is Type.NUMBER:  # equal values have one spelling
                    once = levels.name(cell)
                    cell = replace(once, sql=with_one_zero(once.sql), simple=False)
            self._cell_type = levels.name(cell, f"{self._mark}cell").type
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
