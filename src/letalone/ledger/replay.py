"""Doing it all again: from the entries alone, how every data set must stand.

Each charge is put through the filters from the opening budget on, and what comes out is
compared with what the entry says. Prices that are found with floating-point transforms may
differ in their last digits from one machine to another; where they do so by less than one
part in a million the entry stands, is named, and the replay goes on from what was charged.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import cast

from letalone.errors import FormatError, LedgerDamaged, LetaloneError
from letalone.ledger.acts import after_charge, charge_of, settlement_of, with_larger_budget
from letalone.ledger.canonical import text_digest
from letalone.ledger.checkpoints import check_checkpoint
from letalone.ledger.damage import damage_at, states_are_near
from letalone.ledger.data_sets import (
    DataSet,
    budget_from_json,
    data_set_from_json,
    data_set_to_json,
    neighbours_from_json,
    new_data_set,
    shares_from_json,
)
from letalone.ledger.entries import BEFORE_THE_FIRST, Entry, EntryKind, read_entry
from letalone.ledger.levels import Charge
from letalone.ledger.replay_levels import LevelReplay
from letalone.ledger.tables import Settlement

DAMAGE = (LetaloneError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError)


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
            if not _differ_in_last_digits(expected, stated):
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
                return with_larger_budget(self._known(entry), budget, self.charges[name])
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
        privacy, delta = charge_of(entry)
        if entry.body["version"] != before.version:
            raise damage_at(entry, "it names another version than the current one")
        self.levels.reserve(entry, before, (privacy, delta))
        self.reserved[entry.number] = entry
        self.charges[name].append((privacy, delta))
        return after_charge(before, privacy, delta)

    def _settle(self, entry: Entry) -> None:
        number = cast("int", entry.body["reserved"])
        reserved = self.reserved[number]
        if number in self.settled or reserved.name != entry.name:
            raise damage_at(entry, "it settles what is settled, or of another data set")
        digest = cast("str | None", entry.body["release_digest"])
        if (entry.body["outcome"] == "released") != (digest is not None):
            raise damage_at(entry, "its outcome and its release do not fit together")
        self.settled[number] = (settlement_of(reserved, entry, None), digest)

    def _share(self, entry: Entry) -> None:
        number, before = cast("int", entry.body["reserved"]), self._known(entry)
        reserved, (_, digest) = self.reserved[number], self.settled[number]
        same = reserved.body["digest"] == entry.body["digest"]
        current = reserved.body["version"] == before.version and reserved.name == entry.name
        if not same or not current or digest is None:
            raise damage_at(entry, "it shares what is no answer to this question")
        self.levels.share(entry, reserved, before)

    def _known(self, entry: Entry) -> DataSet:
        return self.data_sets[cast("str", entry.name)]


def replay_entries(texts: Iterable[str]) -> Replay:
    """All entries, read."""
    replay = Replay()
    for text in texts:
        replay.read(text)
    return replay


def _differ_in_last_digits(one: DataSet, other: DataSet) -> bool:
    """Whether two records are the same but for the last digits of what was charged."""
    return replace(one, state=other.state) == other and states_are_near(one.state, other.state)
