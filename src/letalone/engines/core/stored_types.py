"""Says how columns are stored, what can be read as what, and the pieces that readers share.

A cell that cannot be read as the declared type is missing; what text stands for is in
text_grammar.py. Whole numbers outside of 64 bits,
infinite dates, NaN and infinities are missing. A bounded column is clamped. Times are in UTC.
What a category is stored as does not matter: enumerations are text.

  Tested:   tests/engines/test_reading.py
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.syntax import BIGINT, BOOLEAN, DATE, DOUBLE, TEXT, TIMESTAMP, Sql
from letalone.engines.core.terms import SqlTerm
from letalone.engines.texts import text_grammar
from letalone.errors import ParameterError
from letalone.plans.schema import Column, Schema, unknown_column
from letalone.plans.types import Type

SHORT_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
LONG_INTEGERS = ("UBIGINT", "HUGEINT", "UHUGEINT")
FLOATS = ("FLOAT", "DOUBLE")
TIMES = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
NANOSECONDS_IN_A_ZONE = "TIMESTAMPTZ_NS"
DATED = (Type.DATE, Type.TIMESTAMP)
ZONED = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ", "TIMESTAMP_NS WITH TIME ZONE")

# From what a column of each declared type can be read; every type from itself.
READABLE = {
    Type.BOOLEAN: {Type.TEXT},
    Type.INTEGER: {Type.TEXT, Type.NUMBER, Type.BOOLEAN},
    Type.NUMBER: {Type.TEXT, Type.INTEGER, Type.BOOLEAN},
    Type.TEXT: {Type.BOOLEAN, Type.INTEGER, Type.NUMBER, Type.DATE, Type.TIMESTAMP},
    Type.DATE: {Type.TEXT, Type.TIMESTAMP},
    Type.TIMESTAMP: {Type.TEXT, Type.DATE},
    Type.OTHER: set(Type),
}
SQL_TYPES = {
    Type.BOOLEAN: BOOLEAN,
    Type.INTEGER: BIGINT,
    Type.NUMBER: DOUBLE,
    Type.TEXT: TEXT,
    Type.DATE: DATE,
    Type.TIMESTAMP: TIMESTAMP,
}


@dataclass(frozen=True, slots=True)
class Stored:
    """A column as the engine stores it."""

    name: str
    stored: str
    collated: bool = False

    @property
    def type(self) -> Type:
        """The type when nothing else is declared, from the engine's word, which is metadata."""
        stored = self.stored
        if stored in SHORT_INTEGERS or stored in LONG_INTEGERS:
            return Type.INTEGER
        if stored in (*FLOATS, "NUMERIC") or stored.startswith("DECIMAL("):
            return Type.NUMBER
        enumeration = stored.startswith("ENUM(") and stored.endswith(")")
        if stored in ("VARCHAR", "CHAR", "UUID") or enumeration:
            return Type.TEXT
        if stored in TIMES or stored in ZONED:
            return Type.TIMESTAMP
        return {"BOOLEAN": Type.BOOLEAN, "DATE": Type.DATE}.get(stored, Type.OTHER)


Reader = Callable[[Stored, Sql], Sql]  # the value of a stored column in one type


def check_columns(names: Sequence[str], what: str) -> None:
    """Refuses tables without columns, and names that DuckDB cannot tell apart or hold."""
    if not names:
        raise ParameterError(f"{what} has no columns. Give one with at least one.")
    seen: dict[str, str] = {}
    for name in names:
        if not name.strip():
            raise ParameterError(f"{what} has a column without a name. Name every column.")
        if "\0" in name:
            # Arrow ends a name there, so two columns could get each other's values.
            raise ParameterError(
                f"{what} has a column {name!r}, with a NUL character in its name. Rename it."
            )
        if name.lower() in seen:
            raise ParameterError(
                f"{what} has columns {seen[name.lower()]!r} and {name!r}, which differ in nothing"
                " but the case of letters, or not at all. Rename one."
            )
        seen[name.lower()] = name


def check_readable(column: Column, stored: Stored) -> None:
    """Refuses a declared type that the stored one can never be read as."""
    if column.type is stored.type or stored.type in READABLE[column.type]:
        return
    if column.type in DATED and stored.stored == NANOSECONDS_IN_A_ZONE:
        raise ParameterError(
            f"Column {column.name!r} holds nanoseconds in a time zone, which are not read. Convert"
            " it in the data: to 'datetime64[us, UTC]' in pandas, to microseconds in Arrow."
        )
    raise ParameterError(
        f"Column {column.name!r} is declared {column.type.value}, but holds {stored.type.value}."
        f" Declare it {stored.type.value}, or text, or convert it in the data."
    )


