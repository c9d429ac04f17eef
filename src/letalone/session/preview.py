"""What an answer would cost and how far off it would be: no data touched, nothing spent.

Tested:   tests/session/test_no_data.py, test_preview.py
"""

from dataclasses import dataclass

from letalone.answers import views
from letalone.answers.release import SplitPart
from letalone.errors import ParameterError
from letalone.exact.typed import Number
from letalone.plans.query import Extreme, Plan, PrivateBounds, Quantiles, TopK
from letalone.privacy import Budget, Privacy
from letalone.session.outputs import slots_of
from letalone.session.releasing import Priced
from letalone.session.table import Left, Table

IN_ROWS = (Quantiles, Extreme, TopK, PrivateBounds)


@dataclass(frozen=True, slots=True, repr=False)
class Preview:
    """The price, its split, and the errors to expect; `errors` by aggregate.

    An error is the half-width of the interval to expect; None where it depends on how many rows
    a group has, which is private: give `rows=` to see it for that many. That of a quantile, a
    winner or a private bound is in rows.
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
    left: Left
    in_rows: frozenset[str] = frozenset()

    def __str__(self) -> str:
        price = f"{Budget(self.epsilon, self.delta)}, {self.privacy.neighbours}"
        lines = [
            f"Would cost {price}: {self.question}.",
            *(f"- {part}" for part in self.split),
            f"Errors to expect, at {100 * self.confidence:g} % confidence:",
            *(f"  {name:<12} {self._error(name)}" for name in self.errors),
            f"Nothing was spent. {self.left}",
        ]
        return views.flowing(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return views.lines_as_html(str(self))

    def _error(self, name: str) -> str:
        error = self.errors[name]
        if error is None:
            return "depends on how many rows there are: preview(…, rows=1000)"
        return f"± {error:,.4g}{' rows' if name in self.in_rows else ''}"


def preview_of(table: Table, question: Priced, *, rows: int | None = None) -> Preview:
    """The preview of a question at its price."""
    asked, whole = question.asked, question.whole
    plan = whole.plan
    return Preview(
        privacy=asked.privacy,
        epsilon=float(asked.epsilon),
        delta=float(asked.delta),
        confidence=float(asked.confidence),
        columns=_columns(plan),
        split=asked.split,
        errors={name: _error(question, name, rows) for name, _ in plan.aggregates},
        question=asked.question,
        notes=asked.notes,
        left=table.left(asked.privacy, delta=asked.delta),
        in_rows=frozenset(name for name, one in plan.aggregates if isinstance(one, IN_ROWS)),
    )


def _columns(plan: Plan) -> tuple[str, ...]:
    groups = tuple(group.name for group in plan.groups)
    return groups + tuple(name for slot in slots_of(plan) for name in slot.names)


def _error(question: Priced, name: str, rows: Number | None) -> float | None:
    try:
        return question.whole.expected_error(name, rows=rows)  # pyright: ignore[reportArgumentType]
    except ParameterError:
        if rows is not None:
            raise
        return None
