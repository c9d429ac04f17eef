"""What objective perturbation reveals: a Gaussian curve, from some epsilon on.

A sum of convex losses gets a strongly convex term and a random linear one, and its minimum is
published, with a little Gaussian noise for what the solver missed. When a row is added, the
privacy loss is at most
    max(floor, shift + Z_1, ..., shift + Z_m) + Y,
where Z_j ~ N(mu^2 / 2, mu^2), the m vertices of the row's gradients, and Y ~ N(r / 2, r) for
r = rest_squared, independent of them; when a row is removed, it is no more.

Theorem.  delta(e) <= m d(mu^2 + r, e - shift) + d(r, e - floor) for e >= floor, shift, where
d(s, .) is the curve of N(0, 1) against N(sqrt s, 1). From any point `start` on it, the curve of
ApproxDP holds below.
  Proven:   docs/explanation/proofs/convex.md, sections 2 to 4
  Tested:   tests/learn/test_objective.py, against the exact curve in one dimension; laws
"""

from fractions import Fraction
from typing import ClassVar

from letalone.errors import ParameterError
from letalone.exact import typed
from letalone.exact.typed import COUNT, EPSILON_OR_ZERO, Number, positive, zero_or_more
from letalone.privacy.bounds import ONE, ZERO, Bound, Bounds, as_ball, format_number, once, smaller
from letalone.privacy.curve import Json, Privacy, curve
from letalone.privacy.curves.approximate import pure_delta
from letalone.privacy.curves.envelopes import lowest_envelope
from letalone.privacy.curves.gaussian_curve import gaussian_delta
from letalone.privacy.curves.grouped import Grouped
from letalone.privacy.neighbours import Neighbours

SQUARE = positive("It is the square of (gradient bound / sigma); smaller means more private.")
REST = zero_or_more("It is what the noise for the solver's error reveals.")


@curve("perturbed_objective")
class PerturbedObjective(Privacy):
    """The curve of objective perturbation with Gaussian noise (see the module)."""

    exact: ClassVar[bool] = False
    mu_squared: Fraction
    rest_squared: Fraction
    vertices: int
    shift: Fraction
    floor: Fraction
    start: Fraction

    def __init__(
        self,
        mu_squared: Number,
        *,
        start: Number,
        rest_squared: Number = 0,
        vertices: Number = 1,
        shift: Number = 0,
        floor: Number = 0,
        neighbours: Neighbours | None = None,
    ) -> None:
        self.fill(
            neighbours,
            mu_squared=SQUARE.typed("mu_squared", mu_squared),
            rest_squared=REST.typed("rest_squared", rest_squared),
            vertices=int(COUNT.typed("vertices", vertices)),
            shift=EPSILON_OR_ZERO.typed("shift", shift),
            floor=EPSILON_OR_ZERO.typed("floor", floor),
            start=EPSILON_OR_ZERO.typed("start", start),
        )
        if self.start < max(self.shift, self.floor):
            raise ParameterError("start must be at least shift and floor.")

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        return Bounds(ZERO, self.upper_delta(epsilon))

    def upper_delta(self, epsilon: Fraction) -> Bound:
        """The theorem, and below `start` the better of it and of ApproxDP."""
        if epsilon >= self.start:
            return self._by_theorem(epsilon)
        below = self._below_start(epsilon)
        if epsilon < max(self.shift, self.floor):
            return below
        return smaller(below, self._by_theorem(epsilon))

    def _by_theorem(self, epsilon: Fraction) -> Bound:
        main = gaussian_delta(self.mu_squared + self.rest_squared, epsilon - self.shift)
        if self.rest_squared == 0:
            return smaller(ONE, once(lambda: self.vertices * main))
        rest = gaussian_delta(self.rest_squared, epsilon - self.floor)
        return smaller(ONE, once(lambda: self.vertices * main + rest))

    def _below_start(self, epsilon: Fraction) -> Bound:
        """The curve of whatever is (start, delta(start))-DP."""
        leak, rest = self._by_theorem(self.start), pure_delta(self.start, epsilon)
        if leak == ONE:
            return ONE
        return once(lambda: as_ball(leak) + (1 - as_ball(leak)) * as_ball(rest))

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """Between the envelope of the curve and a test that ignores the answer."""
        return Bounds(lowest_envelope(self, false_alarm), 1 - false_alarm)

    def for_group(self, size: int) -> Privacy:
        return Grouped(self, size)

    def parameters(self) -> Json:
        names = ("mu_squared", "rest_squared", "shift", "floor", "start")
        stored: Json = {name: typed.write_rational(getattr(self, name)) for name in names}
        return stored | {"vertices": str(self.vertices)}

    def described(self) -> str:
        extra = "" if self.vertices == 1 else f", vertices={self.vertices}"
        shift = "" if self.shift == 0 else f", shift={format_number(self.shift)}"
        return (
            f"mu=√{format_number(self.mu_squared)}{extra}{shift}, from"
            f" epsilon={format_number(self.start)}"
        )
