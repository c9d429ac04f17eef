"""Problems in the words of Python: what `str(error)` says.

Tested:   tests/errors/test_problem.py
"""

from shlex import quote

from letalone.errors import remedies
from letalone.errors.problem import Face


def _name_unit(remedy: remedies.NameUnit) -> str:
    likely = remedy.likely or "patient_id"
    return f"Give unit={likely!r}, the column that identifies a person, or unit=la.ROW."


def _add_bounds(remedy: remedies.AddBounds) -> str:
    ends = ", ".join(f"{name!r}: (…, …)" for name in remedy.columns)
    how = f"bounds={{{ends}}}" if remedy.by_name else "lower=…, upper=… (SQL: bounds=, by column)"
    return f"Give {how} from what is publicly known, or declare them in the schema file."


def _name_keys(remedy: remedies.NameKeys) -> str:
    columns = ", ".join(f"{name!r}: […]" for name in remedy.columns)
    return f"List them: keys={{{columns}}}."


def _find_keys(remedy: remedies.FindKeys) -> str:
    delta = f"{remedy.delta:g}".replace("e-0", "e-")
    return f"Or give a delta, such as delta={delta}, to find common ones."


def _name_budget(remedy: remedies.NameBudget) -> str:
    delta = f", delta={remedy.delta:g}" if remedy.delta else ""
    return f"Give budget=la.Budget(epsilon={remedy.epsilon:g}{delta})."


def _lower_epsilon(remedy: remedies.LowerEpsilon) -> str:
    if remedy.epsilon is None:
        return "Ask with a smaller epsilon."
    delta = "" if remedy.delta is None else f", delta={remedy.delta:g}"
    return f"epsilon={remedy.epsilon:g}{delta} would fit."


def _levels(purpose: str | None, analyst: str | None) -> str:
    named = {"purpose": purpose, "analyst": analyst}
    return "".join(f", {level}={name!r}" for level, name in named.items() if name is not None)


def _raise_budget(remedy: remedies.RaiseBudget) -> str:
    levels = _levels(remedy.purpose, remedy.analyst)
    how = "raise_level" if levels else "raise_budget"
    return f"Its owner can allow more: ledger.{how}({remedy.name!r}, budget{levels})."


def _allow(remedy: remedies.Allow) -> str:
    levels = _levels(remedy.purpose, remedy.analyst) or ", purpose=…, analyst=…"
    return f"The owner of the data can allow it: ledger.allow({remedy.name!r}, budget{levels})."


def words_for_thaw(remedy: remedies.Thaw) -> str:
    """What an owner types after a data set froze."""
    name = quote(remedy.name)
    return (
        f"Its owner can see why and allow questions again: letalone ledger why LEDGER {name},"
        f" then letalone ledger thaw LEDGER {name} --why '…'."
    )


def words_for_delta(example: str) -> str:
    """That a budget without a δ has no room for it, with an example of one that has a δ."""
    return (
        "Without a δ in the budget, no such answer fits: give the budget a δ, such as"
        f" {example}, or use noise that needs none (Laplace)."
    )


PYTHON = Face(
    "python",
    lambda name: name,
    {
        remedies.AddBounds: _add_bounds,
        remedies.Allow: _allow,
        remedies.AllowPurpose: "Allow it first: ledger.allow({name!r}, budget,"
        " purpose={purpose!r}).",
        remedies.AskAgain: "A question that was under way may be charged already: the same"
        " again is not charged twice.",
        remedies.AskInstead: "Another question, which would be answered: {sql}",
        remedies.AskFirst: "Ask this first, and write its answer in its place: {sql}",
        remedies.BuyBounds: "Or find them with la.private_bounds, which spends ε.",
        remedies.ChooseTable: "Name one with table=.",
        remedies.ClampExpression: "Give lower=…, upper=… from what is publicly known. In SQL,"
        " name the result (AVG(…) AS days) and give bounds by that name:"
        " bounds=dict(days=(0, 60)).",
        remedies.Confirm: "If it is meant: confirm=True.",
        remedies.DeclareTypes: "Declare their types in the schema file or with la.open(…,"
        " types={{…}}).",
        remedies.EditSql: "Write {text!r} there.",
        remedies.FindKeys: _find_keys,
        remedies.GiveDelta: words_for_delta("la.Budget(epsilon=1, delta=1e-6)"),
        remedies.LeaveOut: "Leave {name} out.",
        remedies.LimitRows: "Let fewer rows count: .bound(max_rows={rows}).",
        remedies.LowerEpsilon: _lower_epsilon,
        remedies.NameBudget: _name_budget,
        remedies.NameKeys: _name_keys,
        remedies.NameUnit: _name_unit,
        remedies.OpenAgain: "Call la.open again.",
        remedies.RaiseBudget: _raise_budget,
        remedies.RaiseVersion: "Its owner has to say that the data have changed:"
        " ledger.raise_version({name!r}), then la.open(…) again.",
        remedies.SetEpsilon: "Give epsilon={epsilon}.",
        remedies.SetValue: "Write {name}={example}.",
        remedies.Thaw: words_for_thaw,
        remedies.UseName: "Did you mean {meant!r}?",
    },
)
