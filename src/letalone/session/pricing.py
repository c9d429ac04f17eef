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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from letalone.answers.arranged import arrange_release
from letalone.answers.preview import Preview
from letalone.answers.release import SplitPart, Standing, Terms, explain_question
from letalone.answers.renaming import nameless, rename_release
from letalone.engines.core.provenance import IN_MEMORY, vouched_for
from letalone.errors import BudgetExceeded
from letalone.errors.problem import Problem, Spelled
from letalone.exact.typed import CONFIDENCE, Number
from letalone.ledger import EntryKind, charging, digest_of
from letalone.ledger.claims import WAIT_SECONDS
from letalone.ledger.exceeding import Repricing
from letalone.plans.plan import Plan
from letalone.privacy import Budget, Privacy
from letalone.privacy.curve import Json
from letalone.privacy.filters import charge_filter, open_filter
from letalone.privacy.guard_rails import check_confirmed, find_risk
from letalone.session.backend import PricedQuestion, check_asked, no_budget
from letalone.session.joins.private_joins import (
    columns_in_utc,
    lend_columns,
    partners_of,
    read_from_text,
    taken_on_trust,
)
from letalone.session.notes import in_utc, notes_of, warnings_about_noise, warnings_of
from letalone.session.outputs import fill_slots, slots_of
from letalone.session.preview import exact_columns, find_high_threshold, preview_of
from letalone.session.release import Release, batch_to_json, releases_from
from letalone.session.steps.row_limit import ROWS_SHARE
from letalone.session.table_work import TableWork
from letalone.session.time_steps import NOBODY
from letalone.tables.columns import NoisyAnswer
from letalone.tables.compiled import Compiled, compile_plan

if TYPE_CHECKING:
    from letalone.session.open_table import OpenTable

LOOKED_AT = 20  # of the last charges, for one that differs by the schema alone
SCHEMA_CHANGED = "Charged again: the schema changed since this question was answered."
MANY_KEYS = 10_000  # stand for keys that are to be found, in a statement that is shown


