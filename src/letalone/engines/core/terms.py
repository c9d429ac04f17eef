"""Keeps pieces of SQL with what is known about them (terms), and the levels that name them.

A number can be non-finite until it is guarded, and a guard mentions its number twice. To
keep a statement as long as its expression, whatever is mentioned twice is a column first:
a statement is a chain of levels, SELECT *, piece AS name FROM (the level below).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.syntax import BIGINT, DOUBLE, Sql
from letalone.plans.types import Type

if TYPE_CHECKING:
    from letalone.engines.core.dialect import Dialect


@dataclass(frozen=True, slots=True)
class SqlTerm:
    """SQL for a value of one row.

    finite: never NaN or infinite (a SqlTerm that is not stands for NULL wherever it is).
    depth: how many levels have to be there below. simple: a name, so free to repeat.
    """

    sql: Sql
    type: Type
    finite: bool = True
    depth: int = 0
    simple: bool = False


class Levels:
    """Names for pieces of SQL, in the order in which they can be computed."""

    def __init__(self, mark: str, dialect: "Dialect") -> None:
        self._mark, self.dialect = mark, dialect
        self._levels: list[list[Sql]] = []
        self._number = 0

    def name(self, term: SqlTerm, name: str | None = None) -> SqlTerm:
        if term.simple and name is None:
            return term
        self._number += 1
        name = name or f"{self._mark}{self._number}"
        while len(self._levels) <= term.depth:
            self._levels.append([])
        self._levels[term.depth].append(syntax.alias(term.sql, name))
        return replace(term, sql=syntax.column(name), depth=term.depth + 1, simple=True)

    def guarded(self, term: SqlTerm) -> SqlTerm:
        """The term with NULL in place of NaN and infinities."""
        if term.finite:
            return term
        once = self.name(term)
        guarded = syntax.case((syntax.is_finite(once.sql), once.sql))
        return replace(once, sql=guarded, finite=True, simple=False)

    def over(
        self, rows: exp.Select, where: Sequence[SqlTerm] = (), *, only: Sequence[str] | None = None
    ) -> exp.Select:
        """All levels, one upon the other, upon those of the rows that meet the conditions.

        Each condition stands as far below as it can: what it drops is not computed any further.
        only: what is read above; then the last level is kept apart as the others are, and has this
        and no more.
        """
        late = [term.sql for term in where if term.depth >= len(self._levels)]
        for number, level in enumerate(self._levels):
            met = [term.sql for term in where if term.depth == number]
            source = syntax.subquery(rows, f"{self._mark}level{number}")
            is_last = number == len(self._levels) - 1
            chosen = [exp.Star(), *level]
            if is_last and only is not None:
                chosen = _choose(level, [*only, *_names_in(late)])
            query = syntax.select(chosen, source, where=met)
            rows = self.dialect.level(query, last=is_last and only is None)
        if not late:
            return rows
        return syntax.select([exp.Star()], syntax.subquery(rows, f"{self._mark}levels"), where=late)


def _choose(level: Sequence[Sql], names: Sequence[str]) -> list[Sql]:
    """What a level has of these names: its own pieces, and columns from below."""
    wanted, pieces = dict.fromkeys(names), {piece.alias: piece for piece in level}
    return [pieces.get(name) or syntax.column(name) for name in wanted]


def _names_in(conditions: Sequence[Sql]) -> list[str]:
    return [column.name for sql in conditions for column in sql.find_all(exp.Column)]


def as_double(term: SqlTerm) -> SqlTerm:
    """A number as a double."""
    if term.type is Type.NUMBER:
        return term
    cast = syntax.cast_to(term.sql, DOUBLE)
    return replace(term, sql=cast, type=Type.NUMBER, simple=False)


def deepest(terms: Sequence[SqlTerm]) -> int:
    """The level above which all terms are there."""
    return max((term.depth for term in terms), default=0)


def plus(of: Sql, number: int) -> Sql:
    """A whole number and another."""
    if not number:
        return of
    kind = exp.Add if number > 0 else exp.Sub
    return syntax.operation(kind, of, syntax.whole(abs(number)))


def big(number: int) -> Sql:
    """A 64-bit integer."""
    return syntax.cast_to(syntax.whole(number), BIGINT)
