"""Charges, works, and settles or freezes: the one road of everything that is paid for.

    settled = charged_work([payer], charge, work)

Answers, batches, models of tables and models of arrays all take it. In this order:

1. *Claim.* Nobody else is at work on the same, in any process.
2. *Repeat.* What was paid for before is told again, and is free.
3. *Charge.* All payers or none, before data is touched. A charge that was never settled is gone on
   with.
4. *Work.* Data is touched. Whatever goes wrong is told as one fact without detail, and freezes: an
   error that depends on data would be an exact answer.
5. *Settle.* What was made stands in all ledgers before it is told.

Theorem.  Of all draws that were paid for with one charge, one is told at most, and it has the law
that was paid for, however often a run was cut short and asked for again. Nothing is told of the
work but what was settled, or the one fact.
  Proven:   docs/explanation/proofs/one_charge.md; every way out of `_work` behind `_charge_all`
            is a settlement, a freeze, or an error that depends on no data (`Work.reach`,
            `Work.harmless`), and `_outcome` drops words, cause and context of all others
  Tested:   tests/ledger/test_charging.py, tests/session/test_one_charge.py, test_not_written.py
  Assumed:  whether a run is cut short does not depend on what it draws (`session.time_steps`)
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from secrets import token_hex
from time import monotonic
from typing import TypedDict, TypeVar

from letalone.errors import (
    BudgetExceeded,
    DataSetFrozen,
    LedgerDamaged,
    LedgerUnavailable,
    LetaloneError,
    ServiceUnavailable,
)
from letalone.errors.codes import Code
from letalone.errors.in_python import PYTHON
from letalone.errors.problem import Problem, problem
from letalone.errors.remedies import AskAgain, Thaw
from letalone.exact.typed import Number
from letalone.ledger import acts
from letalone.ledger.acts import ENGINE_FAILED, AlreadySettled, NotBegun, Reservation
from letalone.ledger.claims import WAIT_SECONDS
from letalone.ledger.data_sets import DataSet, storable
from letalone.ledger.exceeding import Repricing, exceeded_budget, exceeded_level
from letalone.ledger.ledger import Ledger
from letalone.privacy import Budget, Neighbours, Privacy
from letalone.privacy.bounds import in_three_digits, six
from letalone.privacy.curve import Json
from letalone.privacy.largest import largest_price

ONE_PAYER = "one"  # the run of what one data set pays for
SETTLE_TRIES = 2
STOPPED = (
    "Stopped. The price was charged before the data was touched. There is no answer; nothing is"
    " frozen. Ask the same again: nothing more is charged."
)
NO_LEDGER = "The ledger could not store the answer. Its owner has to check it, and its disk."
NEEDS_DELTA = (
    "It needs a δ, for finding groups, and the budget has none: list the groups, or let the"
    " owner of the data add a δ to the budget, such as 1e-6."
)
STAYS_SPENT = (
    "The answer about {!r} could not be stored, so nobody gets it, and what it spent"
    " stays spent: asking again is charged again."
)
Result = TypeVar("Result")


class NotWritten(LedgerUnavailable):
    """An answer that the ledger did not take; its charge was closed, and is not gone on with."""

    default_code = "ANSWER_NOT_WRITTEN"


@dataclass(frozen=True, slots=True)
class Charge:
    """What is charged at once, and under which name it is kept.

    digest: stands for all that decides the law of what is made; equal ones are the same question.
    what, advice, advice_on_delta: how a refusal begins, how it ends, and what it says before that
    where the curve has a δ of its own. reprice: for what a refusal offers.
    """

    what: str
    privacy: Privacy
    plan: Json
    digest: str
    delta: Number | None
    advice: str = "Ask with a smaller epsilon, or ask less."
    advice_on_delta: str = (
        "It needs a δ, and only a part of the budget's δ is set aside for that: ask with a smaller"
        " delta, or list the groups."
    )
    reprice: Repricing | None = None

    def all_advice(self, budget: Budget) -> str:
        """How a refusal by this budget ends."""
        if not self.needs_delta or not self.advice_on_delta:
            return self.advice
        return f"{self.advice_on_delta} {self.advice}" if budget.delta else NEEDS_DELTA

    @property
    def needs_delta(self) -> bool:
        """Whether no budget without a δ allows it, as finding groups."""
        return self.privacy.certain_leak() != 0


class AskerFields(TypedDict):
    """Who asks, and what for."""

    analyst: str | None
    purpose: str | None


@dataclass(frozen=True, slots=True)
class Payer:
    """A data set that is charged, and who asks: where a budget is rationed, their levels pay.

    protects: whom the data set protects, which the curve is labelled with; None leaves it as it is.
    """

    ledger: Ledger
    name: str
    protects: Neighbours | None = None
    analyst: str | None = None
    purpose: str | None = None

    def curve(self, privacy: Privacy) -> Privacy:
        return privacy if self.protects is None else privacy.labelled(self.protects)

    def data_set(self) -> DataSet:
        return self.ledger.data_set(self.name)

    def where_kept(self) -> str:
        if self.ledger.durable:
            return "The budget is kept in the ledger."
        return 'Kept in memory only (ledger="budget.db" keeps it).'

    @property
    def _asker(self) -> AskerFields:
        return {"analyst": self.analyst, "purpose": self.purpose}

    def fits(self, *charges: Charge, after: Sequence[Charge] = ()) -> bool:
        """Whether each charge alone would be accepted as all stands, `after` charges that have no
        delta: the ledger is looked at once, and nothing is written down."""
        try:
            first = [storable(self.curve(earlier.privacy)) for earlier in after]
            data_set, levels = self.ledger.standing(self.name, **self._asker)
            find = {level.key: level for level in levels}.get
            for charge in charges:
                request = acts.ChargeRequest({}, "", charge.delta, **self._asker)
                curve = storable(self.curve(charge.privacy))
                acts.check_as_seen(data_set, find, curve, request, after=first)
        except LetaloneError:
            return False
        return True

    def begun_run(self, charge: Charge) -> str | None:
        """The run of an equal charge that was never settled."""
        return self.ledger.begun(
            self.name,
            self.curve(charge.privacy),
            plan=charge.plan,
            digest=charge.digest,
            delta=charge.delta,
            **self._asker,
        )

    def pay(self, charge: Charge, *, run: str | None) -> Reservation:
        """Pays before data is touched; where it does not fit, what is left and what to change.

        What was paid in the same run, and led to no answer, is gone on with.
        """
        try:
            return self.ledger.charge(
                self.name,
                self.curve(charge.privacy),
                plan=charge.plan,
                digest=charge.digest,
                delta=charge.delta,
                run=run,
                **self._asker,
            )
        except BudgetExceeded as error:
            refused = error  # the ledger has written it down; said below for this charge
        fits = self.largest(charge)
        if refused.level is not None:
            raise exceeded_level(charge.what, refused, fits=fits)
        advice = charge.all_advice(self.data_set().budget)
        raise exceeded_budget(charge.what, self.data_set(), refused, fits=fits, advice=advice)

    def largest(self, charge: Charge) -> Budget | None:
        """The most that the same may cost to fit as all stands; None where that is not known."""
        if charge.reprice is None:
            return None
        data_set, levels = self.ledger.standing(self.name, **self._asker)
        find, curve_at = {level.key: level for level in levels}.get, charge.reprice.curve_at

        def fits(price: Budget) -> bool:
            request = acts.ChargeRequest({}, "", price.delta or None, **self._asker)
            try:
                curve = storable(self.curve(curve_at(price)))
                acts.check_as_seen(data_set, find, curve, request)
            except LetaloneError:
                return False
            return True

        states = [data_set.state, *(level.state for level in levels)]
        left = Budget(
            min(state.remaining.epsilon for state in states),
            min(state.leak_left for state in states),
        )
        return largest_price(fits, charge.reprice.asked, left=left)

    def repeats(self, charge: Charge) -> list[Json]:
        """All earlier answers about the data set as it is declared now."""
        return self.ledger.repeats_of(self.name, charge.digest, **self._asker)

    def share(self, charge: Charge, *, answer: Json | None = None) -> Json | None:
        """An earlier answer; where the budget is rationed, the levels of who asks pay for it.

        It is refused in the same words whether or not another has asked before.
        """
        try:
            return self.ledger.share(self.name, charge.digest, **self._asker, answer=answer)
        except BudgetExceeded as error:
            refused = error
        raise exceeded_level(charge.what, refused, fits=self.largest(charge))


class Work(ABC):
    """What a charge pays for. That of a table also has locks, a time step and a source of rows."""

    failure = "its engine could not finish"
    harmless: tuple[type[Exception], ...] = ()  # errors of `make` that depend on no data

    @abstractmethod
    def make(self) -> Json:
        """Touches data, and returns what is stored and told. Nothing that it raises is told."""

    def hold(self) -> AbstractContextManager[object]:
        """Whatever must not change from the look for a repeat to the settlement."""
        return nullcontext()

    def reach(self, *, paid: bool) -> None:  # noqa: B027  (arrays are at hand)
        """Raises where data cannot be read, for reasons that no row can have; reads none.

        It is called before the charge and once more behind it. What was paid by then is not
        settled: nothing of it was told, and who asks the same again goes on with it.
        """

    def at_step(self, began: float, run: Callable[[], Result]) -> Result:
        """What `run` returns or raises, at a time that does not tell how long it took."""
        del began
        return run()

    def reason(self, error: Exception) -> str:
        """Why a data set is frozen, for its owner: never words of the error itself."""
        del error
        return ENGINE_FAILED


@dataclass(frozen=True, slots=True)
class RemainingBudget:
    """What was left of a budget at one moment; put into words when somebody looks.

    kept: where the budget lives, in words. beside: of the other data sets that paid.
    """

    data_set: DataSet
    privacy: Privacy
    delta: Number | None
    kept: str
    beside: "tuple[RemainingBudget, ...]" = ()

    def __str__(self) -> str:
        others = [f"Of {other.data_set.name!r}: {other}" for other in self.beside]
        return " ".join([self._words(), *others])

    @property
    def how_many_more(self) -> int | float:
        return self.data_set.how_many_more(self.privacy, delta=self.delta)

    def _words(self) -> str:
        data_set, more = self.data_set, self.how_many_more
        like = f"enough for {more:,} more" if more else "too little for another like this"
        like = like if isinstance(more, int) else "enough for any number"
        delta = f" and δ = {in_three_digits(data_set.state.leak_left)}"
        left = (
            f"ε = {in_three_digits(data_set.remaining.epsilon)} of {six(data_set.budget.epsilon)}"
        )
        words = f"Left: about {left}{delta * (self.privacy.certain_leak() > 0)}, {like}."
        return " ".join(filter(None, [words, self.kept]))


@dataclass(frozen=True, slots=True)
class Settled:
    """What stands in the ledgers; its receipt, and what was left when it was told."""

    stored: Json
    repeated: bool
    receipt: Json
    remaining: RemainingBudget


def charged_work(
    payers: Sequence[Payer],
    charge: Charge,
    work: Work,
    *,
    repeats: bool = True,
    wait_seconds: float = WAIT_SECONDS,
) -> Settled:
    """An earlier answer; or a charge, the work and its settlement; or a freeze and one fact.

    Everything that can be refused but for the budget was refused before. repeats=False: each call
    is another question, whatever its charge says, and a charge that was never settled is not gone
    on with. UnderWay where somebody else, in any process, is at work on the same for longer than
    `wait_seconds`.
    """
    if not repeats:
        return _tell(payers, charge, _work(payers, charge, work, repeats=False))
    with _claim(payers, charge, wait_seconds=wait_seconds), work.hold():
        earlier = find_repeat(payers, charge)  # by somebody who asked at the same moment, too
        if earlier is not None:
            return earlier
        return _tell(payers, charge, _work(payers, charge, work, repeats=True))


def uncharged_work(work: Work) -> Json:
    """What the work makes, where nobody asked for a budget: its errors tell as little."""
    outcome = _outcome(work)
    if isinstance(outcome, str):
        raise LetaloneError(f"{work.failure[0].upper()}{work.failure[1:]}. Look at the data.")
    return outcome


def find_repeat(payers: Sequence[Payer], charge: Charge) -> Settled | None:
    """The first earlier answer that was charged to all payers as they are now; reads no data.

    Processes that asked at once may have been charged in another order by another ledger.
    """
    if len(payers) == 1:
        stored = payers[0].share(charge)
    else:
        first, *others = [payer.repeats(charge) for payer in payers]
        answers = (answer for answer in first if all(answer in each for each in others))
        stored = next(answers, None)
        if stored is not None:
            shared = [payer.share(charge, answer=stored) for payer in payers]
            stored = None if None in shared else stored  # a version may have been raised meanwhile
    return None if stored is None else _tell(payers, charge, stored, repeated=True)


def _tell(
    payers: Sequence[Payer], charge: Charge, stored: Json, *, repeated: bool = False
) -> Settled:
    receipt, data_set = payers[0].ledger.told(payers[0].name, stored)
    remaining = remaining_for(payers, charge.privacy, delta=charge.delta, now=data_set)
    return Settled(stored, repeated, receipt, remaining)


def remaining_for(
    payers: Sequence[Payer],
    privacy: Privacy,
    *,
    delta: Number | None = None,
    now: DataSet | None = None,
) -> RemainingBudget:
    """What is left of all that would pay, the first named first, for more with this curve."""
    first, *beside = [
        RemainingBudget(
            data_set=payer.data_set() if now is None or payer is not payers[0] else now,
            privacy=payer.curve(privacy),
            delta=delta or None,
            kept="" if payer.ledger.durable else payer.where_kept(),
        )
        for payer in payers
    ]
    return replace(first, beside=tuple(beside))


@contextmanager
def _claim(payers: Sequence[Payer], charge: Charge, *, wait_seconds: float) -> Generator[None]:
    """Nobody else is at work on this question, in any process; UnderWay where another stays so."""
    with ExitStack() as stack:
        for payer in sorted(payers, key=lambda payer: payer.name):  # so none waits in a circle
            claim = payer.ledger.claim(payer.name, charge.digest, wait_seconds=wait_seconds)
            stack.enter_context(claim)
        yield


def _work(payers: Sequence[Payer], charge: Charge, work: Work, *, repeats: bool) -> Json:
    """What the work makes, charged before data is touched, as it was written down at its step."""
    work.reach(paid=False)
    began, paid = monotonic(), _charge_all(payers, charge, repeats=repeats)
    try:
        outcome = work.at_step(began, lambda: _outcome(work))
    except work.harmless:
        for payer, reservation in zip(payers, paid, strict=True):
            payer.ledger.abandon(reservation)
        raise
    except KeyboardInterrupt as stopped:
        if repeats:
            stopped.add_note(STOPPED)
        raise
    if isinstance(outcome, str):
        _fail_all(payers, paid, outcome)
        fact = work.failure if outcome == ENGINE_FAILED else outcome
        raise frozen_error([payer.name for payer in payers], fact)
    for payer, reservation in zip(payers, paid, strict=True):
        goes_on = repeats and payer is payers[0]
        outcome = _settle(payer, reservation, outcome, goes_on=goes_on)
    return outcome


def _outcome(work: Work) -> Json | str:
    """What was made, or the one fact that is written down if anything went wrong, whatever it was.

    The error is dropped here and not raised from: its words, its cause and its context could
    hold a private value.
    """
    work.reach(paid=True)
    try:
        return work.make()
    except work.harmless:
        raise
    except Exception as error:
        return work.reason(error)


def _charge_all(payers: Sequence[Payer], charge: Charge, *, repeats: bool) -> list[Reservation]:
    """A charge to each payer, in their order: all, or none.

    One that refuses comes first, so nothing else is charged then. If one has been spent from
    elsewhere since it was looked at, what the others were charged stays spent. If the ledger of one
    is away, it is gone on with.

    All belong to one run. The first payer's charge is the first that is settled, so while it is
    not, nothing of the run was told, and all of it can be gone on with.
    """
    if len(payers) < 2:
        return [payer.pay(charge, run=ONE_PAYER if repeats else None) for payer in payers]
    paid: dict[str, Reservation] = {}
    run = payers[0].begun_run(charge) or token_hex(16)
    for payer in sorted(payers, key=lambda payer: payer.fits(charge)):
        try:
            paid[payer.name] = payer.pay(charge, run=run)
        except LetaloneError as error:
            away = isinstance(error, (LedgerUnavailable, ServiceUnavailable))
            if not (away and payers[0].name in paid):  # else it is gone on with: nothing was drawn
                _abandon(
                    [(charged, paid[charged.name]) for charged in payers if charged.name in paid],
                    error,
                )
            raise
    return [paid[payer.name] for payer in payers]


def _abandon(paid: Sequence[tuple[Payer, Reservation]], error: LetaloneError) -> None:
    for payer, reservation in paid:
        with suppress(LetaloneError):
            payer.ledger.abandon(reservation)
        error.add_note(
            f"{payer.name!r} was charged a moment before. Its data was not touched, and there is no"
            " answer, but what was charged stays spent."
        )


def _fail_all(payers: Sequence[Payer], paid: Sequence[Reservation], why: str) -> None:
    """Freezes every payer, even if the ledger of one is away; what that one said is raised then."""
    errors = list[LetaloneError]()
    for payer, reservation in zip(payers, paid, strict=True):
        try:
            payer.ledger.fail(reservation, why)
        except LetaloneError as error:
            errors.append(error)
    if errors:
        raise errors[0]


def frozen_error(names: Sequence[str], fact: str) -> DataSetFrozen:
    """The one fact that is told when work could not finish, or its file was changed then."""
    which = f"set {names[0]!r} is" if len(names) == 1 else f"sets {' and '.join(names)} are"
    words = (
        f"The data {which} frozen: {fact}. There is no answer, and what was charged stays spent."
    )
    thaw = Thaw(names[0])
    return DataSetFrozen(problem(Code.WORK_FAILED, thaw, words=words, names=tuple(names)))


def _settle(payer: Payer, paid: Reservation, stored: Json, *, goes_on: bool) -> Json:
    """What stands in the ledger, after a second try: a connection may have been cut.

    It is what was made. Where a claim was lost, with its connection, another may have settled:
    then its answer stands, and what was made here is told to nobody.

    Whether an answer can be written may depend on what it says: on its length, where room is
    short. Once the store was given some of it, and did not take it, it is never drawn anew; nor
    where it stands in the ledger of the first payer (`goes_on` is False then).
    """
    errors = list[Exception]()
    for _ in range(SETTLE_TRIES):
        try:
            return _settle_once(payer, paid, stored)
        except AlreadySettled:
            raise
        except Exception as error:
            errors.append(error)
    reason = _public_problem(errors[-1])
    unseen = all(isinstance(error, NotBegun) for error in errors)
    if not (goes_on and unseen) and (_close(payer, paid) or not goes_on):
        words = f"{PYTHON.state(reason)} {STAYS_SPENT.format(payer.name)}"
        raise NotWritten(problem(Code.ANSWER_NOT_WRITTEN, words=words))
    raise LedgerUnavailable(reason)


def _settle_once(payer: Payer, paid: Reservation, stored: Json) -> Json:
    try:
        payer.ledger.settle(paid, stored)
    except AlreadySettled:
        theirs = payer.ledger.settled(paid)
        if theirs is None:
            raise
        return theirs
    return stored


def _close(payer: Payer, paid: Reservation) -> bool:
    """Whether the charge was ended without an answer. That is shorter than any answer."""
    try:
        payer.ledger.abandon(paid)
    except Exception:
        return False
    return True


def _public_problem(error: Exception) -> Problem:
    """What failed; words that are not of a ledger out of reach could tell what was drawn."""
    if isinstance(error, (LedgerUnavailable, LedgerDamaged)):
        return replace(error.problem, code=Code.LEDGER_UNAVAILABLE)
    return problem(Code.LEDGER_UNAVAILABLE, AskAgain(), words=NO_LEDGER)
