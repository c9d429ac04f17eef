"""An error is an output: raised for one input and not for the other, it is an exact answer.

A draw that raises becomes a `Failure` with the error's class and text. Where every draw raises,
there is nothing to audit, and the first error goes to the caller.
"""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

FROM_MECHANISM = "The mechanism that was audited raised this."  # a note on its errors


@dataclass(frozen=True, slots=True)
class Failure:
    """A draw that raised an error, by its class and its text."""

    words: str
    error: Exception = field(compare=False, repr=False)


def attempt(ask: Callable[[], Any]) -> Any:
    """What it returns, or how it failed."""
    try:
        return ask()
    except Exception as error:
        return Failure(f"{type(error).__name__}: {error}", error)


def raise_if_all_failed(outputs: Iterable[object]) -> None:
    """Raises the first error where there is nothing but errors."""
    first: Failure | None = None
    for output in outputs:
        if not isinstance(output, Failure):
            return
        first = first or output
    if first is not None:
        with from_mechanism():
            raise first.error


@contextmanager
def from_mechanism() -> Generator[None]:
    """Notes on errors in this block that they are the mechanism's, and none of the audit."""
    try:
        yield
    except Exception as error:
        error.add_note(FROM_MECHANISM)
        raise


def is_from_mechanism(error: Exception) -> bool:
    """Whether the mechanism raised it."""
    return FROM_MECHANISM in getattr(error, "__notes__", ())
