"""Problems (RFC 9457) that a service answers with, as the errors that a local table raises.

Tested:   tests/client/test_problems.py: every class of letalone's errors comes back as itself
"""

from collections.abc import Mapping
from typing import Any, cast

from letalone import errors
from letalone.client.said import amount, printable
from letalone.errors import BudgetExceeded, LetaloneError, ServiceUnavailable
from letalone.privacy import Budget

# What is refused before letalone is asked, by the last word of its type.
KINDS: dict[str, type[LetaloneError]] = {
    "not-valid": errors.ParameterError,
    "not-json": errors.ParameterError,
    "not-found": errors.ParameterError,
    "conflict": errors.ParameterError,
    "body-too-large": errors.ParameterError,
    "not-authenticated": errors.NotAllowed,
    "elevation-needed": errors.NotAllowed,
    "password-change-needed": errors.NotAllowed,
    "not-permitted": errors.NotAllowed,
    "not-granted": errors.NotAllowed,
    "retired": errors.NotAllowed,
}


def error_of(status: int, problem: object, *, where: str, wait: str | None = None) -> LetaloneError:
    """The error to raise; `wait` is what the header Retry-After says."""
    found: Mapping[str, Any] = (
        cast("Mapping[str, Any]", problem) if isinstance(problem, Mapping) else dict[str, Any]()
    )
    words, kind = found.get("detail"), str(found.get("type", "")).rpartition("/")[2]
    if not isinstance(words, str) or not words:
        return ServiceUnavailable(
            f"{where} answered with the status {status}, and not in the way of a letalone service."
            " Look at the address, which has nothing after the machine's name unless a proxy puts"
            " the service there, and at the proxy in front of it."
        )
    known = _class(found.get("error"), kind)
    if known is BudgetExceeded:
        amounts = {name: _budget(found.get(name)) for name in ("spent", "asked", "left")}
        return BudgetExceeded(printable(words), **amounts, level=_text(found.get("level")))
    later = f" Try again in {wait} seconds." if wait is not None and wait.isdigit() else ""
    return known(printable(words) + later)


def _class(name: object, kind: str) -> type[LetaloneError]:
    found = getattr(errors, name, None) if isinstance(name, str) else None
    if isinstance(found, type) and issubclass(found, LetaloneError) and found is not LetaloneError:
        return found
    return KINDS.get(kind, ServiceUnavailable)


def _budget(said: object) -> Budget | None:
    if not isinstance(said, Mapping):
        return None
    amounts = cast("Mapping[str, object]", said)
    try:
        return Budget(*(amount(amounts[one]) for one in ("epsilon", "delta")))
    except (KeyError, ValueError, ArithmeticError, LetaloneError):
        return None


def _text(value: object) -> str | None:
    return printable(value) if isinstance(value, str) else None
