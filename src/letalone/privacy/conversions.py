"""From one notion of privacy to another: each direction that is a theorem, and no other.

    convert(LaplacePrivacy(1), ZCDP)                  # rho = tanh(1/2), rounded up
    convert(GaussianDP(1), ApproxDP, delta=1e-6)      # the point of the curve at that delta

Theorem.  What is epsilon-DP is
  mu-GDP     for mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon)),
  rho-zCDP   for rho = epsilon tanh(epsilon / 2) <= epsilon^2 / 2,
and no smaller mu or rho will do. mu-GDP is (mu^2 / 2)-zCDP; rho-zCDP has the Renyi
divergence a rho at every order a, and a divergence at one order is one at every lower order.
There is no way from zCDP or Renyi DP to GDP, from one order to a higher one, from noise of
unbounded loss to pure DP, nor out of (epsilon, delta)-DP with a delta above 0.
  Proven:   docs/explanation/proofs/theorems.md, sections 3 to 5
  Tested:   against randomized response, which reaches each; every refusal

Bun, Steinke: Concentrated differential privacy (2016). Dong, Roth, Su: Gaussian
differential privacy (2022). Mironov: Renyi differential privacy (2017).
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from math import isinf

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.exact.balls import Ball, ball, certain
from letalone.exact.typed import EPSILON_OR_ZERO, Number
from letalone.privacy.approximate import ApproxDP
from letalone.privacy.bounded_range import BoundedRange
from letalone.privacy.bounds import ZERO, Bound, dyadic_above, is_zero
from letalone.privacy.composition import Composed
from letalone.privacy.curve import Privacy
from letalone.privacy.discrete_gaussian import DiscreteGaussianPrivacy
from letalone.privacy.gaussian import GaussianDP
from letalone.privacy.laplace import LaplacePrivacy
from letalone.privacy.pure import PureDP
from letalone.privacy.renyi import ORDER, RenyiDP, laplace_divergence, pure_divergence
from letalone.privacy.zcdp import ZCDP

# Beyond this, 2 Phi^-1 is taken from its bound mu^2 <= 8 epsilon (proof, section 5).
LARGE_EPSILON = 10**4


def convert(
    privacy: Privacy,
    to: type[Privacy],
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    order: Number | None = None,
) -> Privacy:
    """The best statement of another kind that follows; refused with the reason if none does."""
    read_curve(privacy, by="convert")
    if (to is not ApproxDP and not (delta is None and epsilon is None)) or (
        to is not RenyiDP and order is not None
    ):
        raise ParameterError("delta and epsilon belong to ApproxDP, and order to RenyiDP alone.")
    if to is ApproxDP:
        found: Privacy = _point(privacy, delta=delta, epsilon=epsilon)
    elif to is RenyiDP:
        found = _at_order(privacy, order)
    elif to in (PureDP, ZCDP, GaussianDP):
        found = _parametric(privacy, to)
    else:
        raise ParameterError(
            f"{getattr(to, '__name__', to)} is not a notion that others convert to. Those are: "
            "PureDP, ApproxDP, ZCDP, RenyiDP, GaussianDP."
        )
    return found.labelled(privacy.neighbours)


def read_curve(given: object, *, by: str) -> Privacy:
    """The curve that was given, or an error that says how to get one."""
    if isinstance(given, Privacy):
        return given
    remedy = "Give the .privacy of a mechanism, or a curve such as la.PureDP(0.1)."
    if isinstance(getattr(given, "privacy", None), Privacy):
        remedy = "Give its .privacy."
    raise ParameterError(
        f"{by} was given the type {type(given).__name__}, but takes a privacy curve. {remedy}"
    )


def _point(privacy: Privacy, *, delta: Number | None, epsilon: Number | None) -> ApproxDP:
    if (delta is None) == (epsilon is None):
        raise ParameterError("ApproxDP is one point of a curve: give one of delta and epsilon.")
    if epsilon is not None:
        at = EPSILON_OR_ZERO.typed("epsilon", epsilon)
        return ApproxDP(at, privacy.delta(at))
    found = privacy.epsilon(delta or 0)
    if isinf(found):
        raise UnsupportedQuery(
            f"At delta = {delta} no epsilon will do: the privacy loss has no bound, or is infinite "
            "with a larger probability than that. Choose a larger delta."
        )
    return ApproxDP(found, delta or 0)


def _at_order(privacy: Privacy, order: Number | None) -> RenyiDP:
    if order is None:
        raise ParameterError("RenyiDP needs an order, a number above 1, such as order=8.")
    number = ORDER.typed("order", order)
    found = divergence_of(privacy, number)
    if found is None:
        raise UnsupportedQuery(_no_way(privacy, f"a Renyi divergence of order {order}"))
    return RenyiDP(number, found)


def _parametric(privacy: Privacy, to: type[Privacy]) -> Privacy:
    if to is PureDP:
        found = pure_epsilon(privacy)
        if found is None:
            raise UnsupportedQuery(_no_way(privacy, "pure differential privacy"))
        return PureDP(found)
    if to is ZCDP:
        found = rho_of(privacy)
        if found is None:
            raise UnsupportedQuery(_no_way(privacy, "zCDP"))
        return ZCDP(found)
    found = mu_squared_of(privacy)
    if found is None:
        raise UnsupportedQuery(_no_way(privacy, "Gaussian differential privacy"))
    return GaussianDP(mu_squared=found)


def _no_way(privacy: Privacy, notion: str) -> str:
    name = type(privacy).__name__
    return (
        f"{name} does not give {notion}: {_reason(privacy)}. An (epsilon, delta) pair follows "
        "from every curve: convert to ApproxDP at a delta."
    )


def _reason(privacy: Privacy) -> str:
    if not is_zero(privacy.certain_leak()):
        return "with some probability it may show everything, and then the divergence is infinite"
    if isinstance(privacy, RenyiDP):
        return "one order says nothing about higher ones"
    if isinstance(privacy, ZCDP | DiscreteGaussianPrivacy):
        return "a bound on moments does not bound the whole trade-off curve, or the largest loss"
    return "its privacy loss has no bound, or no theorem with a proof leads there"


# What one curve is in the terms of each notion: a rational rounded up, None where nothing is.


def pure_epsilon(privacy: Privacy) -> Fraction | None:
    """The epsilon of pure DP."""
    worst = privacy.worst_loss()
    if worst is None or not is_zero(privacy.certain_leak()):
        return None
    return rational_above(worst)


def mu_squared_of(privacy: Privacy) -> Fraction | None:
    """The square of the mu of Gaussian DP."""
    if isinstance(privacy, Composed):
        return _added((mu_squared_of(part), count) for part, count in privacy.parts)
    if isinstance(privacy, GaussianDP):
        return privacy.mu_squared
    epsilon = pure_epsilon(privacy)
    return None if epsilon is None else pure_mu_squared(epsilon)


def rho_of(privacy: Privacy) -> Fraction | None:
    """The rho of zCDP."""
    match privacy:
        case Composed():
            return _added((rho_of(part), count) for part, count in privacy.parts)
        case ZCDP():
            return privacy.rho
        case GaussianDP() | DiscreteGaussianPrivacy():
            return privacy.as_zcdp().rho
        case _:
            epsilon = pure_epsilon(privacy)
            if epsilon is None:
                return None
            found = pure_rho(epsilon)
            return min(found, epsilon**2 / 8) if isinstance(privacy, BoundedRange) else found


def divergence_of(privacy: Privacy, order: Fraction) -> Fraction | None:
    """The Renyi divergence at an order."""
    match privacy:
        case Composed():
            return _added((divergence_of(part, order), count) for part, count in privacy.parts)
        case RenyiDP():
            return privacy.divergence if privacy.order >= order else None
        case LaplacePrivacy():
            return laplace_divergence(order, privacy.ratio)
        case _:
            rho, epsilon = rho_of(privacy), pure_epsilon(privacy)
            if rho is None or epsilon is None:
                return None if rho is None else order * rho
            return min(order * rho, pure_divergence(order, epsilon))


def _added(terms: Iterable[tuple[Fraction | None, int]]) -> Fraction | None:
    total = ZERO
    for amount, count in terms:
        if amount is None:
            return None
        total += count * amount
    return total


@lru_cache(maxsize=1024)
def pure_rho(epsilon: Fraction) -> Fraction:
    """epsilon tanh(epsilon / 2), rounded up to a dyadic rational; never above epsilon^2 / 2."""
    found = certain(lambda: ball(epsilon) * -ball(-epsilon).expm1() / (1 + ball(-epsilon).exp()))
    return min(epsilon**2 / 2, dyadic_above(found))


@lru_cache(maxsize=1024)
def pure_mu_squared(epsilon: Fraction) -> Fraction:
    """(2 Phi^-1(e^epsilon / (1 + e^epsilon)))^2, rounded up to a dyadic rational."""
    if epsilon > LARGE_EPSILON:
        return 8 * epsilon
    return dyadic_above(certain(lambda: _mu(epsilon) ** 2))


def _mu(epsilon: Fraction) -> Ball:
    # Phi^-1(1 - p) = sqrt 2 erfc^-1(2 p), for p = 1 / (1 + e^epsilon).
    return 2 * ball(2).sqrt() * (2 / (1 + ball(epsilon).exp())).erfcinv()


def rational_above(bound: Bound) -> Fraction:
    """A rational at or above a certified number."""
    return bound if isinstance(bound, Fraction) else dyadic_above(bound)
