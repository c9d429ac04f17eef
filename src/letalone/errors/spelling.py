"""Words that many messages share: the nearest name, a number with its noun, a newer format.

Tested:   tests/errors/test_spelling.py
"""

from collections.abc import Iterable, Mapping

from letalone.errors import FormatError

NEAR = 0.6  # how alike two words must be, as difflib measures it


def nearest(word: str, known: Iterable[str], *, near: float = NEAR) -> str | None:
    """The known word that is most like this one, whatever the capital letters; None if none is."""
    from difflib import get_close_matches  # only when something went wrong

    by_lower = {name.lower(): name for name in known}
    matches = get_close_matches(word.lower(), by_lower, n=1, cutoff=near)
    return by_lower[matches[0]] if matches else None


def did_you_mean(word: str, known: Iterable[str], *, quoted: bool = True) -> str:
    """A closing question if one of the words is near, else nothing."""
    meant = nearest(word, known)
    return "" if meant is None else f" Did you mean {repr(meant) if quoted else meant}?"


def plural(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: "1 row", "1,024 rows"; `many` where an s does not make it."""
    return f"1 {one}" if number == 1 else f"{number:,} {many or one + 's'}"


def plural_rows(number: int) -> str:
    """1 row, 2 rows."""
    return plural(number, "row")


def plural_people(number: int) -> str:
    """1 person, 2 people."""
    return plural(number, "person", "people")


def plural_counted(number: int, counted: str) -> str:
    """So many of what is counted: "rows" or "people"."""
    return plural_rows(number) if counted == "rows" else plural_people(number)


def too_new(name: object, written: object, newest: int) -> str:
    """What is said of a format that only a later letalone knows."""
    known = f"and this letalone reads up to format {newest}. Update letalone to read it."
    return f"{name} has format {written}, {known}"


def check_format(
    name: str, stored: Mapping[str, object], newest: int, *, otherwise: str, kind: object = None
) -> None:
    """Refuses what is newer than this letalone; `otherwise` is told of what has no format."""
    written = stored.get("format")
    known = kind is None or stored.get("kind") == kind
    if type(written) is not int or written < 1 or not known:  # True is no number here
        raise FormatError(otherwise)
    if written > newest:
        raise FormatError(too_new(name, written, newest))
