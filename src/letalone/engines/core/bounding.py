"""Bounds what a unit counts for in SQL: by weights, and by cuts where a weight bounds nothing.

A weight is S·min(1, most/number) or S·min(1, √(most/number)), rounded down, for a unit with so many
rows or groups, of which `most` may count. A cut keeps the first few of a unit's different pairs, in
the order of their digests.

Theorem.  The weights of a unit's rows add up to at most most·S, the squares of its groups' weights
to at most most·S². Weights, and what a cut keeps, depend on that unit's rows alone, not on their
order or place, and nothing here can fail.
  Proven:   docs/explanation/proofs/weights.md
  Tested:   tests/engines/test_engine_laws.py on every engine
"""

from collections.abc import Sequence
from typing import Literal

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.dialect import Dialect
from letalone.engines.core.syntax import BIGINT, DOUBLE, Sql
from letalone.engines.core.terms import SqlTerm
from letalone.plans.types import Type

LARGEST = 1 << 62


class Weigher:
    """Writes weights in parts of 1/lattice."""

    def __init__(self, lattice: int, dialect: Dialect) -> None:
        self._lattice, self._dialect = lattice, dialect

    def share(self, number: Sql, most: int, norm: Literal[1, 2] = 1) -> Sql:
        """The weight of one of `number` rows or groups of a unit, of which `most` may count."""
        fits = syntax.operation(exp.LTE, number, syntax.whole(most))
        # Fewer than LARGEST where `most` is so large that no unit has more.
        above = syntax.whole(min(self._lattice**norm * most, LARGEST))
        part = self._dialect.quotient(above, number.copy())
        if norm == 2:  # a whole number below 2^52, whose root is right to the last bit
            root = syntax.call("SQRT", syntax.cast_to(part, DOUBLE))
            part = syntax.cast_to(exp.Floor(this=root), BIGINT)
        return syntax.case((fits, syntax.whole(self._lattice)), otherwise=part)

    def both(self, first: Sql | None, second: Sql | None) -> Sql | None:
        """The product of two weights; one that is None is that of a whole row."""
        if first is None or second is None:
            return second if first is None else first
        product = syntax.operation(exp.Mul, first, second)
        return self._dialect.quotient(product, syntax.whole(self._lattice))


def keep_first(
    rows: exp.Select,
    most: int,
    *,
    unit: Sql,
    unit_text: Sql,
    by: Sequence[SqlTerm] = (),
    parts: Sequence[SqlTerm],
    mark: str,
    dialect: Dialect,
    together: bool = True,
) -> exp.Select:
    """The first few, by digest, of the rows that agree in the unit and in `by`.

    Equal units, and equal parts, must have one spelling: `unit_text` is the unit's.
    together: rows with equal parts have one place; else one of them has it, and which does not
    matter where they are equal in all that is read.
    """
    named_unit = SqlTerm(unit_text, Type.TEXT)
    order = [dialect.digest([named_unit, *by, *parts]), *(part.sql for part in parts)]
    within = [unit, *(part.sql for part in by)]
    rank = exp.DenseRank() if together else exp.RowNumber()
    place = syntax.window(rank, *_copies(order), partition=_copies(within))
    named = [exp.Star(), syntax.alias(place, f"{mark}place")]
    placed = syntax.subquery(syntax.select(named, syntax.subquery(rows, f"{mark}all")), mark)
    first = syntax.operation(exp.LTE, syntax.column(f"{mark}place"), syntax.whole(most))
    return syntax.select([exp.Star()], placed, where=[first])


def _copies(parts: Sequence[Sql]) -> list[Sql]:
    return [part.copy() for part in parts]
