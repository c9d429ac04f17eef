"""A query that can be answered: everything is decided, and no data was touched.

`ready` checks what was typed against what is public. A request that passes is compiled, so
nothing but the budget and the engine can still stop it; one that does not is refused before
the ledger hears of it, and `mending` finds commands that would pass.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

from letalone.cli.options import read_bounds, read_budget, read_keys
from letalone.cli.request import USUAL_DELTA, Request
from letalone.cli.source import ROW, Source, read_unit, unit_to_try
from letalone.errors import BudgetExceeded, NeighboursDiffer, ParameterError
from letalone.exact.typed import EPSILON, Number
from letalone.ledger import DataSet
from letalone.plans.aggregates import Asked, Kind, private_bounds
from letalone.plans.bounds import check_numeric
from letalone.plans.domains import closed_domain
from letalone.plans.expressions import ColumnRef
from letalone.plans.query import make_plan
from letalone.plans.schema import Schema
from letalone.plans.types import Key
from letalone.plans.typing import columns_of
from letalone.privacy import Budget
from letalone.privacy.filters import FilterState, brief, charged, opened
from letalone.session.outputs import slots_of
from letalone.tables.compiled import Compiled, compiled
from letalone.tables.sql_reader import Parts, plan_parts

FOR_BOUNDS = Fraction(1, 5)  # of epsilon, where bounds are bought
ADDED = (Kind.SUM, Kind.MEAN)
Bounds = Mapping[str, tuple[Fraction, Fraction]]


class Missing(ParameterError):  # noqa: N818  (as in letalone.errors)
    """Something is missing; `offers` are changes to the request, any of which would do."""

    def __init__(self, words: str, *offers: dict[str, Any]) -> None:
        super().__init__(words)
        self.offers = offers


@dataclass(frozen=True, slots=True)
class Ready:
    """A question with its price; `bought` are the columns whose bounds are bought first."""

    request: Request
    schema: Schema
    parts: Parts
    keys: tuple[tuple[Key, ...], ...] | None
    budget: Budget | None
    bought: tuple[str, ...]
    answer: Compiled
    bounds: Compiled | None

    def bounded(self, bounds: Bounds) -> dict[str, Asked]:
        """The aggregates with the bounds that were bought."""
        return _bounded(self.parts.aggregates, bounds)

    def fits(self, state: FilterState) -> bool:
        """Whether a budget in this state allows it: all that it charges, one after the other."""
        parts = [self.answer] if self.bounds is None else [self.bounds, self.answer]
        try:
            for part in parts:
                state = charged(state, part.privacy, delta=part.delta or None)
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
    def bounds_asked(self) -> dict[str, Asked]:
        """What is bought first."""
        return {name: private_bounds(name) for name in self.bought}


def ready(request: Request, source: Source, known: DataSet | None) -> Ready:
    """The question, compiled, or a refusal in words."""
    parts = plan_parts(request.sql, source.schema)
    schema = source.schema.protecting(_unit(request, source, known))
    epsilon = _epsilon(request)
    given = read_bounds(request.bounds, schema)
    bought = _unbounded(request, parts, schema, given)
    keys = _keys(request, parts, schema, known)
    budget = _budget(request, known)
    share = epsilon * FOR_BOUNDS if bought else Fraction(0)
    parts = parts._replace(aggregates=_bounded(parts.aggregates, given))
    guess = dict.fromkeys(bought, (Fraction(0), Fraction(1)))  # the price does not depend on it
    aggregates = _bounded(parts.aggregates, guess)
    answer = _compiled(
        request, schema, aggregates, parts, keys=keys, price=(epsilon - share, request.delta or 0)
    )
    bounds = None
    if bought:
        asked = {name: private_bounds(name) for name in bought}
        alone = parts._replace(groups=())
        bounds = _compiled(request, schema, asked, alone, keys=None, price=(share, 0))
    asked = Ready(request, schema, parts, keys, budget, bought, answer, bounds)
    if known is None and budget is not None:
        _check_new_budget(asked, budget)
    return asked


def _check_new_budget(asked: Ready, budget: Budget) -> None:
    """A budget is named once, so one that allows nothing is not written down."""
    if asked.fits(opened(budget)):
        return
    raise BudgetExceeded(
        f"This costs ({brief(asked.total)}), which a budget of ({budget}) does not allow. Nothing"
        " was charged, and the budget was not written down: name a larger one, or ask for less."
    )


def _unit(request: Request, source: Source, known: DataSet | None) -> str | None:
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


def _unbounded(request: Request, parts: Parts, schema: Schema, given: Bounds) -> tuple[str, ...]:
    """The columns that are added up and have no bounds, if they may be bought."""
    added = dict.fromkeys(
        one.of.name
        for one in parts.aggregates.values()
        if one.kind in ADDED and isinstance(one.of, ColumnRef)
    )
    for name in given:
        if name not in added:
            raise ParameterError(f"--bounds names {name!r}, but no SUM or AVG of it is asked.")
    for name in added:
        check_numeric(ColumnRef(name), columns_of(schema), done="adding up")
    columns = [schema.column(name) for name in added if name not in given]
    without = [one.name for one in columns if one.lower is None or one.upper is None]
    if without and not request.private_bounds:
        raise _no_bounds(request, without)
    return tuple(without)


def _no_bounds(request: Request, names: list[str]) -> Missing:
    return Missing(
        f"No bounds are known for {' and '.join(names)}, and none are read from the data: without"
        " bounds one person could change the answer without limit. Give them from what is publicly"
        " known, in place of 0:1000, or buy them with a fifth of epsilon.",
        {"bounds": (*request.bounds, *(f"{name}=0:1000" for name in names))},
        {"private_bounds": True},
    )


def _keys(
    request: Request, parts: Parts, schema: Schema, known: DataSet | None
) -> tuple[tuple[Key, ...], ...] | None:
    """Every combination of the keys; None where there are no groups, or they are to be found."""
    given = read_keys(request.keys, schema)
    for name in given:
        if name not in parts.groups:
            raise ParameterError(f"--keys names {name!r}, which is not in GROUP BY.")
    columns = columns_of(schema)
    found = {name: given.get(name) or _declared(name, columns) for name in parts.groups}
    without = [name for name, keys in found.items() if keys is None]
    if not without:
        return tuple(product(*(keys for keys in found.values() if keys))) if found else None
    if given or not request.delta:
        raise _no_keys(request, without, known, may_find=not given)
    return None


def _declared(name: str, columns: Any) -> tuple[Key, ...] | None:
    return closed_domain(ColumnRef(name), columns)


def _no_keys(
    request: Request, names: list[str], known: DataSet | None, *, may_find: bool
) -> Missing:
    listed = {"keys": (*request.keys, *(f"{name}=A,B,C" for name in names))}
    spends_delta = known is None or known.budget.delta > 0
    finding = [{"delta": USUAL_DELTA}] if may_find and spends_delta else []
    privately = " or find them privately, which takes a --delta" if finding else ""
    return Missing(
        f"Which groups of {', '.join(names)}? They are not read from the data: list them in place"
        f" of A,B,C{privately}.",
        listed,
        *finding,
    )


def _budget(request: Request, known: DataSet | None) -> Budget | None:
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


def _bounded(aggregates: Mapping[str, Asked], bounds: Bounds) -> dict[str, Asked]:
    found: dict[str, Asked] = {}
    for name, one in aggregates.items():
        known = isinstance(one.of, ColumnRef) and one.kind in ADDED and one.of.name in bounds
        lower, upper = bounds[one.of.name] if known else (one.lower, one.upper)  # pyright: ignore
        found[name] = replace(one, lower=lower, upper=upper)
    return found


def _compiled(
    request: Request,
    schema: Schema,
    aggregates: Mapping[str, Asked],
    parts: Parts,
    *,
    keys: tuple[tuple[Key, ...], ...] | None,
    price: tuple[Number, Number],
) -> Compiled:
    plan = make_plan(
        schema,
        aggregates,
        where=parts.where,
        groups=parts.groups,
        keys=keys,
        max_rows=request.max_rows,
        max_groups=request.max_groups,
    )
    slots_of(plan)  # refuses names that come twice
    epsilon, delta = price
    return compiled(plan, epsilon=epsilon, delta=delta, confidence=request.confidence)
