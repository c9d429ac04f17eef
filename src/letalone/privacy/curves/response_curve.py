"""What randomized response reveals of one answer among k categories.

The truth is told with probability t, each other category with s = (1 - t) / (k - 1).

Theorem.  With epsilon = ln(t / s): delta(x) = max(0, t - e^x s) for x >= 0, exactly, and the
trade-off curve is max(1 - e^epsilon a, 1 - (t - s) - a, e^-epsilon (1 - a)).
For t = e^epsilon / (e^epsilon + k - 1) this is epsilon-DP; Warner's coins (t = 3/4, k = 2)
have epsilon = ln 3, a real number that is not rational and is kept as such.
People answer independently: a group of n people is n answers.
  Proven:   docs/explanation/proofs/randomized_response.md
  Tested:   against an enumeration of events

Warner: Randomized response: a survey technique for eliminating evasive answer bias (1965).
"""

from fractions import Fraction

from letalone.errors import ParameterError
from letalone.exact.balls import Ball, ball, certain, is_positive
from letalone.exact.typed import EPSILON, Number, between_0_and_1, refusal, whole_from
from letalone.privacy.bounds import ZERO, Bound, Bounds, exactly, format_number, once
from letalone.privacy.curve import Json, Orders, Privacy, curve
from letalone.privacy.neighbours import Neighbours

CATEGORIES = whole_from(2)
TRUTH = between_0_and_1("It is the probability of a true answer.")


@curve("randomized_response")
class RandomizedResponsePrivacy(Privacy):
    """The curve of one randomized answer, from its epsilon or its rational truth probability."""

    categories: int
    stated_epsilon: Fraction | None
    truth: Fraction | None

    def __init__(
        self,
        epsilon: Number | None = None,
        *,
        truth: Number | None = None,
        categories: Number = 2,
        neighbours: Neighbours | None = None,
    ) -> None:
        if (epsilon is None) == (truth is None):
            raise ParameterError("Give exactly one of epsilon and truth.")
        count = int(CATEGORIES.typed("categories", categories))
        self.fill(
            neighbours,
            categories=count,
            stated_epsilon=None if epsilon is None else EPSILON.typed("epsilon", epsilon),
            truth=None if truth is None else _checked_truth(truth, count),
        )

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        """The one outcome that speaks for the input: its own category."""
        if self._beyond(epsilon):
            return exactly(ZERO)
        if self.truth is not None and epsilon == 0:
            return exactly(self.truth - (1 - self.truth) / (self.categories - 1))
        return exactly(certain(lambda: self.told() - ball(epsilon).exp() * self.other()))

    def _beyond(self, epsilon: Fraction) -> bool:
        if self.stated_epsilon is not None:
            return epsilon >= self.stated_epsilon
        # e^epsilon of a rational other than 0 is never rational, so the sign can be decided.
        return epsilon > 0 and is_positive(lambda: ball(epsilon).exp() - self.odds())

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """Three lines: for a loss of epsilon, of none, and of minus epsilon."""
        return exactly(once(lambda: self._missed(false_alarm)))

    def _missed(self, false_alarm: Fraction) -> Ball:
        odds, rate = self.odds(), ball(false_alarm)
        level = 1 - self.told() + self.other() - rate
        return (1 - odds * rate).max((1 - rate) / odds).max(level)

    def odds(self) -> Ball:
        """How much likelier the truth is than each other category: e^epsilon."""
        if self.truth is not None:
            return ball(self.truth * (self.categories - 1) / (1 - self.truth))
        return ball(self.stated_epsilon or ZERO).exp()

    def told(self) -> Ball:
        if self.truth is not None:
            return ball(self.truth)
        return 1 / (1 + (self.categories - 1) / self.odds())

    def other(self) -> Ball:
        return self.told() / self.odds()

    def worst_loss(self) -> Bound:
        if self.stated_epsilon is not None:
            return self.stated_epsilon
        return certain(lambda: self.odds().log())

    def for_group(self, size: int) -> Privacy:
        """The answers of that many people, each randomized on its own."""
        return self * size

    def make_losses(self) -> "Orders | None":
        from letalone.privacy.loss.atoms import answer_atoms

        truth, other = (float(certain(get).mid()) for get in (self.told, self.other))
        loss = float(certain(lambda: self.odds().log()).mid())
        return (answer_atoms(loss, truth, other, self.categories, self.stated_epsilon),)

    def parameters(self) -> Json:
        given = {"epsilon": self.stated_epsilon, "truth": self.truth}
        stored: Json = {name: str(value) for name, value in given.items() if value is not None}
        return {**stored, "categories": str(self.categories)}

    def described(self) -> str:
        if self.stated_epsilon is not None:
            return f"epsilon={format_number(self.stated_epsilon)}, categories={self.categories}"
        return f"truth={format_number(self.truth or ZERO)}, categories={self.categories}"


def _checked_truth(truth: Number, categories: int) -> Fraction:
    number = TRUTH.typed("truth", truth)
    if number * categories <= 1:
        hint = f"At 1 in {categories} or less the answer says nothing or the opposite."
        raise refusal("truth", truth, f"above 1/{categories}", hint)
    return number
