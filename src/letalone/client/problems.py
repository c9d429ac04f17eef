"""Problems (RFC 9457) that a service answers with, as the errors that a local table raises.

Nothing of the words and numbers that a service says may fill the memory or steer a terminal.

Tested:   tests/client/test_problems.py: every class of letalone's errors comes back as itself, with
          its code, its facts and its remedies; test_hostile_service.py
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from letalone import errors
from letalone.errors import LetaloneError, ServiceUnavailable, remedies
from letalone.errors.codes import Code
from letalone.errors.problem import Fact, Problem, Remedy
from letalone.privacy.budget import Budget
from letalone.wire.json_values import read_budget

MAX_WORDS_LENGTH = 5000
AMOUNTS = ("spent", "asked", "left")
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


def read_error(status: int, sent: object, *, where: str, wait: str | None = None) -> LetaloneError:
    """The error to raise; `wait` is what the header Retry-After says."""
    document: Mapping[str, Any] = (
        cast("Mapping[str, Any]", sent) if isinstance(sent, Mapping) else dict[str, Any]()
    )
    words, kind = document.get("detail"), str(document.get("type", "")).rpartition("/")[2]
    if not isinstance(words, str) or not words:
        return ServiceUnavailable(
            f"{where} answered with the status {status}, and not in the way of a letalone service."
            " Look at the address, which has nothing after the machine's name unless a proxy puts"
            " the service there, and at the proxy in front of it."
        )
    kind_of_error = _class(document.get("error"), kind)
    later = f" Try again in {wait} seconds." if wait is not None and wait.isdigit() else ""
    problem = Problem(
        Code.__members__.get(str(document.get("code")), Code[kind_of_error.default_code]),
        _facts(document),
        _remedies(document.get("remedies")),
        words=printable(words) + later,
        advised=True,
    )
    return kind_of_error(problem)


def _class(name: object, kind: str) -> type[LetaloneError]:
    known = getattr(errors, name, None) if isinstance(name, str) else None
    if isinstance(known, type) and issubclass(known, LetaloneError) and known is not LetaloneError:
        return known
    return KINDS.get(kind, ServiceUnavailable)


def _facts(document: Mapping[str, Any]) -> dict[str, Fact]:
    """The facts, with those that have a member of their own: older services send only these."""
    sent = document.get("facts")
    facts = dict(cast("Mapping[str, object]", sent)) if isinstance(sent, Mapping) else {}
    read = {name: _fact(fact) for name, fact in facts.items() if name.isidentifier()}
    amounts = {name: _budget(document.get(name, facts.get(name))) for name in AMOUNTS}
    level = document.get("level", facts.get("level"))
    known = {**read, **amounts, "level": printable(level) if isinstance(level, str) else None}
    return {name: fact for name, fact in known.items() if fact is not None}


def _fact(sent: object) -> Fact:
    """A name, a number, a budget or a list of these; None for anything else."""
    match sent:
        case str():
            return printable(sent)
        case bool() | int() | float():
            return sent
        case list():
            return tuple(_fact(item) for item in cast("list[object]", sent))
        case _:
            return _budget(sent)


def _remedies(sent: object) -> tuple[Remedy, ...]:
    """The remedies that this letalone knows; a newer service may know more."""
    listed = cast("list[object]", sent) if isinstance(sent, list) else []
    read = (_remedy(remedy) for remedy in listed)
    return tuple(remedy for remedy in read if remedy is not None)


def _remedy(given: object) -> Remedy | None:
    if not isinstance(given, Mapping):
        return None
    sent = cast("Mapping[str, object]", given)
    kind = getattr(remedies, str(sent.get("remedy")), None)
    if not isinstance(kind, type) or not issubclass(kind, Remedy) or kind is Remedy:
        return None
    parts = {part.name: _fact(sent.get(part.name)) for part in fields(kind)}
    return kind(**parts)


def _budget(sent: object) -> Budget | None:
    if not isinstance(sent, Mapping):
        return None
    amounts = cast("Mapping[str, object]", sent)
    try:
        return read_budget(amounts)
    except (KeyError, ValueError, ArithmeticError, LetaloneError):
        return None


def printable(words: str) -> str:
    """What comes from elsewhere is shown in a terminal: no letter of it may steer that."""
    cut = words[:MAX_WORDS_LENGTH]
    return "".join(letter if letter.isprintable() or letter == "\n" else "�" for letter in cut)
