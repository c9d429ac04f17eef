"""What can be done to a data set, each within one transaction.

Theorem.  Whatever is charged, refused, frozen, raised and in whatever order, all answers
about a data set together keep the largest budget that its owner ever allows.
  Proven:   docs/explanation/proofs/filters.md for charges; raised_budgets.md for raising
  Tested:   tests/ledger
  Assumed:  charges, and the budgets that the owner allows, do not depend on the data

A refused question is an entry too, and charges nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

from letalone.errors import DataSetFrozen, LedgerDamaged, LetaloneError, ParameterError
from letalone.exact.typed import DELTA, Number
from letalone.ledger.books import Books, Settlement, versions
from letalone.ledger.canonical import read_object, text_digest
from letalone.ledger.data_sets import DataSet, budget_to_json, data_set_to_json, new_data_set
from letalone.ledger.entries import Entry, Kind
from letalone.privacy.budget import Budget
from letalone.privacy.curve import Json, Privacy
from letalone.privacy.filters import USUAL_POINT, charged
from letalone.privacy.stored import from_json

ENGINE_FAILED = "the engine failed"
Charge = tuple[Privacy, Fraction]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the plan, the digest of all that decides its answer, who and what for."""

    plan: Json
    digest: str
    delta: Number | None
    analyst: str | None
    purpose: str | None


@dataclass(frozen=True, slots=True)
class Reservation:
    """A charge that is on the disk: the right to draw the noise of one answer."""

    number: int
    name: str
    digest: str
    privacy: Privacy
    ledger_hash: str


def known(books: Books, name: str) -> DataSet:
    """The data set of this name, or an error that lists those there are."""
    found = books.data_set(name)
    if found is not None:
        return found
    names = ", ".join(books.names()[:20]) or "none"
    raise ParameterError(
        f"The ledger has no data set {name!r}. It has: {names}. Register a new one with "
        "ledger.register(name, budget, neighbours=…)."
    )


def reserve(
    books: Books, name: str, privacy: Privacy, question: Question
) -> Reservation | LetaloneError:
    """Charge for an answer; or write down the refusal, and return the error to raise."""
    before = known(books, name)
    try:
        after, at = paid(before, privacy, question.delta)
    except LetaloneError as error:
        refuse(books, name, type(error).__name__, question)
        return error
    body: Json = {
        "privacy": privacy.to_json(),
        "delta": str(at),
        "version": after.version,
        "versions": versions(),
        **_asked(question),
        "plan": question.plan,
        "after": data_set_to_json(after),
    }
    entry = books.append(Kind.RESERVED, name, body)
    return Reservation(entry.number, name, question.digest, privacy, entry.hash)


def paid(before: DataSet, privacy: Privacy, delta: Number | None) -> tuple[DataSet, Fraction]:
    """The data set after a charge, and the delta at which a curve without a family was read."""
    if before.frozen:
        raise DataSetFrozen(
            f"The data set {before.name!r} is frozen: nothing is answered, and nothing was "
            "charged. Its owner can look at the ledger (letalone ledger show) and allow questions "
            f"again: la.Ledger.open(path).thaw({before.name!r}, 'why')."
        )
    usual = USUAL_POINT * before.budget.delta
    at = usual if delta is None else DELTA.typed("delta", delta)
    return replace(before, state=charged(before.state, privacy, delta=at)), at


def refuse(books: Books, name: str, reason: str, question: Question) -> Entry:
    """Write down that a question was refused; the reason is the class of the error."""
    return books.append(Kind.REFUSED, name, {"reason": reason, **_asked(question)})


def settle(books: Books, reservation: Reservation, release: str | None) -> Entry:
    """Write down how a reservation ended: with this canonical release, or None for a failure."""
    reserved = books.entry(reservation.number)
    if reserved is None or reserved.hash != reservation.ledger_hash:
        raise ParameterError(
            f"Reservation {reservation.number} is not of this ledger: settle it where it was made."
        )
    if books.settlement(reservation.number) is not None:
        raise ParameterError(
            f"Reservation {reservation.number} is settled already: each gives one answer."
        )
    entry = books.append(Kind.SETTLED, reserved.name, _ending(reserved.number, release))
    books.add_settlement(settlement_of(reserved, entry, release))
    return entry


def settlement_of(reserved: Entry, settled: Entry, release: str | None) -> Settlement:
    """The row that says how a reservation ended."""
    digest, version = cast("str", reserved.body["digest"]), cast("int", reserved.body["version"])
    name = cast("str", reserved.name)
    return Settlement(reserved.number, settled.number, name, digest, version, release)


def repeats(books: Books, name: str, digest: str) -> list[Json]:
    """The answers that were given to this question about the version that is current."""
    found = books.answered(name, digest, known(books, name).version)
    return [_release(books, one, one.release) for one in found if one.release is not None]


def _release(books: Books, found: Settlement, release: str) -> Json:
    settled = books.entry(found.settled)
    if settled is None or settled.body != _ending(found.reserved, release):
        raise LedgerDamaged(
            f"The ledger is damaged: the answer of reservation {found.reserved} is not the one "
            "that was settled."
        )
    return read_object(release, name="A release")


def change(books: Books, kind: Kind, after: DataSet, body: Json) -> DataSet:
    """Write down how a data set stands from now on."""
    books.append(kind, after.name, {**body, "after": data_set_to_json(after)})
    return after


def raised(before: DataSet, budget: Budget, charges: Iterable[Charge]) -> DataSet:
    """The data set as it would stand had it been opened with the larger budget."""
    if not before.budget <= budget:
        raise ParameterError(
            f"budget is ({budget}), but a budget is never lowered: that of {before.name!r} is "
            f"({before.budget}), and answers may have been given under it."
        )
    fresh = new_data_set(
        before.name,
        budget,
        neighbours=before.declared,
        version=before.version,
        shares=before.shares,
    )
    state = fresh.state
    for privacy, delta in charges:
        state = charged(state, privacy, delta=delta)
    return replace(fresh, state=state, frozen=before.frozen)


def raise_budget(books: Books, name: str, budget: Budget) -> DataSet:
    """Raise a budget, and write it down."""
    before = known(books, name)
    after = raised(before, budget, (charge_of(one) for one in books.entries(name, Kind.RESERVED)))
    if budget == before.budget:
        return before
    return change(books, Kind.BUDGET_RAISED, after, {"budget": budget_to_json(budget)})


def charge_of(reserved: Entry) -> Charge:
    """What an entry says was charged, and at which delta it was read."""
    privacy = from_json(cast("Json", reserved.body["privacy"]))
    return privacy, Fraction(cast("str", reserved.body["delta"]))


def _ending(reserved: int, release: str | None) -> Json:
    if release is None:
        return {"reserved": reserved, "outcome": "failed", "release_digest": None}
    return {
        "reserved": reserved,
        "outcome": "released",
        "release_digest": text_digest(release),
    }


def _asked(question: Question) -> Json:
    return {
        "digest": question.digest,
        "analyst": question.analyst,
        "purpose": question.purpose,
    }
