"""Problems in the words of the command line: options in place of Python's arguments.

A command applies remedies to the options that were typed and prints the commands that result;
here remedies are only put into words.

  Tested:   tests/errors/test_problem.py
"""

from collections.abc import Callable
from typing import Any

from letalone.errors import remedies
from letalone.errors.in_python import words_for_delta, words_for_thaw
from letalone.errors.problem import Face, Problem, Remedy

EXAMPLE_BOUNDS = "0:1000"
EXAMPLE_KEYS = {
    "integer": "1,2,3",
    "date": "2024-01-01",  # it begins a year, a month, a week
    "year": "2023,2024",
    "month": "2024-01,2024-02",
}
OTHER_KEYS = "A,B,C"


def in_options(problem: Problem, spell: Callable[[str], str]) -> str:
    """The problem in words; `spell` writes an argument of Python as the option that sets it.

    `spell("max_rows")` is "--max-rows" for a command that has the option, else "max_rows".
    """
    return Face("options", spell, REMEDIES).say(problem)


def example_keys(remedy: remedies.NameKeys) -> dict[str, str]:
    """Keys to fill in for each column, as `--keys` takes them: {"ward": "A,B,C"}."""
    types = remedy.types or ("text",) * len(remedy.columns)
    return {
        name: EXAMPLE_KEYS.get(kind, OTHER_KEYS)
        for name, kind in zip(remedy.columns, types, strict=True)
    }


def _name_keys(remedy: remedies.NameKeys) -> str:
    examples = dict.fromkeys(example_keys(remedy).values())
    return f"List them with --keys, in place of {' and '.join(examples)}."


def _name_unit(remedy: remedies.NameUnit) -> str:
    likely = "" if remedy.likely is None else f" {remedy.likely}"
    return f"Name it with --unit{likely}. If every row is about a different person, use --unit row."


def _lower_epsilon(remedy: remedies.LowerEpsilon) -> str:
    if remedy.epsilon is None:
        return "Ask with a smaller --epsilon."
    delta = "" if remedy.delta is None else f" --delta {remedy.delta:g}"
    return f"--epsilon {remedy.epsilon:g}{delta} would fit."


REMEDIES: dict[type[Remedy], str | Callable[[Any], str]] = {
    remedies.AddBounds: "Give bounds that you know without looking at the data (replace"
    f" {EXAMPLE_BOUNDS}).",
    remedies.Allow: "The owner of the data can allow it.",
    remedies.AllowPurpose: "The owner of the data can allow the purpose first.",
    remedies.AskAgain: "A question that was under way may be charged already: the same again is not"
    " charged twice.",
    remedies.AskInstead: "Another question, which would be answered: {sql}",
    remedies.AskFirst: "Ask this first, and write its answer in its place: {sql}",
    remedies.BuyBounds: "Or use --private-bounds, which spends a fifth of ε on finding them.",
    remedies.ChooseTable: "Name one with --table.",
    remedies.ClampExpression: "Write bounds that are publicly known into the SQL, in place of 0 and"
    " 1000: CLAMP({expression}, 0, 1000).",
    remedies.Confirm: "If it is meant: --yes.",
    remedies.DeclareTypes: "Declare their types in a schema file, which letalone init writes.",
    remedies.EditSql: "Write {text} there.",
    remedies.FindKeys: "Or let letalone find common ones, with --delta.",
    remedies.GiveDelta: words_for_delta("--budget 1:1e-6"),
    remedies.LeaveOut: "Leave {name} out.",
    remedies.LimitRows: "Let fewer rows count: --max-rows {rows}.",
    remedies.LowerEpsilon: _lower_epsilon,
    remedies.NameBudget: "Set it once, with --budget; the ledger stores it.",
    remedies.NameKeys: _name_keys,
    remedies.NameUnit: _name_unit,
    remedies.OpenAgain: "Open it again.",
    remedies.RaiseBudget: "Its owner can allow more.",
    remedies.RaiseVersion: "If its rows have changed, its owner has to say so.",
    remedies.SetEpsilon: "Smaller is more private; 0.1 to 1 is usual. Give --epsilon {epsilon}.",
    remedies.SetValue: "Give {name} {example}.",
    remedies.Thaw: words_for_thaw,
    remedies.UseName: "Did you mean {meant!r}?",
}
