"""What is hashed and signed: canonical JSON (RFC 8785) as text, its digest, and reading it back.

The spelling itself is `letalone.exact.canonical`. What is read must say one thing only: a
key that comes twice, or a number that is not whole, is refused.

  Tested:   tests/ledger/test_canonical.py
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import NoReturn, cast

from letalone.errors import FormatError, ParameterError
from letalone.exact.canonical import canonical as spelling
from letalone.privacy.curve import Json


def canonical(value: object, *, name: str = "value") -> str:
    """The one text of a value; floats and whole numbers beyond 2^53 have none."""
    try:
        return spelling(value).decode("utf-8")
    except ParameterError as error:
        raise ParameterError(f"{name} cannot be stored: {error}") from None


def digest_of(value: object, *, name: str = "value") -> str:
    """SHA-256 of the canonical text, in hexadecimal."""
    return text_digest(canonical(value, name=name))


def text_digest(text: str) -> str:
    """SHA-256 of a text, in hexadecimal."""
    return sha256(text.encode("utf-8")).hexdigest()


def read_object(text: Json | str | bytes, *, name: str) -> Json:
    """The JSON object that a text says, if it can be read in one way only; or that it is."""
    if not isinstance(text, str | bytes):
        return as_object(text, name=name)
    try:
        content: object = json.loads(
            text,
            object_pairs_hook=_without_repeats,
            parse_float=_refuse_number,
            parse_constant=_refuse_number,
        )
    except (ValueError, RecursionError):
        raise FormatError(
            f"{name} is damaged: it must be a JSON object in which no key comes twice and every "
            "number is whole."
        ) from None
    return as_object(content, name=name)


def as_object(value: object, *, name: str) -> Json:
    """The value, if it is a JSON object."""
    if not isinstance(value, Mapping):
        raise FormatError(f"{name} is damaged: it must be a JSON object.")
    return dict(cast("Mapping[str, object]", value))


def _without_repeats(pairs: list[tuple[str, object]]) -> Json:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a key comes twice")
    return content


def _refuse_number(_: str) -> NoReturn:
    raise ValueError("a number that is not whole")
