"""From a question to an answer, in the one order that is sound.

Everything that can be refused is refused before anything is charged. The charge is on the
disk before data is touched. Then the engine measures, noise is drawn, and the answer is
written down, at its time step (`time_steps`), before it is shown. Whatever goes wrong in
between is told as one fact without detail, and freezes the data set: an error that depends on
data would be an exact answer. A server that does not answer before anything was sent to it, and a
file that was changed before anything was read of it, depend on none (`reach`).

Theorem.  All that an analyst sees (prices, previews, refusals, notes, SQL) but the answers
themselves is a function of questions, declarations and earlier answers.
  Proven:   nothing before `_measured` has the engine's numbers, and nothing after it but
            `finish` reads them
  Tested:   tests/session/test_no_data.py: an empty table looks the same; test_secrets.py
  Assumed:  an observer does not see how long it took (`time_steps`, for services)
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from secrets import token_hex
from typing import cast

from letalone.answers.promise import price
from letalone.answers.release import Asked, SplitPart, Standing
from letalone.engines.failure import FileChanged, RightRevoked, SourceAway, SourceUnreadable
from letalone.engines.measures import Units
from letalone.errors import (
    BudgetExceeded,
    DataSetFrozen,
    LedgerUnavailable,
    LetaloneError,
    ServiceUnavailable,
)
from letalone.errors.codes import Code
from letalone.errors.problem import problem
from letalone.errors.remedies import RaiseVersion
from letalone.exact.typed import CONFIDENCE, Number
from letalone.ledger import Reservation, digest_of
from letalone.ledger.acts import ENGINE_FAILED, FILE_CHANGED, how_to_thaw
from letalone.ledger.claims import WAIT_SECONDS
from letalone.plans.query import Plan
from letalone.privacy import Budget, Privacy
from letalone.privacy.curve import Json
from letalone.privacy.filters import brief
from letalone.session.notes import in_rows, notes_of, question_of, starved
from letalone.session.outputs import filled, slots_of
from letalone.session.partners import lent, locked, partners_of, read_from_text, taken_on_trust
from letalone.session.release import Release, batch_to_json, releases_from
from letalone.session.settling import alone_with, written_down
from letalone.session.table import Table
from letalone.session.time_steps import at_step, now
from letalone.session.together import cheapest
from letalone.tables.columns import Columns
from letalone.tables.compiled import Compiled, Share, compiled

STOPPED = (
    "Stopped. The price was charged before the data was touched. There is no answer; nothing is"
    " frozen. Ask the same again: it goes on with what was paid."
)
TOLD = {ENGINE_FAILED: "its engine could not finish"}
ONE_TABLE = "one"  # the run of a question that one data set pays for


@dataclass(frozen=True, slots=True)
class Priced:
    """A question with all that is decided about it before data is touched."""

    whole: Compiled
    asked: Asked
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class Bill:
    """What is charged at once, for one question or several, and under which name it is kept."""

    privacy: Privacy
    plan: Json
    digest: str
    delta: Fraction | None
    words: str


def priced(
    table: Table, plan: Plan, *, epsilon: Number, delta: Number = 0, confidence: Number = 0.95
) -> Priced:
    """The question at a price; no data is touched, and nothing is spent."""
    table.check_open()
    partners_of(table, [plan])
    slots_of(plan)
    whole = compiled(plan, epsilon=epsilon, delta=delta, confidence=confidence)
    sure, stored = CONFIDENCE.typed("confidence", confidence), plan.to_json()
    shares = whole.parts
    parts = tuple(SplitPart(p.name, p.share, p.words, p.groups) for p in shares)
    asked = Asked(
        data_set=table.name,
        version=table.data_set().version,
        question=question_of(plan),
        plan=stored,
        digest=_digest(stored, epsilon=whole.epsilon, delta=whole.delta, confidence=sure),
        epsilon=whole.epsilon,
        delta=whole.delta,
        confidence=sure,
        privacy=whole.privacy,
        split=parts,
        sql=_sql(table, whole),
        notes=(
            *notes_of(plan, from_text=read_from_text(table, plan)),
            *starved(parts),
            *in_rows(plan, shares),
            *taken_on_trust(table, plan),
        ),
    )
    return Priced(whole, asked, shares)


def released(table: Table, question: Priced, *, remark: str | None = None) -> Release:
    """The answer; an earlier one where the same question was answered before."""
    found = repeat_of(table, question, remark=remark)  # no data is read, so it waits for nobody
    return fresh(table, question, remark=remark) if found is None else found


def fresh(
    table: Table,
    question: Priced,
    *,
    remark: str | None = None,
    wait_seconds: float = WAIT_SECONDS,
) -> Release:
    """As `released`, where there was no earlier answer a moment ago.

    UnderWay where somebody else, in any process, is at work on the same for longer than this.
    """
    bill = _bill(question)
    (release,) = _answered(table, bill, [question], remark=remark, wait_seconds=wait_seconds)
    return release


def repeat_of(table: Table, question: Priced, *, remark: str | None = None) -> Release | None:
    """An earlier answer to the same question, where there is one: no data is read."""
    tables, bill = [table, *partners_of(table, [question.whole.plan])], _bill(question)
    stored = _repeated(tables, bill)
    if stored is None:
        return None
    (release,) = _told(tables, bill, stored, remark=remark, repeated=True)
    return release


def _bill(question: Priced) -> Bill:
    asked = question.asked
    words = f"The answer costs ({_price(question)})"
    return Bill(asked.privacy, asked.plan, asked.digest, asked.delta or None, words)


def released_together(table: Table, questions: Sequence[Priced]) -> list[Release]:
    """The answers to several questions, as one charge for what they reveal together."""
    plans: Json = {"kind": "batch", "questions": [one.asked.plan for one in questions]}
    digest = digest_of({"batch": [one.asked.digest for one in questions]}, name="The batch")
    tables = [table, *partners_of(table, [one.whole.plan for one in questions])]
    with locked(tables):
        # What is charged must fit all of them: the one with the least delta decides its form.
        states = [one.data_set().state for one in tables]
        state = min(states, key=lambda one: one.budget.delta)
        curve = cheapest([one.asked.privacy for one in questions], state)
        cost = price(curve)
        words = f"The {len(questions)} answers together cost ({cost})"
        bill = Bill(curve, plans, digest, None, words)
        remark = f"Charged as one of {len(questions)} answers that cost ({cost}) together."
        return _answered(table, bill, questions, remark=remark if len(questions) > 1 else None)


def _answered(
    table: Table,
    bill: Bill,
    questions: Sequence[Priced],
    *,
    remark: str | None,
    wait_seconds: float = WAIT_SECONDS,
) -> list[Release]:
    tables = [table, *partners_of(table, [one.whole.plan for one in questions])]
    with alone_with(tables, bill.digest, wait_seconds=wait_seconds), locked(tables):
        before = _repeated(tables, bill)  # by somebody who asked at the same moment
        stored = before or _settled(tables, bill, questions)
        return _told(tables, bill, stored, remark=remark, repeated=before is not None)


def _told(
    tables: Sequence[Table], bill: Bill, stored: Json, *, remark: str | None, repeated: bool
) -> list[Release]:
    table, *beside = tables
    receipt, standing_now = table.ledger.told(table.name, stored)
    standing = Standing(
        left=table.left(bill.privacy, delta=bill.delta, beside=beside, now=standing_now),
        remark=remark,
        repeated=repeated,
        receipt=receipt,
    )
    return releases_from(stored, standing)


def _repeated(tables: Sequence[Table], bill: Bill) -> Json | None:
    """The first earlier answer that was charged to all of the data sets as they are now.

    Processes that asked at once may have been charged in another order by another ledger.
    """
    if len(tables) == 1:
        return paid_for(tables[0], bill)
    found, *others = [_repeats(one, bill.digest) for one in tables]
    answer = next((one for one in found if all(one in each for each in others)), None)
    if answer is None:
        return None
    shown = [paid_for(one, bill, answer=answer) for one in tables]
    return None if None in shown else answer  # a version may have been raised meanwhile


def paid_for(table: Table, bill: Bill, *, answer: Json | None = None) -> Json | None:
    """An earlier answer; refused in the same words whether or not another has asked before."""
    try:
        return shared(table, bill.digest, answer=answer)
    except BudgetExceeded as refused:
        raise _level_exceeded(refused, bill) from None


def shared(table: Table, digest: str, *, answer: Json | None = None) -> Json | None:
    """An earlier answer for whoever asks; where the budget is rationed, their levels pay for it."""
    asker = table.asker
    return table.ledger.share(
        table.name, digest, analyst=asker.analyst, purpose=asker.purpose, answer=answer
    )


def _repeats(table: Table, digest: str) -> list[Json]:
    asker = table.asker
    return table.ledger.repeats_of(table.name, digest, analyst=asker.analyst, purpose=asker.purpose)


def _all_charged(tables: Sequence[Table], bill: Bill) -> list[Reservation]:
    """A charge to each data set: all, or none.

    A data set that refuses comes first, so nothing else is charged then. If one has been spent
    from elsewhere since it was looked at, what the others were charged stays spent. If the ledger
    of one is away, it is gone on with.

    All belong to one run. The first table's charge is the first that is settled, so while it is
    not, nothing of the run was told, and all of it can be gone on with.
    """
    paid: dict[str, Reservation] = {}
    alone = len(tables) == 1
    run = ONE_TABLE if alone else _begun(tables[0], bill) or token_hex(16)
    for one in tables if alone else sorted(tables, key=lambda one: _fits(one, bill)):
        try:
            paid[one.name] = charged(one, bill, run=run)
        except LetaloneError as error:
            away = isinstance(error, (LedgerUnavailable, ServiceUnavailable))
            if not (away and tables[0].name in paid):  # else it is gone on with: nothing was drawn
                _abandon([(each, paid[each.name]) for each in tables if each.name in paid], error)
            raise
    return [paid[one.name] for one in tables]


def _begun(table: Table, bill: Bill) -> str | None:
    """The run that was charged to this table for the same question, and never settled."""
    return table.ledger.begun(
        table.name,
        bill.privacy.labelled(table.schema.protects),
        plan=bill.plan,
        digest=bill.digest,
        delta=bill.delta,
        analyst=table.asker.analyst,
        purpose=table.asker.purpose,
    )


def _fits(table: Table, bill: Bill) -> bool:
    curve = bill.privacy.labelled(table.schema.protects)
    asker = table.asker
    return table.ledger.fits(
        table.name, curve, delta=bill.delta, analyst=asker.analyst, purpose=asker.purpose
    )


def _abandon(paid: Sequence[tuple[Table, Reservation]], error: LetaloneError) -> None:
    for one, reservation in paid:
        with suppress(LetaloneError):
            one.ledger.abandon(reservation)
        error.add_note(
            f"{one.name!r} was charged a moment before. Its data was not touched, and there is no"
            " answer, but what was charged stays spent."
        )


def charged(table: Table, bill: Bill, *, run: str = ONE_TABLE) -> Reservation:
    """Pays before data is touched; where it does not fit, what is left and what to change.

    What was paid in the same run, and led to no answer, is gone on with.
    """
    curve = bill.privacy.labelled(table.schema.protects)
    try:
        return table.ledger.charge(
            table.name,
            curve,
            plan=bill.plan,
            digest=bill.digest,
            delta=bill.delta,
            analyst=table.asker.analyst,
            purpose=table.asker.purpose,
            run=run,
        )
    except BudgetExceeded as refused:
        if refused.level is not None:
            raise _level_exceeded(refused, bill) from None
        asked = refused.asked  # the ledger has written it down; said below for this question
    found = table.data_set()
    leak = bill.privacy.certain_leak()
    own = (
        " It has a δ of its own, and only a share of the budget's δ is set aside for such answers:"
        " ask with a smaller delta, or list the keys."
        if leak != 0
        else ""
    )
    left = brief(found.remaining, up=False)
    raise BudgetExceeded(
        f"{bill.words} and does not fit into the budget of {table.name!r}, ({found.budget}):"
        f" ({brief(found.spent)}) is spent, so about ({left}) is left. Nothing was charged; the"
        f" refusal is written down.{own} Ask with a smaller epsilon, or ask less.",
        spent=found.spent,
        asked=asked,
        left=found.remaining,
    )


def _level_exceeded(refused: BudgetExceeded, bill: Bill) -> BudgetExceeded:
    used, left = refused.spent or Budget(0), refused.left or Budget(0)
    return BudgetExceeded(
        f"{bill.words} and does not fit into what is left for {refused.level}: ({brief(used)}) is"
        f" used, so about ({brief(left, up=False)}) is left. Nothing was charged; the refusal is"
        " written down. Ask with a smaller epsilon, ask less, or ask the owner for more.",
        spent=refused.spent,
        asked=refused.asked,
        left=refused.left,
        level=refused.level,
    )


def _settled(tables: Sequence[Table], bill: Bill, questions: Sequence[Priced]) -> Json:
    """The answers, charged before data is touched, as they were written down at their step."""
    reach(tables, paid=False)
    began, paid = now(), _all_charged(tables, bill)
    try:
        found = at_step(tables[0].asker, began, lambda: _all_measured(tables, questions))
    except RightRevoked:
        for one, reservation in zip(tables, paid, strict=True):
            one.ledger.abandon(reservation)
        raise
    except KeyboardInterrupt as stopped:
        stopped.add_note(STOPPED)
        raise
    if isinstance(found, str):
        for one, reservation in zip(tables, paid, strict=True):
            one.ledger.fail(reservation, found)
        raise frozen([one.name for one in tables], found)
    stored = found[0].to_json() if len(found) == 1 else batch_to_json(found)
    return written_down(tables, paid, stored)


def reach(tables: Sequence[Table], *, paid: bool) -> None:
    """Goes on only where servers of rows answer, and files are those that were opened; no row was
    looked at until here.

    Before the charge, so that nothing is paid in vain, and once more behind it. What was paid by
    then is not settled: nothing of it was told, and who asks the same again goes on with it.
    """
    for table in tables:
        try:
            table.engine.reach()
        except SourceAway:
            told = source_away(table.name, paid=paid)  # the engine's words could name a server
        except FileChanged:
            told = file_changed(table.name, paid=paid)
        else:
            continue
        raise told  # outside of the block, so that nothing of the engine's error goes with it


def source_away(name: str, *, paid: bool = False) -> SourceAway:
    """What is told where rows cannot be read, for reasons that no row can have."""
    cost = "Ask the same again: it goes on with what was paid" if paid else "Nothing was charged"
    return SourceAway(
        f"The rows of {name!r} cannot be read now, so there is no answer: their server does not"
        f" answer, or their table is locked, or it is not what it was. {cost}. Try again in a"
        " moment; if it stays so, its owner has to look."
    )


def file_changed(name: str, *, paid: bool = False) -> SourceUnreadable:
    """What is told where a file is not what it was when it was opened."""
    cost = "What was charged stays spent" if paid else "Nothing was charged"
    sentence = (
        f"The file of {name!r} was changed, replaced or removed since it was opened, so there is no"
        f" answer. {cost}."
    )
    return SourceUnreadable(problem(Code.DATA_UNREADABLE, RaiseVersion(name), sentence=sentence))


def frozen(names: Sequence[str], why: str) -> DataSetFrozen:
    """The one fact that is told when an engine could not finish, or a file was changed then."""
    which = f"set {names[0]!r} is" if len(names) == 1 else f"sets {' and '.join(names)} are"
    return DataSetFrozen(
        f"The data {which} frozen: {TOLD.get(why, why)}. There is no answer, and what was charged"
        " stays spent.",
        remedy=how_to_thaw(names[0]),
    )


def _all_measured(tables: Sequence[Table], questions: Sequence[Priced]) -> list[Release] | str:
    """The answers, or the one fact that is written down if anything went wrong, whatever it was.

    The error is dropped here and not raised from: its words, its cause and its context could
    hold a private value.
    """
    reach(tables, paid=True)
    try:
        return [_release(one, _measured(tables[0], one.whole)) for one in questions]
    except RightRevoked:
        raise  # it depends on no data
    except FileChanged:
        return FILE_CHANGED
    except Exception:
        return ENGINE_FAILED


def _measured(table: Table, whole: Compiled) -> Columns:
    engine = table.engine
    engine.prepare(whole.scope, progress=table.tell)
    with engine.borrowing(lent(table, whole.plan)):
        if whole.discovery is not None:
            whole = whole.with_keys(engine.discover(whole.scope), table.bits)
        return whole.finish(engine.measure(whole.scope, whole.measures), table.bits)


def _release(question: Priced, columns: Columns) -> Release:
    keys, outputs = filled(question.whole.plan, columns)
    return Release(question.asked, keys, outputs)


def _digest(plan: Json, **price: object) -> str:
    """The name of a question at its price: all that decides the law of its answer."""
    decides: Json = {"plan": plan, **{name: str(value) for name, value in price.items()}}
    return digest_of(decides, name="The question")


def digest_at(asked: Asked, version: int) -> str:
    """What the same question at the same price is called about another version of the data."""
    schema = {**cast("Json", asked.plan["schema"]), "version": version}
    plan: Json = {**asked.plan, "schema": schema}
    return _digest(plan, epsilon=asked.epsilon, delta=asked.delta, confidence=asked.confidence)


def _price(question: Priced) -> str:
    asked = question.asked
    return str(Budget(asked.epsilon, asked.delta))


def _sql(table: Table, whole: Compiled) -> str:
    """What the engine will run; keys stand in a table of their own, so any will do here."""
    if whole.discovery is None:
        return table.engine.sql(whole.scope, whole.measures)
    scope = replace(whole.scope, keys=())
    which = table.engine.sql(scope, (Units(),))
    return f"{which};\n\n{table.engine.sql(scope, whole.measures)}"
