"""Finds privately how many rows a person has: for `max_rows="auto"`, and for counts and sums that
name no limit (`takes_limit`).

A person with n rows counts as min(n, k): each of their rows weighs min(1, k/n). If k is too small,
counts and sums are too low; the noise grows with k. A tenth of ε finds k. It pays for one ordinary
question, how many people there are by the level of their rows: 1, 2 to 3, 4 to 10, 11 to 30, and
so on, above 300,000 the last (`LEVELS`). A person is in one level, so one person moves it by 1 (by
2 under replace). It is asked of the whole table, without the filter of the question.

The rule.  A level has people if its number is certainly above 0 (an interval of 1 − 0.1/13), and
the one below it has people, too; without one below, what it must exceed grows with its rows. The
limit of a total is one level above the highest that has people, or twice that level where the
noisy number of the next is 0 or less; in groups, and beside means, it is that level itself. It is
at least ten rows.
  Why the one below: an empty level that is taken for one with people costs three times the noise
  if it comes next, and up to 100,000 times if it is any. What a level of ℓ > 10 rows must exceed
  by itself, noise alone exceeds with probability 0.004 · (10/ℓ)²: it adds little to the mean
  square.
  Why one level more: a level is noticed from about 5/ε₁ people on (ε₁ = ε/10). Those whom it misses
  lie just above what it sees. Three times the limit is three times the noise; a limit that is too
  low by so many people is off by far more. In groups their rows are spread, and the noise is not;
  means hardly miss them.
  Why twice where 0 or less is seen: noise hides n people in a level so with probability
  e^(−nε₁)/2, and few of them are needed for the whole level to be worth its noise.
  Why at least ten: in a small table nothing but the first level may be noticed, and "auto" must not
  count less than a question without it.

Theorem.  The limit is a function of one release, so it costs what that release costs. A later
question that uses it is a plan like any other, and pays nothing for it.
  Proven:   post-processing: `limit_in` reads the stored release and nothing else
  Tested:   tests/session/test_row_limit.py: emptied tables, false positives, coverage of the
            unbounded count and sum
  Assumed:  nothing about the data for privacy. For coverage: fewer than a handful of people have
            more rows than the limit

Coverage of 95 % intervals of all rows, in tests: 0.9 or more for geometric rows from 2,000 people
on and for the demo's table, at ε = 0.5 to 2; for rows by Zipf's law (exponent 2, at most 300) from
about 10,000/ε people on. `bench/row_limits.py` prints these and the errors, beside ten rows.

Not promised: that nobody has more rows than the limit. No private answer can promise that. Take a
table with and without one person who has N rows: if an interval narrower than N held the true count
of both with 95 %, it would hold the larger with 95 % in one and at most 5 % in the other, which a
person can only do to it if e^ε ≥ 0.95 / 0.05, that is ε ≥ 2.9.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING, Literal, cast

from letalone.answers.arranged import AS_IT_IS
from letalone.answers.release import Standing
from letalone.errors import ParameterError
from letalone.errors.problem import Spelled
from letalone.exact.typed import as_typed
from letalone.plans.aggregates.features import PerUnit, UnitCount
from letalone.plans.aggregates.formulas import with_formula_parts
from letalone.plans.aggregates.of_columns import Count, CountPresent, CountValues, Histogram, Sum
from letalone.plans.aggregates.requests import count
from letalone.plans.clauses import Bounding
from letalone.plans.expressions import case, col
from letalone.plans.plan import USUAL_MAX_ROWS, Plan
from letalone.privacy.bounds import six
from letalone.privacy.curve import Json
from letalone.session.release import Release, releases_from

if TYPE_CHECKING:
    from letalone.ledger import Ledger
    from letalone.session.backend import PricedQuestion
    from letalone.session.open_table import OpenTable
    from letalone.session.pricing import Priced
    from letalone.session.query import Query
    from letalone.session.time_steps import Asker

AUTO: Literal["auto"] = "auto"
MaxRows = int | Literal["auto"]
ROWS_SHARE = Fraction(1, 10)  # of epsilon, where the row limit is found
LEVELS = (*(n * 10**power for power in range(6) for n in (1, 3)), 10**6)
SURE = 1 - Fraction(1, 10) / len(LEVELS)  # 5 % above, in all levels together
SURE_LOG = -log(1 - SURE)  # the margin in scales of the noise
ROWS, UP_TO, PEOPLE = "rows", "rows_up_to", "people"
RULE = 2  # how a limit of a total is read; before, it was always a level more
FOUND_ACT = "looked for a row limit"
REMEDIES = ('max_rows="auto"', "--max-rows auto", '"max_rows": "auto"')  # on each face
ONE_ROW = ("max_rows=1", "--max-rows 1", '"max_rows": 1')
COUNTED = Count | CountPresent | CountValues | Histogram | Sum
UNKNOWN_LIMIT = (
    'The row limit is not known yet: .release(epsilon=…) with max_rows="auto" finds it first, with'
    " a tenth of ε. Release one such question with an epsilon, or give a number: max_rows=10."
)
LATER_RULE = (
    "The row limit in this ledger was found by a later version of letalone, which reads it in"
    " another way. Use that version, or give a number: max_rows=10."
)


@dataclass(frozen=True, slots=True)
class RowLimit:
    """A row limit that was found privately, and the ε that was spent on it.

    `rows`: of a total; `in_groups`: of a question with groups or means.
    """

    rows: int
    epsilon: Fraction
    in_groups: int

    def rows_for(self, plan: Plan) -> int:
        """How many rows of a person count whole in a question."""
        parts = with_formula_parts(plan.aggregates)
        is_total = not plan.groups and all(isinstance(part, COUNTED) for _, part in parts)
        return self.rows if is_total else self.in_groups

    def at_most(self, rows: int) -> "RowLimit":
        """A lower limit."""
        return replace(self, rows=min(self.rows, rows), in_groups=min(self.in_groups, rows))


TEN_ROWS = RowLimit(USUAL_MAX_ROWS, Fraction(0), USUAL_MAX_ROWS)  # where none is found yet


@dataclass(frozen=True, slots=True)
class KeptLimit:
    """A row limit in the ledger. `is_paid`: whoever asks has paid for it, or nobody has to."""

    limit: RowLimit
    is_paid: bool


def read_max_rows(value: object) -> None:
    """Refuses a word other than "auto"; numbers are checked where the plan is made."""
    if isinstance(value, str) and value != AUTO:
        raise ParameterError(
            f"max_rows is {value!r}, but must be a whole number from 1 to 2^31, or"
            ' "auto", which finds a limit privately with a tenth of ε.'
        )


def limit_question(query: "Query") -> "Query":
    """How many people have how many rows, in the whole table."""
    before = PerUnit(((ROWS, UnitCount()),))
    branches = [(col(ROWS) <= level, level) for level in LEVELS[:-1]]
    level = case(*branches, otherwise=LEVELS[-1])
    everyone = type(query)(query.table, before=before)
    return everyone.group_by((UP_TO, level), keys=LEVELS).agg(**{PEOPLE: count()})


def price_limit(query: "Query", epsilon: Fraction) -> "PricedQuestion":
    """The search for a row limit at its price; the arrangement of the question is not for it."""
    priced = limit_question(query).price(epsilon, confidence=SURE)
    return replace(priced, arrangement=AS_IT_IS, only_explained=False)


def limit_in(release: Release, *, rule: int = RULE) -> RowLimit:
    """The limit that a release of `limit_question` tells, read as when it was found."""
    (people,) = release.outputs
    noisy, ends = (cast("tuple[float, ...]", column) for column in (people.values, people.high))
    margins = [high - max(value, 0) for value, high in zip(noisy, ends, strict=True)]
    total, in_groups = limits_of(noisy, margins, rule=rule)
    return RowLimit(total, as_typed(release.asked.epsilon), in_groups)


def limits_of(
    people: Sequence[float], margins: Sequence[float], *, rule: int = RULE
) -> tuple[int, int]:
    """The limit of a total and that in groups, of what `highest_level` is told."""
    if rule not in range(1, RULE + 1):
        raise ParameterError(LATER_RULE)
    place = highest_level(people, margins)
    more = _at_least_ten(min(place + 1, len(LEVELS) - 1))
    if rule > 1 and 0 <= place < len(LEVELS) - 1 and people[place + 1] <= 0:
        more = max(2 * LEVELS[place], USUAL_MAX_ROWS)
    return more, _at_least_ten(place)


def highest_level(people: Sequence[float], margins: Sequence[float]) -> int:
    """The place of the highest level that has people, −1 if none has: of noisy numbers of people,
    and how far off these are at most, as surely as `SURE`."""
    alone = [
        place
        for place, (number, margin, level) in enumerate(zip(people, margins, LEVELS, strict=True))
        if number > margin * (1 + 2 * log(max(level, USUAL_MAX_ROWS) / USUAL_MAX_ROWS) / SURE_LOG)
    ]
    place = max(alone, default=-1)
    while place + 1 < len(LEVELS) and people[place + 1] > margins[place + 1]:
        place += 1
    return place


def _at_least_ten(place: int) -> int:
    return USUAL_MAX_ROWS if place < 0 else max(LEVELS[place], USUAL_MAX_ROWS)


def find_kept(table: "OpenTable") -> KeptLimit | None:
    """The row limit that was found for the data as they are declared now, by anybody."""
    if not table.is_known or table.schema.unit is None:
        return None
    # A schema file may name a version that the ledger learns with the first charge, and the ledger
    # one that was raised since the table was opened.
    version = max(table.version, table.schema.version)
    return kept_in(table.ledger, table.name, version=version, asker=table.asker)


def kept_in(
    ledger: "Ledger", name: str, *, version: int, asker: "Asker | None" = None
) -> KeptLimit | None:
    """The same, of a ledger. An act names the question; its answer is what is believed."""
    act = ledger.last_act(name, FOUND_ACT)
    record = cast("Json", {} if act is None else act.body["body"])
    if record.get("version") != version:
        return None
    digest = cast("str", record["digest"])
    who = {} if asker is None else {"analyst": asker.analyst, "purpose": asker.purpose}
    stored = ledger.paid_answer(name, digest, **who)
    is_paid = stored is not None
    stored = stored or ledger.repeat_of(name, digest)
    if stored is None:
        return None
    rule = cast("int", record.get("rule", 1))
    return KeptLimit(limit_in(releases_from(stored, Standing())[0], rule=rule), is_paid)


def announce(priced: "Priced") -> None:
    """Writes down under which name the limit can be found, unless that is known.

    It is written before the limit is looked for, so a process that is killed loses none. It names
    a question and says nothing about its answer.
    """
    table = priced.table
    body: Json = {"digest": priced.terms.digest, "version": table.version}
    act = table.ledger.last_act(table.name, FOUND_ACT)
    before = cast("Json", {} if act is None else act.body["body"])
    if any(before.get(name) != value for name, value in body.items()):
        table.ledger.administer(table.name, FOUND_ACT, {**body, "rule": RULE})


def adds_up_rows(plan: Plan) -> bool:
    """Whether a question counts or adds up rows, so that rows that weigh less make it too low.

    Means and quantiles are hardly moved by that, and have less noise with fewer rows.
    """
    return any(isinstance(part, COUNTED) for _, part in with_formula_parts(plan.aggregates))


def takes_limit(plan: Plan) -> bool:
    """Whether a question that names no limit is better off with one that was found."""
    is_open = plan.bounding == Bounding(max_rows=USUAL_MAX_ROWS)
    return is_open and plan.schema.unit is not None and adds_up_rows(plan)


def with_limit(plan: Plan, limit: RowLimit) -> Plan:
    """The plan with a row limit.

    Keys that have to be found need a real cut of each person's groups, and with more groups the
    noise hides more keys. So the cut keeps to the usual number, however many rows count.
    """
    rows = limit.rows_for(plan)
    finds_keys = bool(plan.groups) and plan.keys is None and plan.bounding.max_groups is None
    few = USUAL_MAX_ROWS if finds_keys and rows > USUAL_MAX_ROWS else None
    return replace(plan, bounding=replace(plan.bounding, max_rows=rows, key_groups=few))


def warn_of_rows(plan: Plan) -> str | None:
    """That rows beyond the limit count less, and what that does to counts and sums."""
    rows, unit = plan.bounding.max_rows, plan.schema.unit
    if unit is None or plan.per_unit is not None or rows is None or rows == 1:
        return None
    low = ": totals may be low" if adds_up_rows(plan) else ""
    return f"Rows beyond {rows:,} per {unit} count less{low}"


def note_on(plan: Plan, max_rows: MaxRows | None, limit: RowLimit | None) -> Spelled | None:
    """What is said of the row limit where nobody gave a number: from public facts alone."""
    words = warn_of_rows(plan)
    if words is None or isinstance(max_rows, int):
        return None
    if limit is not None:
        if plan.groups or limit == TEN_ROWS or limit.rows > USUAL_MAX_ROWS:
            return Spelled(f"{words} (limit found for ε = {six(limit.epsilon)}).")
        return Spelled(*(f"{words} (limit found; one row each: {option})." for option in ONE_ROW))
    return Spelled(*(f"{words} ({remedy} helps)." for remedy in REMEDIES))
