"""Words and numbers that a service said: nothing of them may fill the memory or steer a terminal.

Tested:   tests/client/test_problems.py, test_hostile_service.py
"""

from decimal import Decimal
from fractions import Fraction

from letalone.exact.typed import as_typed, read_rational

LONGEST = 5000


def amount(words: object) -> Fraction:
    """Digits such as 0.7 and 1e-6, or a fraction; ValueError for what is too long to be one."""
    text = str(words)
    return read_rational(text) if "/" in text else as_typed(Decimal(text))


def printable(words: str) -> str:
    """What comes from elsewhere is shown in a terminal: no letter of it may steer that."""
    kept = [letter if letter.isprintable() or letter == "\n" else "�" for letter in words[:LONGEST]]
    return "".join(kept)
