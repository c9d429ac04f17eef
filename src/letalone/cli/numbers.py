"""How a number after an option is read: what is wrong with it is said with the remedy.

An option is public, so its value is quoted. A value that is to be hidden never comes here.
"""

import re
from fractions import Fraction

import typer

COMMA = re.compile(r"[+-]?\d+,\d+")
RATIO = re.compile(r"[+-]?\d+/[1-9]\d*")


def number(word: str) -> float:
    """The number that was typed, or an error with a remedy."""
    try:
        return float(word)
    except ValueError:
        raise typer.BadParameter(_refusal(word, "a number such as 0.5")) from None


def whole_number(word: str) -> int:
    """The whole number that was typed (10000, 1e4), or an error with a remedy."""
    try:
        return int(word) if not _is_short_and_whole(word) else int(float(word))
    except ValueError:
        raise typer.BadParameter(_refusal(word, "a whole number such as 10000")) from None


def _is_short_and_whole(word: str) -> bool:
    value = float(word)
    return abs(value) < 2**53 and value.is_integer()


def _refusal(word: str, needed: str) -> str:
    if word.startswith("-") and word.lstrip("-")[:1].isalpha():
        return f"{word} is not an option here, and no number."
    remedy = ""
    if COMMA.fullmatch(word):
        remedy = f" Write a point, not a comma: {word.replace(',', '.')}"
    elif RATIO.fullmatch(word):
        remedy = f" Write a decimal: {float(Fraction(word)):.6g}"
    return f"'{word[:40]}' is given, but it must be {needed}.{remedy}"
