"""Guards double arithmetic for engines that raise where a result is too large or too small.

PostgreSQL raises where a sum, product or quotient of finite doubles is infinite, where a product
or quotient of others than zero is zero, and where something is divided by zero. An error that
depends on data is an exact answer, so every operation first decides whether it would raise.

Theorem.  None of these raises, whatever the operands are, and each is the IEEE result, but NULL
where that is infinite (or NaN of finite operands), and 0 where it underflows.
  Proven:   write |x| = a, |y| = b. All constants are powers of two, so scaling is exact where it
            neither overflows nor underflows.
            x + y: where a or b is below 2^960 the sum is at most the largest double, 2^1024 −
            2^971, plus less than half its last place, so it rounds to a finite one. Else halves
            are exact, and x + y rounds to 2^1024 or more iff x/2 + y/2 rounds to 2^1023 or more.
            x · y, a, b >= 1: overflows iff (a · 2^-512)(b · 2^-512) rounds to 1 or more; these
            factors are below 2^512. a, b < 1: below 2^-540 both, the product is below 2^-1080 and
            hence 0. Else one is at least 2^-540 and the other, if not 0, at least 2^-1074, so
            (a · 2^512)(b · 2^512) is 0 only if a factor is, and x · y underflows iff that is at
            most 2^-51 (half the smallest double). Else the product lies between a and b.
            x / y, b >= 1: for a >= 2^-40 the quotient is above 2^-1064; else it is 0 iff
            (a · 2^512) / (b · 2^-512) is at most 2^-51, and that quotient lies between 2^-1074
            and 2^984. 0 < b < 1: not below a; for a < 2^-60, or a < 1 and b >= 2^-1000, below
            2^1014; for a >= 1 and b <= 2^-1024 it overflows; else it does so iff
            (a · 2^-512) / (b · 2^512) rounds to 1 or more, a quotient from 2^-1024 up to, and
            by more than a rounding below, 2^1024.
            NaN is larger than all numbers there, and infinite operands raise nothing.
  But:      a product or quotient within one part in 2^53 above 2^-1075 is 0 here, and the
            smallest double on other engines.
  Tested:   tests/engines/conformance/test_arithmetic.py, on the server, at the edges of each case
"""

from collections.abc import Callable, Mapping
from functools import partial

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.syntax import Binary, Sql

Guard = Callable[[Sql, Sql], Sql]


def _add_by(kind: Binary) -> Guard:
    def guarded(x: Sql, y: Sql) -> Sql:
        halves = syntax.operation(kind, _times(x, -1), _times(y, -1))
        plain = syntax.operation(kind, x, y)
        easy = syntax.join_conditions(exp.Or, [_below(_size(x), 960), _below(_size(y), 960)])
        fits = _below(_size(halves), 1023)
        return syntax.case((easy, plain), (fits, plain.copy()))

    return guarded


def _multiply(x: Sql, y: Sql) -> Sql:
    a, b = _size(x), _size(y)
    plain, zero = syntax.operation(exp.Mul, x, y), syntax.double(0.0)
    down = syntax.operation(exp.Mul, _times(a, -512), _times(b, -512))
    up = syntax.operation(exp.Mul, _times(a, 512), _times(b, 512))
    large = syntax.case((_below(down, 0), plain))
    tiny = syntax.join_conditions(exp.And, [_below(a, -540), _below(b, -540)])
    small = syntax.case((tiny, zero), (_above(up, -51), plain.copy()), otherwise=zero.copy())
    return syntax.case(
        (syntax.join_conditions(exp.And, [_from(a, 0), _from(b, 0)]), large),
        (syntax.join_conditions(exp.And, [_below(a, 0), _below(b, 0)]), small),
        otherwise=plain.copy(),
    )


def _divide(x: Sql, y: Sql) -> Sql:
    a, b = _size(x), _size(y)
    plain, zero = syntax.operation(exp.Div, x, y), syntax.double(0.0)
    up = syntax.operation(exp.Div, _times(a, 512), _times(b, -512))
    down = syntax.operation(exp.Div, _times(a, -512), _times(b, 512))
    by_large = syntax.case((_from(a, -40), plain), (_above(up, -51), plain.copy()), otherwise=zero)
    moderate = syntax.join_conditions(exp.And, [_below(a, 0), _from(b, -1000)])
    easy = syntax.join_conditions(exp.Or, [_below(a, -60), moderate])
    huge = syntax.join_conditions(exp.And, [_from(a, 0), syntax.negate(_above(b, -1024))])
    nothing = syntax.cast_to(syntax.NULL.copy(), syntax.DOUBLE)
    by_small = syntax.case((easy, plain.copy()), (huge, nothing), (_below(down, 0), plain.copy()))
    missing = syntax.operation(exp.Or, syntax.is_null(x), syntax.is_null(y))
    positive = syntax.operation(exp.GT, b, syntax.double(0.0))
    return syntax.case((missing, nothing.copy()), (_from(b, 0), by_large), (positive, by_small))


# Each operation on two named doubles, NULL where it would be infinite.
GUARDS: Mapping[Binary, Guard] = {
    exp.Add: _add_by(exp.Add),
    exp.Sub: _add_by(exp.Sub),
    exp.Mul: _multiply,
    exp.Div: _divide,
}


def _size(of: Sql) -> Sql:
    return syntax.call("ABS", of)


def _with_power(kind: Binary, of: Sql, bits: int) -> Sql:
    return syntax.operation(kind, of, syntax.double(2.0**bits))


_times, _below = partial(_with_power, exp.Mul), partial(_with_power, exp.LT)
_from, _above = partial(_with_power, exp.GTE), partial(_with_power, exp.GT)
