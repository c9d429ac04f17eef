"""Doing it all again: from the entries alone, how every data set and every level must stand.

Each charge is put through the filters from the opening budget on, and what comes out is
compared with what the entry says. Prices that are found with floating-point transforms may
differ in their last digits from one machine to another; where they do so by less than one
part in a million the entry stands, is named, and the replay goes on from what was charged.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeVar, cast

from letalone.errors import FormatError, LedgerDamaged, LetaloneError
from letalone.ledger import acts
from letalone.ledger.chain.canonical import text_digest
from letalone.ledger.chain.checkpoints import check_checkpoint
from letalone.ledger.chain.entries import BEFORE_THE_FIRST, Entry, EntryKind, damage_at, read_entry
from letalone.ledger.data_sets import (
    DataSet,
    budget_from_json,
    data_set_from_json,
    data_set_to_json,
    neighbours_from_json,
    new_data_set,
    shares_from_json,
)
from letalone.ledger.levels import Charge, Key, Level, level_to_json, levels_in, raised_level
from letalone.ledger.rationing import check_new, check_purpose, has_paid, opened_level
from letalone.ledger.storage.tables import LevelRow, Payment, Settlement
from letalone.privacy.curve import Json
from letalone.privacy.filters import FilterState

LAST_DIGITS = Fraction(1, 10**6)
Record = TypeVar("Record", DataSet, Level)
DAMAGE = (LetaloneError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError)


@dataclass(slots=True)
class LevelReplay:
    """All that the entries say about levels, read one after the other."""

    levels: dict[Key, Level] = field(default_factory=dict[Key, Level])
    changed_by: dict[Key, int] = field(default_factory=dict[Key, int])
    charges: dict[Key, list[Charge]] = field(default_factory=dict[Key, list[Charge]])
    payments: dict[int, list[Payment]] = field(default_factory=dict[int, list[Payment]])
    repriced: list[int] = field(default_factory=list[int])

    def rows(self) -> list[LevelRow]:
        """Which entry last changed each level, as the index must say."""
        changes = self.changed_by.items()
        return sorted(LevelRow(k.name, k.purpose, k.analyst or "", number) for k, number in changes)

    def paid(self) -> list[Payment]:
        """Who paid for the answers of others, as the index must say."""
        return sorted(payment for several in self.payments.values() for payment in several)

    def open(self, entry: Entry, before: DataSet) -> DataSet:
        """A level is opened, or opened again; from then on the data set is rationed."""
        analyst = cast("str | None", entry.body["analyst"])
        key = Key(before.name, cast("str", entry.body["purpose"]), analyst)
        expires, earlier = cast("str | None", entry.body["expires"]), self.levels.get(key)
        check_new(earlier, key, expires=expires, time=entry.time)
        if key.analyst is not None:
            check_purpose(self.levels.get(key.of_purpose), key, entry.time)
        charges = self.charges.setdefault(key, [])
        budget = budget_from_json(entry.body["budget"])
        level = opened_level(key, budget, before, earlier, charges, expires=expires)
        self._state(entry, [level], [level_to_json(level)])
        return replace(before, rationed=True)

    def raise_level(self, entry: Entry, before: DataSet) -> None:
        key = self._named(entry)
        budget = budget_from_json(entry.body["budget"])
        after = raised_level(self.levels[key], budget, before.shares, self.charges[key])
        self._state(entry, [after], [level_to_json(after)])

    def withdraw(self, entry: Entry) -> None:
        after = replace(self.levels[self._named(entry)], withdrawn=True)
        self._state(entry, [after], [level_to_json(after)])

    def reserve(self, entry: Entry, before: DataSet, charge: Charge) -> None:
        self._charge(entry, charge, before, self._asking(entry, before))

    def share(self, entry: Entry, reserved: Entry, before: DataSet) -> None:
        """An answer is shown to another: the levels that had not paid for it pay."""
        earlier = self.payments.setdefault(reserved.number, [])
        seen = has_paid(reserved, earlier)
        owing = [level for level in self._asking(entry, before) if level.key not in seen]
        if not owing:
            raise damage_at(entry, "nobody owed anything")
        self._charge(entry, acts.charge_of(reserved), before, owing)
        earlier += [
            Payment(reserved.number, key.purpose, key.analyst or "", entry.number) for key in owing
        ]

    def _charge(
        self, entry: Entry, charge: Charge, before: DataSet, levels: Sequence[Level]
    ) -> None:
        privacy, at = charge
        paid = acts.paid_levels(before, levels, privacy, at)
        expected = cast("list[Json]", acts.levels_to_json(paid).get("levels", []))
        self._state(entry, [level for level, _ in paid], expected)
        for level, level_point in paid:
            self.charges[level.key].append((privacy, level_point))

    def _asking(self, entry: Entry, before: DataSet) -> list[Level]:
        names = entry.body["purpose"], entry.body["analyst"]
        asker = None if None in names else Key(before.name, *cast("tuple[str, str]", names))
        return acts.levels_of(self.levels.get, before, asker, entry.time)

    def _named(self, entry: Entry) -> Key:
        (key,) = levels_in(entry)
        return key

    def _state(self, entry: Entry, expected: Sequence[Level], stored: list[Json]) -> None:
        """Compare how the levels stand with what the entry says, and go on from that."""
        stated = expected
        if entry.body.get("levels", []) != stored:
            stated = list(levels_in(entry).values())
            near = len(expected) == len(stated) and all(map(_are_near, expected, stated))
            if not near or _bare(entry.body["levels"]) != _bare(stored):
                raise damage_at(entry, "a level cannot stand as it says after what was charged")
            self.repriced.append(entry.number)
        for level in stated:
            self.levels[level.key], self.changed_by[level.key] = level, entry.number


def _bare(stored: object) -> list[Json]:
    """The levels as stored, without what they were charged."""
    return [{**level, "state": None} for level in cast("list[Json]", stored)]


@dataclass(slots=True)
class Replay:
    """All that the entries say, read one after the other."""

    number: int = 0
    head: str = BEFORE_THE_FIRST
    public_key: str = ""
    data_sets: dict[str, DataSet] = field(default_factory=dict[str, DataSet])
    charges: dict[str, list[Charge]] = field(default_factory=dict[str, list[Charge]])
    reserved: dict[int, Entry] = field(default_factory=dict[int, Entry])
    settled: dict[int, tuple[Settlement, str | None]] = field(
        default_factory=dict[int, tuple[Settlement, str | None]]
    )
    hashes: list[str] = field(default_factory=list[str])
    repriced: list[int] = field(default_factory=list[int])
    time: str = ""
    set_back: list[int] = field(default_factory=list[int])
    levels: LevelReplay = field(default_factory=LevelReplay)

    def read(self, text: str) -> Entry:
        """Take the next entry in; LedgerDamaged names it where it cannot be the next."""
        try:
            entry = read_entry(text)
        except FormatError as error:
            raise damage_at(self.number + 1, str(error)) from None
        if entry.number > self.number + 1:
            raise damage_at(self.number + 1, f"it is missing, entry {entry.number} comes instead")
        if (entry.number, entry.previous) != (self.number + 1, self.head):
            raise damage_at(entry.number, f"it does not follow entry {self.number}")
        try:
            self._take(entry)
        except LedgerDamaged:
            raise
        except DAMAGE:
            raise damage_at(entry, "it cannot have happened as it says") from None
        if entry.time < self.time:  # a clock went back: no damage, and worth knowing
            self.set_back.append(entry.number)
        self.number, self.head, self.time = entry.number, text_digest(text), entry.time
        self.hashes.append(self.head)
        return entry

    def _take(self, entry: Entry) -> None:
        if (entry.kind is EntryKind.CREATED) != (entry.number == 1):
            raise damage_at(entry, "a ledger is created once, by its first entry")
        match entry.kind:
            case EntryKind.CREATED:
                self.public_key = cast("str", entry.body["public_key"])
            case EntryKind.SETTLED:
                self._settle(entry)
            case EntryKind.REFUSED:
                self._known(entry)
            case EntryKind.NOTE:
                pass
            case EntryKind.ADMINISTERED:
                if entry.name is not None:
                    self._known(entry)
            case EntryKind.CHECKPOINT:
                check_checkpoint(entry, self.public_key)
            case EntryKind.SHARED:
                self._share(entry)
            case EntryKind.LEVEL_RAISED:
                self.levels.raise_level(entry, self._known(entry))
            case EntryKind.LEVEL_WITHDRAWN:
                self.levels.withdraw(entry)
            case _:
                self._change(entry)

    def _change(self, entry: Entry) -> None:
        name = cast("str", entry.name)
        self.data_sets[name] = expected = self._expected(entry, name)
        if data_set_to_json(expected) != entry.body["after"]:
            stated = data_set_from_json(name, entry.body["after"])
            if not _are_near(expected, stated):
                raise damage_at(
                    entry, "the data set cannot stand as it says after what was charged"
                )
            self.repriced.append(entry.number)
            self.data_sets[name] = stated

    def _expected(self, entry: Entry, name: str) -> DataSet:
        match entry.kind:
            case EntryKind.OPENED:
                return self._open(entry, name)
            case EntryKind.RESERVED:
                return self._reserve(entry, name)
            case EntryKind.LEVEL_OPENED:
                return self.levels.open(entry, self._known(entry))
            case EntryKind.FROZEN | EntryKind.THAWED:
                return replace(self._known(entry), frozen=entry.kind is EntryKind.FROZEN)
            case EntryKind.BUDGET_RAISED:
                budget = budget_from_json(entry.body["budget"])
                return acts.with_larger_budget(self._known(entry), budget, self.charges[name])
            case _:
                before = self._known(entry)
                version = cast("int", entry.body["version"])
                if version <= before.version:
                    raise damage_at(entry, "a version is never lowered")
                return replace(before, version=version)

    def _open(self, entry: Entry, name: str) -> DataSet:
        if name in self.data_sets:
            raise damage_at(entry, "the data set was open already")
        self.charges[name] = []
        return new_data_set(
            name,
            budget_from_json(entry.body["budget"]),
            neighbours=neighbours_from_json(entry.body["neighbours"]),
            version=cast("int", entry.body["version"]),
            shares=shares_from_json(entry.body["shares"]),
        )

    def _reserve(self, entry: Entry, name: str) -> DataSet:
        before = self._known(entry)
        privacy, delta = acts.charge_of(entry)
        if entry.body["version"] != before.version:
            raise damage_at(entry, "it names another version than the current one")
        self.levels.reserve(entry, before, (privacy, delta))
        self.reserved[entry.number] = entry
        self.charges[name].append((privacy, delta))
        return acts.after_charge(before, privacy, delta)

    def _settle(self, entry: Entry) -> None:
        number = cast("int", entry.body["reserved"])
        reserved = self.reserved[number]
        if number in self.settled or reserved.name != entry.name:
            raise damage_at(entry, "it settles what is settled, or of another data set")
        digest = cast("str | None", entry.body["release_digest"])
        if (entry.body["outcome"] == "released") != (digest is not None):
            raise damage_at(entry, "its outcome and its release do not fit together")
        self.settled[number] = (acts.settlement_of(reserved, entry, None), digest)

    def _share(self, entry: Entry) -> None:
        number, before = cast("int", entry.body["reserved"]), self._known(entry)
        reserved, (_, digest) = self.reserved[number], self.settled[number]
        same = reserved.body["digest"] == entry.body["digest"]
        current = reserved.body["version"] == before.version and reserved.name == entry.name
        if not same or not current or digest is None:
            raise damage_at(entry, "it shares what is not an answer to this question")
        self.levels.share(entry, reserved, before)

    def _known(self, entry: Entry) -> DataSet:
        return self.data_sets[cast("str", entry.name)]


def _are_near(one: Record, other: Record) -> bool:
    """Whether two records are the same but for the last digits of what was charged."""
    return replace(one, state=other.state) == other and states_are_near(one.state, other.state)


def states_are_near(left: FilterState, right: FilterState) -> bool:
    """Whether two states are the same but for the last digits of what was charged."""
    pairs = list(zip(left.accounts, right.accounts, strict=False))
    return (
        _without_charges(left) == _without_charges(right)
        and len(left.accounts) == len(right.accounts)
        and _near(left.leak, right.leak)
        and all(_near(a.amount, b.amount) and _near(a.leak, b.leak) for a, b in pairs)
    )


def _without_charges(state: FilterState) -> FilterState:
    empty = [replace(account, amount=Fraction(0), leak=Fraction(0)) for account in state.accounts]
    return replace(state, leak=Fraction(0), accounts=tuple(empty))


def _near(one: Fraction | None, other: Fraction | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= LAST_DIGITS * max(one, other)
