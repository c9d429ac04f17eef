"""Numbers in messages: six digits, rounded up, because they are upper bounds."""

from fractions import Fraction

from letalone.privacy.bounds import six


def shown(number: Fraction) -> str:
    """Six digits, rounded up; exact where it is shorter."""
    return six(number)
