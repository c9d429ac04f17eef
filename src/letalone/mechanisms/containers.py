"""Reading what holds the candidates, or the private entries, by its type alone.

A public list, of candidates or prices, needs an order and a length: a list, a tuple, a range,
text, a one-dimensional array. Private entries, one for each person, may come one by one. A
set drops repeats and has no order, a mapping would give its keys, text its letters: refused,
because each is a slip that would be answered silently.

  Proven:   no message and no refusal depends on an entry
  Tested:   each wrong container at each function that takes one
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import TypeVar

from letalone.errors import ParameterError
from letalone.exact.typed import refusal

T = TypeVar("T")


def public_list(name: str, given: Sequence[T]) -> list[T]:
    """The entries of a public list, in order."""
    has_order = is_one_of(given, Sequence) or hasattr(given, "__array__")
    if not has_order or getattr(given, "ndim", 1) != 1 or is_one_of(given, bytes, bytearray):
        raise refusal(name, given, "a list", "A list has an order and a length: list(...) is one.")
    return list(given)


def private_entries(what: str, given: Iterable[T], *, entry: str) -> Iterator[T]:
    """The private entries, one by one."""
    if not is_one_of(given, str, bytes, bytearray, Mapping, AbstractSet):
        with suppress(TypeError):
            return iter(given)
    # It names the type of the container, and nothing in it.
    kind = type(given).__name__
    raise ParameterError(f"{what} have the type {kind}, but must be a list with {entry}.")


def is_one_of(given: object, *kinds: type) -> bool:
    """Whether it is of one of these types; type checkers learn nothing from it."""
    return isinstance(given, kinds)


def count_of(number: int, one: str, many: str) -> str:
    """1 candidate, 2 candidates."""
    return f"{number} {one if number == 1 else many}"
