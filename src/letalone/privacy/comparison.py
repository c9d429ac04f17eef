"""The theorems side by side: what each says of the same steps.

    print(compare(PureDP(0.1), 1000, 1e-6))

Every row is an upper bound on the same epsilon, rounded up; the least is the best that is
proven. Rows that do not apply to a curve are left out, `compose` never is.

  Proven:   docs/explanation/proofs/theorems.md
  Tested:   no row is below the certified lower bound; optimal is at most basic, advanced
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import inf, isinf
from pathlib import Path

from letalone.exact.typed import COUNT, POSITIVE_DELTA, Number, as_typed
from letalone.privacy.bank import ORDERS
from letalone.privacy.bounds import shown, shown_above
from letalone.privacy.chart import Axis, Curve, write_chart
from letalone.privacy.conversions import divergence_of, mu_squared_of, rho_of
from letalone.privacy.curve import Privacy
from letalone.privacy.gaussian import GaussianDP
from letalone.privacy.renyi import RenyiDP
from letalone.privacy.theorems import MOST_ATOMS, advanced, basic, optimal
from letalone.privacy.zcdp import ZCDP

LADDER = 12
Theorem = Callable[[int], float]


@dataclass(frozen=True, slots=True)
class Row:
    """One theorem and the epsilon that it proves."""

    theorem: str
    epsilon: float
    says: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What each theorem proves about `times` runs of one release, at `delta`."""

    privacy: Privacy
    times: int
    delta: Fraction
    lower: float
    rows: tuple[Row, ...]

    def __str__(self) -> str:
        width = max(len(row.theorem) for row in self.rows)
        lines = [f"{self.times} × {_name(self.privacy)}, at δ = {shown(self.delta)}"]
        lines += [
            f"  {row.theorem:<{width}}  ε = {shown_above(row.epsilon):<9}  {row.says}"
            for row in self.rows
        ]
        return "\n".join([*lines, f"  No proof can give less than ε = {self.lower:.4g}."])

    __repr__ = __str__

    def plot(self, path: Path | str) -> Path:
        """Draw epsilon over the number of runs, a curve for each theorem, into an .svg file."""
        counts = sorted({max(1, round(self.times ** (n / LADDER))) for n in range(LADDER + 1)})
        curves = [
            Curve(name, tuple((float(count), proves(count)) for count in counts))
            for name, proves, _ in theorems(self.privacy, self.delta)
        ]
        title = f"What is proven of n × {_name(self.privacy)}, at δ = {shown(self.delta)}"
        return write_chart(path, curves, title=title, across=Axis("n runs"), up=Axis("ε"))


def compare(privacy: Privacy, times: Number, delta: Number) -> Comparison:
    """What each composition theorem says of that many runs, at a delta above 0."""
    count, at = int(COUNT.typed("times", times)), POSITIVE_DELTA.typed("delta", delta)
    rows = [Row(name, proves(count), says) for name, proves, says in theorems(privacy, at)]
    lower = (privacy * count).epsilon_bounds(at)[0]
    known = [row for row in rows if not isinf(row.epsilon) or row.theorem == "compose"]
    return Comparison(privacy, count, at, lower, tuple(sorted(known, key=lambda row: row.epsilon)))


def theorems(privacy: Privacy, delta: Fraction) -> Iterator[tuple[str, Theorem, str]]:
    """The theorems that apply, each as a function of the number of runs."""
    yield "compose", lambda count: (privacy * count).epsilon(delta), "the whole curve"
    if mu_squared_of(privacy) is not None:
        yield "Gaussian DP", partial(_gaussian, privacy, delta), "mu^2 adds"
    if rho_of(privacy) is not None:
        yield "zCDP", partial(_concentrated, privacy, delta), "rho adds"
    if all(divergence_of(privacy, order) is not None for order in ORDERS):
        orders = ", ".join(str(order) for order in ORDERS)
        yield "Renyi DP", partial(_renyi, privacy, delta), f"the best of the orders {orders}"
    yield "optimal", partial(_optimal, privacy, delta), "from one (ε, δ) a run"
    yield "advanced", partial(_advanced, privacy, delta), "from one (ε, δ) a run"
    yield "basic", partial(_basic, privacy, delta), "ε and δ add"


def _gaussian(privacy: Privacy, delta: Fraction, count: int) -> float:
    return GaussianDP(mu_squared=count * (mu_squared_of(privacy) or 1)).epsilon(delta)


def _concentrated(privacy: Privacy, delta: Fraction, count: int) -> float:
    return ZCDP(count * (rho_of(privacy) or 1)).epsilon(delta)


def _renyi(privacy: Privacy, delta: Fraction, count: int) -> float:
    totals = [(order, count * (divergence_of(privacy, order) or 1)) for order in ORDERS]
    return min(RenyiDP(order, total).epsilon(delta) for order, total in totals)


def _optimal(privacy: Privacy, delta: Fraction, count: int) -> float:
    epsilon, leak = _one_run(privacy, delta / 2, count)
    if isinf(epsilon) or count >= MOST_ATOMS:
        return inf
    return optimal(epsilon, leak, times=count).epsilon(delta) if epsilon else 0.0


def _advanced(privacy: Privacy, delta: Fraction, count: int) -> float:
    epsilon, leak = _one_run(privacy, delta / 2, count)
    if isinf(epsilon) or not epsilon:
        return epsilon + 0.0
    return advanced(epsilon, leak, times=count, slack=delta - count * leak).epsilon(delta)


def _basic(privacy: Privacy, delta: Fraction, count: int) -> float:
    epsilon, leak = _one_run(privacy, delta, count)
    if isinf(epsilon) or not epsilon:
        return epsilon + 0.0
    return basic(epsilon, leak, times=count).epsilon(delta)


def _one_run(privacy: Privacy, delta: Fraction, count: int) -> tuple[float | Fraction, Fraction]:
    """One run as (epsilon, its delta), of which all runs together may use `delta`."""
    worst = privacy.worst_loss()
    if isinstance(worst, Fraction) and privacy.certain_leak() == 0:
        return worst, Fraction(0)
    found = privacy.epsilon(delta / count)
    return (found if isinf(found) else as_typed(found)), delta / count


def _name(privacy: Privacy) -> str:
    return f"{type(privacy).__name__}({privacy.described()})"
