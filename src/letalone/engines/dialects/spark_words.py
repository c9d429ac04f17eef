"""DuckDB's words as Spark's: a function for each kind of node, used when a tree is printed.

Sums are of DECIMAL(38, 0), since a sum of BIGINT wraps around there.

  Proven:   no sum reaches 10^38: its terms are below 2^86 (measures.py), and 2^40 rows of these
            stay below 2^126 < 10^38. Text goes along as hexadecimal digits unless it is plain, so
            no sign in it can be taken for an escape.
  Tested:   tests/engines/conformance/test_golden.py, and by the laws of the engine
"""

import re
from collections.abc import Callable, Mapping

from sqlglot import exp

from letalone.engines import syntax
from letalone.engines.dialects import rewriting
from letalone.engines.syntax import DOUBLE, TEXT, TIMESTAMP, Sql
from letalone.errors import UnsupportedQuery
from letalone.errors.problem import without_context

PLAIN_TEXT = re.compile(r"[A-Za-z0-9 _.:+-]*")
WIDE = "DECIMAL(38, 0)"


def printed(query: Sql, *, pretty: bool = False) -> str:
    """The tree in Spark's words; the given one stays as it is. Parameters are written :name."""
    return rewritten(query).sql("spark", pretty=pretty, identify=True, copy=False)


def rewritten(query: Sql) -> Sql:
    """The tree in Spark's words; the given one stays as it is."""
    return rewriting.rewritten(query, RULES)


def infinity(sign: str = "") -> Sql:
    """An infinite double."""
    return syntax.cast_to(syntax.text(f"{sign}Infinity"), DOUBLE)


def _literal(node: Sql) -> Sql:
    if not node.args.get("is_string") or PLAIN_TEXT.fullmatch(node.name):
        return node
    return syntax.cast_to(exp.HexString(this=_bytes(node.name).hex()), TEXT)


def _identifier(node: Sql) -> Sql:
    _bytes(node.name)
    return node


def _bytes(text: str) -> bytes:
    def failed(_: object) -> UnsupportedQuery:
        return UnsupportedQuery(
            f"{text!r} has half a surrogate in it, which no text has. Leave it out."
        )

    return without_context(text.encode, UnicodeEncodeError, error=failed)


def _call(node: Sql) -> Sql:
    rule = CALLS.get(node.name)
    return node if rule is None else rule(node.expressions)


def _is_finite(arguments: list[Sql]) -> Sql:
    """NaN is larger than all numbers, and no argument is a date (they are read otherwise)."""
    return syntax.operation(exp.LT, syntax.called("ABS", *arguments), infinity())


def _date_trunc(arguments: list[Sql]) -> Sql:
    period, of = arguments
    return syntax.called("DATE_TRUNC", period, syntax.cast_to(of, TIMESTAMP))


def _cast(node: Sql) -> Sql:
    kind = node.args["to"]
    if kind.this == exp.DType.INT128:
        node.set("to", exp.DataType.build(WIDE, dialect="spark"))
    if isinstance(node, exp.TryCast):
        node.set("safe", True)  # else sqlglot would print a plain cast
    return node


def _sum(node: Sql) -> Sql:
    of = node.this
    return exp.Sum(this=exp.Cast(this=of, to=exp.DataType.build(WIDE, dialect="spark")))


def _extract(node: Sql) -> Sql:
    if node.this.name == "ISODOW":
        node.set("this", exp.var("DAYOFWEEK_ISO"))
    return node


CALLS: Mapping[str, Callable[[list[Sql]], Sql]] = {
    "ISFINITE": _is_finite,
    "DATE_TRUNC": _date_trunc,
}
RULES: rewriting.Rules = {
    exp.Literal: _literal,
    exp.Identifier: _identifier,
    exp.Anonymous: _call,
    exp.TryCast: _cast,
    exp.Cast: _cast,
    exp.Sum: _sum,
    exp.Extract: _extract,
}
