"""What can be done to a data set, each within one transaction.

One question, one charge: who asks again for what was charged and never settled goes on with that
charge (`run`), under the ledger's claim on the question.

Theorem.  Whatever is charged, refused, frozen, raised and in whatever order, all answers
about a data set together keep the largest budget that its owner ever allows. Levels (rationing.py)
can only refuse more.
  Proven:   docs/explanation/proofs/filters.md for charges; raised_budgets.md for raising;
            one_charge.md for charges that are gone on with
  Tested:   tests/ledger
  Assumed:  charges, and the budgets that the owner allows, do not depend on the data

A refused question is an entry too, and charges nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self, cast

from letalone.errors import (
    BudgetExceeded,
    DataSetFrozen,
    FormatError,
    LedgerDamaged,
    LedgerUnavailable,
    LetaloneError,
    ParameterError,
)
from letalone.errors.codes import Code
from letalone.errors.problem import Spelled, problem
from letalone.errors.remedies import Thaw
from letalone.exact.typed import Number, read_rational
from letalone.ledger import data_sets
from letalone.ledger import levels as level_rules
from letalone.ledger.chain.canonical import canonical, read_object, text_digest
from letalone.ledger.chain.entries import Entry, EntryKind, now
from letalone.ledger.data_sets import DataSet
from letalone.ledger.levels import Charge, Key, Level
from letalone.ledger.storage.tables import Settlement
from letalone.ledger.storage.transaction import AnswerRow, LedgerTransaction, versions
from letalone.privacy.budget import Budget
from letalone.privacy.curve import Json, Privacy
from letalone.privacy.filters import charge_filter, point_of
from letalone.privacy.stored import from_json

ENGINE_FAILED = "the engine failed"
FILE_CHANGED = "its file was changed while it was read"
Paid = tuple[Level, Fraction]
Find = Callable[[Key], Level | None]


@dataclass(frozen=True, slots=True)
class ChargeRequest:
    """What is asked: the plan, the digest of all that decides its answer, who and what for.

    run: where nothing of the answer is told before it is settled, the name of what is charged for
    it in all ledgers together, which can be gone on with.
    """

    plan: Json
    digest: str
    delta: Number | None
    analyst: str | None
    purpose: str | None
    run: str | None = None

    def check_storable(self) -> Self:
        """The same question, if it can be stored."""
        canonical(self.plan, name="plan")
        for name in ("analyst", "purpose", "run", "digest"):
            value = getattr(self, name)
            if name == "digest" or value is not None:
                data_sets.read_text(name, value)
        return self

    @property
    def asked(self) -> Json:
        """What every entry says of it."""
        return {"digest": self.digest, "analyst": self.analyst, "purpose": self.purpose}

    def asker(self, name: str) -> Key | None:
        """Who asks about a data set, and what for, if both are said."""
        if self.analyst is None or self.purpose is None:
            return None
        return Key(name, self.purpose, self.analyst)


@dataclass(frozen=True, slots=True)
class Reservation:
    """A charge that is on the disk: the right to draw the noise of one answer."""

    number: int
    name: str
    digest: str
    privacy: Privacy
    ledger_hash: str


class AlreadySettled(ParameterError):  # noqa: N818
    """Another has settled the reservation meanwhile."""


class NotBegun(LedgerUnavailable):
    """An answer was not settled, and the store was given nothing of it: it did not matter."""


class NoSuchDataSet(ParameterError):  # noqa: N818
    """The ledger has no data set of this name."""

    default_code = "UNKNOWN_DATA_SET"


def require_data_set(books: LedgerTransaction, name: str) -> DataSet:
    """The data set of this name, or an error that lists those there are."""
    return there(books, name, books.data_set(name))


def there(books: LedgerTransaction, name: str, found: DataSet | None) -> DataSet:
    """The data set that was found, or an error that lists those there are."""
    if found is not None:
        return found
    names = tuple(books.names()[:20]) or "none"
    hint = Spelled("Register a new one with ledger.register(name, budget, neighbours=…).", "", "")
    raise NoSuchDataSet(problem(Code.UNKNOWN_DATA_SET, name=name, known=names, hint=hint))


def reserve(
    books: LedgerTransaction, name: str, privacy: Privacy, question: ChargeRequest
) -> Reservation | LetaloneError:
    """Charge for an answer, or go on with a charge for it that led to none; or write down the
    refusal, and return the error to raise."""
    asker, time = question.asker(name), now()
    (recorded, stand), not_settled = books.charging(name, asker, question.digest)
    before = there(books, name, recorded)
    try:
        asking = levels_of(stand.get, before, asker, time)
        check_not_frozen(before)
        content = _describe_charge(before, privacy, question)
        earlier = None if question.run is None else _gone_on_with(not_settled, asking, content)
        if earlier is not None:
            return Reservation(earlier.number, name, question.digest, privacy, earlier.hash)
        after, levels = all_paid(before, asking, privacy, question.delta)
    except FormatError:
        raise  # nothing is written into a ledger that is damaged
    except LetaloneError as error:
        refuse(books, name, type(error).__name__, question)
        return error
    body: Json = {**content, "after": data_sets.data_set_to_json(after), **levels_to_json(levels)}
    stand = [level for level, _ in levels]
    entry = books.append(EntryKind.RESERVED, name, body, time=time, after=after, levels=stand)
    put_levels(books, entry, levels)
    return Reservation(entry.number, name, question.digest, privacy, entry.hash)


def _describe_charge(before: DataSet, privacy: Privacy, question: ChargeRequest) -> Json:
    """All that an entry says of a charge but how all stands after it."""
    return {
        "privacy": privacy.to_json(),
        "delta": str(point_of(before.state, question.delta)),
        "version": before.version,
        "versions": versions(),
        **question.asked,
        "plan": question.plan,
        **({} if question.run is None else {"run": question.run}),
    }


def begun(
    books: LedgerTransaction, name: str, privacy: Privacy, question: ChargeRequest
) -> str | None:
    """The run that a charge for this question belongs to, if it can be gone on with."""
    asker = question.asker(name)
    (data_set, levels), not_settled = books.charging(name, asker, question.digest)
    before = there(books, name, data_set)
    asking = levels_of(levels.get, before, asker, now())
    entry = _gone_on_with(not_settled, asking, _describe_charge(before, privacy, question))
    return None if entry is None else cast("str | None", entry.body.get("run"))


def _gone_on_with(not_settled: list[Entry], asking: list[Level], said: Json) -> Entry | None:
    """A charge that says the same, that the same levels have paid for, and that nobody settled."""
    wanted, paid = canonical(said), {level.key for level in asking}
    for entry in not_settled:
        same = canonical({part: entry.body.get(part) for part in said}) == wanted
        if same and "run" in entry.body and set(level_rules.points_in(entry)) == paid:
            return entry
    return None


def check_fits(
    books: LedgerTransaction,
    name: str,
    privacy: Privacy,
    question: ChargeRequest,
    *,
    after: Sequence[Privacy] = (),
) -> None:
    """Raise what a charge would be refused with now, `after` others; nothing is written down."""
    data_set, levels = books.standing(name, question.asker(name))
    check_as_seen(there(books, name, data_set), levels.get, privacy, question, after=after)


def check_as_seen(
    before: DataSet,
    find: Find,
    privacy: Privacy,
    question: ChargeRequest,
    *,
    after: Sequence[Privacy] = (),
) -> None:
    """The same, as all stood when it was looked at."""
    asking = levels_of(find, before, question.asker(before.name), now())
    for earlier in after:
        before, paid = all_paid(before, asking, earlier, None)
        asking = [level for level, _ in paid]
    all_paid(before, asking, privacy, question.delta)


def levels_of(find: Find, before: DataSet, asker: Key | None, time: str) -> list[Level]:
    """The levels that pay for whoever asks: purpose and analyst; none where nothing is rationed."""
    if not before.rationed:
        return []
    if asker is None:
        raise level_rules.nameless(before.name)
    return [_holding(find, key, time) for key in (asker.of_purpose, asker)]


def _holding(find: Find, key: Key, time: str) -> Level:
    level = find(key)
    if level is None:
        raise level_rules.not_allowed(key)
    return level_rules.check_holds(level, time)


def all_paid(
    before: DataSet, levels: Iterable[Level], privacy: Privacy, delta: Number | None
) -> tuple[DataSet, list[Paid]]:
    """All after a charge; where it does not fit, BudgetExceeded of the one with the least left."""
    check_not_frozen(before)
    at, asking, refused = point_of(before.state, delta), list(levels), list[BudgetExceeded]()
    try:
        after = after_charge(before, privacy, delta)
    except BudgetExceeded as error:
        after = before
        refused.append(error)
    try:
        paid_by_levels = paid_levels(before, asking, privacy, at)
    except BudgetExceeded as error:
        paid_by_levels = []
        refused.append(error)
    _raise_least(refused)
    return after, paid_by_levels


def _raise_least(refused: list[BudgetExceeded]) -> None:
    """Of several that have too little left, the one that has the least is named."""
    if refused:
        raise min(refused, key=_read_remaining) from None


def _read_remaining(error: BudgetExceeded) -> tuple[Fraction, Fraction]:
    remaining = error.left or Budget(0)
    return remaining.epsilon, remaining.delta


def paid_levels(
    before: DataSet, levels: Iterable[Level], privacy: Privacy, at: Fraction
) -> list[Paid]:
    """The levels after a charge, each with the delta at which it has read the curve."""
    payments, refused = list[Paid](), list[BudgetExceeded]()
    for level in levels:
        level_point = level_rules.point(before, level, at)
        try:
            payments.append((level_rules.paid_by(level, privacy, level_point), level_point))
        except BudgetExceeded as error:
            refused.append(error)
    _raise_least(refused)
    return payments


def levels_to_json(levels: Iterable[Paid]) -> Json:
    """How the levels that were charged stand, for the body of an entry."""
    listed = [{"delta": str(at), **level_rules.level_to_json(level)} for level, at in levels]
    return {"levels": listed} if listed else {}


def put_levels(books: LedgerTransaction, entry: Entry, levels: Iterable[Paid]) -> None:
    """Remember that an entry says how these levels stand."""
    for level, _ in levels:
        books.move_level(level.key, entry)


def after_charge(before: DataSet, privacy: Privacy, delta: Number | None) -> DataSet:
    """The data set after a charge."""
    check_not_frozen(before)
    at = point_of(before.state, delta)
    return replace(before, state=charge_filter(before.state, privacy, delta=at))


def check_not_frozen(before: DataSet) -> None:
    """Nothing is answered about a data set that is frozen."""
    if before.frozen:
        raise DataSetFrozen(
            f"The data set {before.name!r} is frozen: nothing is answered, and nothing was "
            "charged.",
            remedy=Thaw(before.name),
        )


def refuse(books: LedgerTransaction, name: str, reason: str, question: ChargeRequest) -> Entry:
    """Write down that a question was refused; the reason is the class of the error."""
    return books.append(EntryKind.REFUSED, name, {"reason": reason, **question.asked})


def settle(books: LedgerTransaction, reservation: Reservation, release: str | None) -> Entry:
    """Write down how a reservation ended: with this canonical release, or None for a failure."""
    return end(books, not_ended(books, reservation), release)


def not_ended(books: LedgerTransaction, reservation: Reservation) -> Entry:
    """The entry of a reservation that nobody has settled."""
    reserved, ended = books.reservation(reservation.number)
    if reserved is None or reserved.hash != reservation.ledger_hash:
        raise ParameterError(
            f"Reservation {reservation.number} is not of this ledger: settle it where it was made."
        )
    if ended is not None:
        raise AlreadySettled(
            f"Reservation {reservation.number} is settled already: each gives one answer, and a "
            "thaw closes those that have none."
        )
    return reserved


def close_begun(books: LedgerTransaction, name: str | None = None) -> None:
    """Let nobody go on with a charge of before: each is closed without an answer, and stays spent.

    Where entries may be missing, such a charge may have been settled in one of them, and told.
    """
    for number in books.unsettled(name):
        reserved = cast("Entry", books.entry(number))
        if "run" in reserved.body:
            end(books, reserved, None)


def end(books: LedgerTransaction, reserved: Entry, release: str | None) -> Entry:
    """Write down how it ended."""
    entry = books.append(EntryKind.SETTLED, reserved.name, _ending(reserved.number, release))
    books.add_settlement(settlement_of(reserved, entry, release))
    return entry


def settlement_of(reserved: Entry, settled: Entry, release: str | None) -> Settlement:
    """The row that says how a reservation ended."""
    digest, version = cast("str", reserved.body["digest"]), cast("int", reserved.body["version"])
    name = cast("str", reserved.name)
    release_digest = None if release is None else text_digest(release)
    return Settlement(
        reserved.number, settled.number, name, digest, version, release, release_digest
    )


def release_of(found: AnswerRow) -> Json:
    """The answer of a settlement, if it is the one that was settled."""
    number, release = found.ending.reserved, found.ending.release
    if release is None or found.settled.body != _ending(number, release):
        raise LedgerDamaged(
            f"The ledger is damaged: the answer of reservation {number} is not the one that was "
            "settled."
        )
    return read_object(release, name="A release")


def administer(
    books: LedgerTransaction, name: str | None, what: str, body: Json, *, by: list[str]
) -> Entry:
    """Write down an act that spends nothing."""
    if name is not None:
        require_data_set(books, name)
    return books.append(EntryKind.ADMINISTERED, name, {"what": what, "by": by, "body": body})


def change(books: LedgerTransaction, kind: EntryKind, after: DataSet, body: Json) -> DataSet:
    """Write down how a data set stands from now on."""
    books.append(kind, after.name, {**body, "after": data_sets.data_set_to_json(after)})
    return after


def with_larger_budget(before: DataSet, budget: Budget, charges: Iterable[Charge]) -> DataSet:
    """The data set as it would stand had it been opened with the larger budget."""
    if not before.budget <= budget:
        raise ParameterError(
            f"budget is ({budget}), but a budget is never lowered: that of {before.name!r} is "
            f"({before.budget}), and answers may have been given under it."
        )
    state = data_sets.new_filter(budget, before.declared, before.shares)
    for privacy, delta in charges:
        state = charge_filter(state, privacy, delta=delta)
    return replace(before, state=state)


def raise_budget(books: LedgerTransaction, name: str, budget: Budget, *, by: list[str]) -> DataSet:
    """Raise a budget, and write it down with the names of those who decided."""
    before = require_data_set(books, name)
    after = with_larger_budget(
        before, budget, (charge_of(entry) for entry in books.entries(name, EntryKind.RESERVED))
    )
    if budget == before.budget:
        return before
    body: Json = {"budget": data_sets.budget_to_json(budget), **({"by": by} if by else {})}
    return change(books, EntryKind.BUDGET_RAISED, after, body)


def charge_of(reserved: Entry) -> Charge:
    """What an entry says was charged, and at which delta it was read."""
    privacy = from_json(cast("Json", reserved.body["privacy"]))
    return privacy, read_rational(cast("str", reserved.body["delta"]))


def _ending(reserved: int, release: str | None) -> Json:
    digest = None if release is None else text_digest(release)
    outcome = "failed" if release is None else "released"
    return {"reserved": reserved, "outcome": outcome, "release_digest": digest}
