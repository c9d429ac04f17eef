"""Reading what is asked of a ledger: an error says what is allowed, and nothing is written."""

from letalone.errors import LetaloneError, NeighboursDiffer, ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import problem
from letalone.errors.remedies import RaiseBudget
from letalone.exact.typed import Number, refusal
from letalone.ledger.acts import ChargeRequest
from letalone.ledger.canonical import canonical
from letalone.ledger.data_sets import (
    DataSet,
    budget_to_json,
    neighbours_to_json,
    read_text,
    shares_to_json,
)
from letalone.privacy.bank import Shares
from letalone.privacy.budget import Budget
from letalone.privacy.curve import Json, Privacy
from letalone.privacy.filters import brief
from letalone.privacy.stored import from_json


def check_same(before: DataSet, wanted: DataSet, shares: Shares | None) -> None:
    """Refuse a second registration that says something else than the first."""
    if wanted.declared not in (before.declared, before.neighbours):
        raise NeighboursDiffer(
            f"The data set {before.name!r} is registered to protect '{before.neighbours}', not "
            f"'{wanted.declared}'. Its budget goes with its name: open it as it was registered, "
            "or register other data under another name."
        )
    if wanted.budget != before.budget:
        remaining = brief(before.remaining, up=False)
        raise ParameterError(
            problem(
                Code.BUDGET_IS_FIXED,
                RaiseBudget(before.name),
                words=f"The data set {before.name!r} has the budget ({before.budget}), not"
                f" ({wanted.budget}): ({brief(before.spent)}) is spent, about ({remaining}) is"
                " left. Open it with its own budget.",
                name=before.name,
                budget=before.budget,
                given=wanted.budget,
            )
        )
    if shares is not None and shares != before.shares:
        raise ParameterError(
            f"The data set {before.name!r} divides its δ in another way, which is fixed at its "
            "first registration. Leave shares out."
        )


def opening(wanted: DataSet) -> Json:
    """The body of the entry that opens a data set."""
    return {
        "budget": budget_to_json(wanted.budget),
        "neighbours": neighbours_to_json(wanted.declared),
        "version": wanted.version,
        "shares": shares_to_json(wanted.shares),
    }


def read_question(
    plan: Json,
    digest: str,
    *,
    delta: Number | None = None,
    analyst: str | None,
    purpose: str | None,
    run: str | None = None,
) -> ChargeRequest:
    """The question, if it can be stored."""
    canonical(plan, name="plan")
    for name, value in (("analyst", analyst), ("purpose", purpose), ("run", run)):
        if value is not None:
            read_text(name, value)
    return ChargeRequest(plan, read_text("digest", digest), delta, analyst, purpose, run)


def read_budget(budget: object) -> Budget:
    """The budget, if it is one."""
    if not isinstance(budget, Budget):
        raise refusal("budget", budget, "a la.Budget", "Write la.Budget(epsilon=2, delta=1e-6).")
    return budget


def storable(privacy: object) -> Privacy:
    """The curve as it can be read back: what is charged is what stands in the ledger."""
    if not isinstance(privacy, Privacy):
        raise refusal("privacy", privacy, "a Privacy", "It is what a mechanism's .privacy is.")
    try:
        again = from_json(privacy.to_json())
    except LetaloneError:
        again = None
    if again != privacy:
        raise ParameterError(
            f"{type(privacy).__name__} cannot be stored and read back, so it cannot be charged. "
            "Charge a curve of letalone, such as la.ApproxDP(epsilon, delta)."
        )
    return privacy
