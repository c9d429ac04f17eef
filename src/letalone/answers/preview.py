"""What an answer would cost and how far off it would be, as it is shown: nothing is computed here.

Tested:   tests/session/test_looking.py
"""

from dataclasses import dataclass, field
from math import inf, isfinite
from typing import TYPE_CHECKING

from letalone.answers import views
from letalone.answers.promise import as_sure
from letalone.answers.release import SplitPart
from letalone.privacy.budget import Budget
from letalone.privacy.curve import Privacy

if TYPE_CHECKING:
    from letalone.ledger.charging import RemainingBudget

WHOLE_DIGITS_FROM = 1000  # from here on without digits after the point


@dataclass(frozen=True, slots=True, repr=False)
class Preview:
    """The price, its split, and the errors to expect; `errors` by aggregate.

    An error is the half-width of the interval to expect; None where it depends on how many rows
    a group has, which is private: give `rows=` to see it for that many; `by_rows` has it for a
    few numbers of them. That of a quantile, a winner or a private bound is in rows. `alone` has
    the errors of those aggregates that would be at least twice as accurate if asked
    alone, at the same price. `warnings` say what is too noisy: because others need more of ε, or
    because a group may have too few rows. `found_first` says what is found before, at which price,
    and what the errors assume until then.
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
    left: "RemainingBudget | str"
    in_rows: frozenset[str] = frozenset()
    alone: dict[str, float] = field(default_factory=dict[str, float])
    warnings: tuple[str, ...] = ()
    formulas: frozenset[str] = frozenset()
    fitted: frozenset[str] = frozenset()
    by_rows: dict[str, dict[int, float]] = field(default_factory=dict[str, dict[int, float]])
    found_first: str = ""

    def __str__(self) -> str:
        errors = [f"  {name:<12} {self.error_text(name)}" for name in self.errors]
        heading = f"Errors to expect, at {as_sure(self.confidence)} confidence:"
        return views.flowing([*self._price_lines(), heading, *errors, *self._last_lines()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [[name, self.error_text(name)] for name in self.errors]
        head = ["", f"error to expect, at {as_sure(self.confidence)} confidence"]
        lines = [*self._price_lines(), *self._last_lines()]
        return views.grid_as_html([head, *rows], lines)

    def _price_lines(self) -> list[str]:
        price = f"{Budget(self.epsilon, self.delta)}, {self.privacy.neighbours}"
        return [f"Would cost {price}: {self.question}.", *(f"- {part}" for part in self.split)]

    def _last_lines(self) -> list[str]:
        warnings = [f"Warning: {words}." for words in self.warnings]
        first = [self.found_first] if self.found_first else []
        return [*first, *warnings, f"Nothing was spent. {self.left}"]

    def error_text(self, name: str) -> str:
        """The error to expect of one result, in words."""
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
