"""A data set as the ledger knows it: a name, a budget, and what was charged to it.

The budget belongs to the name that the owner gave, not to a file, a version, a process or a
unit column: whatever is opened under the name goes on spending the same budget.
"""

import unicodedata
from dataclasses import dataclass, replace
from typing import cast

from letalone.errors import FormatError, LetaloneError, NeighboursDiffer, ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import problem
from letalone.errors.remedies import RaiseBudget
from letalone.exact.typed import Number, read_rational, refusal
from letalone.privacy.bank import USUAL_SHARES, Shares
from letalone.privacy.budget import Budget, brief
from letalone.privacy.curve import Json, Privacy
from letalone.privacy.filter_record import state_from_json, state_to_json
from letalone.privacy.filters import FilterState, how_many_more, open_filter
from letalone.privacy.neighbours import Neighbours, Relation
from letalone.privacy.stored import from_json

SHARES = ("leak", "sums", "gaussian", "concentrated", "renyi")
LONGEST_NAME = 200
DAMAGE = (LetaloneError, TypeError, ValueError, LookupError, ArithmeticError)


class Filtered:
    """What has a budget, and a filter that is charged."""

    __slots__ = ()
    state: FilterState

    @property
    def budget(self) -> Budget:
        """The most that may be used; of a data set, what all answers together may reveal."""
        return self.state.budget

    @property
    def spent(self) -> Budget:
        """About what was spent: an estimate, the budget is the guarantee."""
        return self.state.spent

    @property
    def remaining(self) -> Budget:
        """About what is left: an estimate, the budget is the guarantee."""
        return self.state.remaining

    @property
    def releases(self) -> int:
        """How many answers were paid for."""
        return self.state.releases


@dataclass(frozen=True, slots=True)
class DataSet(Filtered):
    """How a data set stands: budget, what is spent, its declared version, frozen or not.

    A record of one moment: ask `ledger.data_set(name)` again to see what has changed.
    """

    name: str
    state: FilterState
    version: int
    frozen: bool
    declared: Neighbours
    shares: Shares = USUAL_SHARES
    rationed: bool = False

    @property
    def neighbours(self) -> Neighbours:
        """Which data sets must look alike; a unit that a charge named is kept from then on."""
        return self.state.neighbours or self.declared

    def how_many_more(self, privacy: Privacy, *, delta: Number | None = None) -> int | float:
        """About how many more releases like this one fit."""
        return how_many_more(self.state, privacy, delta=delta)

    def __str__(self) -> str:
        ice = "; frozen" if self.frozen else ""
        return (
            f"{self.name}, version {self.version}: ({brief(self.spent)}) of ({self.budget}) spent "
            f"on {self.releases} release{'s' * (self.releases != 1)}, {self.neighbours}{ice}"
        )


def new_data_set(
    name: str, budget: Budget, *, neighbours: Neighbours, version: int, shares: Shares
) -> DataSet:
    """A data set that nothing was charged to."""
    state = new_filter(budget, neighbours, shares)
    return DataSet(name, state, version, frozen=False, declared=neighbours, shares=shares)


def new_filter(budget: Budget, neighbours: Neighbours, shares: Shares) -> FilterState:
    """The filter of a data set that nothing was charged to."""
    return replace(open_filter(budget, shares), neighbours=neighbours)


def data_set_to_json(found: DataSet) -> Json:
    """The record as it is stored in an entry."""
    return {
        "state": state_to_json(found.state),
        "version": found.version,
        "frozen": found.frozen,
        "declared": neighbours_to_json(found.declared),
        "shares": shares_to_json(found.shares),
        **({"rationed": True} if found.rationed else {}),  # format 1 did not know it
    }


def data_set_from_json(name: str, stored: object) -> DataSet:
    """The record that was stored; FormatError where it is damaged."""
    try:
        fields = cast("Json", stored)
        return DataSet(
            name,
            state_from_json(cast("Json", fields["state"])),
            version=int(cast("int", fields["version"])),
            frozen=fields["frozen"] is True,
            declared=neighbours_from_json(fields["declared"]),
            shares=shares_from_json(fields["shares"]),
            rationed=fields.get("rationed") is True,
        )
    except DAMAGE:
        raise FormatError(f"The record of the data set {name!r} is damaged.") from None


def neighbours_to_json(neighbours: Neighbours) -> Json:
    """The relation and the unit."""
    return {"relation": neighbours.relation.value, "unit": neighbours.unit}


def neighbours_from_json(stored: object) -> Neighbours:
    """The neighbours that were stored."""
    label = cast("dict[str, str | None]", stored)
    return Neighbours(Relation(label["relation"]), label["unit"])


def shares_to_json(shares: Shares) -> Json:
    """The shares, exactly."""
    return {share: str(getattr(shares, share)) for share in SHARES}


def shares_from_json(stored: object) -> Shares:
    """The shares that were stored."""
    fields = cast("dict[str, str]", stored)
    return Shares(**{share: read_rational(fields[share]) for share in SHARES})


def budget_to_json(budget: Budget) -> Json:
    """Both amounts, exactly."""
    return {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}


def budget_from_json(stored: object) -> Budget:
    """The budget that was stored."""
    fields = cast("dict[str, str]", stored)
    return Budget(read_rational(fields["epsilon"]), read_rational(fields["delta"]))


def read_name(name: object, *, of: str = "name") -> str:
    """A name that looks the same only if it is the same: a second one is a second budget."""
    if (
        not isinstance(name, str)
        or not 0 < len(name) <= LONGEST_NAME
        or name != name.strip()
        or not name.isprintable()
        or not unicodedata.is_normalized("NFC", name)
    ):
        raise refusal(
            of,
            name,
            f"a text of 1 to {LONGEST_NAME} printable characters, without spaces around it and in "
            "Unicode's composed form (NFC)",
            "A budget belongs to the name.",
        )
    return name


def read_text(name: str, value: object) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise refusal(name, value, "a text that is not empty, without a character 0")
    return value


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
