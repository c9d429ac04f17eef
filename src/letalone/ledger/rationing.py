"""What can be done to levels, each within one transaction; and answers that are shared.

Whoever asks what another has asked gets the same answer. The data set pays nothing: showing
an answer again is post-processing. But each level pays once for each answer that it sees, so
that one analyst cannot live off the caps of others.

Theorem.  No level sees answers that cost more together than its budget, counted by its filter.
  Proven:   a level is charged for an answer before it sees it, and an answer that it has not
            paid for is not given to it
  Tested:   tests/ledger/test_levels.py
"""

from dataclasses import dataclass, replace
from typing import cast

from letalone.errors import BudgetExceeded, FormatError, LetaloneError, ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Spelled, problem
from letalone.errors.remedies import AllowPurpose
from letalone.ledger import acts
from letalone.ledger.chain.entries import Entry, EntryKind, now
from letalone.ledger.data_sets import DataSet, budget_to_json, data_set_to_json
from letalone.ledger.levels import (
    Charge,
    Key,
    Level,
    level_to_json,
    new_state,
    points_in,
    raised_level,
)
from letalone.ledger.storage.tables import Payment
from letalone.ledger.storage.transaction import AnswerRow, LedgerTransaction
from letalone.privacy.budget import Budget, brief
from letalone.privacy.curve import Json


@dataclass(frozen=True, slots=True)
class PaidAnswer:
    """An answer that was given before, and the levels that have yet to pay for it."""

    release: Json
    reserved: Entry
    owing: tuple[Level, ...]


def allow(
    books: LedgerTransaction, key: Key, budget: Budget, *, expires: str | None, by: list[str]
) -> Level:
    """Open a level, or open again one that is over, with what it has used."""
    before, earlier, time = acts.require_data_set(books, key.name), books.level(key), now()
    check_new(earlier, key, expires=expires, time=time)
    if key.analyst is not None:
        check_purpose(books.level(key.of_purpose), key, time)
    charges = charges_of(books, key) if earlier is not None else []
    level = opened_level(key, budget, before, earlier, charges, expires=expires)
    body: Json = {
        "purpose": key.purpose,
        "analyst": key.analyst,
        "budget": budget_to_json(budget),
        "expires": expires,
        "by": by,
        "levels": [level_to_json(level)],
        "after": data_set_to_json(replace(before, rationed=True)),
    }
    entry = books.append(EntryKind.LEVEL_OPENED, key.name, body, time=time)
    remember = books.add_level if earlier is None else books.move_level
    remember(key, entry)
    return level


def check_new(earlier: Level | None, key: Key, *, expires: str | None, time: str) -> None:
    """A level that holds is not opened again, and none is opened that is over already."""
    if earlier is not None and not earlier.withdrawn and not earlier.has_expired(time):
        held = f"There is a level for {key} already, with the budget ({earlier.budget})."
        otherwise = "or withdraw it first and then allow it again."
        words = Spelled(
            f"{held} Raise it with ledger.raise_level, {otherwise}",
            http=f"{held} Propose a larger one, {otherwise}",
        )
        raise ParameterError(problem(Code.OTHER, words=words))
    if expires is not None and expires <= time:
        raise ParameterError(f"expires is {expires}, but it is {time} now. Name a later time.")


def check_purpose(purpose: Level | None, key: Key, time: str) -> None:
    """An analyst is allowed for a purpose that holds."""
    if purpose is None or purpose.withdrawn or purpose.has_expired(time):
        words = f"The purpose {key.purpose!r} of {key.name!r} is not allowed at present."
        remedy = AllowPurpose(key.name, key.purpose)
        raise ParameterError(problem(Code.OTHER, remedy, words=words))


def opened_level(
    key: Key,
    budget: Budget,
    before: DataSet,
    earlier: Level | None,
    charges: list[Charge],
    *,
    expires: str | None,
) -> Level:
    """A level; what an earlier one of the same name has used stays used."""
    if earlier is None:
        return Level(*key, new_state(budget, before.shares), expires=expires)
    try:
        state = new_state(budget, before.shares, charges)
    except BudgetExceeded:
        raise ParameterError(
            f"budget is ({budget}), but {key} has used about ({brief(earlier.spent)}) before it was"
            " over, and that stays used. Name a budget that has room for it."
        ) from None
    return replace(earlier, state=state, expires=expires, withdrawn=False)


def raise_level(books: LedgerTransaction, key: Key, budget: Budget, *, by: list[str]) -> Level:
    """Let a level use more, and write it down."""
    level, before = known_level(books, key), acts.require_data_set(books, key.name)
    after = raised_level(level, budget, before.shares, charges_of(books, key))
    if budget == level.budget:
        return level
    body: Json = {"budget": budget_to_json(budget), "by": by, "levels": [level_to_json(after)]}
    books.move_level(key, books.append(EntryKind.LEVEL_RAISED, key.name, body))
    return after


