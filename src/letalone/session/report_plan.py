"""Plans a whole report: one budget, split so that each question keeps the error that is wanted.

    report = la.plan([by_ward, mean_cost], epsilon=1, errors=[50, None])
    print(report)              # each question's ε and the error to expect; nothing is spent
    report.release()           # all of them, charged as one

A question with a wanted error gets the least ε that keeps it; those without share what is left,
equally. Nothing is looked at but questions, bounds and numbers that are public.

Theorem.  All answers together cost at most the sum of the ε of the questions: they are released as
one batch, whose curve is the composition of theirs.
  Proven:   docs/explanation/proofs/composition.md; each ε is compiled, and its errors compared
  Tested:   tests/session/test_report_plan.py
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar, cast

from letalone.answers import views
from letalone.answers.promise import as_sure
from letalone.errors import ParameterError
from letalone.exact.typed import EPSILON, Number, as_typed
from letalone.privacy.budget import Budget, brief
from letalone.privacy.largest import round_down
from letalone.session.query import Query
from letalone.session.session import Session

if TYPE_CHECKING:
    from letalone.session.backend import Error
    from letalone.session.batch import Batch

Item = TypeVar("Item")
STEPS = 40  # of the search for how much larger errors would have to be
MOST_FACTOR = 2.0**STEPS


@dataclass(frozen=True, slots=True)
class PlannedQuestion:
    """One question of a report: its ε, and the errors to expect, by aggregate.

    An error is None where it depends on how many rows there are: give `rows=` to see it.
    """

    query: Query
    epsilon: Fraction
    errors: dict[str, float | None]

    def __str__(self) -> str:
        shown = ", ".join(f"{name} ± {_show_error(error)}" for name, error in self.errors.items())
        return f"ε = {float(self.epsilon):g}: {self.query.plan.in_words()}; {shown}"


@dataclass(frozen=True, slots=True, repr=False)
class ReportPlan:
    """Several questions and the ε of each; nothing is spent until `release`."""

    questions: tuple[PlannedQuestion, ...]
    delta: Fraction
    confidence: Number

    @property
    def epsilons(self) -> tuple[float, ...]:
        """The ε of each question, in their order."""
        return tuple(float(question.epsilon) for question in self.questions)

    @property
    def price(self) -> Budget:
        """What all of them cost at most."""
        many = len(self.questions)
        return Budget(sum((q.epsilon for q in self.questions), Fraction(0)), many * self.delta)

    def release(self, *, confirm: bool = False) -> "Batch":
        """The answers, charged as one batch; `confirm` as in `Query.release`."""
        return Session(self.questions[0].query.table).batch(
            [question.query for question in self.questions],
            epsilon=[question.epsilon for question in self.questions],
            delta=self.delta,
            confidence=self.confidence,
            confirm=confirm,
        )

    def __str__(self) -> str:
        table, sure = self.questions[0].query.table, as_sure(float(as_typed(self.confidence)))
        return views.flowing(
            [
                f"A report of {len(self.questions)} questions about {table.name}; errors at"
                f" {sure} confidence:",
                *(f"- {question}" for question in self.questions),
                f"All together cost at most {brief(self.price)}. Nothing was spent: .release()"
                " answers them.",
            ]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return views.lines_as_html(str(self))


def plan(
    questions: Sequence[Query],
    *,
    epsilon: Number | None = None,
    errors: "Error | Sequence[Error | None] | None" = None,
    delta: Number = 0,
    confidence: Number = 0.95,
    rows: int | Sequence[int | None] | None = None,
) -> ReportPlan:
    """A report within `epsilon`: each question with the least ε that keeps its error.

    `errors` has one for each question, as `release(error=…)` takes it, or one for all; None is no
    wish, and such questions share what is left of `epsilon`. Without `epsilon` the report costs
    what its errors need. `delta` is that of each question; `rows`, how many rows a group has, is
    for the errors of means: a public number, one for all or one for each question.
    """
    report = _read_questions(questions)
    wanted = _for_each(errors, report, name="errors")
    _check_numbers(wanted)
    known = _for_each(rows, report, name="rows")
    solve = _Solver(report, known, delta, confidence)
    total = None if epsilon is None else EPSILON.typed("epsilon", epsilon)
    prices = _share(solve, wanted, total)
    planned = zip(report, prices, known, strict=True)
    return ReportPlan(
        tuple(PlannedQuestion(q, e, solve.errors(q, e, n)) for q, e, n in planned),
        as_typed(delta),
        confidence,
    )


@dataclass(frozen=True, slots=True)
class _Solver:
    """Prices of errors, and errors of prices, for the questions of one report."""

    questions: Sequence[Query]
    rows: Sequence[int | None]
    delta: Number
    confidence: Number

    def needed(self, wanted: "Sequence[Error | None]", factor: float = 1) -> list[Fraction | None]:
        """The least ε for each error, made larger by a factor; None where none is wanted."""
        each = zip(self.questions, wanted, self.rows, strict=True)
        return [
            None if error is None else self._least(question, _larger(error, factor), rows)
            for question, error, rows in each
        ]

    def _least(self, question: Query, error: "Error", rows: int | None) -> Fraction:
        price = {"delta": self.delta, "confidence": self.confidence}
        return as_typed(question.epsilon_for(error=error, rows=rows, **price))

    def errors(
        self, question: Query, epsilon: Fraction, rows: int | None
    ) -> dict[str, float | None]:
        priced = question.price(epsilon, delta=self.delta, confidence=self.confidence)
        return dict(priced.preview(rows).errors)


def _share(
    solve: _Solver, wanted: "Sequence[Error | None]", total: Fraction | None
) -> list[Fraction]:
    """The ε of each question: what its error needs, or an equal part of the rest."""
    needed = solve.needed(wanted)
    spent = sum((price for price in needed if price is not None), Fraction(0))
    open_ones = needed.count(None)
    if total is None:
        if open_ones:
            raise ParameterError(
                "Some questions have no wanted error, and no epsilon is given. Give errors= for"
                " all, or epsilon= for the whole report."
            )
        return [cast("Fraction", price) for price in needed]
    if spent > total or (open_ones and spent >= total):
        raise _too_little(solve, wanted, spent, total)
    part = round_down((total - spent) / open_ones) if open_ones else Fraction(0)
    return [part if price is None else price for price in needed]


def _too_little(
    solve: _Solver, wanted: "Sequence[Error | None]", spent: Fraction, total: Fraction
) -> ParameterError:
    factor = _least_factor(lambda factor: _sum(solve.needed(wanted, factor)) < total)
    larger = "" if factor is None else f" or errors {factor:.3g} times as large,"
    return ParameterError(
        f"These errors need ε = {float(spent):g} together, and the report has ε ="
        f" {float(total):g}. Give more epsilon,{larger} or fewer questions. Nothing was spent."
    )


def _sum(prices: Sequence[Fraction | None]) -> Fraction:
    return sum((price for price in prices if price is not None), Fraction(0))


def _least_factor(is_enough: Callable[[float], bool]) -> float | None:
    """About the least factor above 1 that is enough, rounded up; None where none is."""
    high = 2.0
    while not is_enough(high):
        high *= 2
        if high > MOST_FACTOR:
            return None
    low = high / 2
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _read_questions(questions: Sequence[Query]) -> list[Query]:
    listed = list(questions)
    if not listed:
        raise ParameterError("The report is empty. Give at least one question.")
    for question in listed:
        if not isinstance(question, Query):  # pyright: ignore[reportUnnecessaryIsInstance]
            kind = type(question).__name__
            raise ParameterError(f"This is {kind}, but must be a question, as .agg(…) makes it.")
        if question.table is not listed[0].table:
            raise ParameterError(
                "The questions are about two tables. A report is charged to one budget: plan each"
                " table by itself."
            )
    return listed


def _check_numbers(errors: "Sequence[Error | None]") -> None:
    relative = next((error for error in errors if isinstance(error, str)), None)
    if relative is not None:
        raise ParameterError(
            f"errors has {relative!r}, but a plan takes numbers, such as errors=[50]: what an error"
            " in percent costs depends on the answer, and a plan spends nothing to look. Ask that"
            f" question alone: .release(error={relative!r}, epsilon=1), for ε = 1 at most."
        )


def _for_each(given: Item | Sequence[Item], asked: Sequence[Query], *, name: str) -> list[Item]:
    """One for each question, from a list or from one for all."""
    if not isinstance(given, list | tuple):
        return [cast("Item", given)] * len(asked)
    listed = list(cast("Sequence[Item]", given))
    if len(listed) != len(asked):
        raise ParameterError(
            f"There are {len(asked)} questions and {len(listed)} {name}. Give one for each (None"
            " for no wish), or one for all."
        )
    return listed


def _larger(error: "Error", factor: float) -> "Error":
    if factor == 1:
        return error
    if isinstance(error, Mapping):
        return {name: float(part) * factor for name, part in error.items()}
    return float(error) * factor


def _show_error(error: float | None) -> str:
    return "? (give rows=)" if error is None else f"{error:,.4g}"
