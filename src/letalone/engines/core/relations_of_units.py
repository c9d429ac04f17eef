"""Makes a relation whose rows are units: one SELECT that has one row for each unit.

What is asked of units is then asked of this relation as of a table whose rows are units of
their own.

Theorem.  The relation has one row for each unit that has a row which the filter keeps. Its
columns depend on these rows alone, not on their order, and no row can make the statement fail.
  Proven:   the GROUP BY has the unit as its only key, and units are compared as they are stored.
            Sums are of whole numbers of at most 2^52 in HUGEINT, which 2^74 rows would not fill;
            counts, extremes and conditions do not depend on the order of rows; of the rows that
            FIRST chooses among, two that nothing tells apart have the same value, and without
            FIRST the smallest value of the same rows is taken. What is cast
            fits: see `_total` and `Dialect.double_of`.
  Tested:   tests/engines/test_units.py, against plain Python, rows shuffled
"""

from dataclasses import replace

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.amounts import place
from letalone.engines.core.dialect import Dialect
from letalone.engines.core.measures import GridSum, RowScope
from letalone.engines.core.rows import PLAIN, ScopeRows, TableRef, Tables
from letalone.engines.core.stored_types import Stored
from letalone.engines.core.syntax import BIGINT, DOUBLE, Sql
from letalone.engines.core.terms import SqlTerm
from letalone.plans.aggregates import features
from letalone.plans.plan import Bounding
from letalone.plans.types import Type

LARGEST_LONG = 2**63 - 1


def as_table_of_units(scope: RowScope, tables: Tables) -> tuple[RowScope, Tables]:
    """The scope as one about a table of units; itself, where its rows are rows."""
    if scope.per_unit is None:
        return scope, tables
    schema = features.rows_schema(scope.schema, scope.per_unit)
    stored = {c.name: Stored(c.name, PLAIN[c.type]) for c in schema.columns}
    before = replace(tables, weights=None)
    rows = _Units(scope, scope.per_unit, before).select()
    units = TableRef(syntax.subquery(rows, "units"), stored)
    about = replace(scope, schema=schema, bounding=Bounding(), per_unit=None)
    return about, replace(before, private=units)


