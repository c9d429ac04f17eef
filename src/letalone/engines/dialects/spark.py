"""Spark's dialect: a session in which nothing raises, and ranks from a keyed hash in the query.

Ranks. The rank of a row is its place among the rows of its unit, ordered by SHA-256 of a secret
key, of the row's number in this execution (`monotonically_increasing_id`) and of its unit, then by
that number. `ranks` is the name of the parameter that holds the key. Each statement has a key of
its own, and reads the table once. Where the owner allows a copy (spark_side_table.py), the ranks of
one statement are stored, and all later ones read those.

Theorem (rule 22 of docs/explanation/soundness.md).  If the keyed hash is a random function, then in
each statement the order of each unit's rows is uniform, and independent of the orders of other
units, of those in other statements, of the values in the rows and of the noise.
  Proven:   the rows of a unit have different numbers in one execution: partitions have different
            ones, and a window's partition takes the rows of a scanned partition from one attempt
            at it. So all digests of a statement that decide an order are of different inputs,
            hence independent and uniform, whatever the numbers are, and 128 bits of two rows agree
            in a table of 2^39 with a chance below 2^-50. For neighbours the orders of
            all other units thus have one law, which no data enter: couple them to be the same in
            every statement. Then the kept rows differ in one unit's, at most k out and k in, and
            mixing over the orders keeps the guarantee. Nothing is assumed about how
            the numbers of a neighbour's rows, or of the next execution, relate to these.
            At most k rows of a unit have a place of at most k, whatever the digests are.
            A stage that Spark tries again may number the rows anew: spark_jobs.py.
  Not so:   that two statements keep the same rows, unless ranks are stored. Each is bounded, and
            priced, for itself.
  Assumed:  SHA-256 of key, number and unit is a random function to those who do not know the key
  Tested:   tests/on_spark/test_laws.py, test_frames.py, test_side_table.py, test_failures.py

Sums are of words of 24 bits where they are over rows. Shifts keep the sign, so an integer is the
sum of its words, each times its power of two, and 2^39 rows (5 · 10^11) cannot make one overflow;
the decimals that put them together have less than 38 digits. Other sums are of DECIMAL(38, 0),
since a sum of BIGINT wraps around.
  Proven:   no sum reaches 10^38: its terms are below 2^86 (measures.py), and 2^40 rows of these
            stay below 2^126 < 10^38
  Tested:   tests/engines/conformance/test_golden.py

Text goes along as hexadecimal digits unless it is plain, so no sign in it can be an escape.

Arithmetic is the processor's, as in DuckDB, but x / 0 is NULL. FLOOR makes a BIGINT.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

from sqlglot import exp

from letalone.engines import syntax
from letalone.engines.dialects import rewriting, spark_reading
from letalone.engines.dialects.dialect import Dialect, compare_with_ends, scale, with_rank
from letalone.engines.reading import Stored, read_by
from letalone.engines.syntax import BIGINT, TEXT, Sql
from letalone.engines.terms import Levels, Term, big
from letalone.errors import UnsupportedQuery
from letalone.errors.problem import without_context
from letalone.plans.schema import Column

WORD_BITS = 24  # bits: 2^39 rows of a word add up to less than 2^63
PLAIN_TEXT = re.compile(r"[A-Za-z0-9 _.:+-]*")
WIDE = "DECIMAL(38, 0)"
DIGEST_DIGITS = 32  # of the digest, hexadecimal: 128 bits


@dataclass(frozen=True, slots=True)
class SparkDialect(Dialect):
    """As DuckDB: arithmetic, but x / 0 is NULL, and guesses: NaN is the largest.

    stored_rank: the column that holds the ranks, where they are stored with the rows that have one.
    """

    stored_rank: str | None = None

    has_first: ClassVar[bool] = False  # it has no order of its own
    reads_again: ClassVar[bool] = False  # a row may have another number when it is read again

    def offset(self, x: Term, ends: tuple[int, int], shift: int, levels: Levels) -> Term:  # noqa: ARG002
        """By comparisons with the ends: between them the floor fits into 64 bits."""
        floor = syntax.cast_to(exp.Floor(this=scale(x.sql, shift)), BIGINT)
        return compare_with_ends(x, ends, shift, floor=floor)

    def total(self, of: Sql, most: int) -> Sql:
        """A sum for each word of 24 bits, put together: a sum of BIGINT wraps around."""
        places = range(0, max(1, most.bit_length()), WORD_BITS)
        words = [_word(of, place, most) for place in places]
        return reduce(lambda low, high: syntax.operation(exp.Add, low, high), words)

    def level(self, query: exp.Select, *, last: bool) -> exp.Select:  # noqa: ARG002
        """Every fourth level is kept apart, by pieces that Spark takes for not deterministic.

        It moves conditions below the levels that name their parts, and writes each part anew at
        each mention: a chain of guards would take for ever to plan.
        """
        name = query.args["from_"].this.alias
        if int(name.rpartition("level")[2]) % 4 == 3:
            for piece in query.expressions[1:]:
                piece.set("this", _keep_apart(piece.this))
        return query

    def read(self, stored: Stored, source: Sql, column: Column) -> Term:
        """By tried casts, after a look at the spelling of text."""
        return read_by(spark_reading.READERS, stored, source, column)

    def unit(self, stored: Stored, value: Sql) -> Sql:
        return spark_reading.unit(stored, value)

    def ranked(
        self, columns: Sequence[Sql], source: Sql, ranks: str | None, *, mark: str, unit: Sql | None
    ) -> exp.Select:
        """The rank is computed in the query, unless it is stored; no row is without a unit."""
        rows = syntax.rename(source, f"{mark}source")
        if ranks is None or unit is None:
            return syntax.select(columns, rows)
        if self.stored_rank is not None:
            stored = syntax.column(self.stored_rank, f"{mark}source")
            return syntax.select(with_rank(columns, stored, mark), rows)
        number = syntax.alias(syntax.call("MONOTONICALLY_INCREASING_ID"), f"{mark}number")
        inside = syntax.select([exp.Star(), number], source.copy())
        rows = syntax.subquery(inside, f"{mark}source")
        chosen = with_rank(columns, _rank(unit, ranks, mark), mark)
        return syntax.select(chosen, rows, where=[syntax.is_present(unit.copy())])

    def printed(self, query: Sql, *, pretty: bool = False) -> str:
        """Parameters are written :name."""
        return rewrite_for_spark(query).sql("spark", pretty=pretty, identify=True, copy=False)


SPARK = SparkDialect()


def _keep_apart(piece: Sql) -> Sql:
    """The same value, which Spark computes where it stands: a row's number is never negative."""
    number = syntax.call("MONOTONICALLY_INCREASING_ID")
    return syntax.case((syntax.operation(exp.GTE, number, syntax.whole(0)), piece))


