"""Explains what an ε promises to one person, on the page that every ε leads to.

Every number comes from the curve of (ε, δ) and is rounded up: how often a bet at even odds is
won, how many people a test with 5 % false alarms finds, by what factor one person changes how
likely any answer is, and the same for several people together.

  Proven:   docs/explanation/proofs/curves.md; groups: group.md
  Tested:   tests/curator/console/test_epsilon_page.py, against the formulas in 50 digits
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log10

from fastapi import Request, Response

from letalone.answers.promise import as_percent, at_most, best_guess, most_caught
from letalone.answers.trade_off import draw_trade_off
from letalone.curator.console.charts import figure
from letalone.curator.console.forms import number_typed, try_act
from letalone.curator.console.pages import console_routes, page
from letalone.curator.people.visitors import ANYBODY
from letalone.errors import ParameterError
from letalone.exact.balls import ball
from letalone.privacy import ApproxDP, NoPrivacy, Privacy, PureDP
from letalone.privacy.bounds import above, format_number, once, shown_above
from letalone.wire.bodies import UNSIGNED, exact

MAX_EPSILON = Fraction(1000)
MIN_SLIDER = Fraction(1, 1000)
HUGE, TEN = 20, Fraction("2.302585092994")  # below the logarithm of ten
MAX_DELTA = Fraction(1, 10)
EXAMPLES = tuple(Fraction(number) for number in ("0.1", "0.5", "1", "2", "8"))
GROUPS = (2, 4, 20)
ALARMS = (1, 5, 10, 25, 50)  # percent
MAX_SHOWN_LENGTH = 20
NUMBER = re.compile(UNSIGNED)
routes = console_routes()


@dataclass(frozen=True, slots=True)
class Meaning:
    """One (ε, δ), and what it promises."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    @property
    def privacy(self) -> Privacy:
        """The worst of all that keeps the promise."""
        pure = self.epsilon > 0 and self.delta == 0
        return PureDP(self.epsilon) if pure else ApproxDP(self.epsilon, self.delta)

    @property
    def name(self) -> str:
        more = f", δ = {format_number(self.delta)}" if self.delta else ""
        return f"ε = {format_number(self.epsilon)}{more}"

    @property
    def written(self) -> str:
        return format_number(self.epsilon)

    @property
    def slider(self) -> str:
        """Where a slider over powers of ten stands."""
        return f"{log10(max(self.epsilon, MIN_SLIDER)):.2f}"

    @property
    def guess(self) -> str:
        """How often a bet at even odds is won, at most."""
        return at_most(best_guess(self.privacy))

    @property
    def caught(self) -> str:
        """How many of those in the data a test with 5 % false alarms finds, at most."""
        return at_most(most_caught(self.privacy), "of those who are in")

    @property
    def guess_percent(self) -> str:
        return as_percent(best_guess(self.privacy))

    @property
    def caught_percent(self) -> str:
        return as_percent(most_caught(self.privacy))

    @property
    def factor(self) -> str:
        """e^ε, rounded up; a power of ten where it is huge."""
        if self.epsilon > HUGE:
            return f"10^{ceil(self.epsilon / TEN)}"
        return shown_above(above(once(lambda: ball(self.epsilon).exp())))

    def picture(self) -> str:
        """The trade-off curve, with some of its points as a table."""
        caught = [as_percent(most_caught(self.privacy, Fraction(alarm, 100))) for alarm in ALARMS]
        # Who guesses blindly finds as many as they alarm falsely.
        rows = [[f"{alarm} %"] * 2 + [share] for alarm, share in zip(ALARMS, caught, strict=True)]
        heads = ("false alarms", "found by guessing", "found at most")
        chart = draw_trade_off(self.privacy, name=self.name)
        caption = f"The trade-off at {self.name}. The dot: 5 % false alarms."
        return figure(chart, caption=caption, heads=heads, rows=rows)


@dataclass(frozen=True, slots=True)
class GroupPromise:
    """What the same promise says of several people at once."""

    people: int
    promise: str
    guess: str


def read(epsilon: str, delta: str) -> Meaning:
    """What was typed, or one that is usual where nothing was."""
    number = _number("ε", epsilon or "1")
    slack = _number("δ", delta or "0")
    if number > MAX_EPSILON:
        raise ParameterError(
            f"ε is {_short(epsilon)}, but here it must be at most {format_number(MAX_EPSILON)}."
            " Smaller means more private; 0.1 to 1 is usual for one question."
        )
    if slack > MAX_DELTA:
        raise ParameterError(
            f"δ is {_short(delta)}, but here it must be at most {format_number(MAX_DELTA)}."
            " It belongs far below 1 divided by the number of people: 1e-6 is usual, and 0 is best."
        )
    return Meaning(number, slack)


def examples() -> list[Meaning]:
    """A few that are common, without δ."""
    return [Meaning(epsilon) for epsilon in EXAMPLES]


def group_promises(meaning: Meaning, sizes: Sequence[int] = GROUPS) -> list[GroupPromise]:
    """Families, or one person with so many rows where the rows are what is protected."""
    return [_group_promise(size, meaning.privacy.group(size)) for size in sizes]


def _group_promise(size: int, curve: Privacy) -> GroupPromise:
    guess = best_guess(curve)
    return GroupPromise(size, _promise(curve), as_percent(guess) if guess < 1 else "no limit")


def _promise(curve: Privacy) -> str:
    if isinstance(curve, NoPrivacy):
        return "none"
    leak = above(curve.certain_leak())
    more = f", δ = {shown_above(leak)}" if leak else ""
    return f"ε = {shown_above(curve.epsilon(leak))}{more}"


def _number(name: str, typed: str) -> Fraction:
    if not NUMBER.fullmatch(typed):
        raise ParameterError(f"{name} is {_short(typed)!r}, but must be a number such as 0.5.")
    return exact(typed)


def _short(typed: str) -> str:
    return typed if len(typed) <= MAX_SHOWN_LENGTH else f"{typed[:MAX_SHOWN_LENGTH]}…"


@routes.get("/epsilon", dependencies=[ANYBODY])
def epsilon(request: Request, epsilon: str = "", delta: str = "") -> Response:
    """What an ε, and a δ, promise; anybody may look."""

    def show(meaning: Meaning) -> Response:
        groups = group_promises(meaning)
        return page(request, "epsilon.html", meaning=meaning, examples=examples(), together=groups)

    return try_act(
        request,
        lambda: show(read(number_typed(epsilon.strip()), number_typed(delta.strip()))),
        lambda: show(Meaning(Fraction(1))),
    )