class _Units:
    def __init__(self, scope: RowScope, per_unit: features.PerUnit, tables: Tables) -> None:
        rows = (scope.schema, per_unit.where, per_unit.derived, per_unit.joins)
        inner = RowScope(*rows, groups=(), keys=None, bounding=Bounding())
        made = per_unit.features
        expressions = [part for _, feature in made for part in features.made_of(feature)]
        self._rows, self._dialect = ScopeRows(inner, expressions, tables), tables.dialect
        self._before = features.columns_before(scope.schema, per_unit)
        self._raw: list[Sql] = []
        self._best: list[Sql] = []  # columns beside the rows: what FIRST would look for
        self._places: dict[str, Sql] = {}
        self._columns = [syntax.alias(self._column(feature), name) for name, feature in made]

    def select(self) -> exp.Select:
        unit = self._rows.unit
        raw = [syntax.alias(sql, self._name(number)) for number, sql in enumerate(self._raw)]
        rows = self._rows.select(with_unit=True)
        if self._best:
            best = syntax.select([exp.Star(), *self._best], rows)
            rows = syntax.subquery(best, f"{self._rows.mark}with best")
        grouped = syntax.select(raw, rows)
        made = syntax.subquery(syntax.group_by(grouped, [unit]), f"{self._rows.mark}made")
        return syntax.select(self._columns, made)

    def _column(self, feature: features.Feature) -> Sql:
        match feature:
            case features.UnitCount():
                return self._add(exp.Count(this=exp.Star()))
            case features.UnitTotal():
                total, _, steps = self._sum(feature)
                return _total(total, steps, self._dialect)
            case features.UnitMean():
                return _mean(*self._sum(feature), self._dialect)
            case features.UnitExtreme(of, largest):
                value = self._rows.value(of).sql
                return self._add(exp.Max(this=value) if largest else exp.Min(this=value))
            case features.UnitCondition(of, every):
                yes, no = exp.Boolean(this=True), exp.Boolean(this=False)
                true = syntax.case((self._rows.value(of).sql, yes), otherwise=no)
                return self._add(syntax.call("BOOL_AND" if every else "BOOL_OR", true))
            case features.UnitValue(of, by, last):
                return self._add(self._first(self._rows.value(of), self._rows.value(by), last=last))

    def _first(self, value: SqlTerm, by: SqlTerm, *, last: bool) -> Sql:
        """The value of the row that comes first; of several, the smallest value.

        Without FIRST: the extreme of the order over the unit's rows, and the smallest value where
        the order is that, or missing in all rows of the unit.
        """
        if self._dialect.has_first:
            ordered = [(by.sql, last), (value.sql, False)]  # what is missing comes at the end
            order = [exp.Ordered(this=sql, desc=desc, nulls_first=False) for sql, desc in ordered]
            return syntax.call("FIRST", exp.Order(this=value.sql, expressions=order))
        name = f"{self._rows.mark}best{len(self._best)}"
        extreme = exp.Max(this=by.sql) if last else exp.Min(this=by.sql)
        window = syntax.window(extreme, partition=[self._rows.unit])
        self._best.append(syntax.alias(window, name))
        equal = exp.NullSafeEQ(this=by.sql.copy(), expression=syntax.column(name))
        chosen = syntax.case((exp.Paren(this=equal), value.sql))
        if value.type is Type.BOOLEAN:
            return syntax.call("BOOL_AND", chosen)
        return exp.Min(this=chosen)

    def _sum(
        self, feature: features.UnitTotal | features.UnitMean
    ) -> tuple[Sql, Sql, features.StepGrid]:
        """The columns of a total on its steps and of the number of values, and the steps."""
        steps = features.steps_of(feature, self._before.type_of(feature.of).type)
        grid = GridSum(feature.of, steps.low, steps.high, steps.shift)
        value = self._place(grid)
        largest = max(abs(steps.low), abs(steps.high))
        total = self._add(self._dialect.total(value, largest))
        number = self._add(exp.Count(this=value))
        return total, number, steps

    def _place(self, grid: GridSum) -> Sql:
        """The place of a value on its steps as a column, once for each grid."""
        if (column := self._places.get(repr(grid))) is None:
            levels = self._rows.levels
            column = levels.name(place(self._rows.term(grid.of), grid, levels)).sql
            self._places[repr(grid)] = column
        return column

    def _add(self, sql: Sql) -> Sql:
        """An aggregate as a column, once."""
        if sql not in self._raw:
            self._raw.append(sql)
        return syntax.column(self._name(self._raw.index(sql)))

    def _name(self, number: int) -> str:
        return f"{self._rows.mark}raw{number}"


def _total(total: Sql, steps: features.StepGrid, dialect: Dialect) -> Sql:
    """The total; whole numbers that 64 bits cannot hold become the nearest one that they can."""
    if steps.kind is Type.NUMBER:
        return dialect.scaled(dialect.double_of(total), -steps.shift)
    total = dialect.narrow(total)
    end, start = syntax.whole(LARGEST_LONG), syntax.whole(-LARGEST_LONG)
    above = (syntax.operation(exp.GT, total, end), end)
    below = (syntax.operation(exp.LT, total, start), start)
    return syntax.try_cast(syntax.case(above, below, otherwise=total), BIGINT)


def _mean(total: Sql, number: Sql, steps: features.StepGrid, dialect: Dialect) -> Sql:
    """The mean, within the bounds; NULL where no value is there."""
    mean = syntax.operation(exp.Div, dialect.double_of(total), syntax.cast_to(number, DOUBLE))
    low, high = syntax.double(steps.low), syntax.double(steps.high)
    within = syntax.call("GREATEST", low, syntax.call("LEAST", mean, high))
    has_values = syntax.operation(exp.GT, number, syntax.whole(0))
    return syntax.case((has_values, dialect.scaled(within, -steps.shift)))
