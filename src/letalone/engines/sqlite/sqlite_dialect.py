"""SQLite's dialect: cells have types of their own, so each reader asks a cell for its type first.

Truth values are 1 and 0, dates and times text of one length, whose order is theirs. Numbers that a
literal of SQLite's might miss by a bit go along as text, for Python to read. Arithmetic is the
processor's, but NaN, and x / 0, is NULL.

Levels. SQLite pulls nested SELECTs up and repeats what they name wherever it is mentioned. A LIMIT
keeps a level apart: of two that are nested, and below a condition or a sum.

Theorem.  No cell can make a statement fail, nor decide how another one is read.
  Proven:   `+ - * /`, comparisons, CASE, CAST, TYPEOF, ABS of doubles, SUBSTRING, STRFTIME and
            JULIANDAY of dates raise nothing, nor does || of a million letters; a sum of whole
            numbers does, from 2^63 on, so SUM is of words of 24 bits, which 2^39 rows do not bring
            there, or of numbers of rows; all other sums, products beyond 64 bits and what is made
            of text are functions of sqlite_functions.py. No reader mentions another column
  Tested:   tests/engines/test_engine_laws.py, conformance/test_sqlite.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects import SQLite

from letalone.engines.core import rewriting, syntax
from letalone.engines.core.dialect import ComparingDialect
from letalone.engines.core.stored_types import Stored, check_readable, within_bounds
from letalone.engines.core.syntax import BIGINT, DOUBLE, TEXT, Sql
from letalone.engines.core.terms import Levels, SqlTerm
from letalone.engines.sqlite.sqlite_functions import FUNCTIONS, NAME, write_day
from letalone.errors import UnsupportedQuery
from letalone.plans.schema import Column
from letalone.plans.types import Type

WORD_BITS = 24  # bits: 2^39 rows of a word add up to less than 2^63
EXACT = 2**53  # below it SQLite reads a whole number without rounding
WIDE = "wide"  # marks a piece whose value may have more than 64 bits
DAY = (1, 10)  # where the day is in the text of a date or time: from which letter on, how many
PARTS = {
    "YEAR": (1, 4), "MONTH": (6, 2), "DAY": (9, 2), "HOUR": (12, 2), "MINUTE": (15, 2),
    "SECOND": (18, 2),
}  # fmt: skip
BLOB = exp.DataType.build("BLOB", dialect="sqlite").this
PLAIN_TEXT = "*[^ -~]*"  # of what is no plain text


class BackquotedSqlite(SQLite):
    """Names in backquotes: what stands in double quotes, and is no name, SQLite takes for text."""

    class Tokenizer(SQLite.Tokenizer):
        """What names stand in."""

        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ["`"]


@dataclass(frozen=True, slots=True)
class SqliteDialect(ComparingDialect):
    """What differs: sums in words, and what is read in Python."""

    def match(self, of: SqlTerm, pattern: str, levels: Levels) -> SqlTerm:  # noqa: ARG002
        """By Python: SQLite's own LIKE takes small letters for capitals, and ends at a NUL."""
        return SqlTerm(
            _call_own("LIKE", of.sql, syntax.text(pattern)), Type.BOOLEAN, depth=of.depth
        )

    def total(self, of: Sql, most: int) -> Sql:
        """A sum for each word of 24 bits, put together; the last word has the sign."""
        if most >> WORD_BITS == 0:
            return syntax.call("SUM", of)
        places = range(0, most.bit_length(), WORD_BITS)
        words = [syntax.operation(exp.BitwiseRightShift, of, syntax.whole(n)) for n in places]
        mask = syntax.whole((1 << WORD_BITS) - 1)
        low = [syntax.operation(exp.BitwiseAnd, word, mask) for word in words[:-1]]
        return _call_own("WORDS", *(syntax.call("SUM", word) for word in [*low, words[-1]]))

    def narrow(self, total: Sql) -> Sql:
        return _call_own("LONG", total)

    def double_of(self, total: Sql) -> Sql:
        return _call_own("DOUBLE_OF", total)

    def quotient(self, number: Sql, by: Sql) -> Sql:
        return syntax.operation(exp.Div, number, by)

    def level(self, query: exp.Select, *, last: bool) -> exp.Select:
        return query if last else _apart(query)

    def read_rows(self, columns: Sequence[Sql], source: Sql) -> exp.Select:
        """Kept apart: what is read in Python is read once."""
        return _apart(syntax.select(columns, source))

    def read(self, stored: Stored, source: Sql, column: Column) -> SqlTerm:
        """By the type of the cell; finite, since everything else is missing."""
        check_readable(column, stored)
        if column.type is Type.OTHER:
            return SqlTerm(source, column.type)
        sql = _read_cell(stored, source, column.type)
        if column.lower is not None or column.upper is not None:
            sql = within_bounds(sql, column, finite=True)
        return SqlTerm(sql, column.type)

    def unit(self, stored: Stored, value: Sql) -> Sql:  # noqa: ARG002
        """The cell as it is: text byte by byte, a number whole or not. Bytes, text that is no
        UTF-8 and what is not finite are missing."""
        as_integer = syntax.cast_to(value, BIGINT)
        same = syntax.operation(exp.EQ, as_integer, value)
        return syntax.case(
            (_is(value, "integer"), value),
            (syntax.join_conditions(exp.And, [_is(value, "real"), same]), as_integer),
            (_is_finite_real(value), value),
            *_text_branches(value),
        )

    def text(self, stored: Stored, unit: Sql) -> Sql:  # noqa: ARG002
        return _spell_number(unit)

    def spell(self, part: SqlTerm) -> Sql:
        """As DuckDB does: truth values are words there."""
        text = part.sql
        if part.type is Type.BOOLEAN:
            no = (syntax.negate(part.sql), syntax.text("false"))
            text = syntax.case((part.sql, syntax.text("true")), no)
        elif part.type.is_numeric:
            text = _spell_number(part.sql)
        return exp.Coalesce(this=text, expressions=[syntax.text("")])

    def hashed(self, text: Sql) -> Sql:
        return _call_own("SHA256", _blob(text))

    def printed(self, query: Sql, *, pretty: bool = False) -> str:
        tree = rewriting.name_queries(rewriting.rewrite_tree(query, RULES))
        _check_known(tree)
        return tree.sql(BackquotedSqlite, pretty=pretty, identify=True, copy=False)


