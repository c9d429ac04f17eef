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

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from letalone.answers.promise import price
from letalone.answers.release import Asked, SplitPart, Standing
from letalone.engines.failure import FileChanged, RightRevoked, SourceAway, SourceUnreadable
from letalone.engines.measures import Units
from letalone.exact.typed import CONFIDENCE, Number
from letalone.ledger import digest_of
from letalone.ledger.acts import ENGINE_FAILED, FILE_CHANGED
from letalone.ledger.charging import Charge, Settled, Work, charged_work, find_repeat
from letalone.ledger.claims import WAIT_SECONDS
from letalone.plans.query import Plan
from letalone.privacy import Budget
from letalone.privacy.curve import Json
from letalone.session.notes import in_rows, notes_of, question_of, starved
from letalone.session.outputs import filled, slots_of
from letalone.session.partners import lent, locked, partners_of, read_from_text, taken_on_trust
from letalone.session.release import Release, batch_to_json, releases_from
from letalone.session.table import Table
from letalone.session.time_steps import at_step
from letalone.session.together import cheapest
from letalone.tables.columns import Columns
from letalone.tables.compiled import Compiled, Share, compiled

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Priced:
    """A question with all that is decided about it before data is touched."""

    whole: Compiled
    asked: Asked
    shares: tuple[Share, ...]


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


class TableWork(Work):
    """Work on rows of open tables: under their locks, at the time step of who asks."""

    harmless = (RightRevoked,)

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tables

    def hold(self) -> AbstractContextManager[None]:
        return locked(self.tables)

    def reach(self, *, paid: bool) -> None:
        reach(self.tables, paid=paid)

    def at_step(self, began: float, run: Callable[[], Result]) -> Result:
        return at_step(self.tables[0].asker, began, run)

    def reason(self, error: Exception) -> str:
        return FILE_CHANGED if isinstance(error, FileChanged) else ENGINE_FAILED


class Answering(TableWork):
    """Measures and adds noise, for one question or a batch."""

    def __init__(self, tables: Sequence[Table], questions: Sequence[Priced]) -> None:
        super().__init__(tables)
        self.questions = questions

    def make(self) -> Json:
        table = self.tables[0]
        releases = [_release(one, _measured(table, one.whole)) for one in self.questions]
        return releases[0].to_json() if len(releases) == 1 else batch_to_json(releases)


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
    charge = _charge(question)
    (release,) = _answers(table, charge, [question], remark=remark, wait_seconds=wait_seconds)
    return release


def repeat_of(table: Table, question: Priced, *, remark: str | None = None) -> Release | None:
    """An earlier answer to the same question, where there is one: no data is read."""
    tables, charge = [table, *partners_of(table, [question.whole.plan])], _charge(question)
    settled = find_repeat([one.payer for one in tables], charge)
    if settled is None:
        return None
    (release,) = _tell(settled, remark=remark)
    return release


def _charge(question: Priced) -> Charge:
    asked = question.asked
    what = f"The answer costs ({Budget(asked.epsilon, asked.delta)})"
    return Charge(what, asked.privacy, asked.plan, asked.digest, asked.delta or None)


def released_together(table: Table, questions: Sequence[Priced]) -> list[Release]:
    """The answers to several questions, as one charge for what they reveal together."""
    plans: Json = {"kind": "batch", "questions": [one.asked.plan for one in questions]}
    digest = digest_of({"batch": [one.asked.digest for one in questions]}, name="The batch")
    tables = [table, *partners_of(table, [one.whole.plan for one in questions])]
    # What is charged must fit all of them: the one with the least delta decides its form.
    state = min((one.data_set().state for one in tables), key=lambda state: state.budget.delta)
    curve = cheapest([one.asked.privacy for one in questions], state)
    cost = price(curve)
    what = f"The {len(questions)} answers together cost ({cost})"
    charge = Charge(what, curve, plans, digest, None)
    remark = f"Charged as one of {len(questions)} answers that cost ({cost}) together."
    return _answers(table, charge, questions, remark=remark if len(questions) > 1 else None)


def _answers(
    table: Table,
    charge: Charge,
    questions: Sequence[Priced],
    *,
    remark: str | None,
    wait_seconds: float = WAIT_SECONDS,
) -> list[Release]:
    tables = [table, *partners_of(table, [one.whole.plan for one in questions])]
    payers, work = [one.payer for one in tables], Answering(tables, questions)
    settled = charged_work(payers, charge, work, wait_seconds=wait_seconds)
    return _tell(settled, remark=remark)


def _tell(settled: Settled, *, remark: str | None) -> list[Release]:
    standing = Standing(
        left=settled.remaining,
        remark=remark,
        repeated=settled.repeated,
        receipt=settled.receipt,
    )
    return releases_from(settled.stored, standing)


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
    return SourceUnreadable(
        f"The file of {name!r} was changed, replaced or removed since it was opened, so there is no"
        f" answer. {cost}. Its owner has to say that the data have changed:"
        f" ledger.raise_version({name!r}), then la.open(…) again."
    )


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


def _sql(table: Table, whole: Compiled) -> str:
    """What the engine will run; keys stand in a table of their own, so any will do here."""
    if whole.discovery is None:
        return table.engine.sql(whole.scope, whole.measures)
    scope = replace(whole.scope, keys=())
    which = table.engine.sql(scope, (Units(),))
    return f"{which};\n\n{table.engine.sql(scope, whole.measures)}"
