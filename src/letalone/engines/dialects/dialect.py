"""A dialect writes what an engine's SQL says in its own way; all else is written once.

Statements are trees in DuckDB's words. Where engines differ in what they compute (a product that
overflows, a stored type, the rank of a row), a dialect writes the piece while the tree is built.
Where they differ in words alone, it rewrites the tree when it is printed.

  Law.      Every dialect's pieces give the same value on every row, and none can fail.
  Tested:   tests/engines/test_engine_laws.py on every engine, against a slow one in Python
"""

from collections.abc import Sequence
from math import ldexp
from typing import ClassVar, Protocol

from sqlglot import exp

from letalone.engines import syntax
from letalone.engines.reading import Stored
from letalone.engines.syntax import Binary, Sql
from letalone.engines.terms import Levels, Term, big, plus
from letalone.plans.schema import Column
from letalone.plans.types import Type


class Dialect(Protocol):
    """One engine's way to write a plan."""

    has_first: ClassVar[bool]
    """Whether FIRST(value ORDER BY …) takes the memory of one row, however many there are."""

    reads_again: ClassVar[bool]
    """Whether a row that a statement reads twice has one rank."""

    def arithmetic(self, kind: Binary, left: Term, right: Term, levels: Levels) -> Term:
        """A sum, difference, product or quotient of two doubles; not finite or NULL beyond them."""
        ...

    def offset(self, x: Term, ends: tuple[int, int], shift: int, levels: Levels) -> Term:
        """clamp(floor(x · 2^shift), low, high) − (low + high) // 2; NULL where x is missing."""
        ...

    def guess(self, x: Sql, edges: tuple[float, float, float], count: int) -> Sql:
        """About which of `count` ranges holds x, within 0 … count − 1; edges: first, every, below.

        Off by at most one where x is finite; any of them where it is not.
        """
        ...

    def scaled(self, of: Sql, shift: int) -> Sql:
        """A double times 2^shift: zero, or between 2^-64 and 2^86 in size."""
        ...

    def total(self, of: Sql, most: int) -> Sql:
        """The sum over rows of a 64-bit integer that is at most `most` in size."""
        ...

    def level(self, query: exp.Select, *, last: bool) -> exp.Select:
        """A level of named pieces, kept apart from those above it where the engine must be told."""
        ...

    def read(self, stored: Stored, source: Sql, column: Column) -> Term:
        """The value of a stored column in its declared type, whatever the cell holds."""
        ...

    def unit(self, stored: Stored, value: Sql) -> Sql:
        """The unit of a row: what is stored, in a form in which equal units are equal."""
        ...

    def ranked(
        self, columns: Sequence[Sql], source: Sql, ranks: str | None, *, mark: str, unit: Sql | None
    ) -> exp.Select:
        """SELECT columns FROM the table, with `rank` of mark + "ranks" where ranks are asked for.

        Rows without a unit have no rank, or are left out.
        """
        ...

    def printed(self, query: Sql, *, pretty: bool = False) -> str:
        """The statement as the engine reads it."""
        ...


def compare_with_ends(x: Term, ends: tuple[int, int], shift: int, *, floor: Sql) -> Term:
    """The offset by comparisons with the ends: only between them is the floor computed."""
    (low, high), middle = ends, sum(ends) // 2
    start, end = (_divide(place, shift) for place in ends)
    smallest, largest = big(low - middle), big(high - middle)
    if not x.finite:
        finite = syntax.operation(exp.GT, x.sql, syntax.infinity("-"))
        smallest = syntax.case((finite, smallest))
    below = exp.LTE if start == syntax.infinity("-") else exp.LT
    branches = [
        (syntax.operation(below, x.sql, start), smallest),
        (syntax.operation(exp.LT, x.sql, end), plus(floor, -middle)),
        (syntax.is_there(x.sql, finite=x.finite), largest),
    ]
    return Term(syntax.case(*branches), Type.INTEGER, depth=x.depth)


def _divide(end: int, shift: int) -> Sql:
    """end / 2^shift: a double, since an end has few bits, or beyond all of them."""
    try:
        return syntax.double(ldexp(end, -shift))
    except OverflowError:
        return syntax.infinity("" if end > 0 else "-")


def with_rank(columns: Sequence[Sql], rank: Sql, mark: str) -> list[Sql]:
    """The columns, with the rank in the place of its name."""
    return [
        syntax.alias(rank, column.alias)
        if isinstance(column.this, exp.Column) and column.this.table == f"{mark}ranks"
        else column
        for column in columns
    ]
