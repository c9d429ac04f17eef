"""From one notion of privacy to another: each direction that is a theorem, and no other.

    convert(LaplacePrivacy(1), ZCDP)                  # rho = tanh(1/2), rounded up
    convert(GaussianDP(1), ApproxDP, delta=1e-6)      # the point of the curve at that delta

Theorem.  What is epsilon-DP is mu-GDP and rho-zCDP as `pure_terms` says. mu-GDP is
(mu^2 / 2)-zCDP; rho-zCDP has the Renyi divergence a rho at every order a, and a divergence at
one order is one at every lower order. Each curve knows its own best terms (`Privacy.zcdp_rho`).
There is no way from zCDP or Renyi DP to GDP, from one order to a higher one, from noise of
unbounded loss to pure DP, nor out of (epsilon, delta)-DP with a delta above 0.
  Proven:   docs/explanation/proofs/theorems.md, sections 3 to 5
  Tested:   against randomized response, which reaches each; every refusal

Bun, Steinke: Concentrated differential privacy (2016). Dong, Roth, Su: Gaussian
differential privacy (2022). Mironov: Renyi differential privacy (2017).
"""

from collections.abc import Callable
from fractions import Fraction
from math import isinf

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.exact.typed import EPSILON_OR_ZERO, Number
from letalone.privacy.curve import Privacy
from letalone.privacy.curves.approximate import ApproxDP, PureDP
from letalone.privacy.curves.gaussian_curve import GaussianDP
from letalone.privacy.curves.renyi import ORDER, ZCDP, RenyiDP

Term = tuple[Fraction | None, Callable[[Fraction], Privacy], str]


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
        converted: Privacy = _point(privacy, delta=delta, epsilon=epsilon)
    elif to is RenyiDP:
        converted = _at_order(privacy, order)
    elif to in (PureDP, ZCDP, GaussianDP):
        parameter, make, name = terms_of(privacy)[to]
        if parameter is None:
            raise UnsupportedQuery(_no_way(privacy, name))
        converted = make(parameter)
    else:
        raise ParameterError(
            f"{getattr(to, '__name__', to)} is not a notion that others convert to. Those are: "
            "PureDP, ApproxDP, ZCDP, RenyiDP, GaussianDP."
        )
    return converted.labelled(privacy.neighbours)


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
    needed = privacy.epsilon(delta or 0)
    if isinf(needed):
        raise UnsupportedQuery(
            f"At delta = {delta} no epsilon will do: the privacy loss has no bound, or is infinite "
            "with a larger probability than that. Choose a larger delta."
        )
    return ApproxDP(needed, delta or 0)


def _at_order(privacy: Privacy, order: Number | None) -> RenyiDP:
    if order is None:
        raise ParameterError("RenyiDP needs an order, a number above 1, such as order=8.")
    number = ORDER.typed("order", order)
    divergence = privacy.renyi_divergence(number)
    if divergence is None:
        raise UnsupportedQuery(_no_way(privacy, f"a Renyi divergence of order {order}"))
    return RenyiDP(number, divergence)


def terms_of(privacy: Privacy) -> dict[type[Privacy], Term]:
    """The curve in the terms of each notion with one parameter, None where it has none."""
    return {
        PureDP: (privacy.pure_epsilon(), PureDP, "pure differential privacy"),
        ZCDP: (privacy.zcdp_rho(), ZCDP, "zCDP"),
        GaussianDP: (privacy.gdp_mu_squared(), _gaussian, "Gaussian differential privacy"),
    }


def _gaussian(mu_squared: Fraction) -> GaussianDP:
    return GaussianDP(mu_squared=mu_squared)


def _no_way(privacy: Privacy, notion: str) -> str:
    name = type(privacy).__name__
    return (
        f"{name} does not give {notion}: {privacy.why_not()}. An (epsilon, delta) pair follows "
        "from every curve: convert to ApproxDP at a delta."
    )
