"""Levels: how the budget of a data set is rationed among purposes and analysts.

A level is (data set, purpose) or (data set, purpose, analyst). It has a budget of its own, and
a filter that is charged what the data set is charged. A level can only refuse: the guarantee is
the data set's, and holds whatever the levels are (docs/explanation/proofs/filters.md, section
6). They may promise more together than the data set has; whoever comes first is answered.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import NamedTuple, cast

from letalone.errors import BudgetExceeded, FormatError, NotAllowed, ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Problem, Spelled, problem
from letalone.errors.remedies import Allow
from letalone.exact.typed import Number, read_rational, refusal
from letalone.ledger.chain.entries import TIME_FORMAT, Entry
from letalone.ledger.data_sets import DAMAGE, DataSet, Filtered, read_name
from letalone.privacy.bank import Shares
from letalone.privacy.budget import Budget, brief
from letalone.privacy.curve import Json, Privacy
from letalone.privacy.filter_record import state_from_json, state_to_json
from letalone.privacy.filters import FilterState, charge_filter, how_many_more, open_filter

Charge = tuple[Privacy, Fraction]


class Key(NamedTuple):
    """Which level: of a purpose as a whole where there is no analyst."""

    name: str
    purpose: str
    analyst: str | None = None

    @property
    def of_purpose(self) -> "Key":
        return self._replace(analyst=None)

    def __str__(self) -> str:
        purpose = f"the purpose {self.purpose!r} of {self.name!r}"
        return purpose if self.analyst is None else f"{self.analyst!r} for {purpose}"


@dataclass(frozen=True, slots=True)
class Level(Filtered):
    """How much of a data set's budget a purpose, or an analyst for a purpose, may use.

    A record of one moment. Only the data set's own budget is a guarantee.
    """

    name: str
    purpose: str
    analyst: str | None
    state: FilterState
    expires: str | None = None
    withdrawn: bool = False

    @property
    def key(self) -> Key:
        """Which level it is."""
        return Key(self.name, self.purpose, self.analyst)

    def has_expired(self, time: str) -> bool:
        """Whether it is over at a time as entries write it."""
        return self.expires is not None and time >= self.expires

    def how_many_more(self, privacy: Privacy, *, delta: Number | None = None) -> int | float:
        """About how many more releases like this one fit into this level alone."""
        return how_many_more(self.state, privacy.labelled(None), delta=delta)

    def __str__(self) -> str:
        until = f", until {self.expires}" if self.expires else ""
        ice = "; withdrawn" if self.withdrawn else ""
        return f"{self.key}: ({brief(self.spent)}) of ({self.budget}) used{until}{ice}"


def read_key(name: str, *, purpose: object, analyst: object) -> Key:
    """The level that is meant; two that look the same are the same."""
    who = None if analyst is None else read_name(analyst, of="analyst")
    return Key(name, read_name(purpose, of="purpose"), who)


def read_expires(expires: object) -> str | None:
    """A moment as entries write it: in UTC, to the second, rounded down."""
    if expires is None:
        return None
    if not isinstance(expires, datetime) or expires.tzinfo is None:
        raise refusal(
            "expires",
            expires,
            "a datetime with its time zone",
            "Write datetime(2030, 1, 31, tzinfo=UTC).",
        )
    return expires.astimezone(UTC).strftime(TIME_FORMAT)


def read_people(by: object) -> list[str]:
    """The names of those who decided."""
    if isinstance(by, str) or not isinstance(by, Sequence):
        raise refusal("by", by, "a list of names", 'Write by=["Ann", "Bob"].')
    return [read_name(person, of="by") for person in cast("Sequence[object]", by)]


def new_state(budget: Budget, shares: Shares, charges: Iterable[Charge] = ()) -> FilterState:
    """A filter that was charged with these; which units are meant, the data set looks after."""
    state = open_filter(budget, shares)
    for privacy, delta in charges:
        state = charge_filter(state, privacy.labelled(None), delta=delta)
    return state


def point(before: DataSet, level: Level, at: Fraction) -> Fraction:
    """Where a level reads a curve without a parameter: at its own part of the data set's point."""
    budget_delta, level_delta = before.budget.delta, level.budget.delta
    return at * min(Fraction(1), level_delta / budget_delta) if budget_delta else Fraction(0)


def paid_by(level: Level, privacy: Privacy, at: Fraction) -> Level:
    """The level after a charge; BudgetExceeded names it."""
    try:
        state = charge_filter(level.state, privacy.labelled(None), delta=at)
    except BudgetExceeded as error:
        words = f"{_capital(str(level.key))} has too little left."
        refusal = Problem(error.code, error.facts, words=words, others=(error.problem,))
        raise BudgetExceeded(refusal, level=str(level.key)) from None
    return replace(level, state=state)


def raised_level(level: Level, budget: Budget, shares: Shares, charges: Iterable[Charge]) -> Level:
    """The level as it would stand had it been opened with the larger budget."""
    if not level.budget <= budget:
        raise ParameterError(
            f"budget is ({budget}), but a level is never lowered: that of {level.key} is "
            f"({level.budget}). Withdraw it, if it shall not be used any more."
        )
    return replace(level, state=new_state(budget, shares, charges))


def check_holds(level: Level, time: str) -> Level:
    """The level, if it can be charged at that time."""
    if level.withdrawn:
        raise not_allowed(level.key, "was withdrawn")
    if level.has_expired(time):
        raise not_allowed(level.key, f"has expired, at {level.expires}")
    return level


def not_allowed(key: Key, why: str = "is not allowed") -> NotAllowed:
    """There is no such level, or it cannot be charged."""
    return NotAllowed(
        problem(
            Code.NOT_ALLOWED,
            Allow(key.name, key.purpose, key.analyst),
            words=f"{_capital(str(key))} {why}: nothing was charged.",
            data_set=key.name,
            purpose=key.purpose,
            analyst=key.analyst,
        )
    )


def nameless(name: str) -> NotAllowed:
    """The budget is rationed, and who asks or what for is not said."""
    how = "(analyst=…, purpose=…, or session.on_behalf_of(analyst, purpose=…))"
    return NotAllowed(problem(Code.MISSING_ASKER, name=name, how=Spelled(f" {how}", "", "")))


def level_to_json(level: Level) -> Json:
    """The record as it is stored in an entry, which names the data set."""
    return {
        "purpose": level.purpose,
        "analyst": level.analyst,
        "state": state_to_json(level.state),
        "expires": level.expires,
        "withdrawn": level.withdrawn,
    }


def levels_in(entry: Entry) -> dict[Key, Level]:
    """How levels stand after an entry; FormatError where it is damaged."""
    try:
        stored = cast("list[Json]", entry.body.get("levels", []))
        levels = [
            Level(
                cast("str", entry.name),
                cast("str", fields["purpose"]),
                cast("str | None", fields["analyst"]),
                state_from_json(cast("Json", fields["state"])),
                expires=cast("str | None", fields["expires"]),
                withdrawn=fields["withdrawn"] is True,
            )
            for fields in stored
        ]
    except DAMAGE:
        raise FormatError(f"A level in {entry} is damaged.") from None
    return {level.key: level for level in levels}


def points_in(entry: Entry) -> dict[Key, Fraction]:
    """The δ at which each level that an entry charged has read the curve."""
    stored = cast("list[Json]", entry.body.get("levels", []))
    name = cast("str", entry.name)
    return {
        Key(
            name, cast("str", level["purpose"]), cast("str | None", level["analyst"])
        ): read_rational(cast("str", level["delta"]))
        for level in stored
    }


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]