def withdraw(books: LedgerTransaction, key: Key, why: str, *, by: list[str]) -> Level:
    """Let a level use nothing any more, and write it down."""
    after = replace(known_level(books, key), withdrawn=True)
    body: Json = {"why": why, "by": by, "levels": [level_to_json(after)]}
    books.move_level(key, books.append(EntryKind.LEVEL_WITHDRAWN, key.name, body))
    return after


def known_level(books: LedgerTransaction, key: Key) -> Level:
    """The level, or an error that lists those there are."""
    acts.require_data_set(books, key.name)
    level = books.level(key)
    if level is not None:
        return level
    known = "; ".join(str(level_of.key) for level_of in books.levels(key.name)[:20]) or "none"
    raise ParameterError(f"There is no level for {key}. There are: {known}.")


def charges_of(books: LedgerTransaction, key: Key) -> list[Charge]:
    """All that a level was charged, in order."""
    charges: list[Charge] = []
    curves: dict[int, Entry] = {}
    for entry in books.entries(key.name):
        if entry.kind is EntryKind.RESERVED:
            curves[entry.number] = entry
        if entry.kind in (EntryKind.RESERVED, EntryKind.SHARED) and key in (
            points := points_in(entry)
        ):
            reserved = curves[cast("int", entry.body.get("reserved", entry.number))]
            charges.append((acts.charge_of(reserved)[0], points[key]))
    return charges


# Answers that are shared.


def find_paid_answer(
    books: LedgerTransaction,
    question: acts.ChargeRequest,
    name: str,
    *,
    answer: Json | None = None,
    time: str | None = None,
) -> PaidAnswer | None:
    """The earlier answer for whoever asks: one that is paid for already, if there is one."""
    asker = question.asker(name)
    (data_set, levels), settled = books.answered(name, question.digest, asker)
    before = acts.there(books, name, data_set)
    if not settled:
        return None
    asking = acts.levels_of(levels.get, before, asker, time or now())
    all_found = [_found(books, answer_of, asking) for answer_of in settled]
    wanted = [answer_of for answer_of in all_found if answer is None or answer_of.release == answer]
    return min(wanted, key=lambda answer_of: bool(answer_of.owing), default=None)


def _found(books: LedgerTransaction, settled: AnswerRow, asking: list[Level]) -> PaidAnswer:
    reserved = settled.reserved
    seen = _paid_for(books, reserved) if asking else set[Key]()
    owing = tuple(level for level in asking if level.key not in seen)
    return PaidAnswer(acts.release_of(settled), reserved, owing)


def _paid_for(books: LedgerTransaction, reserved: Entry) -> set[Key]:
    return has_paid(reserved, books.payments(reserved.number))


def has_paid(reserved: Entry, payments: list[Payment]) -> set[Key]:
    """The levels that have paid for an answer: with its reservation, or later."""
    name = cast("str", reserved.name)
    later = {Key(name, payment.purpose, payment.analyst or None) for payment in payments}
    return later | set(points_in(reserved))


def repeats(books: LedgerTransaction, question: acts.ChargeRequest, name: str) -> list[Json]:
    """All earlier answers: those that whoever asks has paid for, then the others."""
    asker = question.asker(name)
    (data_set, _), settled = books.answered(name, question.digest, asker)
    if acts.there(books, name, data_set).rationed and asker is not None:
        payers = {asker, asker.of_purpose}
        settled.sort(key=lambda answer: not payers <= _paid_for(books, answer.reserved))
    return [acts.release_of(answer) for answer in settled]


def share(
    books: LedgerTransaction, question: acts.ChargeRequest, name: str, *, answer: Json | None = None
) -> Json | LetaloneError | None:
    """The earlier answer, paid for by the levels that owe it; or the error to raise."""
    before, time = acts.require_data_set(books, name), now()
    try:
        paid_answer = find_paid_answer(books, question, name, answer=answer, time=time)
        if paid_answer is None or not paid_answer.owing:
            return None if paid_answer is None else paid_answer.release
        levels = acts.paid_levels(before, paid_answer.owing, *acts.charge_of(paid_answer.reserved))
    except FormatError:
        raise  # nothing is written into a ledger that is damaged
    except LetaloneError as error:
        acts.refuse(books, name, type(error).__name__, question)
        return error
    body: Json = {
        "reserved": paid_answer.reserved.number,
        **question.asked,
        **acts.levels_to_json(levels),
    }
    entry = books.append(EntryKind.SHARED, name, body, time=time)
    acts.put_levels(books, entry, levels)
    for level, _ in levels:
        paid = Payment(
            paid_answer.reserved.number, level.purpose, level.analyst or "", entry.number
        )
        books.add_payment(paid)
    return paid_answer.release
