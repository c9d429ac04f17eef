"""Numbers in messages: six digits, rounded up, because they are upper bounds."""

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

_SIX_DIGITS_UP = Context(prec=6, rounding=ROUND_CEILING)


def shown(number: Fraction) -> str:
    """Six digits, rounded up."""
    quotient = _SIX_DIGITS_UP.divide(Decimal(number.numerator), Decimal(number.denominator))
    return f"{float(quotient):g}"
