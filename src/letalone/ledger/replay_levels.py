"""Doing again what was done to levels: from the entries alone, how every level must stand."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from letalone.ledger.acts import charge_of, levels_of, levels_to_json, paid_levels
from letalone.ledger.damage import damage_at, states_are_near
from letalone.ledger.data_sets import DataSet, budget_from_json
from letalone.ledger.entries import Entry
from letalone.ledger.levels import (
    Charge,
    Key,
    Level,
    level_to_json,
    levels_in,
    raised_level,
)
from letalone.ledger.rationing import check_new, check_purpose, has_paid, opened_level
from letalone.ledger.tables import LevelRow, Payment
from letalone.privacy.curve import Json


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
        key = Key(before.name, cast("str", entry.body["purpose"]), _analyst(entry))
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
        """A charge, at the levels of whoever asked."""
        self._charge(entry, charge, before, self._asking(entry, before))

    def share(self, entry: Entry, reserved: Entry, before: DataSet) -> None:
        """An answer is shown to another: the levels that had not paid for it pay."""
        earlier = self.payments.setdefault(reserved.number, [])
        seen = has_paid(reserved, earlier)
        owing = [level for level in self._asking(entry, before) if level.key not in seen]
        if not owing:
            raise damage_at(entry, "nobody owed anything")
        self._charge(entry, charge_of(reserved), before, owing)
        earlier += [
            Payment(reserved.number, key.purpose, key.analyst or "", entry.number) for key in owing
        ]

    def _charge(
        self, entry: Entry, charge: Charge, before: DataSet, levels: Sequence[Level]
    ) -> None:
        privacy, at = charge
        paid = paid_levels(before, levels, privacy, at)
        expected = cast("list[Json]", levels_to_json(paid).get("levels", []))
        self._state(entry, [level for level, _ in paid], expected)
        for level, level_point in paid:
            self.charges[level.key].append((privacy, level_point))

    def _asking(self, entry: Entry, before: DataSet) -> list[Level]:
        analyst, purpose = _analyst(entry), cast("str | None", entry.body["purpose"])
        if analyst is None or purpose is None:
            return levels_of(self.levels.get, before, None, entry.time)
        asker = Key(before.name, purpose, analyst)
        return levels_of(self.levels.get, before, asker, entry.time)

    def _named(self, entry: Entry) -> Key:
        """The one level that an entry is about."""
        (key,) = levels_in(entry)
        return key

    def _state(self, entry: Entry, expected: Sequence[Level], stored: list[Json]) -> None:
        """Compare how the levels stand with what the entry says, and go on from that."""
        stated = expected
        if entry.body.get("levels", []) != stored:
            stated = list(levels_in(entry).values())
            if not _are_near(expected, stated) or _bare(entry.body["levels"]) != _bare(stored):
                raise damage_at(entry, "a level cannot stand as it says after what was charged")
            self.repriced.append(entry.number)
        for level in stated:
            self.levels[level.key], self.changed_by[level.key] = level, entry.number


def _analyst(entry: Entry) -> str | None:
    return cast("str | None", entry.body["analyst"])


def _are_near(expected: Sequence[Level], stated: Sequence[Level]) -> bool:
    pairs = zip(expected, stated, strict=False)
    return len(expected) == len(stated) and all(
        replace(left_point, state=other.state) == other
        and states_are_near(left_point.state, other.state)
        for left_point, other in pairs
    )


def _bare(stored: object) -> list[Json]:
    """The levels as stored, without what they were charged."""
    return [{**level, "state": None} for level in cast("list[Json]", stored)]
