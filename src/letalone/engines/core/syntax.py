"""Builds SQL: every piece is a syntax tree, and every operation stands in brackets.

sqlglot prints a product of sums without brackets unless they are nodes of their own, so
the operations here put them in. Names are always quoted, text is always a literal node.

  Tested:   tests/engines/test_syntax.py
"""

from collections.abc import Sequence
from datetime import date, datetime
from fractions import Fraction

from sqlglot import exp

from letalone.plans.constants import Value

Sql = exp.Expr
Binary = type[exp.Binary]

NULL = exp.Null()
BOOLEAN, BIGINT, DOUBLE, TEXT, DATE, TIMESTAMP, TIMESTAMPTZ = (
    exp.DType(word)
    for word in ("BOOLEAN", "BIGINT", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP", "TIMESTAMPTZ")
)
HUGEINT = exp.DType("INT128")
SMALL = 2**31  # integers below it are literals of type INTEGER, wider ones are cast


def column(name: str, table: str | None = None) -> Sql:
    """A column."""
    return exp.column(name, table=table, quoted=True)


def table(name: str, *, schema: str | None = None, catalog: str | None = None) -> Sql:
    """A table."""
    parts = [exp.to_identifier(part, quoted=True) for part in (name, schema, catalog) if part]
    return exp.Table(**dict(zip(("this", "db", "catalog"), parts, strict=False)))


def call(function: str, *arguments: Sql) -> Sql:
    """A call of a function by its name."""
    return exp.Anonymous(this=function, expressions=list(arguments))


def option(name: str, value: Sql) -> Sql:
    """A named argument."""
    return exp.Kwarg(this=exp.var(name), expression=value)


def text(value: str) -> Sql:
    """A text literal."""
    return exp.Literal.string(value)


def texts(values: Sequence[str]) -> Sql:
    """A list of text literals."""
    return exp.Array(expressions=[text(value) for value in values])


def whole(value: int) -> Sql:
    """An integer literal of at most 64 bits."""
    literal = _number(str(value))
    return literal if abs(value) < SMALL else cast_to(literal, BIGINT)


def double(value: float) -> Sql:
    """A double literal: with an exponent, since DuckDB reads a plain 0.1 as a decimal."""
    digits = repr(float(value))
    return _number(digits if "e" in digits else digits + "e0")


def _number(digits: str) -> Sql:
    """A number as it is written. sqlglot would write -2.5e0 anew, as -2.5."""
    number = exp.Literal(this=digits.removeprefix("-"), is_string=False)
    return exp.Paren(this=exp.Neg(this=number)) if digits.startswith("-") else number


def infinity(sign: str = "") -> Sql:
    """An infinite double, where an engine has no word for it."""
    return cast_to(text(f"{sign}Infinity"), DOUBLE)


def constant(value: Value) -> Sql:
    """The literal of a constant of a plan."""
    match value:
        case None:
            return NULL.copy()
        case bool():
            return exp.Boolean(this=value)
        case int():
            return whole(value)
        case Fraction():
            return double(float(value))
        case str():
            return text(value)
        case datetime():
            return cast_to(text(value.isoformat(sep=" ")), TIMESTAMP)
        case date():
            return cast_to(text(value.isoformat()), DATE)


def cast_to(of: Sql, kind: exp.DType) -> Sql:
    """A cast that cannot fail, because every value fits."""
    return exp.Cast(this=of, to=exp.DataType(this=kind))


def cast_as(of: Sql, kind: str, dialect: str) -> Sql:
    """The same to a type in an engine's own words."""
    return exp.Cast(this=of, to=exp.DataType.build(kind, dialect=dialect))


def try_cast(of: Sql, kind: exp.DType) -> Sql:
    """A cast that gives NULL where it does not fit."""
    return exp.TryCast(this=of, to=exp.DataType(this=kind))


def operation(kind: Binary, left: Sql, right: Sql) -> Sql:
    """A binary operation in brackets."""
    return exp.Paren(this=kind(this=left, expression=right))


def join_conditions(kind: type[exp.And] | type[exp.Or], parts: Sequence[Sql]) -> Sql:
    """A chain of conditions in brackets."""
    chain = parts[0]
    for part in parts[1:]:
        chain = kind(this=chain, expression=part)
    return exp.Paren(this=chain) if len(parts) > 1 else chain


def negate(of: Sql) -> Sql:
    """The opposite of a condition."""
    return exp.Paren(this=exp.Not(this=exp.Paren(this=of)))


def minus(of: Sql) -> Sql:
    """A number with its sign turned."""
    return exp.Paren(this=exp.Neg(this=exp.Paren(this=of)))


def is_null(of: Sql) -> Sql:
    """Whether a value is missing."""
    return exp.Paren(this=exp.Is(this=of, expression=NULL.copy()))


def is_present(of: Sql) -> Sql:
    """Whether a value is there."""
    return negate(is_null(of))


def is_finite(of: Sql) -> Sql:
    """Whether a number or a date is finite; NULL where it is NULL."""
    return call("ISFINITE", of)


def is_there(of: Sql, *, finite: bool) -> Sql:
    """Whether a number is not missing; one that may be non-finite is missing where it is."""
    return is_present(of) if finite else is_finite(of)


def is_one_of(of: Sql, values: Sequence[Sql]) -> Sql:
    """Whether a value is one of at least one."""
    return exp.Paren(this=exp.In(this=of, expressions=list(values)))


def case(*branches: tuple[Sql, Sql], otherwise: Sql | None = None) -> Sql:
    """The value of the first branch that is true; NULL where none is and nothing else is said."""
    ifs = [exp.If(this=condition, true=value) for condition, value in branches]
    return exp.Case(ifs=ifs, default=otherwise)


def alias(of: Sql, name: str) -> Sql:
    """A named column of a SELECT."""
    return exp.Alias(this=of, alias=exp.to_identifier(name, quoted=True))


def select(columns: Sequence[Sql], source: Sql, *, where: Sequence[Sql] = ()) -> exp.Select:
    """SELECT columns FROM source WHERE all conditions."""
    query = exp.Select(expressions=list(columns), from_=exp.From(this=source))
    if where:
        query.set("where", exp.Where(this=join_conditions(exp.And, where)))
    return query


def subquery(query: exp.Query, name: str) -> Sql:
    """A query as a source of another."""
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier(name, quoted=True)))


