"""A slider for ε beside a question: its price and its expected errors live, and a button that asks.

Everything that the browser gets is public: prices, previews (which touch no data and spend
nothing), and an answer once it is paid for. The browser sends two things: where the slider stands,
and that the button was pressed, with the price that stood on it. A price that is not the one shown
is refused, and an answer is asked for once: pressing again does nothing until the slider moves.

  Tested:   tests/notebook/test_epsilon_slider.py; tests/browser/test_epsilon_slider.py
"""

from enum import StrEnum
from pathlib import Path
from typing import Any, cast

import anywidget
import traitlets

from letalone.errors import LetaloneError, ParameterError
from letalone.exact.typed import Number
from letalone.privacy.budget import Budget
from letalone.session.query import Query
from letalone.session.release import Release

FOLDER = Path(__file__).parent
LEAST, MOST = 0.01, 10.0  # above 10 an answer promises hardly anything
STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)  # within a factor of ten
PRESSED = "pressed"  # the message that the button sends, with the price on it


class AskingState(StrEnum):
    """Where a question stands; only READY takes a press."""

    READY = "ready"
    ASKING = "asking"
    ANSWERED = "answered"
    REFUSED = "refused"


class EpsilonSlider(anywidget.AnyWidget):
    """A slider for ε: price and expected errors of a question, and a button that asks it once.

    `answer` is the Release once the button was pressed. `rows` is how many rows a group has, for
    the errors of means: a public number.
    """

    _esm = FOLDER / "epsilon_slider.js"
    _css = FOLDER / "epsilon_slider.css"

    epsilons = traitlets.List(traitlets.Float()).tag(sync=True)
    place = traitlets.Int().tag(sync=True)
    shown = traitlets.Dict().tag(sync=True)
    state = traitlets.Unicode(AskingState.READY.value).tag(sync=True)
    answered = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        question: Query,
        *,
        epsilon: float = 0.5,
        delta: Number = 0,
        confidence: Number = 0.95,
        rows: int | None = None,
    ) -> None:
        if not isinstance(cast("object", question), Query):
            raise ParameterError("A slider is for a question, as .agg(…) or .sql(…) makes it.")
        self.question, self.rows = question, rows
        self.price: dict[str, Any] = {"delta": delta, "confidence": confidence}
        self.answer: Release | None = None
        steps = epsilon_steps(epsilon, self._most())
        place = steps.index(epsilon)
        super().__init__(epsilons=steps, place=place, shown=self._preview(epsilon))
        cast("Any", self).on_msg(self._receive)

    @property
    def epsilon(self) -> float:
        """The ε at which the slider stands."""
        return self.epsilons[self.place]

    @traitlets.validate("place")
    def _stay_on_the_scale(self, proposal: Any) -> int:
        """What a browser sends is a place, whatever it is."""
        return max(0, min(len(self.epsilons) - 1, proposal["value"]))

    @traitlets.observe("place")
    def _show_price(self, _: object) -> None:
        if self.shown:  # else it is being made
            self.shown = self._preview(self.epsilon)
            self.state = AskingState.READY.value

    def _most(self) -> float:
        """The largest ε that makes sense: that of the budget, where there is one."""
        try:
            return min(MOST, float(self.question.table.standing().budget.epsilon))
        except LetaloneError:
            return MOST

    def _preview(self, epsilon: float) -> dict[str, Any]:
        """The price and the errors to expect, as words: no data touched, nothing spent."""
        priced = self.question.price_in_steps(epsilon, **self.price)
        preview = priced.preview(self.rows)
        return {
            "question": preview.question,
            "price": str(Budget(epsilon, self.price["delta"])),
            "errors": [[name, preview.error_text(name)] for name in preview.errors],
            "notes": [*filter(None, [preview.found_first]), *preview.warnings],
            "left": str(preview.left),
            "fits": priced.how_many_more() >= 1,
        }

    def _receive(self, _: object, content: object, __: object) -> None:
        """The button: asks if the price on it is the one that is shown, and not twice."""
        pressed = content.get(PRESSED) if isinstance(content, dict) else None  # pyright: ignore
        if pressed == self.shown["price"] and self.state == AskingState.READY:
            self._ask()

    def _ask(self) -> None:
        self.state, after = AskingState.ASKING.value, AskingState.REFUSED
        words = "The answer failed. The kernel's log says why; the ledger, whether it was charged."
        outcome = {"price": self.shown["price"], "html": "", "words": words}
        try:
            self.answer = self.question.release(self.epsilon, **self.price)
            self.shown = {**self.shown, "left": self._preview(self.epsilon)["left"]}
            after = AskingState.ANSWERED
            outcome |= {"html": cast("Any", self.answer)._repr_html_(), "words": ""}
        except LetaloneError as error:
            outcome["words"] = str(error)
        finally:
            self.answered, self.state = outcome, after.value


def epsilon_steps(asked: float, most: float) -> list[float]:
    """The places of the slider: round numbers up to the most, and the one that was asked for."""
    if not 0 < asked <= MOST:
        raise ParameterError(f"epsilon is {asked!r}, but a slider goes from above 0 to {MOST:g}.")
    powers = (10.0**power for power in range(-2, 2))
    steps = {float(f"{step * power:.3g}") for power in powers for step in STEPS}
    return sorted({step for step in steps if LEAST <= step <= most} | {asked})
