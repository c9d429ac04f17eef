"""One spelling for each JSON value, so that it can be hashed: RFC 8785.

Keys are sorted by their UTF-16 code units, there are no spaces, strings are escaped as
little as JSON allows and written as UTF-8. Two restrictions make the spelling certain:
numbers are whole and below 2^53 in size (rationals and larger numbers are strings), and
strings are well-formed Unicode. Floats are refused: their spelling is where the writers
of JSON differ.

  Proven:   the writer is a function of the value, and `json.loads` is its inverse
  Tested:   tests/exact/test_canonical.py, against the samples of RFC 8785
  Assumed:  Python's `json` escapes a string as RFC 8785 (section 3.2.2.2) asks
"""

from collections.abc import Mapping
from json import JSONEncoder
from typing import cast

from letalone.errors import ParameterError

MAX_SAFE_INTEGER = 2**53 - 1
MAX_DEPTH = 200
_spelled = JSONEncoder(ensure_ascii=False).encode
_at_once = JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


def canonical(value: object) -> bytes:
    """The RFC 8785 spelling of None, truth values, whole numbers, strings, lists and objects."""
    if _is_plain(value):
        try:
            return _at_once(value).encode("utf-8")
        except UnicodeEncodeError:
            pass  # half of a surrogate pair: refused below, in words
    return _write(value, 0).encode("utf-8")


def _is_plain(value: object) -> bool:
    """Whether Python's own encoder, which is faster, spells the value in the same way.

    It sorts keys by code points, which for ASCII is the same order. Level by level, without
    calls: a value is spelled many times for one answer.
    """
    level, depth = [value], 0
    while level and depth <= MAX_DEPTH:
        below: list[object] = []
        for member in level:
            kind = type(member)
            if kind is str or member is None or kind is bool:
                continue
            if kind is int:
                if not -MAX_SAFE_INTEGER <= cast("int", member) <= MAX_SAFE_INTEGER:
                    return False
            elif kind is dict:
                fields = cast("dict[object, object]", member)
                for name in fields:
                    if type(name) is not str or not name.isascii():
                        return False
                below += fields.values()
            elif kind is list or kind is tuple:
                below += cast("list[object]", member)
            else:
                return False
        level, depth = below, depth + 1
    return not level


def _write(value: object, depth: int) -> str:
    if depth > MAX_DEPTH:
        raise _refusal(f"a value nested deeper than {MAX_DEPTH} levels")
    match value:
        case str():
            return _text(value)
        case None | bool():
            return _spelled(value)
        case int():
            if abs(value) > MAX_SAFE_INTEGER:
                raise _refusal("a whole number of 2^53 or more")
            return int.__repr__(value)
        case list() | tuple():
            items = cast("list[object] | tuple[object, ...]", value)
            return "[" + ",".join(_write(item, depth + 1) for item in items) + "]"
        case Mapping():
            return _object(cast("Mapping[object, object]", value), depth + 1)
        case _:
            raise _refusal(f"a value of type {type(value).__name__}")


def _object(value: Mapping[object, object], depth: int) -> str:
    names = list(value)
    if not all(isinstance(name, str) for name in names):
        raise _refusal("an object with a key that is not a string")
    texts = {_text(cast("str", name)): name for name in names}  # refuses malformed Unicode first
    order = sorted(texts, key=lambda text: cast("str", texts[text]).encode("utf-16-be"))
    return "{" + ",".join(f"{text}:{_write(value[texts[text]], depth)}" for text in order) + "}"


def _text(value: str) -> str:
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise _refusal("a string with half of a surrogate pair") from None
    return _spelled(value)


def _refusal(what: str) -> ParameterError:
    return ParameterError(
        f"Canonical JSON cannot hold {what}. It holds None, truth values, whole numbers below"
        " 2^53, well-formed strings, lists and objects; write other numbers as strings."
    )