SQLITE = SqliteDialect()


def _call_own(name: str, *arguments: Sql) -> Sql:
    return syntax.call(f"{NAME}{name}", *arguments)


def _apart(query: exp.Select) -> exp.Select:
    query.set("limit", exp.Limit(expression=exp.Literal.number(-1)))
    return query


def _check_known(tree: Sql) -> None:
    """Refuses a function or an operation that nobody has looked at here: its name may be SQLite's,
    and what it does another thing."""
    for node in tree.walk():
        is_operation = isinstance(node, exp.Func | exp.Binary | exp.Unary)
        known = node.name in KNOWN_CALLS if isinstance(node, exp.Anonymous) else type(node) in KNOWN
        if is_operation and not known:
            raise UnsupportedQuery(
                "The question has a function that cannot be asked of an SQLite file yet. Leave it"
                " out, or copy the table into a Parquet or DuckDB file. Nothing was charged."
            )


# Reading


def _read_cell(stored: Stored, cell: Sql, kind: Type) -> Sql:
    from_text = (_is(cell, "text"), _call_own(kind.name, _blob(cell)))
    match kind:
        case Type.INTEGER:
            rounded = (_is(cell, "real"), _call_own("ROUNDED", cell))
            return syntax.case((_is(cell, "integer"), cell), rounded, from_text)
        case Type.NUMBER:
            double = (_is(cell, "integer"), syntax.cast_to(cell, DOUBLE))
            return syntax.case(double, (_is_finite_real(cell), cell), from_text)
        case Type.BOOLEAN:
            both = syntax.is_one_of(cell, [syntax.whole(0), syntax.whole(1)])
            return syntax.case((_is(cell, "integer"), syntax.case((both, cell))), from_text)
        case Type.TEXT:
            number = syntax.is_one_of(_typeof(cell), [syntax.text(n) for n in ("integer", "real")])
            return syntax.case((number, _spell_number(cell)), *_text_branches(cell))
        case _:
            return _read_moment(stored, cell, kind)


