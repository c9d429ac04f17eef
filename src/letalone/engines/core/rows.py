"""Selects the rows of a scope: columns read, public tables joined, filtered.

On DuckDB the weights of rows may stand in a table of their own, in the order of the rows, and are
put beside them by POSITION. Everything that filters stands above that join, and DuckDB leaves it
there.

  Tested:   tests/engines/test_positions.py
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.dialect import Dialect
from letalone.engines.core.emitting import ExpressionEmitter
from letalone.engines.core.measures import GridSum, RowScope
from letalone.engines.core.stored_types import SQL_TYPES, Stored
from letalone.engines.core.syntax import BIGINT, DOUBLE, Sql
from letalone.engines.core.terms import Levels, SqlTerm
from letalone.errors import ParameterError
from letalone.plans.aggregates.features import rows_schema
from letalone.plans.expressions import Expression, column_names
from letalone.plans.keys import EXACT
from letalone.plans.plan import Join, PrivateJoin, PublicJoin
from letalone.plans.schema import Column
from letalone.plans.types import Type

LENT = "letalone_lent_"  # and a digest of the name of the data set that lends
UNIT = "unit"  # the column of what is lent that holds the unit
PLAIN = {kind: str(sql.value) for kind, sql in SQL_TYPES.items()}  # what engines store types as

PlaceOnGrid = tuple[str, int, int, int]


@dataclass(frozen=True, slots=True)
class TableRef:
    """Something to select from, and its columns as they are stored; its name where it has one."""

    sql: Sql
    columns: Mapping[str, Stored]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Tables:
    """What a statement can read: the private table, and public tables by their digest.

    weights: a table with the weight `w` of each row, in the order of the rows; 0 where a row has no
    unit, or the filter drops it. None: statements weigh themselves.
    once: whether no unit has more than one row, by a rule that the engine enforces.
    number: a column of the private table that says how many rows the unit of each row has; then all
    its rows have a unit.
    products: columns of the table of weights, of what each row adds to the sum of a grid; NULL
    where the value is missing.
    """

    private: TableRef
    weights: str | None
    public: Mapping[str, TableRef]
    dialect: Dialect
    once: bool = False
    number: str | None = None
    products: Mapping[PlaceOnGrid, str] = field(default_factory=dict[PlaceOnGrid, str])


class ScopeRows:
    """The rows of a scope, with every expression that is asked of them as a term."""

    def __init__(self, scope: RowScope, expressions: Iterable[Expression], tables: Tables) -> None:
        self.mark = mark_of(scope)
        self.levels = Levels(self.mark, tables.dialect)
        self._scope, self._tables = scope, tables
        where = [] if scope.where is None else [scope.where]
        derived = [expression for _, expression in scope.derived]
        groups = [group.of for group in scope.groups]
        used = [*where, *derived, *groups, *expressions]
        self._names = {name for expression in used for name in column_names(expression)}
        public = [join for join in scope.joins if isinstance(join, PublicJoin)]
        self._names |= {column for join in public for column, _ in join.on}
        self._columns = self._base_columns()
        emit = ExpressionEmitter(self.levels, self._columns)
        self.term, self.value = emit.term, emit.value  # not guarded; NULL where it is missing
        for name, expression in scope.derived:
            self._columns[name] = self.levels.name(self.term(expression))
        self._where = [self.value(condition) for condition in where]
        self.groups = [self._group(number) for number in range(len(scope.groups))]

    @property
    def unit(self) -> Sql:
        return syntax.column(f"{self.mark}unit")

    @property
    def unit_text(self) -> Sql:
        """The unit as text, one for each."""
        stored = _find_column(self._tables.private, self._scope.schema.unit or "")
        return self._tables.dialect.text(stored, self.unit)

    @property
    def weight(self) -> Sql:
        return syntax.column(f"{self.mark}weight")

    @property
    def number(self) -> Sql:
        """How many rows its unit has, where the table has a column of it."""
        return syntax.column(f"{self.mark}n")

    def product(self, grid: GridSum) -> Sql | None:
        """What each row adds to the sum of a grid, where it stands beside the weights."""
        name = self._tables.products.get(place_on_grid(grid))
        return None if name is None else syntax.column(f"{self.mark}{name}")

    def select(
        self,
        *,
        with_unit: bool,
        weighed: bool = False,
        filtered: bool = True,
        only: Sequence[str] | None = None,
    ) -> Sql:
        """The rows that the filter keeps, and that have a unit, as a source of a SELECT.

        weighed: with the weights that stand beside them. Without the unit, rows whose weight is 0
        may be among them. only: what is read of them, if it is worth to compute it once (`Levels`).
        """
        partners = any(isinstance(join, PrivateJoin) for join in self._scope.joins)
        rows = self._base(with_unit=with_unit or partners, weighed=weighed)
        for number, join in enumerate(self._scope.joins):
            rows = self._joined(rows, join, number)
        where = [] if weighed and not with_unit else self._where
        if with_unit:
            where = [SqlTerm(syntax.is_present(self.unit), Type.BOOLEAN), *where]
        rows = self.levels.over(rows, where if filtered else (), only=only)
        return syntax.subquery(rows, f"{self.mark}rows")

    def _group(self, number: int) -> Sql:
        term = self.value(self._scope.groups[number].of)
        if term.type is Type.NUMBER:
            once = self.levels.name(term)
            term = replace(once, sql=whole_key(once.sql), type=Type.INTEGER, simple=False)
        return self.levels.name(term, f"{self.mark}key{number}").sql

    def _base_columns(self) -> dict[str, SqlTerm]:
        columns = [column for column in self._scope.schema.columns if column.name in self._names]
        terms = {column.name: self._private(column) for column in columns}
        for join in self._scope.joins:
            relation = self._other(join)
            terms |= {column.name: self._term(relation, column) for column in join.columns}
        return {n: replace(t, sql=syntax.column(n), simple=True) for n, t in terms.items()}

    def _private(self, column: Column) -> SqlTerm:
        return self._term(self._tables.private, column, f"{self.mark}source")

    def _other(self, join: Join) -> TableRef:
        if isinstance(join, PrivateJoin):
            return partner_relation(join)
        relation = self._tables.public.get(join.table_digest)
        if relation is None:
            raise ParameterError(
                f"The public table {join.name!r} is not here. Join it in this session first."
            )
        return relation

    def _base(self, *, with_unit: bool, weighed: bool) -> exp.Select:
        schema, source = self._scope.schema, f"{self.mark}source"
        used = [column for column in schema.columns if column.name in self._names]
        columns = [syntax.alias(self._private(column).sql, column.name) for column in used]
        if with_unit and schema.unit is not None:
            columns.append(syntax.alias(self._unit_of_row(schema.unit), f"{self.mark}unit"))
        if weighed:
            beside = {"w": "weight"} | {name: name for name in self._tables.products.values()}
            for name, called in beside.items():
                column = syntax.column(name, f"{self.mark}weights")
                columns.append(syntax.alias(column, f"{self.mark}{called}"))
        if self._tables.number is not None:
            number = syntax.column(self._tables.number, source)
            columns.append(syntax.alias(number, f"{self.mark}n"))
        chosen = columns or [syntax.alias(syntax.whole(1), "one")]
        table = syntax.rename(self._tables.private.sql, source)
        rows = self._tables.dialect.read_rows(chosen, table)
        if weighed and self._tables.weights is not None:
            weights = syntax.rename(syntax.table(self._tables.weights), f"{self.mark}weights")
            rows.append("joins", exp.Join(this=weights, method="POSITIONAL"))
        return rows

    def _unit_of_row(self, unit: str) -> Sql:
        column, tables = self._scope.schema.column(unit), self._tables
        return unit_of(tables.private, column, f"{self.mark}source", tables.dialect)

    def _joined(self, rows: exp.Select, join: Join, number: int) -> exp.Select:
        below, beside = f"{self.mark}below{number}", f"{self.mark}public{number}"
        relation = self._other(join)
        is_public = isinstance(join, PublicJoin)
        used = [column for column in join.columns if is_public or column.name in self._names]
        added = [syntax.alias(self._term(relation, c, beside).sql, c.name) for c in used]
        on = syntax.join_conditions(exp.And, self._on(relation, join, (below, beside)))
        everything = exp.Column(this=exp.Star(), table=exp.to_identifier(below, quoted=True))
        query = syntax.select([everything, *added], syntax.subquery(rows, below))
        public = syntax.rename(relation.sql, beside)
        kept = (
            {"side": "LEFT"} if isinstance(join, PublicJoin) and join.outer else {"kind": "INNER"}
        )
        query.append("joins", exp.Join(this=public, on=on, **kept))
        return query

    def _on(self, relation: TableRef, join: Join, names: tuple[str, str]) -> list[Sql]:
        if isinstance(join, PrivateJoin):
            units = (syntax.column(f"{self.mark}unit", names[0]), syntax.column(UNIT, names[1]))
            return [syntax.operation(exp.EQ, *units)]
        return [self._pair(relation, column, other, names) for column, other in join.on]

    def _pair(self, public: TableRef, left: str, right: str, names: tuple[str, str]) -> Sql:
        """Equality of a column with one of a public table, as keys; see `public_tables.py`."""
        stored, column = _find_column(public, right), self._column(left)
        if stored.type.of_keys is not column.type.of_keys or not column.type.is_groupable:
            raise ParameterError(
                f"Column {left!r} is {column.type.value} and {right!r} of the public table is"
                f" {stored.type.value}. Tables are joined on text, whole numbers, dates or truth"
                " values, and the types must be the same. Convert one."
            )
        other = self._term(public, Column(right, stored.type), names[1])
        sides = (replace(self._columns[left], sql=syntax.column(left, names[0])), other)
        return syntax.operation(exp.EQ, *(key_of(side) for side in sides))

    def _term(self, relation: TableRef, column: Column, source: str = "") -> SqlTerm:
        stored = _find_column(relation, column.name)
        named = syntax.column(stored.name, source or None)
        return self._tables.dialect.read(stored, named, column)

    def _column(self, name: str) -> Column:
        for join in self._scope.joins:
            for column in join.columns:
                if column.name == name:
                    return column
        return self._scope.schema.column(name)


def place_on_grid(grid: GridSum) -> PlaceOnGrid:
    """What the place of a row on a grid is made of."""
    return repr(grid.of), grid.low, grid.high, grid.shift


def unit_of(relation: TableRef, column: Column, source: str, dialect: Dialect) -> Sql:
    """The unit of a row: what is stored, never converted, so that no two people become one.

    Zero has one spelling; NULL where it is missing.
    """
    if column.type is Type.OTHER:
        raise ParameterError(
            f"The unit {column.name!r} is a column whose values cannot be distinguished. Choose a"
            " column of text or whole numbers."
        )
    stored = _find_column(relation, column.name)
    return dialect.unit(stored, syntax.column(stored.name, source))


def key_of(term: SqlTerm) -> Sql:
    """A value as a key, to be compared with others."""
    if term.type is not Type.NUMBER:
        return term.sql
    guarded = term.sql if term.finite else syntax.case((syntax.is_finite(term.sql), term.sql))
    return whole_key(guarded)


def whole_key(number: Sql) -> Sql:
    """A number as a key: itself where it is whole and at most 2^53 in size, else NULL.

    NULL where it is NULL; a zero has one sign.
    """
    end, integer = syntax.double(float(EXACT)), syntax.try_cast(number, BIGINT)
    beyond = syntax.operation(exp.GT, syntax.call("ABS", number), end)
    same = syntax.operation(exp.EQ, syntax.cast_to(integer, DOUBLE), number.copy())
    nothing = syntax.cast_to(syntax.NULL.copy(), BIGINT)
    return syntax.case((beyond, nothing), (same, integer.copy()))


def value_of(relation: TableRef, column: Column, source: str, dialect: Dialect) -> Sql:
    """A value as it is declared, for whoever sees a person's rows; NULL for what is no number."""
    stored = _find_column(relation, column.name)
    term = dialect.read(stored, syntax.column(stored.name, source), column)
    if column.type is Type.NUMBER and not term.finite:
        return syntax.case((syntax.is_finite(term.sql), term.sql))
    return term.sql