def declared_schema(
    stored: Mapping[str, Stored], schema: Schema | None, types: Mapping[str, Type], name: str
) -> Schema:
    """The declared schema if it fits, else the columns with their own or their declared types."""
    if schema is None:
        for declared in types:
            if declared not in stored:
                raise unknown_column(declared, list(stored), table=name)
        columns = [Column(c.name, types.get(c.name, c.type)) for c in stored.values()]
        schema = Schema(name, tuple(columns))
    for column in schema.columns:
        if column.name not in stored:
            raise unknown_column(column.name, list(stored), table=name)
        check_readable(column, stored[column.name])
    return schema


def columns_read_from_text(schema: Schema, stored: Mapping[str, Stored]) -> frozenset[str]:
    """The columns that are stored as text and declared to be something else: metadata."""
    others = [c.name for c in schema.columns if c.type not in (Type.TEXT, Type.OTHER)]
    return frozenset(name for name in others if stored[name].type is Type.TEXT)


def columns_in_a_zone(schema: Schema, stored: Mapping[str, Stored]) -> frozenset[str]:
    """The columns of times that are stored with a time zone, and counted in UTC: metadata."""
    timed = [column.name for column in schema.columns if column.type in DATED]
    return frozenset(name for name in timed if stored[name].stored in ZONED)


def read_by(readers: Mapping[Type, Reader], stored: Stored, source: Sql, column: Column) -> SqlTerm:
    """The same by the readers of another engine; not yet guarded if it can be non-finite."""
    check_readable(column, stored)
    kind = column.type
    if kind is Type.OTHER:
        return SqlTerm(source, kind)
    sql = readers[kind](stored, source)
    finite = kind is not Type.NUMBER or stored.type in (Type.INTEGER, Type.BOOLEAN)
    if column.lower is not None or column.upper is not None:
        return SqlTerm(within_bounds(sql, column, finite=finite), kind)
    return SqlTerm(sql, kind, finite=finite)


def with_one_zero(value: Sql) -> Sql:
    """A double as a unit: a zero has one sign, and NULL stands for what is not finite."""
    zero = (syntax.operation(exp.EQ, value, syntax.double(0.0)), syntax.double(0.0))
    return syntax.case(zero, (syntax.is_finite(value), value))


def in_the_calendar(sql: Sql, kind: exp.DType, *conditions: Sql) -> Sql:
    """Whether a date is in the years 1 to 9999, which all engines and Python know, and more."""
    end = "9999-12-31" if kind == DATE else "9999-12-31 23:59:59.999999"
    first, last = (syntax.cast_to(syntax.text(when), kind) for when in ("0001-01-01", end))
    ends = [syntax.operation(exp.GTE, sql, first), syntax.operation(exp.LTE, sql.copy(), last)]
    return syntax.join_conditions(exp.And, [*conditions, *ends])


def as_long(number: Sql, ends: tuple[Sql, Sql]) -> Sql:
    """A number as a 64-bit integer where it lies in [start, end)."""
    start, end = (side.copy() for side in ends)
    ends_hold = [syntax.operation(exp.GTE, number, start), syntax.operation(exp.LT, number, end)]
    inside = syntax.join_conditions(exp.And, ends_hold)
    return syntax.case((inside, syntax.cast_to(number.copy(), BIGINT)))


def is_short(text: Sql) -> Sql:
    """Whether a text has at most as many letters as a number or a date can have."""
    longest = syntax.whole(text_grammar.MAX_TEXT_LENGTH)
    return syntax.operation(exp.LTE, syntax.call("LENGTH", text), longest)


def truth_of(text: Sql) -> Sql:
    """The truth value that a trimmed text is a word for."""
    word = syntax.call("LOWER", text)
    both = (text_grammar.TRUE, text_grammar.FALSE)
    true, false = (syntax.is_one_of(word, [*map(syntax.text, words)]) for words in both)
    return syntax.case((true, exp.Boolean(this=True)), (false, exp.Boolean(this=False)))


def within_bounds(sql: Sql, column: Column, *, finite: bool) -> Sql:
    """The value within the declared bounds; NULL where it is missing or not finite."""
    branches: list[tuple[Sql, Sql]] = []
    if not finite:
        branches.append((syntax.negate(syntax.is_finite(sql)), syntax.NULL.copy()))
    for bound, outside in ((column.lower, exp.LT), (column.upper, exp.GT)):
        if bound is not None:
            end = end_of(bound, whole=column.type is Type.INTEGER)
            branches.append((syntax.operation(outside, sql, end), end.copy()))
    return syntax.case(*branches, otherwise=sql)


def end_of(end: Fraction, *, whole: bool) -> Sql:
    """The literal of a bound."""
    return syntax.whole(int(end)) if whole else syntax.double(float(end))