def _word(of: Sql, place: int, most: int) -> Sql:
    """What the bits from a place on add to a sum: a decimal, unless they are all."""
    if most >> WORD_BITS == 0:
        return _sum(of)
    bits = syntax.call("SHIFTRIGHT", of.copy(), syntax.whole(place)) if place else of.copy()
    if most >> place >> WORD_BITS:  # the last word has the sign
        bits = exp.Paren(this=exp.BitwiseAnd(this=bits, expression=big((1 << WORD_BITS) - 1)))
    total, scale = _decimal(_sum(bits), 20), _decimal(syntax.text(str(1 << place)), 15)
    return syntax.operation(exp.Mul, total, scale) if place else total


def _sum(of: Sql) -> Sql:
    """A sum of BIGINT, which the rule for sums below leaves as it is."""
    return syntax.call("SUM", of)


def _decimal(of: Sql, digits: int) -> Sql:
    return syntax.cast_as(of, f"DECIMAL({digits}, 0)", "spark")


def _rank(unit: Sql, key: str, mark: str) -> Sql:
    """The rank of a row among those of its unit, by the key of this parameter."""
    number = syntax.column(f"{mark}number", f"{mark}source")
    by = [_digest(key, number, unit), number.copy()]
    return syntax.window(exp.RowNumber(), *by, partition=[unit.copy()])


def _digest(key: str, number: Sql, unit: Sql) -> Sql:
    """The first half of SHA-256 of the key, of 32 bytes, the number, of 8, and the unit."""
    who = _bytes(syntax.cast_to(unit.copy(), TEXT))
    keyed_number = syntax.call("CONCAT", exp.Placeholder(this=key), _bytes(number), who)
    digest = syntax.call("SHA2", keyed_number, syntax.whole(256))
    return syntax.call("LEFT", digest, syntax.whole(DIGEST_DIGITS))


def _bytes(of: Sql) -> Sql:
    return syntax.cast_as(of, "BINARY", "spark")


def rewrite_for_spark(query: Sql) -> Sql:
    """The tree in Spark's words, by a function for each kind of node; the given one stays."""
    return rewriting.rewrite_tree(query, RULES)


def _literal(node: Sql) -> Sql:
    if not node.args.get("is_string") or PLAIN_TEXT.fullmatch(node.name):
        return node
    return syntax.cast_to(exp.HexString(this=_encode(node.name).hex()), TEXT)


def _identifier(node: Sql) -> Sql:
    _encode(node.name)
    return node


def _encode(text: str) -> bytes:
    words = f"{text!r} has half a surrogate in it, which no text has. Leave it out."
    return without_context(text.encode, UnicodeEncodeError, error=UnsupportedQuery(words))


def _cast(node: Sql) -> Sql:
    kind = node.args["to"]
    if kind.this == exp.DType.INT128:
        node.set("to", exp.DataType.build(WIDE, dialect="spark"))
    if isinstance(node, exp.TryCast):
        node.set("safe", True)  # else sqlglot would print a plain cast
    return node


def _extract(node: Sql) -> Sql:
    if node.this.name == "ISODOW":
        node.set("this", exp.var("DAYOFWEEK_ISO"))
    return node


RULES: rewriting.Rules = {
    exp.Literal: _literal,
    exp.Identifier: _identifier,
    exp.Anonymous: rewriting.rewrite_call,
    exp.TryCast: _cast,
    exp.Cast: _cast,
    exp.Sum: lambda node: exp.Sum(this=syntax.cast_as(node.this, WIDE, "spark")),
    exp.Extract: _extract,
}