@dataclass(frozen=True, slots=True)
class Priced(PricedQuestion):
    """A question with all that is decided about it before data is touched: compiled once.

    Nothing is spent until `release`. `terms` are what stands on its answer. `named_digest` is what
    the question was called while its columns' names were a part of it; who asks through a service
    has it so still.
    """

    table: "OpenTable"
    terms: Terms
    compiled: Compiled
    named_digest: str

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
        price, alone = Budget(terms.epsilon, terms.delta), len(self.tables) == 1
        return charging.Charge(
            f"The answer costs ({price})",
            terms.privacy,
            terms.plan,
            terms.digest,
            terms.delta or None,
            reprice=Repricing(price, self._curve_at) if alone else None,
        )

    def _curve_at(self, price: Budget) -> Privacy:
        """What the same would reveal at another price."""
        sure = self.terms.confidence
        return compile_plan(
            self.plan, epsilon=price.epsilon, delta=price.delta, confidence=sure
        ).privacy

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

    @property
    def risk(self) -> Problem | None:
        """Why the price needs a second word; None where it does not."""
        exact, unit = partial(exact_columns, self.compiled), self.table.schema.unit or "row"
        risk = find_risk(self.terms.epsilon, exact=exact, remark=self.remark)
        return risk or find_high_threshold(self.compiled, unit=unit)

    def check_confirmed(self) -> None:
        """Refuses a price that needs a second word; what does not fit is refused for that."""
        risk = None if self.confirmed else self.risk
        if risk is not None and self.fits:
            check_confirmed(risk, confirm=False)

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
        release = self.find_repeat()  # no data is read, so it waits for nobody
        if release is None:
            release = replace(self, remark=self._remark_on_charge()).answer()
        return arrange_release(release, self.arrangement)

    def _remark_on_charge(self) -> str | None:
        """The remark, and that the same was charged before while the schema said something else.

        From the last charges, which whoever holds the ledger may read.
        """
        table = self.table
        if table.asker is not NOBODY or not table.is_known:
            return self.remark
        charges = table.ledger.newest(table.name, limit=LOOKED_AT, kind=EntryKind.RESERVED)
        if not any(self._differs_by_schema(entry.body) for entry in charges):
            return self.remark
        return SCHEMA_CHANGED if self.remark is None else f"{self.remark} {SCHEMA_CHANGED}"

    def _differs_by_schema(self, charge: Json) -> bool:
        mine, other = self.terms.plan, cast("Json", charge["plan"])
        same = {name: part for name, part in mine.items() if name != "schema"}
        return (
            charge["version"] == self.table.version
            and {name: part for name, part in other.items() if name != "schema"} == same
            and other.get("schema") != mine["schema"]
            and charge["privacy"] in self._same_prices()
            and self.table.ledger.repeat_of(self.table.name, cast("str", charge["digest"]))
            is not None  # a charge whose work failed answered nothing
        )

    def _same_prices(self) -> list[Json]:
        """What the same ε reveals, also where a row limit was found with a part of it."""
        rest = Budget(self.terms.epsilon * (1 - ROWS_SHARE), self.terms.delta)
        return [self.terms.privacy.to_json(), self._curve_at(rest).to_json()]

    def find_repeat(self) -> Release | None:
        """The whole of an earlier answer to the same question, where there is one."""
        payers = [table.payer for table in self.tables]
        for charge in self.charges:
            settled = charging.find_repeat(payers, charge)
            if settled is not None:
                return self._read(settled)
        return None

    @property
    def charges(self) -> tuple[charging.Charge, ...]:
        """The charge, and how it was called before: an older ledger has it under that name."""
        charge = self.charge
        if self.named_digest == charge.digest:
            return (charge,)
        return charge, replace(charge, digest=self.named_digest)

    def answer(self, *, wait_seconds: float = WAIT_SECONDS) -> Release:
        """As `release`, not arranged, where there was no earlier answer a moment ago.

        UnderWay where somebody else, in any process, is at work on the same for longer than this.
        """
        check_asked(only_explained=self.only_explained)
        self.table.check_registered()
        self.check_confirmed()
        payers, work = [table.payer for table in self.tables], Answering([self])
        settled = charging.charged_work(payers, self.charge, work, wait_seconds=wait_seconds)
        return self._read(settled)

    def _read(self, settled: charging.Settled) -> Release:
        (release,) = read_releases(settled, remark=self.remark, row_limit=self.row_note)
        named = self.with_names(release)
        warnings = (*self.warnings, *self._none_found(release))
        return replace(named, standing=replace(named.standing, warnings=warnings))

    def with_names(self, release: Release) -> Release:
        """The answer with the names of this question, where it was asked under others."""
        columns = [(slot.name, slot.aggregate) for slot in slots_of(self.plan)]
        groups = [group.name for group in self.plan.groups]
        return rename_release(release, self.terms, groups=groups, columns=columns)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes that a reader of the answer must not miss."""
        trusted = taken_on_trust(self.table, self.plan)
        # Every frame in memory has this one; it is among the notes, and not a warning.
        beyond = (words for words in trusted if words != vouched_for(IN_MEMORY))
        zoned = _in_utc(self.table, self.plan)
        return (*warnings_of(self.plan, self.compiled.parts, self.terms.split), *zoned, *beyond)

    def _none_found(self, release: Release) -> tuple[str, ...]:
        """Why no group is listed: how many units one needs is public."""
        finding = self.compiled.discovery
        if finding is None or any(column.values for column in release.keys):
            return ()
        return (
            f"no group was found: one needs about {finding.threshold:,} {release.unit}, after"
            " noise; a larger ε helps, a smaller max_rows or max_groups, or keys=…",
        )


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
    price = {"epsilon": compilation.epsilon, "delta": compilation.delta, "confidence": sure}
    named = _digest(stored, **price)
    terms = Terms(
        data_set=table.name,
        version=table.version,
        question=plan.in_words(),
        plan=stored,
        digest=_digest(nameless(stored), **price) if table.asker is NOBODY else named,
        epsilon=compilation.epsilon,
        delta=compilation.delta,
        confidence=sure,
        privacy=compilation.privacy,
        split=parts,
        sql=_sql(table, compilation),
        notes=(
            *notes_of(plan, from_text=read_from_text(table, plan)),
            *warnings_about_noise(plan, compilation.parts, parts),
            *_in_utc(table, plan),
            *taken_on_trust(table, plan),
        ),
    )
    return Priced(table, terms, compilation, named)


def _in_utc(table: "OpenTable", plan: Plan) -> Iterator[str]:
    """What is said of times with a time zone: of a pandas frame whether it has some is not told."""
    is_loose = table.engine.has_loose_times
    return in_utc(plan, columns_in_utc(table, plan), is_loose=is_loose)


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
    """What a question at its price is called: all that decides the law of its answer."""
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
    scope = replace(whole.scope, keys=(("found",) * len(whole.scope.groups),) * MANY_KEYS)
    which = table.engine.discovery_sql(whole.scope)
    return f"{which};\n\n{table.engine.sql(scope, whole.measures)}"
