"""Prices questions, and answers them: `Query.price(…)` gives a `Priced`, whose `release()` pays.

A question is planned and compiled once, when it is priced. Everything that can be refused is
refused then, before anything is charged. `release` charges before data is touched, measures, draws
noise, and writes the answer down before it is shown (`ledger.charging`).

Theorem.  All that an analyst sees (prices, previews, refusals, notes, SQL) but the answers
themselves is a function of questions, declarations and earlier answers.
  Proven:   nothing before `_draw` has the engine's numbers, and nothing after it but
            `finish` reads them
  Tested:   tests/session/test_no_data.py: an empty table looks the same; test_secrets.py
  Assumed:  an observer does not see how long it took (`time_steps`, for services)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from letalone.answers.arranged import arrange_release
from letalone.answers.preview import Preview
from letalone.answers.release import SplitPart, Standing, Terms, explain_question
from letalone.errors import BudgetExceeded
from letalone.errors.problem import Spelled
from letalone.exact.typed import CONFIDENCE, Number
from letalone.ledger import charging, digest_of
from letalone.ledger.claims import WAIT_SECONDS
from letalone.plans.plan import Plan
from letalone.privacy import Budget
from letalone.privacy.curve import Json
from letalone.privacy.filters import charge_filter, open_filter
from letalone.session.backend import PricedQuestion, check_asked, no_budget
from letalone.session.joins.private_joins import (
    lend_columns,
    partners_of,
    read_from_text,
    taken_on_trust,
)
from letalone.session.notes import find_starved, in_rows, notes_of
from letalone.session.outputs import fill_slots, slots_of
from letalone.session.preview import preview_of
from letalone.session.release import Release, batch_to_json, releases_from
from letalone.session.table_work import TableWork
from letalone.tables.columns import NoisyAnswer
from letalone.tables.compiled import Compiled, compile_plan

if TYPE_CHECKING:
    from letalone.session.open_table import OpenTable

MANY_KEYS = 10_000  # stand for keys that are to be found, in a statement that is shown


@dataclass(frozen=True, slots=True)
class Priced(PricedQuestion):
    """A question with all that is decided about it before data is touched: compiled once.

    Nothing is spent until `release`. `terms` are what stands on its answer.
    """

    table: "OpenTable"
    terms: Terms
    compiled: Compiled

    is_here = True

    def here(self) -> "Priced":
        return self

    @property
    def plan(self) -> Plan:
        return self.compiled.plan

    @property
    def tables(self) -> "list[OpenTable]":
        """The tables that pay: the question's own, then its partners."""
        return [self.table, *partners_of(self.table, [self.plan])]

    @property
    def charge(self) -> charging.Charge:
        """What `release` charges to each of the tables."""
        terms = self.terms
        what = f"The answer costs ({Budget(terms.epsilon, terms.delta)})"
        return charging.Charge(what, terms.privacy, terms.plan, terms.digest, terms.delta or None)

    @property
    def remaining(self) -> charging.RemainingBudget | None:
        """What is left now; None where no ledger knows the data set yet."""
        if not self.table.is_known:
            return None
        payers = [table.payer for table in self.tables]
        return charging.remaining_for(payers, self.terms.privacy, delta=self.terms.delta)

    @property
    def fits(self) -> bool:
        """Whether all tables would accept the charge as they stand; nothing is written down."""
        return all(table.payer.fits(self.charge) for table in self.tables)

    def fits_into(self, budget: Budget) -> bool:
        """Whether a new budget, of which nothing is spent, would allow it."""
        try:
            charge_filter(open_filter(budget), self.terms.privacy, delta=self.terms.delta or None)
        except BudgetExceeded:
            return False
        return True

    def how_many_more(self) -> int | float:
        """About how many more such questions fit, if nothing else is asked."""
        remaining = self.remaining
        if remaining is None:
            raise no_budget(self.table.name)
        return min(budget.how_many_more for budget in (remaining, *remaining.beside))

    def preview(self, rows: int | None = None) -> Preview:
        """The price, its split and the errors to expect; `rows` as in `Query.preview`."""
        return preview_of(self.compiled, self.terms, self.remaining, rows=rows)

    def explain(self, *, sql: bool = False) -> str:
        """The question, its price and its split in words, and the SQL."""
        remaining = self.remaining
        return explain_question(self.terms, [] if remaining is None else [str(remaining)], sql=sql)

    def release(self) -> Release:
        """The answer, charged before data is touched; the same question again is free."""
        check_asked(only_explained=self.only_explained)
        self.table.check_registered()
        earlier = self.find_repeat()  # no data is read, so it waits for nobody
        return arrange_release(self.answer() if earlier is None else earlier, self.arrangement)

    def find_repeat(self) -> Release | None:
        """The whole of an earlier answer to the same question, where there is one."""
        settled = charging.find_repeat([table.payer for table in self.tables], self.charge)
        return None if settled is None else self._read(settled)

    def answer(self, *, wait_seconds: float = WAIT_SECONDS) -> Release:
        """As `release`, not arranged, where there was no earlier answer a moment ago.

        UnderWay where somebody else, in any process, is at work on the same for longer than this.
        """
        check_asked(only_explained=self.only_explained)
        self.table.check_registered()
        payers, work = [table.payer for table in self.tables], Answering([self])
        settled = charging.charged_work(payers, self.charge, work, wait_seconds=wait_seconds)
        return self._read(settled)

    def _read(self, settled: charging.Settled) -> Release:
        return read_releases(settled, remark=self.remark, row_limit=self.row_note)[0]


