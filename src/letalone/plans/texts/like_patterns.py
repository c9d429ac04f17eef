r"""Patterns of LIKE: % stands for any letters, _ for one, and a backslash takes off their meaning.

A pattern has one spelling: an escape sign that was given is turned into a backslash, which stands
before %, _ and itself alone, and several % in a row are one. Between its % a pattern is cut into
segments: `a%b_%c` has the three segments a, b_ and c.

Matching takes a time that grows with the length of a text times that of the pattern, whatever
they are: the first and the last segment stand at the ends, and each of the others is looked for
behind the one before it, where it comes first. A place that comes first is found by letters, so a
segment in the middle has no _ unless it is the last to be looked for.

  Tested:   tests/plans/test_like_patterns.py
"""

from collections.abc import Iterator
from functools import cache
from string import ascii_lowercase, ascii_uppercase

from letalone.errors import ParameterError
from letalone.exact.typed import refusal
from letalone.plans.constants import well_formed

ESCAPE = "\\"
ANY, ONE = "%", "_"
MAX_PATTERN_LENGTH = 1000  # letters
MAX_SEGMENTS = 10
SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)
Segment = tuple[str | None, ...]  # letters; None stands for any one


def as_pattern(pattern: object, escape: object = ESCAPE) -> str:
    """The pattern in its one spelling, or an error that says what is wrong with it."""
    if not isinstance(pattern, str):
        raise refusal("pattern", pattern, "text, such as 'A%'")
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise ParameterError(
            f"The pattern has {len(pattern):,} letters, but may have at most"
            f" {MAX_PATTERN_LENGTH:,}. Shorten it."
        )
    segments = _segments(well_formed("pattern", pattern), _as_escape(escape))
    _check_searchable(segments)
    return ANY.join(map(_spell, segments))


@cache
def segments_of(pattern: str) -> tuple[Segment, ...]:
    """What stands between the % of a pattern in its one spelling."""
    return _segments(pattern, ESCAPE)


def as_it_is(text: object) -> str:
    """The pattern that a text alone matches."""
    if not isinstance(text, str):
        raise refusal("text", text, "text, such as 'A'")
    return _spell(tuple(text))


def small(text: str) -> str:
    """The text with small letters for A to Z, and all others as they are."""
    return text.translate(SMALL)


def _as_escape(escape: object) -> str | None:
    if escape is None:
        return None
    if not isinstance(escape, str) or len(escape) != 1 or escape in (ANY, ONE):
        raise refusal("escape", escape, "one letter other than % and _, such as '!'")
    return escape


def _segments(pattern: str, escape: str | None) -> tuple[Segment, ...]:
    segments: list[list[str | None]] = [[]]
    for sign, is_plain in _signs(pattern, escape):
        if sign != ANY or is_plain:
            segments[-1].append(None if sign == ONE and not is_plain else sign)
        elif segments[-1] or len(segments) == 1:  # several % in a row are one
            segments.append([])
    return tuple(map(tuple, segments))


def _signs(pattern: str, escape: str | None) -> Iterator[tuple[str, bool]]:
    """Each sign, and whether it stands for itself whatever it is."""
    signs = iter(pattern)
    for sign in signs:
        if sign != escape:
            yield sign, False
            continue
        following = next(signs, "")
        if following not in (ANY, ONE, escape):
            raise ParameterError(
                f"In the pattern {pattern[:40]!r} the escape sign {escape!r} must stand before %,"
                " _ or itself."
            )
        yield following, True


def _check_searchable(segments: tuple[Segment, ...]) -> None:
    *searched, _ = segments[1:-1] or ((),)
    if len(segments) > MAX_SEGMENTS:
        raise ParameterError(
            f"The pattern has {len(segments) - 1} times %, but may have at most"
            f" {MAX_SEGMENTS - 1}. Write several conditions with AND."
        )
    if any(None in segment for segment in searched):
        raise ParameterError(
            "Where a pattern has several pieces between %, only the last of them may have a _."
            " Write several conditions with AND."
        )


def _spell(segment: Segment) -> str:
    special = (ANY, ONE, ESCAPE)
    signs = (ESCAPE + sign if sign in special else sign or ONE for sign in segment)
    return "".join(signs)
