"""What an answer would cost and how far off it would be: no data touched, nothing spent.

Tested:   tests/session/test_no_data.py, test_preview.py
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import inf, isfinite

from letalone.answers import views
from letalone.answers.promise import as_sure
from letalone.answers.release import SplitPart, Terms
from letalone.errors import ParameterError
from letalone.exact.typed import Number
from letalone.ledger.charging import RemainingBudget
from letalone.plans.facts import ErrorKind, facts_of
from letalone.plans.formulas import Aggregate, Formula
from letalone.plans.pairs import Regression
from letalone.plans.plan import Plan
from letalone.privacy import Budget, Privacy
from letalone.session.notes import find_starved, short_of_rows
from letalone.session.outputs import slots_of
from letalone.tables.compiled import Compiled, compile_plan

NO_BUDGET = "No budget is named yet."
WHOLE_DIGITS_FROM = 1000  # from here on without digits after the point
MAX_COMPILED_ALONE = 10  # aggregates that are compiled by themselves, too
SHOWN_ROW_COUNTS = (100, 1_000, 10_000)  # for which errors that depend on rows are shown


@dataclass(frozen=True, slots=True, repr=False)
class Preview:
    """The price, its split, and the errors to expect; `errors` by aggregate.

    An error is the half-width of the interval to expect; None where it depends on how many rows
    a group has, which is private: give `rows=` to see it for that many; `by_rows` has it for a
    few numbers of them. That of a quantile, a winner or a private bound is in rows. `alone` has
    the errors of those aggregates that would be at least twice as accurate in a question of their
    own, at the same price. `warnings` say what is starved: by others beside it, or because a
    group may have too few rows.
    """

    privacy: Privacy
    epsilon: float
    delta: float
    confidence: float
    columns: tuple[str, ...]
    split: tuple[SplitPart, ...]
    errors: dict[str, float | None]
    question: str
    notes: tuple[str, ...]
    left: RemainingBudget | str
    in_rows: frozenset[str] = frozenset()
    alone: dict[str, float] = field(default_factory=dict[str, float])
    warnings: tuple[str, ...] = ()
    formulas: frozenset[str] = frozenset()
    fitted: frozenset[str] = frozenset()
    by_rows: dict[str, dict[int, float]] = field(default_factory=dict[str, dict[int, float]])

    def __str__(self) -> str:
        price = f"{Budget(self.epsilon, self.delta)}, {self.privacy.neighbours}"
        lines = [
            f"Would cost {price}: {self.question}.",
            *(f"- {part}" for part in self.split),
            f"Errors to expect, at {as_sure(self.confidence)} confidence:",
            *(f"  {name:<12} {self._error(name)}" for name in self.errors),
            *(f"Beware: {words}." for words in self.warnings),
            f"Nothing was spent. {self.left}",
        ]
        return views.flowing(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return views.lines_as_html(str(self))

    def _error(self, name: str) -> str:
        error = self.errors[name]
        if error is None:
            if name in self.formulas:
                return "depends on the numbers that it is computed from"
            return "depends on how many rows there are: preview(…, rows=1000)"
        if error == inf:
            return "nothing would be known: more rows, a larger epsilon, or asking less"
        rows = " rows" if name in self.in_rows else ""
        alone = f" (± {_number(self.alone[name])} if asked alone)" if name in self.alone else ""
        if name in self.fitted:
            alone += (
                ", if features are spread evenly over their bounds; else more, and coefficients may"
                " be missing"
            )
        return f"± {_number(error)}{rows}{alone}"


def _number(error: float) -> str:
    return f"{error:,.0f}" if isfinite(error) and error >= WHOLE_DIGITS_FROM else f"{error:.4g}"


def preview_of(
    whole: Compiled, terms: Terms, left: RemainingBudget | None, *, rows: int | None = None
) -> Preview:
    """The preview of a question at its price."""
    plan, few = whole.plan, len(whole.plan.aggregates) <= MAX_COMPILED_ALONE
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
        ),
        formulas=_names(plan, lambda asked: isinstance(asked, Formula)),
        fitted=_names(plan, lambda asked: isinstance(asked, Regression)),
        alone=dict(_alone(whole, errors, rows)) if few and len(errors) > 1 else {},
        by_rows=dict(_by_rows(whole, errors)) if few and rows is None else {},
    )


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
