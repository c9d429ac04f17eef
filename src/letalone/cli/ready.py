"""A query that can be answered: everything is decided, and no data was touched.

`ready` checks what was typed against what is public. A request that passes is compiled, so
nothing but the budget and the engine can still stop it; one that does not is refused before
the ledger hears of it, and `mending` finds commands that would pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from itertools import product
from typing import Any

from letalone.cli.options import read_bounds, read_budget, read_keys, read_public
from letalone.cli.request import USUAL_DELTA, Request
from letalone.cli.rewriting import with_clamps
from letalone.cli.source import ROW, Source, read_unit, unit_to_try
from letalone.errors import BudgetExceeded, NeighboursDiffer, ParameterError
from letalone.exact.typed import EPSILON, Number
from letalone.ledger import DataSet
from letalone.plans.aggregates import private_bounds
from letalone.plans.checks import check_not_unit
from letalone.plans.clauses import PublicJoin
from letalone.plans.domains import closed_domain
from letalone.plans.expressions import Expression
from letalone.plans.facts import AggregateRequest
from letalone.plans.query import expression_of, make_plan
from letalone.plans.schema import Schema
from letalone.plans.trees import Computable
from letalone.plans.types import Key, Type
from letalone.plans.typing import Columns, columns_of
from letalone.plans.wording import in_words
from letalone.privacy import Budget
from letalone.privacy.filters import FilterState, brief, charged, opened
from letalone.session.bounds_purchase import MAX_ROWS_BEYOND as MOST_BEYOND
from letalone.session.in_sql import public_frames, public_schemas
from letalone.session.joining import join_of
from letalone.session.outputs import slots_of
from letalone.sql.bounds import bounded, is_open_ended, unbounded
from letalone.sql.question import Question, read_question
from letalone.tables.compiled import Compiled, compiled

FOR_BOUNDS = Fraction(1, 5)  # of epsilon, where bounds are bought
WIDEST = (-Fraction(2**62), Fraction(2**62))  # of the bounds that can be bought
# Bounds to plan with before any are bought: the first are said. With the next two there are as
# many steps as there can be, 100,000 between whole numbers and 2,500 between numbers. With the
# widest, values of an expression are as large as they can be, and a divisor is 0 if it can be.
GUESSES = (
    (Fraction(0), Fraction(1)),
    (Fraction(0), Fraction(99_999)),
    (Fraction(0), Fraction(4_999_999, 10**6)),
    WIDEST,
)
EXAMPLE_KEYS = {Type.INTEGER: "1,2,3", Type.DATE: "2024-01-01"}  # it begins a year, a month, a week
Bounds = Mapping[str, tuple[Fraction, Fraction]]


class Missing(ParameterError):  # noqa: N818  (as in letalone.errors)
    """Something is missing; `offers` are changes to the request, any of which would do."""

    def __init__(self, words: str, *offers: dict[str, Any]) -> None:
        super().__init__(words)
        self.offers = offers


@dataclass(frozen=True, slots=True)
class Ready:
    """A question with its price; `bought` are the columns whose bounds are bought first.

    `others` are the same answer with other bounds that may come back.
    """

    request: Request
    schema: Schema
    parts: Question
    frames: Mapping[str, object]
    keys: tuple[tuple[Key, ...], ...] | None
    budget: Budget | None
    bought: tuple[str, ...]
    answer: Compiled
    others: tuple[Compiled, ...]
    bounds: Compiled | None

    def bounded(self, bounds: Bounds) -> dict[str, Computable]:
        """The aggregates with the bounds that were bought."""
        return bounded(self.parts.aggregates, bounds)

    def fits(self, state: FilterState) -> bool:
        """Whether a budget in this state allows it: all that it charges, one after the other."""
        try:
            if self.bounds is not None:
                state = _after(state, self.bounds)
            for answer in (self.answer, *self.others):
                _after(state, answer)
        except BudgetExceeded:
            return False
        return True

    @property
    def total(self) -> Budget:
        """The price of all that is done; a delta only where the noise makes use of it."""
        bounds = 0 if self.bounds is None else self.bounds.epsilon
        privacy = self.answer.privacy
        pure = privacy.worst_loss() is not None and privacy.certain_leak() == 0
        return Budget(self.answer.epsilon + bounds, 0 if pure else self.answer.delta)

    @property
    def rows_for_bounds(self) -> int | None:
        """How many rows of a unit the bounds are bought from."""
        return None if self.bounds is None else self.bounds.plan.bounding.max_rows

    @property
    def bounds_asked(self) -> dict[str, AggregateRequest]:
        """What is bought first."""
        return {name: private_bounds(name) for name in self.bought}


def _after(state: FilterState, part: Compiled) -> FilterState:
    return charged(state, part.privacy, delta=part.delta or None)


def ready(request: Request, source: Source, known: DataSet | None) -> Ready:
    """The question, compiled, or a refusal in words."""
    frames = public_frames(read_public(request.public))
    tables = public_schemas(frames)
    parts = read_question(
        request.sql,
        source.schema,
        tables=tables,
        dialect=request.dialect,
        whole_name=source.whole_name,
    )
    schema = source.schema.protecting(unit_of(request, source, known))
    epsilon = _epsilon(request)
    given = read_bounds(request.bounds, schema)
    joins = tuple(
        join_of(schema, frames[join.name], on=dict(join.on), name=join.name) for join in parts.joins
    )
    columns = columns_of(schema, joins=joins)
    bought = _unbounded(request, parts, columns, given)
    keys = _keys(request, parts, columns, known)
    budget = budget_of(request, known)
    share = epsilon * FOR_BOUNDS if bought else Fraction(0)
    parts = replace(parts, aggregates=bounded(parts.aggregates, given, columns=given))
    price = (epsilon - share, request.delta or 0)
    answer, *others = [
        _compiled(
            request, schema, _guessed(parts, bought, ends), keys=keys, price=price, joins=joins
        )
        for ends in (GUESSES if bought else GUESSES[:1])
    ]
    bounds = _bounds(request, schema, parts, bought=bought, share=share, joins=joins)
    asked = Ready(
        request, schema, parts, frames, keys, budget, bought, answer, tuple(others), bounds
    )
    if known is None and budget is not None:
        _check_new_budget(asked, budget)
    return asked


def _guessed(parts: Question, bought: tuple[str, ...], ends: tuple[Fraction, Fraction]) -> Question:
    """With bounds that are not bought yet: the price does not depend on them."""
    guess = dict.fromkeys(bought, ends)
    return replace(parts, aggregates=bounded(parts.aggregates, guess))


def _bounds(
    request: Request,
    schema: Schema,
    parts: Question,
    *,
    bought: tuple[str, ...],
    share: Fraction,
    joins: tuple[PublicJoin, ...],
) -> Compiled | None:
    """The bounds to buy, of one row of each unit: more rows would cost more and tell little."""
    if not bought:
        return None
    asked = {name: private_bounds(name) for name in bought}
    alone = replace(parts, aggregates=asked, groups=())
    one_row = replace(request, max_rows=None if schema.unit is None else 1, max_groups=None)
    found = _compiled(one_row, schema, alone, keys=None, price=(share, 0), joins=joins)
    _check_bounds(request, found, bought)
    return found


def beyond(bounds: Compiled) -> float:
    """How many rows, one of each unit, may lie beyond a bound: a function of public facts."""
    return max(error or 0 for part in bounds.parts for error in part.errors.values())


def _check_bounds(request: Request, bounds: Compiled, bought: tuple[str, ...]) -> None:
    """Bounds that no table is large enough for are not bought."""
    rows = beyond(bounds)
    if rows <= MOST_BEYOND:
        return
    enough = _two_digits_up(float(request.epsilon or 0) * rows / MOST_BEYOND)
    raise Missing(
        f"At this ε the bounds of {' and '.join(bought)} cannot be bought: about {rows:,.0f} people"
        f" may lie beyond each, more than {MOST_BEYOND:,}. Give bounds that are publicly known, in"
        " place of 0:1000, or more ε. (In Python, session.private_bounds takes rows=, how many"
        " people there are in public.)",
        {"bounds": _example_bounds(request, bought), "private_bounds": False},
        {"epsilon": enough},
    )


def _two_digits_up(number: float) -> float:
    return float(Context(prec=2, rounding=ROUND_CEILING).plus(Decimal(number)))


def _example_bounds(request: Request, names: Sequence[str]) -> tuple[str, ...]:
    return (*request.bounds, *(f"{name}=0:1000" for name in names))


def _check_new_budget(asked: Ready, budget: Budget) -> None:
    """A budget is named once, so one that allows nothing is not written down."""
    if asked.fits(opened(budget)):
        return
    raise BudgetExceeded(
        f"This costs ({brief(asked.total)}), which a budget of ({budget}) does not allow. Nothing"
        " was charged, and the budget was not written down: name a larger one, or ask for less."
    )


def unit_of(request: Request, source: Source, known: DataSet | None) -> str | None:
    """Whose privacy is protected: as typed, declared, or known to the ledger; None is the row."""
    declared = source.schema.unit if source.declares_unit else None
    if request.unit is not None:
        unit = read_unit(request.unit, source.schema)
        if declared is not None and unit != declared:
            raise ParameterError(
                f"--unit is {unit or ROW}, but {source.schema_file} says that the unit is"
                f" {declared}. Leave --unit out, or change the file."
            )
        return _same_unit(unit, known)
    if source.declares_unit:
        return _same_unit(source.schema.unit, known)
    if known is not None and known.neighbours.unit is not None:
        return read_unit(known.neighbours.unit, source.schema)
    columns = ", ".join(column.name for column in source.schema.columns)
    raise Missing(
        f"Whose privacy is protected? Say which column tells people apart, with --unit. The columns"
        f" are: {columns}. If each row is about another person: --unit row.",
        {"unit": unit_to_try(source.schema)},
    )


def _epsilon(request: Request) -> Fraction:
    if request.epsilon is None:
        raise Missing(
            "--epsilon is missing: the privacy to spend on this question. Smaller is more private;"
            " 0.1 to 1 is usual.",
            {"epsilon": 0.5},
        )
    return EPSILON.typed("epsilon", request.epsilon)


def _unbounded(
    request: Request, parts: Question, columns: Columns, given: Bounds
) -> tuple[str, ...]:
    """The columns that are added up and have no bounds, if they may be bought."""
    without = [name for name in unbounded(parts.aggregates, columns) if name not in given]
    guess = WIDEST if request.private_bounds else GUESSES[0]
    within = {**dict.fromkeys(without, guess), **given}
    for name, one in bounded(parts.aggregates, within, columns=within).items():
        if is_open_ended(one, columns):
            raise _no_quotient(request, name, parts.aggregates[name])
    if without and not request.private_bounds:
        raise _no_bounds(request, without)
    return tuple(without)


def _no_quotient(request: Request, name: str, asked: Computable) -> Missing:
    """Bounds of columns do not help where one is divided by what may be 0."""
    of = asked.of if isinstance(asked, AggregateRequest) else None
    words = name if of is None else in_words(of)
    what = "expression" if of is None else words
    return Missing(
        f"The bounds of {words} do not follow from those of its columns, and none are read from the"
        " data. Write them into the SQL from what is publicly known, in place of 0 and 1000:"
        f" CLAMP({what}, 0, 1000).",
        {"sql": with_clamps(request.sql, dialect=request.dialect), "private_bounds": False},
    )


def _no_bounds(request: Request, names: list[str]) -> Missing:
    return Missing(
        f"No bounds are known for {' and '.join(names)}, and none are read from the data: without"
        " bounds one person could change the answer without limit. Give them from what is publicly"
        " known, in place of 0:1000, or buy them with a fifth of epsilon.",
        {"bounds": _example_bounds(request, names)},
        {"private_bounds": True},
    )


def _keys(
    request: Request, parts: Question, columns: Columns, known: DataSet | None
) -> tuple[tuple[Key, ...], ...] | None:
    """Every combination of the keys; None where there are no groups, or they are to be found."""
    groups = {
        name: expression_of(one) for name, one in zip(parts.group_names, parts.groups, strict=True)
    }
    given = read_keys(request.keys, {**_types(columns), **_group_types(groups, columns)})
    for name in given:
        if name not in groups:
            raise ParameterError(f"--keys names {name!r}, which is not in GROUP BY.")
    found = {name: given.get(name) or closed_domain(of, columns) for name, of in groups.items()}
    without = [name for name, keys in found.items() if keys is None]
    if not without:
        return tuple(product(*(keys for keys in found.values() if keys))) if found else None
    check_not_unit(((name, of) for name, of in groups.items() if name in without), columns)
    if given or not request.delta:
        types = _group_types({name: groups[name] for name in without}, columns)
        raise _no_keys(request, types, known, may_find=not given)
    return None


def _types(columns: Columns) -> dict[str, Type]:
    return {name: typed.type for name, typed in columns.typed.items()}


def _group_types(groups: Mapping[str, Expression], columns: Columns) -> dict[str, Type]:
    return {name: columns.type_of(of).type for name, of in groups.items()}


def _no_keys(
    request: Request, types: Mapping[str, Type], known: DataSet | None, *, may_find: bool
) -> Missing:
    examples = {name: EXAMPLE_KEYS.get(kind, "A,B,C") for name, kind in types.items()}
    listed = {"keys": (*request.keys, *(f"{name}={keys}" for name, keys in examples.items()))}
    spends_delta = known is None or known.budget.delta > 0
    finding = [{"delta": USUAL_DELTA}] if may_find and spends_delta else []
    privately = " or find them privately, which takes a --delta" if finding else ""
    return Missing(
        f"Which groups of {', '.join(types)}? They are not read from the data: list them in place"
        f" of {' and '.join(dict.fromkeys(examples.values()))}{privately}.",
        listed,
        *finding,
    )


def budget_of(request: Request, known: DataSet | None) -> Budget | None:
    """The budget that was typed; None where the ledger knows it already."""
    if request.budget is not None:
        return _same_budget(read_budget(request.budget), known)
    if known is None and not request.dry_run:
        raise Missing(
            "How much may all questions about this table spend together? Say it once, with"
            " --budget; the ledger keeps it.",
            {},
        )
    return None


def _same_budget(given: Budget, known: DataSet | None) -> Budget:
    if known is None or given == known.budget:
        return given
    raise ParameterError(
        f"--budget is ({given}), but {known.name!r} has the budget ({known.budget}), which was"
        " named once and stays. Leave --budget out. Its owner can allow more:"
        f" la.Ledger.open(path).raise_budget({known.name!r}, la.Budget(…))."
    )


def _same_unit(unit: str | None, known: DataSet | None) -> str | None:
    before = None if known is None else known.neighbours.unit
    if known is None or before is None or before == (unit or ROW):
        return unit
    raise NeighboursDiffer(
        f"The budget of {known.name!r} protects each {before}, and this question would protect each"
        f" {unit or ROW}. A table has one unit: ask with --unit {before}."
    )


def _compiled(
    request: Request,
    schema: Schema,
    asked: Question,
    *,
    keys: tuple[tuple[Key, ...], ...] | None,
    price: tuple[Number, Number],
    joins: tuple[PublicJoin, ...],
) -> Compiled:
    plan = make_plan(
        schema,
        asked.aggregates,
        where=asked.where,
        groups=asked.groups,
        keys=keys,
        joins=joins,
        max_rows=request.max_rows,
        max_groups=request.max_groups,
    )
    slots_of(plan)  # refuses names that come twice
    epsilon, delta = price
    return compiled(plan, epsilon=epsilon, delta=delta, confidence=request.confidence)