def _read_moment(stored: Stored, cell: Sql, kind: Type) -> Sql:
    """A date of a column of times is that in UTC; a time of a column of dates begins the day."""
    stored_kind = stored.type if stored.type in (Type.DATE, Type.TIMESTAMP) else kind
    moment = _call_own(stored_kind.name, _blob(cell))
    if stored_kind is not kind:
        day = _letters(moment, *DAY)
        midnight = exp.DPipe(this=moment, expression=syntax.text(" 00:00:00.000000"))
        moment = day if kind is Type.DATE else exp.Paren(this=midnight)
    return syntax.case((_is(cell, "text"), moment))


def _text_branches(cell: Sql) -> list[tuple[Sql, Sql]]:
    """Text as it is, where all of it is plain; else by Python, which tells what is no UTF-8."""
    plain = syntax.negate(exp.Glob(this=cell, expression=syntax.text(PLAIN_TEXT)))
    lengths = [exp.Length(this=text) for text in (cell, _blob(cell))]  # a NUL ends the first
    known = [_is(cell, "text"), plain, syntax.operation(exp.EQ, *lengths)]
    odd = (_is(cell, "text"), _call_own("TEXT", _blob(cell)))
    return [(syntax.join_conditions(exp.And, known), cell), odd]


def _spell_number(value: Sql) -> Sql:
    """A value as text; SQLite would write 15 digits of a double."""
    return syntax.case(
        (_is(value, "real"), _call_own("SPELLED", value)), otherwise=syntax.cast_to(value, TEXT)
    )


def _is_finite_real(value: Sql) -> Sql:
    return syntax.join_conditions(exp.And, [_is(value, "real"), syntax.is_finite(value)])


def _is(value: Sql, kind: str) -> Sql:
    return syntax.operation(exp.EQ, _typeof(value), syntax.text(kind))


def _typeof(value: Sql) -> Sql:
    return syntax.call("TYPEOF", value)


def _letters(moment: Sql, start: int, letters: int) -> Sql:
    """By SQLite's own function: dates and times have no NUL, at which it would end."""
    return exp.Substring(this=moment, start=syntax.whole(start), length=syntax.whole(letters))


def _blob(value: Sql) -> Sql:
    return syntax.cast_as(value, "BLOB", "sqlite")


# Words


def _literal(node: Sql) -> Sql:
    if node.args.get("is_string"):
        hexadecimal = exp.HexString(this=_check_text(node.name).encode().hex())
        return syntax.cast_to(hexadecimal, TEXT) if "\0" in node.name else node
    return _double(node.name) if "e" in node.name else node


def _double(digits: str) -> Sql:
    value = float(digits)
    if value.is_integer() and value < EXACT:
        return exp.Literal(this=repr(value), is_string=False)
    return _call_own("DOUBLE", exp.Literal.string(repr(value)))


def _identifier(node: Sql) -> Sql:
    _check_text(node.name)
    return node


def _check_text(text: str) -> str:
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise UnsupportedQuery(
            f"{text!r} has half a surrogate in it, which no text in SQLite has. Leave it out."
        )
    return text


def _cast(node: Sql) -> Sql:
    kind, value = node.args["to"].this, node.this
    if kind == exp.DType.INT128:
        return _mark_wide(exp.Paren(this=value))
    if kind == exp.DType.DOUBLE and value.is_string:
        return _call_own("DOUBLE", value)
    if kind == exp.DType.TIMESTAMP and isinstance(value, exp.Literal):
        return syntax.text(write_day(datetime.fromisoformat(value.name)))
    is_kept = kind in (BIGINT, DOUBLE, TEXT, BLOB)
    return exp.Cast(this=value, to=node.args["to"]) if is_kept else value


def _mark_wide(node: Sql) -> Sql:
    node.meta[WIDE] = True
    return node


def _product(node: Sql) -> Sql:
    is_wide = any(side.unnest().meta.get(WIDE) or side.meta.get(WIDE) for side in _sides(node))
    return _mark_wide(_call_own("TIMES", *_sides(node))) if is_wide else node


def _sides(node: Sql) -> tuple[Sql, Sql]:
    return node.this, node.expression


def _division(node: Sql) -> Sql:
    """As it stands: sqlglot would cast its left side."""
    node.set("typed", True)
    return node


