"""DuckDB's dialect: doubles as the processor has them, ranks beside the rows by position.

Assumed:  DuckDB computes in IEEE doubles (`ieee_floating_point_ops`), as lockdown.py sets, so
          nothing here raises: what is too large is an infinity
Tested:   tests/engines/test_amounts.py, test_expressions.py, test_positions.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ldexp
from typing import ClassVar

from sqlglot import exp

from letalone.engines import syntax
from letalone.engines.reading import (
    FLOATS,
    SHORT_INTEGERS,
    TEXT,
    Stored,
    plain_text,
    read,
    with_one_zero,
)
from letalone.engines.syntax import BIGINT, Binary, Sql
from letalone.engines.terms import Levels, Term, deepest, plus
from letalone.plans.schema import Column
from letalone.plans.types import Type

EXACT = 2**53  # below it every whole number is a double


@dataclass(frozen=True, slots=True)
class DuckDialect:
    """See `letalone.engines.dialects.dialect.Dialect` for what each method promises."""

    has_first: ClassVar[bool] = True
    reads_again: ClassVar[bool] = True  # ranks are stored

    def arithmetic(self, kind: Binary, left: Term, right: Term, levels: Levels) -> Term:  # noqa: ARG002
        """As the processor computes it: too large is an infinity."""
        sql = syntax.operation(kind, left.sql, right.sql)
        return Term(sql, Type.NUMBER, finite=False, depth=deepest((left, right)))

    def offset(self, x: Term, ends: tuple[int, int], shift: int, levels: Levels) -> Term:
        """Without a branch where x is near; see amounts.py for the proof."""
        x = levels.name(levels.guarded(x))
        scaled = syntax.operation(exp.Mul, x.sql, syntax.double(ldexp(1, shift)))
        y = levels.name(Term(exp.Floor(this=scaled), Type.NUMBER, depth=x.depth))
        limit = EXACT - max(abs(end) for end in ends)
        near = syntax.operation(exp.LT, syntax.call("ABS", y.sql), syntax.double(limit))
        far = (syntax.is_present(x.sql), _far(y.sql, ends, limit))
        return Term(syntax.case((near, _near(y.sql, ends)), far), Type.INTEGER, depth=y.depth)

    def guess(self, x: Sql, edges: tuple[float, float, float], count: int) -> Sql:
        """By a quotient within 0 … count - 1: 0 where it is missing, the last where it is NaN."""
        above = syntax.call("GREATEST", _ratio(x, edges), syntax.double(0.0))
        inside = syntax.call("LEAST", above, syntax.double(float(count - 1)))
        return syntax.cast_to(exp.Floor(this=inside), BIGINT)

    def scaled(self, of: Sql, shift: int) -> Sql:
        return syntax.operation(exp.Mul, of, syntax.double(ldexp(1, shift)))

    def total(self, of: Sql, most: int) -> Sql:  # noqa: ARG002
        """A sum, which has more than 64 bits."""
        return exp.Sum(this=of)

    def level(self, query: exp.Select, *, last: bool) -> exp.Select:  # noqa: ARG002
        """As it is: DuckDB computes each named piece once."""
        return query

    def read(self, stored: Stored, source: Sql, column: Column) -> Term:
        return read(stored, source, column)

    def unit(self, stored: Stored, value: Sql) -> Sql:
        """Long integers and identifiers as text, which tells all their values apart."""
        if stored.stored in FLOATS:
            return with_one_zero(value)
        if stored.collated:
            return plain_text(value)
        if stored.stored in SHORT_INTEGERS or stored.stored == "VARCHAR":
            return value
        if stored.type in (Type.DATE, Type.TIMESTAMP) or stored.stored.startswith("DECIMAL("):
            return value  # a time beyond the calendar cannot be written as text
        return syntax.try_cast(value, TEXT)

    def ranked(
        self,
        columns: Sequence[Sql],
        source: Sql,
        ranks: str | None,
        *,
        mark: str,
        unit: Sql | None,  # noqa: ARG002
    ) -> exp.Select:
        """The stored ranks stand in a table of this name, in the order of the rows."""
        query = syntax.select(columns, syntax.rename(source, f"{mark}source"))
        if ranks is not None:
            table = syntax.rename(syntax.table(ranks), f"{mark}ranks")
            query.append("joins", exp.Join(this=table, method="POSITIONAL"))
        return query

    def printed(self, query: Sql, *, pretty: bool = False) -> str:
        return syntax.print_sql(query, pretty=pretty)


DUCKDB = DuckDialect()


def _near(y: Sql, ends: tuple[int, int]) -> Sql:
    """(|y − low| − |y − high| + low + high − 2·middle) / 2."""
    low, high = (
        syntax.call("ABS", syntax.operation(exp.Sub, y, syntax.double(end)) if end else y)
        for end in ends
    )
    twice = syntax.operation(exp.Sub, low, high)
    if sum(ends) % 2:
        twice = syntax.operation(exp.Add, twice, syntax.double(1.0))
    return syntax.cast_to(syntax.operation(exp.Mul, twice, syntax.double(0.5)), BIGINT)


def _far(y: Sql, ends: tuple[int, int], limit: int) -> Sql:
    """The offset by comparisons; between the ends only where y can be, far from zero."""
    low, high, middle = *ends, sum(ends) // 2
    start = syntax.operation(exp.LT, y, syntax.double(low))
    branches = [(start, syntax.whole(low - middle))]
    if limit < max(abs(low), abs(high)):
        between_ends = plus(syntax.cast_to(y, BIGINT), -middle)
        branches.append((syntax.operation(exp.LT, y, syntax.double(high)), between_ends))
    return syntax.case(*branches, otherwise=syntax.whole(high - middle))


def _ratio(x: Sql, edges: tuple[float, float, float]) -> Sql:
    """How many steps above the lower end x lies, about."""
    first, every, below = edges
    scaled = syntax.operation(exp.Mul, x, syntax.double(below))
    offset = syntax.operation(exp.Sub, scaled, syntax.double(first))
    return syntax.operation(exp.Div, offset, syntax.double(every))