def rename(source: Sql, name: str) -> Sql:
    """A table or a table function under another name."""
    if isinstance(source, exp.Anonymous):
        source = exp.Table(this=source)
    source = source.copy()
    source.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
    return source


def group_by(query: exp.Select, by: Sequence[Sql]) -> exp.Select:
    """The same query with a GROUP BY, if there is anything to group by."""
    if by:
        query.set("group", exp.Group(expressions=list(by)))
    return query


def window(function: Sql, *order: Sql, partition: Sequence[Sql]) -> Sql:
    """A window function."""
    by = exp.Order(expressions=[exp.Ordered(this=part) for part in order]) if order else None
    return exp.Window(this=function, partition_by=list(partition), order=by)


def with_table(query: exp.Query, table: exp.Select, name: str) -> exp.Query:
    """A query that reads another one's rows under a name; they are computed once."""
    query.set("with_", exp.With(expressions=[cte(table, name)]))
    return query


def cte(query: exp.Select, name: str) -> exp.CTE:
    """A query by a name, whose rows are computed once."""
    alias_of = exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    return exp.CTE(this=query, alias=alias_of, materialized=True)


def copy_table(source: Sql, name: str) -> Sql:
    """A table of this name with everything in a source, also where an interrupted copy is left."""
    everything = select([exp.Star()], rename(source, "source"))
    return create_table(everything, name)


def create_table(query: Sql, name: str) -> Sql:
    """CREATE OR REPLACE TABLE name AS a query."""
    return exp.Create(this=table(name), kind="TABLE", replace=True, expression=query)


def print_sql(query: Sql, *, pretty: bool = False) -> str:
    """The statement as DuckDB reads it."""
    return query.sql("duckdb", pretty=pretty, identify=True, copy=True)
