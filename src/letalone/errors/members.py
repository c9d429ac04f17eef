"""A problem as members of a JSON object: its code, its public facts and its remedies.

Tested:   tests/curator/http/test_problems.py, tests/cli/test_screens.py
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, cast

from letalone.errors.problem import Argument, FaceName, Fact, Problem, Remedy, Spelled

Write = Callable[[Fact], Any]


def members_on(face: FaceName, problem: Problem, write: Write) -> dict[str, Any]:
    """The members in the words of a face.

    `write` makes JSON of what is neither text, a number nor a list of these: a budget.
    """
    sent = {name: _write_fact(face, fact, write) for name, fact in problem.facts.items()}
    facts = {name: fact for name, fact in sent.items() if fact not in ("", None)}
    remedies = [_write_remedy(face, remedy, write) for remedy in problem.remedies]
    return {"code": problem.code.name, "facts": facts, "remedies": remedies}


def _write_remedy(face: FaceName, remedy: Remedy, write: Write) -> dict[str, Any]:
    named = {part.name: getattr(remedy, part.name) for part in fields(remedy)}
    parts = {name: _write_fact(face, fact, write) for name, fact in named.items()}
    return {"remedy": type(remedy).__name__, **parts}


def _write_fact(face: FaceName, fact: Fact, write: Write) -> Any:
    match fact:
        case Spelled():
            return fact.on(face)
        case Argument():
            return str(fact)
        case str() | bool() | int() | float() | None:
            return fact
        case tuple() | list():
            return [_write_fact(face, item, write) for item in cast("tuple[Fact, ...]", fact)]
        case Mapping():
            items = cast("Mapping[str, Fact]", fact).items()
            return {name: _write_fact(face, item, write) for name, item in items}
        case _:
            return write(fact)