def partner_relation(join: PrivateJoin) -> TableRef:
    """The one row of each unit of another private table, once it is lent (`partners`)."""
    columns = {c.name: Stored(f"column{n}", PLAIN[c.type]) for n, c in enumerate(join.columns)}
    return TableRef(syntax.table(lent_name(join.name)), columns)


def lent_name(data_set: str) -> str:
    """What the rows that a data set lends are called: a plain name, whatever its own is."""
    return f"{LENT}{sha256(data_set.encode(errors='surrogatepass')).hexdigest()[:32]}"


def _find_column(relation: TableRef, name: str) -> Stored:
    stored = relation.columns.get(name)
    if stored is None:
        raise ParameterError(
            f"Column {name!r} is declared, but the data have no such column. Theirs are:"
            f" {', '.join(list(relation.columns)[:30])}."
        )
    return stored


def mark_of(scope: RowScope) -> str:
    """A beginning that no name of the scope has, for the names that are ours."""
    names = [column.name for column in rows_schema(scope.schema, scope.per_unit).columns]
    return unused_mark(names + [column.name for join in scope.joins for column in join.columns])


def unused_mark(names: Iterable[str]) -> str:
    """A beginning that none of these names has."""
    mark, names = "#", tuple(names)
    while any(name.startswith(mark) for name in names):
        mark += "#"
    return mark