class Answering(TableWork):
    """Measures and adds noise, for one question or a batch about one table."""

    def __init__(self, questions: Sequence[Priced]) -> None:
        table = questions[0].table
        super().__init__([table, *partners_of(table, [question.plan for question in questions])])
        self.questions = questions

    def make(self) -> Json:
        releases = [_measure(question) for question in self.questions]
        return releases[0].to_json() if len(releases) == 1 else batch_to_json(releases)


def price_plan(
    table: "OpenTable", plan: Plan, *, epsilon: Number, delta: Number = 0, confidence: Number = 0.95
) -> Priced:
    """The question at a price; no data is touched, and nothing is spent."""
    table.check_open()
    partners_of(table, [plan])
    slots_of(plan)
    compilation = compile_plan(plan, epsilon=epsilon, delta=delta, confidence=confidence)
    sure, stored = CONFIDENCE.typed("confidence", confidence), plan.to_json()
    parts = tuple(SplitPart(p.name, p.share, p.words, p.groups) for p in compilation.parts)
    terms = Terms(
        data_set=table.name,
        version=table.version,
        question=plan.in_words(),
        plan=stored,
        digest=_digest(
            stored, epsilon=compilation.epsilon, delta=compilation.delta, confidence=sure
        ),
        epsilon=compilation.epsilon,
        delta=compilation.delta,
        confidence=sure,
        privacy=compilation.privacy,
        split=parts,
        sql=_sql(table, compilation),
        notes=(
            *notes_of(plan, from_text=read_from_text(table, plan)),
            *(note.stored for note in find_starved(parts)),
            *in_rows(plan, compilation.parts),
            *taken_on_trust(table, plan),
        ),
    )
    return Priced(table, terms, compilation)


def read_releases(
    settled: charging.Settled, *, remark: str | None, row_limit: Spelled | None = None
) -> list[Release]:
    """The answers that were settled together, and how all stood when they were told."""
    standing = Standing(
        left=settled.remaining,
        remark=remark,
        row_limit=row_limit,
        repeated=settled.repeated,
        receipt=settled.receipt,
    )
    return releases_from(settled.stored, standing)


def _measure(question: Priced) -> Release:
    keys, outputs = fill_slots(question.plan, _draw(question.table, question.compiled))
    return Release(question.terms, keys, outputs)


def _draw(table: "OpenTable", compilation: Compiled) -> NoisyAnswer:
    engine = table.engine
    engine.expect(compilation.scope, compilation.measures)
    engine.prepare(compilation.scope, progress=table.tell)
    with engine.borrowing(lend_columns(table, compilation.plan)):
        if compilation.discovery is not None:
            compilation = compilation.with_keys(engine.discover(compilation.scope), table.bits)
        return compilation.finish(
            engine.measure(compilation.scope, compilation.measures), table.bits
        )


def _digest(plan: Json, **price: object) -> str:
    """The name of a question at its price: all that decides the law of its answer."""
    decides: Json = {"plan": plan, **{name: str(value) for name, value in price.items()}}
    return digest_of(decides, name="The question")


def digest_at(terms: Terms, version: int) -> str:
    """What the same question at the same price is called about another version of the data."""
    schema = {**cast("Json", terms.plan["schema"]), "version": version}
    plan: Json = {**terms.plan, "schema": schema}
    return _digest(plan, epsilon=terms.epsilon, delta=terms.delta, confidence=terms.confidence)


def _sql(table: "OpenTable", whole: Compiled) -> str:
    """What the engine will run; keys stand in a table of their own, so any will do here, if they
    are many."""
    if whole.discovery is None:
        return table.engine.sql(whole.scope, whole.measures)
    found = replace(whole.scope, keys=(("found",) * len(whole.scope.groups),) * MANY_KEYS)
    which = table.engine.discovery_sql(whole.scope)
    return f"{which};\n\n{table.engine.sql(found, whole.measures)}"
