"""Equal ranges of numbers in SQL: which one holds a value.

Edge j is the double nearest to lower + j · step, so a value 0.29 lies at the start of the range
[0.29, 0.30) although neither is a double and 0.29 / 0.01 is below 29.

  Tested:   tests/engines/test_amounts.py, tests/engines/test_expressions.py
"""

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

from sqlglot import exp

from letalone.engines import syntax
from letalone.engines.syntax import Sql
from letalone.engines.terms import Levels, Term, big, plus
from letalone.plans.types import Type

if TYPE_CHECKING:
    from letalone.engines.dialects.dialect import Dialect

EXACT = 2**53  # below it every whole number is a double


class Edges:
    """lower + j · step as (first + j · every) / below, in whole numbers where they are doubles."""

    def __init__(self, first: float, every: float, below: float, count: int) -> None:
        self._first, self._every, self._below, self.count = first, every, below, count

    @classmethod
    def of(cls, lower: Fraction, step: Fraction, count: int) -> "Edges":
        """The edges of so many ranges from a lower end on."""
        below = lcm(lower.denominator, step.denominator)
        first, every = lower * below, step * below
        if max(abs(first) + every * count, Fraction(below)) < EXACT:
            return cls(float(first), float(every), float(below), count)
        return cls(float(lower), float(step), 1.0, count)

    def guess(self, x: Sql, dialect: "Dialect") -> Sql:
        """About the number of the range of x, within 0 … count - 1."""
        return dialect.guess(x, (self._first, self._every, self._below), self.count)

    def edge(self, number: Sql, further: int) -> Sql:
        """Where a range starts (or the next one, if 1 further)."""
        steps = syntax.cast_to(plus(number, further), syntax.DOUBLE)
        way = syntax.operation(exp.Mul, steps, syntax.double(self._every))
        whole = syntax.operation(exp.Add, syntax.double(self._first), way)
        return syntax.operation(exp.Div, whole, syntax.double(self._below))

    def hold(self, x: Sql) -> Sql:
        """Whether x lies between the first edge and the last; NaN does not."""
        first = syntax.double(self._first / self._below)
        last = syntax.double((self._first + self.count * self._every) / self._below)
        above = syntax.operation(exp.GTE, x, first)
        return syntax.joined(exp.And, [above, syntax.operation(exp.LTE, x, last)])


def numbered(x: Term, edges: Edges, levels: Levels) -> tuple[Sql, int]:
    """The number of the range of x, what lies outside in the first or the last; and its depth."""
    guess = levels.name(Term(edges.guess(x.sql, levels.dialect), Type.INTEGER, depth=x.depth))
    nudged = syntax.case(
        (syntax.operation(exp.LT, x.sql, edges.edge(guess.sql, 0)), plus(guess.sql, -1)),
        (syntax.operation(exp.GTE, x.sql, edges.edge(guess.sql, 1)), plus(guess.sql, 1)),
        otherwise=guess.sql,
    )
    least = syntax.called("LEAST", nudged, big(edges.count - 1))
    return syntax.called("GREATEST", big(0), least), guess.depth
