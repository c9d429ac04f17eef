"""Problems in the words of a service: addresses and JSON in place of Python.

What names a place on the service's machine (a file, a server) is for the log of its owner: codes
about a store say one fixed sentence (`CodeEntry.served`), and a fact called `place` is left out.

  Tested:   tests/errors/test_problem.py, tests/curator/http/test_problems.py
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from letalone.errors import remedies
from letalone.errors.codes import Code
from letalone.errors.in_python import words_for_delta
from letalone.errors.members import members_on
from letalone.errors.problem import Face, Fact, Problem

Json = dict[str, Any]
HIDDEN = {"place"}


def in_http(problem: Problem) -> str:
    """The problem in words that anybody may read who reaches the service."""
    return served_code(problem.code).value.served or HTTP.say(problem)


def served_code(code: Code) -> Code:
    """What the code means to somebody who is not at the machine."""
    served_as = code.value.served_as
    return Code[served_as] if served_as else code


def members_in_http(problem: Problem, write: Callable[[Fact], Any]) -> Json:
    """The code, the public facts and the remedies, for programs.

    `write` makes JSON of what is neither text, a number nor a list of these: a budget.
    """
    code = served_code(problem.code)
    if code.value.served:
        return {"code": code.name, "facts": {}, "remedies": []}
    shown = {name: fact for name, fact in problem.facts.items() if name not in HIDDEN}
    return members_on("http", replace(problem, code=code, facts=shown), write)


def _name_keys(remedy: remedies.NameKeys) -> str:
    return f'List them: "keys" with the groups of {" and ".join(remedy.columns)}.'


def _add_bounds(remedy: remedies.AddBounds) -> str:
    bounds = ", ".join(f'"{name}": [0, 1000]' for name in remedy.columns)
    return f'Send what is publicly known in place of 0 and 1000: "bounds": {{{bounds}}}.'


def _lower_epsilon(remedy: remedies.LowerEpsilon) -> str:
    if remedy.epsilon is None:
        return "Ask with a smaller epsilon."
    delta = "" if remedy.delta is None else f', "delta": {remedy.delta:g}'
    return f'"epsilon": {remedy.epsilon:g}{delta} would fit.'


HTTP = Face(
    "http",
    str,
    {
        remedies.AddBounds: _add_bounds,
        remedies.Allow: "Request access: POST /api/v1/requests.",
        remedies.AllowPurpose: "An owner can add a purpose.",
        remedies.AskInstead: "Another question, which would be answered: {sql}",
        remedies.AskFirst: "Ask this first, and write its answer in its place: {sql}",
        remedies.ChooseTable: "Name one of them.",
        remedies.ClampExpression: "Write bounds that are publicly known into the SQL:"
        " CLAMP({expression}, 0, 1000).",
        remedies.Confirm: 'If it is meant, send "confirm": true.',
        remedies.DeclareTypes: "Its owner can declare the types.",
        remedies.EditSql: "Write {text} there.",
        remedies.FindKeys: 'Or send a "delta", such as {delta}, to find common ones.',
        remedies.GiveDelta: words_for_delta('{{"epsilon": 1, "delta": 1e-6}}'),
        remedies.LeaveOut: "Leave {name} out.",
        remedies.LimitRows: 'Let fewer rows count: "max_rows": {rows}.',
        remedies.LowerEpsilon: _lower_epsilon,
        remedies.NameKeys: _name_keys,
        remedies.RaiseBudget: "Propose a larger budget: POST /api/v1/proposals.",
        remedies.RaiseVersion: "Its owner has to say that the data have changed: in the console, or"
        " POST /api/v1/data-sets/{{name}}/version.",
        remedies.SetEpsilon: 'Send "epsilon": {epsilon}.',
        remedies.SetValue: 'Send "{name}": {example}.',
        remedies.Thaw: "Its owner can see why and allow questions again: POST"
        " /api/v1/data-sets/{{name}}/thaw.",
        remedies.UseName: "Did you mean {meant!r}?",
    },
)
