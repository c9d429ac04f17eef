"""PostgreSQL's dialect: nothing may raise, and ranks come from a keyed hash in the query.

Ranks. The rank of a row is its place among the rows of its unit, ordered by SHA-256 of a secret
key and of where the row lies (`tableoid`, `ctid`), then by where it lies. `ranks` is the name of
the parameter that holds the key.

Theorem (rule 22 of docs/explanation/soundness.md).  If the keyed hash is a random function, the
order of each unit's rows is uniform and independent of the orders of other units, of the values in
the rows and of the noise; and a unit's kept rows depend on that unit's rows and the key alone.
  Proven:   no two rows lie in one place, so their digests are independent and uniform,
            whatever the places are; the window is partitioned by the unit. Fix the key: the
            ranks of one unit's rows are a function of its own rows and places, so neighbours
            whose other rows lie where they lay keep the same rows of all other units.
  Assumed:  SHA-256 of key and place is a random function to those who do not know the key; a
            neighbour is the table with one unit's rows taken out (or put in) and the others left
            in their places. A row that is updated gets another place, so other rows of its unit
            may be kept from then on: no more of them than before.
  Tested:   tests/engines/test_engine_laws.py, conformance/test_server.py

Levels. PostgreSQL pulls nested SELECTs up and repeats what they name wherever it is mentioned.
OFFSET 0 keeps a level apart, and costs neither parallel scans nor order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ldexp
from typing import ClassVar

from sqlglot import exp

from letalone.engines import syntax
from letalone.engines.dialects import postgres_reading
from letalone.engines.dialects.dialect import Dialect, compare_with_ends, scale, with_rank
from letalone.engines.dialects.guarded import GUARDS
from letalone.engines.dialects.postgres_words import rewrite_for_postgres
from letalone.engines.reading import Stored, read_by
from letalone.engines.syntax import BIGINT, Binary, Sql
from letalone.engines.terms import Levels, Term, big, deepest
from letalone.errors import UnsupportedQuery
from letalone.plans.schema import Column
from letalone.plans.types import Type

FAR = 900  # a power of two with a smaller exponent cannot make a number overflow or vanish
LARGEST_EDGE = 2.0**1000


@dataclass(frozen=True, slots=True)
class PostgresDialect(Dialect):
    """stored_rank: the column with the ranks, where these are stored with the rows."""

    stored_rank: str | None = None

    has_first: ClassVar[bool] = False  # an array of all rows would be made, and may be too large
    reads_again: ClassVar[bool] = True  # a transaction sees one state, in which rows stay in place

    def arithmetic(self, kind: Binary, left: Term, right: Term, levels: Levels) -> Term:
        """Guarded, with both operands named: a guard mentions them several times."""
        first, second = levels.name(left), levels.name(right)
        sql = GUARDS[kind](first.sql, second.sql)
        return Term(sql, Type.NUMBER, finite=False, depth=deepest((first, second)))

    def offset(self, x: Term, ends: tuple[int, int], shift: int, levels: Levels) -> Term:  # noqa: ARG002
        """By comparisons with the ends: between them nothing overflows."""
        return compare_with_ends(x, ends, shift, floor=_floor(x.sql, shift))

    def guess(self, x: Sql, edges: tuple[float, float, float], count: int) -> Sql:
        """A quotient where x lies between the edges, one step or more above the first."""
        first, every, below = edges
        last = first + count * every
        if max(abs(first), abs(last)) > LARGEST_EDGE:
            raise UnsupportedQuery(
                "These ranges reach beyond 2^1000, which PostgreSQL's arithmetic does not. Take"
                " smaller ones."
            )
        steps = syntax.operation(exp.Mul, x, syntax.double(below))
        above = syntax.operation(exp.Sub, steps, syntax.double(first))
        ratio = syntax.operation(exp.Div, above, syntax.double(every))
        floor = syntax.cast_to(exp.Floor(this=ratio), BIGINT)
        number = syntax.call("LEAST", floor, big(count - 1))
        return syntax.case(
            (syntax.operation(exp.LT, x, syntax.double(first / below)), big(0)),
            (syntax.operation(exp.GTE, x, syntax.double(last / below)), big(count - 1)),
            (syntax.operation(exp.GTE, above, syntax.double(every)), number),
            otherwise=big(0),
        )

    def scaled(self, of: Sql, shift: int) -> Sql:
        """A product, refused where it might leave the doubles."""
        if abs(shift) > FAR:
            raise UnsupportedQuery(
                "Totals and means of such small or large numbers cannot be computed on PostgreSQL."
                " Take bounds between 1e-250 and 1e250."
            )
        return scale(of, shift)

    def level(self, query: exp.Select, *, last: bool) -> exp.Select:
        """Kept apart, so that a statement stays as long as its tree, and no constant is computed
        with before its guard: but not the last level, nor one of pieces that mention one column.
        """
        pieces = [piece for piece in query.expressions if not isinstance(piece, exp.Star)]
        mentions = [len(list(piece.find_all(exp.Column))) for piece in pieces]
        return query if last or all(number == 1 for number in mentions) else _apart(query)

    def read(self, stored: Stored, source: Sql, column: Column) -> Term:
        """By casts that are asked first whether they fit."""
        return read_by(postgres_reading.READERS, stored, source, column)

    def unit(self, stored: Stored, value: Sql) -> Sql:
        return postgres_reading.unit(stored, value)

    def ranked(
        self, columns: Sequence[Sql], source: Sql, ranks: str | None, *, mark: str, unit: Sql | None
    ) -> exp.Select:
        """The rank is computed in the query; rows without a unit are left out."""
        rows = syntax.rename(source, f"{mark}source")
        if ranks is None or unit is None:
            query = syntax.select(columns, rows)
            calls = (call.name for column in columns for call in column.find_all(exp.Anonymous))
            slow = "PG_INPUT_IS_VALID" in calls  # made of text: too slow to be made at each mention
            return _apart(query) if slow else query
        stored, own = self.stored_rank, f"{mark}source"
        rank = rank_of(unit, ranks, own) if stored is None else syntax.column(stored, own)
        chosen = with_rank(columns, rank, mark)
        return syntax.select(chosen, rows, where=[syntax.is_present(unit.copy())])

    def printed(self, query: Sql, *, pretty: bool = False) -> str:
        return rewrite_for_postgres(query).sql("postgres", pretty=pretty, identify=True, copy=False)


POSTGRES = PostgresDialect()


def _apart(query: exp.Select) -> exp.Select:
    query.set("offset", exp.Offset(expression=exp.Literal.number(0)))
    return query


def rank_of(unit: Sql, key: str, source: str) -> Sql:
    """The rank of a row among those of its unit, by the key of this parameter."""
    place = [syntax.column(name, source) for name in ("tableoid", "ctid")]
    by = [_digest(key, place), *(part.copy() for part in place)]
    return syntax.window(exp.RowNumber(), *by, partition=[unit.copy()])


def _digest(key: str, place: Sequence[Sql]) -> Sql:
    """SHA-256 of the key and the place, of 32, 4 and 6 bytes: no two have the same 42."""
    keyed_place = syntax.cast_as(exp.Placeholder(this=key), "BYTEA", "postgres")
    for send, part in zip(("OIDSEND", "TIDSEND"), place, strict=True):
        keyed_place = exp.DPipe(this=keyed_place, expression=syntax.call(send, part.copy()))
    return syntax.call("SHA256", keyed_place)


def _floor(x: Sql, shift: int) -> Sql:
    """floor(x · 2^shift) as an integer; where the product would vanish, it is zero."""
    floor = syntax.cast_to(exp.Floor(this=scale(x, shift)), BIGINT)
    if shift >= 0:
        return floor
    smallest = syntax.double(ldexp(1, -1075 - shift))
    vanishes = syntax.operation(exp.LTE, syntax.call("ABS", x), smallest)
    return syntax.case((vanishes, big(0)), otherwise=floor)