def _call(node: Sql) -> Sql:
    words = {"LEAST": "MIN", "GREATEST": "MAX", "BOOL_AND": "MIN", "BOOL_OR": "MAX"}
    match node.name:
        case "ISFINITE":
            size = syntax.call("ABS", *node.expressions)
            return syntax.operation(exp.LT, size, _call_own("DOUBLE", syntax.text("Infinity")))
        case "SQRT":
            return _call_own("ROOT", *node.expressions)
        case "DATE_TRUNC":
            return _call_own("START", *node.expressions)
        case "DATE_DIFF":
            start, end = (syntax.call("JULIANDAY", day) for day in node.expressions[1:])
            return syntax.operation(exp.Sub, end, start)
        case "LENGTH" | "SUBSTR" | "RIGHT" | "TRANSLATE":
            return _call_own(node.name, *node.expressions)
        case name:
            return syntax.call(words.get(name, name), *node.expressions)


def _trim(node: Sql) -> Sql:
    return _call_own("TRIM", node.this, syntax.text(node.args["position"]))


def _floor(node: Sql) -> Sql:
    """Of a double below 2^63: the number towards zero, less 1 where that is above."""
    cut = syntax.cast_to(node.this, BIGINT)
    return syntax.operation(exp.Sub, cut, syntax.operation(exp.GT, cut, node.this.copy()))


def _window(node: Sql) -> Sql:
    """Sums over windows are of numbers of rows, which 64 bits hold."""
    if node.this.name == f"{NAME}SUM":
        node.set("this", syntax.call("SUM", *node.this.expressions))
    return node


def _put_missing_last(node: Sql) -> Sql:
    node.set("nulls_first", False)
    return node


def _quarter(month: Sql) -> Sql:
    last = [syntax.operation(exp.LTE, month.copy(), syntax.whole(3 * n)) for n in range(1, 5)]
    return syntax.case(*((test, syntax.whole(n)) for n, test in enumerate(last, 1)))


def _extract(node: Sql) -> Sql:
    """Digits of the text; the weekday is counted from Sunday there."""
    part, moment = node.this.name, node.expression
    if part in PARTS:
        return _letters(moment, *PARTS[part])
    day = _letters(moment, *DAY)
    if part == "DOY":
        return syntax.call("STRFTIME", syntax.text("%j"), day)
    if part == "WEEK":  # how many weeks of seven days its Thursday is from the new year
        modifiers = map(syntax.text, ("-3 days", "weekday 4"))
        number = syntax.cast_to(syntax.call("STRFTIME", syntax.text("%j"), day, *modifiers), BIGINT)
        sevens = exp.Div(
            this=syntax.operation(exp.Add, number, syntax.whole(6)),
            expression=syntax.whole(7),
            typed=True,
        )
        return exp.Paren(this=sevens)
    if part == "QUARTER":
        return _quarter(syntax.cast_to(_letters(moment, *PARTS["MONTH"]), BIGINT))
    if part != "ISODOW":
        return node  # not known here, so it is refused
    number = syntax.cast_to(syntax.call("STRFTIME", syntax.text("%w"), day), BIGINT)
    return syntax.case(
        (syntax.operation(exp.EQ, number, syntax.whole(0)), syntax.whole(7)),
        otherwise=number.copy(),
    )


RULES: rewriting.Rules = {
    exp.Literal: _literal,
    exp.Identifier: _identifier,
    exp.Boolean: lambda node: syntax.whole(int(node.this)),
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Mul: _product,
    exp.Div: _division,
    exp.Anonymous: _call,
    exp.Trim: _trim,
    exp.Floor: _floor,
    exp.Sum: lambda node: _call_own("SUM", node.this),
    exp.Window: _window,
    exp.Ordered: _put_missing_last,
    exp.Extract: _extract,
}
KNOWN_CALLS = {f"{NAME}{name}" for name in [*FUNCTIONS, "SUM"]} | {
    *("SUM", "MIN", "MAX", "ABS", "TYPEOF", "STRFTIME", "JULIANDAY"),
}
KNOWN = {
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.BitwiseAnd, exp.BitwiseRightShift),
    *(exp.And, exp.Or, exp.Not, exp.Paren, exp.Is, exp.NullSafeEQ, exp.Glob, exp.DPipe, exp.Dot),
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
    *(exp.Case, exp.If, exp.Cast, exp.Coalesce, exp.Count, exp.Min, exp.Max),
    *(exp.RowNumber, exp.DenseRank, exp.Length, exp.Substring),
}
