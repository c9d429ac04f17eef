"""The theorems side by side: what each says of the same steps.

    print(compare(PureDP(0.1), 1000, 1e-6))

Every row is an upper bound on the same epsilon, rounded up; the least is the best that is
proven. Theorems that do not apply to a curve are left out, those that say nothing here are
listed with the reason. Theorems about pairs take the better of two ways to read one run as a
pair: its largest loss and leak, and the point of its curve at an equal part of half of delta.

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
from letalone.privacy.bounds import shown_above, six
from letalone.privacy.curve import Privacy
from letalone.privacy.curves.approximate import NoPrivacy
from letalone.privacy.curves.gaussian_curve import GaussianDP
from letalone.privacy.curves.renyi import ZCDP, RenyiDP
from letalone.privacy.theorems import MOST_ATOMS, advanced, basic, optimal

CHART_POINTS = 12
USED_UP = "the runs' own δ use up all of δ"
TOO_MANY = "too many runs to compute"
Pair = tuple[Fraction, Fraction]
Proof = tuple[float, str]  # an epsilon that is proven (inf: none), and what it rests on
Theorem = Callable[[int], Proof]  # of so many runs


@dataclass(frozen=True, slots=True)
class TheoremRow:
    """One theorem and the epsilon that it proves."""

    theorem: str
    epsilon: float
    says: str


@dataclass(frozen=True, slots=True)
class TheoremComparison:
    """What each theorem proves about `times` runs of one release, at `delta`."""

    privacy: Privacy
    times: int
    delta: Fraction
    lower: float
    rows: tuple[TheoremRow, ...]
    left_out: tuple[TheoremRow, ...] = ()

    def __str__(self) -> str:
        width = max(len(row.theorem) for row in (*self.rows, *self.left_out))
        lines = [f"{self.times} × {self.privacy.named()}, at δ = {six(self.delta)}"]
        lines += [
            f"  {row.theorem:<{width}}  ε = {shown_above(row.epsilon):<9}  {row.says}"
            for row in self.rows
        ]
        lines += [f"  {row.theorem:<{width}}  says nothing: {row.says}" for row in self.left_out]
        return "\n".join([*lines, f"  No proof can give less than ε = {self.lower:.4g}."])

    __repr__ = __str__

    def plot(self, path: Path | str) -> Path:
        """Draw epsilon over the number of runs, a curve for each theorem, into an .svg file."""
        from letalone.drawing import AxisKind, Chart, ChartAxis, Series, write_svg  # when drawn

        shares = (n / CHART_POINTS for n in range(CHART_POINTS + 1))
        counts = sorted({max(1, round(self.times**share)) for share in shares})
        across = tuple(float(count) for count in counts)
        curves = tuple(
            Series(name, across, tuple(proves(count)[0] for count in counts))
            for name, proves in theorems(self.privacy, self.delta)
        )
        title = f"What is proven of n × {self.privacy.named()}, at δ = {six(self.delta)}"
        axes = (ChartAxis("n runs", AxisKind.FACTORS), ChartAxis("ε", AxisKind.FACTORS))
        return write_svg(Chart(title, *axes, curves), path)


def compare(privacy: Privacy, times: Number, delta: Number) -> TheoremComparison:
    """What each composition theorem says of that many runs, at a delta above 0."""
    count, at = int(COUNT.typed("times", times)), POSITIVE_DELTA.typed("delta", delta)
    rows = [TheoremRow(name, *proves(count)) for name, proves in theorems(privacy, at)]
    lower = (privacy * count).epsilon_bounds(at)[0]
    rows.sort(key=lambda row: row.epsilon)
    known = tuple(row for row in rows if not isinf(row.epsilon) or row.theorem == "compose")
    silent = tuple(row for row in rows if row not in known)
    return TheoremComparison(privacy, count, at, lower, known, silent)


def theorems(privacy: Privacy, delta: Fraction) -> Iterator[tuple[str, Theorem]]:
    """The theorems that apply, each as a function of the number of runs."""
    yield "compose", lambda count: ((privacy * count).epsilon(delta), "the whole curve")
    if privacy.gdp_mu_squared() is not None:
        yield "Gaussian DP", partial(_by_gaussian_dp, privacy, delta)
    if privacy.zcdp_rho() is not None:
        yield "zCDP", partial(_by_zcdp, privacy, delta)
    if all(privacy.renyi_divergence(order) is not None for order in ORDERS):
        yield "Renyi DP", partial(_by_renyi, privacy, delta)
    yield "optimal", partial(_by_optimal, privacy, delta)
    yield "advanced", partial(_by_advanced, privacy, delta)
    yield "basic", partial(_by_basic, privacy, delta)


def _by_gaussian_dp(privacy: Privacy, delta: Fraction, count: int) -> Proof:
    total = GaussianDP(mu_squared=count * (privacy.gdp_mu_squared() or 1))
    return total.epsilon(delta), "mu^2 adds"


def _by_zcdp(privacy: Privacy, delta: Fraction, count: int) -> Proof:
    return ZCDP(count * (privacy.zcdp_rho() or 1)).epsilon(delta), "rho adds"


def _by_renyi(privacy: Privacy, delta: Fraction, count: int) -> Proof:
    totals = [(order, count * (privacy.renyi_divergence(order) or 1)) for order in ORDERS]
    epsilon = min(RenyiDP(order, total).epsilon(delta) for order, total in totals)
    return epsilon, f"the best of the orders {', '.join(str(order) for order in ORDERS)}"


def _by_optimal(privacy: Privacy, delta: Fraction, count: int) -> Proof:
    if count >= MOST_ATOMS:
        return inf, TOO_MANY
    pairs = _pairs(privacy, delta / 2, delta, count)
    return _best(lambda epsilon, leak: optimal(epsilon, leak, times=count), pairs, delta)


def _by_advanced(privacy: Privacy, delta: Fraction, count: int) -> Proof:
    def bound(epsilon: Fraction, leak: Fraction) -> Privacy:
        slack = delta - count * leak
        return advanced(epsilon, leak, times=count, slack=slack) if slack else NoPrivacy()

    return _best(bound, _pairs(privacy, delta / 2, delta, count), delta)


def _by_basic(privacy: Privacy, delta: Fraction, count: int) -> Proof:
    pairs = _pairs(privacy, delta, delta, count)
    return _best(lambda epsilon, leak: basic(epsilon, leak, times=count), pairs, delta)


def _best(
    bound: Callable[[Fraction, Fraction], Privacy], pairs: list[Pair], delta: Fraction
) -> Proof:
    """The least epsilon that a theorem proves from one of the pairs, and the pair."""
    proofs = [(bound(*pair).epsilon(delta) if pair[0] else 0.0, pair) for pair in pairs]
    epsilon, pair = min(proofs, default=(inf, None))
    if pair is None or isinf(epsilon):
        return inf, USED_UP
    return epsilon, f"from ε = {six(pair[0])}, δ = {six(pair[1])} a run"


def _pairs(privacy: Privacy, part: Fraction, delta: Fraction, count: int) -> list[Pair]:
    """One run as (epsilon, its delta): at its largest loss, and at an equal share of `part`."""
    worst, leak = privacy.worst_loss(), privacy.certain_leak()
    pairs: list[Pair] = []
    if isinstance(worst, Fraction) and isinstance(leak, Fraction) and count * leak <= delta:
        pairs.append((worst, leak))
    epsilon = privacy.epsilon(part / count)
    if not isinf(epsilon) and (worst is None or leak != 0):
        pairs.append((as_typed(epsilon), part / count))
    return pairs
