"""Computes what an answer would cost and how far off it would be: no data touched, nothing spent.

Tested:   tests/session/test_no_data.py, test_looking.py
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import ceil, floor, log10

from letalone.answers.preview import Preview
from letalone.answers.release import Terms
from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Problem, problem
from letalone.errors.remedies import Confirm, LimitRows, NameKeys, SetEpsilon
from letalone.exact.typed import Number
from letalone.ledger.charging import RemainingBudget
from letalone.plans.aggregates.facts import ErrorKind, facts_of
from letalone.plans.aggregates.formulas import Aggregate, Formula
from letalone.plans.aggregates.of_pairs import Regression
from letalone.plans.plan import Plan
from letalone.privacy import guard_rails
from letalone.session.notes import find_starved, short_of_rows
from letalone.session.outputs import slots_of
from letalone.tables.compiled import Compiled, compile_plan

NO_BUDGET = "No budget is named yet."
MAX_COMPILED_ALONE = 10  # aggregates that are compiled by themselves, too
SHOWN_ROW_COUNTS = (100, 1_000, 10_000)  # for which errors that depend on rows are shown


def preview_of(
    whole: Compiled, terms: Terms, left: RemainingBudget | None, *, rows: int | None = None
) -> Preview:
    """The preview of a question at its price."""
    plan, is_small = whole.plan, len(whole.plan.aggregates) <= MAX_COMPILED_ALONE
    errors = {name: _error(whole, name, rows) for name, _ in plan.aggregates}
    return Preview(
        privacy=terms.privacy,
        epsilon=float(terms.epsilon),
        delta=float(terms.delta),
        confidence=float(terms.confidence),
        columns=_columns(plan),
        split=terms.split,
        errors=errors,
        question=terms.question,
        notes=terms.notes,
        left=NO_BUDGET if left is None else left,
        in_rows=_names(plan, lambda asked: facts_of(asked).error is ErrorKind.IN_ROWS),
        warnings=(
            *(note.stored for note in find_starved(terms.split)),
            *short_of_rows(plan, whole.parts, rows=rows),
            *_short_of_units(whole),
        ),
        formulas=_names(plan, lambda asked: isinstance(asked, Formula)),
        fitted=_names(plan, lambda asked: isinstance(asked, Regression)),
        alone=dict(_alone(whole, errors, rows)) if is_small and len(errors) > 1 else {},
        by_rows=dict(_by_rows(whole, errors)) if is_small and rows is None else {},
    )


def _short_of_units(whole: Compiled) -> Iterator[str]:
    unit = whole.plan.schema.unit or "row"
    if find_high_threshold(whole, unit=unit) is not None:
        words = high_threshold(whole, unit=unit)
        yield f"{words[:1].lower()}{words[1:]}; a larger ε helps, or a smaller max_rows"


def exact_columns(whole: Compiled) -> tuple[str, ...]:
    """The aggregates whose intervals would have no width, whatever the rows are."""
    steady = _names(whole.plan, lambda asked: facts_of(asked).error is ErrorKind.STEADY)
    return tuple(name for name in sorted(steady) if _error(whole, name, None) == 0)


def find_high_threshold(whole: Compiled, *, unit: str) -> Problem | None:
    """That only very large groups would be found: it follows from the plan and its price alone."""
    finding = whole.discovery
    if finding is None or finding.threshold <= guard_rails.MAX_THRESHOLD:
        return None
    groups, most = whole.plan.groups, whole.plan.bounding.max_rows
    keys = NameKeys(tuple(g.name for g in groups), tuple(g.type.value for g in groups))
    larger = _round_up(float(whole.epsilon) * finding.threshold / guard_rails.MAX_THRESHOLD)
    fewer = LimitRows(1) if most is None or most > 1 else None
    dearer = SetEpsilon(larger) if larger <= guard_rails.MAX_UNCONFIRMED else None
    return problem(
        Code.NOT_CONFIRMED,
        *(remedy for remedy in (keys, dearer, fewer, Confirm()) if remedy is not None),
        words=f"{high_threshold(whole, unit=unit)}. Nothing was charged.",
        threshold=finding.threshold,
    )


def high_threshold(whole: Compiled, *, unit: str) -> str:
    """How large a group has to be, in words."""
    threshold = 0 if whole.discovery is None else whole.discovery.threshold
    return f"Only groups with about {threshold:,} {unit} or more would be found"


def _round_up(epsilon: float) -> float:
    """With one digit."""
    step = 10.0 ** floor(log10(epsilon))
    return float(f"{ceil(epsilon / step) * step:.1g}")


def _names(plan: Plan, which: Callable[[Aggregate], bool]) -> frozenset[str]:
    return frozenset(name for name, aggregate in plan.aggregates if which(aggregate))


def _columns(plan: Plan) -> tuple[str, ...]:
    groups = tuple(group.name for group in plan.groups)
    return groups + tuple(name for slot in slots_of(plan) for name in slot.names)


def _by_rows(
    whole: Compiled, errors: dict[str, float | None]
) -> Iterator[tuple[str, dict[int, float]]]:
    """The errors that depend on rows, for several numbers of them."""
    for name in (name for name, error in errors.items() if error is None):
        errors_by_rows = {rows: _error(whole, name, rows) for rows in SHOWN_ROW_COUNTS}
        known = {rows: error for rows, error in errors_by_rows.items() if error is not None}
        if known:
            yield name, known


def _alone(
    whole: Compiled, errors: dict[str, float | None], rows: int | None
) -> Iterator[tuple[str, float]]:
    """The errors to expect of aggregates that are asked alone, where they are half or less."""
    for name, aggregate in whole.plan.aggregates:
        together = errors[name]
        if together is None:
            continue
        plan = replace(whole.plan, aggregates=((name, aggregate),))
        price = {"epsilon": whole.epsilon, "delta": whole.delta}
        by_itself = compile_plan(plan, **price, confidence=whole.confidence)
        alone = _error(by_itself, name, rows)
        if alone is not None and 2 * alone <= together:
            yield name, alone


def _error(whole: Compiled, name: str, rows: Number | None) -> float | None:
    try:
        return whole.expected_error(name, rows=rows)  # pyright: ignore[reportArgumentType]
    except ParameterError:
        if rows is not None and not isinstance(dict(whole.plan.aggregates)[name], Formula):
            raise
        return None
