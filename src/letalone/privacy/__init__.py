"""What a release reveals: curves, how they compose, and what a budget is.

from letalone import privacy
privacy.GaussianDP(1).epsilon(delta=1e-5)        # 4.377…, rounded up
privacy.between([1/2, 1/2], [1/3, 2/3]).delta(0)  # 1/6, rounded up

What a curve can be made into is loaded with the package, the rest is fetched when it is first used;
a stored curve of another kind is looked for in `stored.LATER_CURVES`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from letalone.privacy.budget import Budget, warn_if_delta_is_large
from letalone.privacy.composition import Composed, compose
from letalone.privacy.conversions import convert
from letalone.privacy.curve import Privacy
from letalone.privacy.curves.approximate import ApproxDP, NoPrivacy, PureDP
from letalone.privacy.curves.discrete_gaussian_curve import DiscreteGaussianPrivacy
from letalone.privacy.curves.finite import Finite, FiniteGroup, between
from letalone.privacy.curves.gaussian_curve import GaussianDP
from letalone.privacy.curves.geometric_curve import GeometricPrivacy
from letalone.privacy.curves.grouped import Grouped
from letalone.privacy.curves.laplace_curve import LaplacePrivacy
from letalone.privacy.curves.renyi import ZCDP, RenyiDP
from letalone.privacy.curves.response_curve import RandomizedResponsePrivacy
from letalone.privacy.curves.sampled import Sampled, SampledGroup
from letalone.privacy.curves.shuffled import Shuffled, shuffled
from letalone.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours, Relation, unify
from letalone.privacy.stored import from_json

if TYPE_CHECKING:
    from letalone.privacy.bank import Shares as Shares
    from letalone.privacy.claims import Direction as Direction
    from letalone.privacy.claims import Verdict as Verdict
    from letalone.privacy.claims import loss_tail as loss_tail
    from letalone.privacy.claims import satisfies as satisfies
    from letalone.privacy.comparison import compare as compare
    from letalone.privacy.curves.bounded_range import BoundedRange as BoundedRange
    from letalone.privacy.filter_record import state_from_json as state_from_json
    from letalone.privacy.filter_record import state_to_json as state_to_json
    from letalone.privacy.filters import Filter as Filter
    from letalone.privacy.filters import FilterState as FilterState
    from letalone.privacy.filters import Odometer as Odometer
    from letalone.privacy.planning import noise_for as noise_for
    from letalone.privacy.planning import rate_for as rate_for
    from letalone.privacy.planning import steps_for as steps_for
    from letalone.privacy.theorems import OptimalComposition as OptimalComposition
    from letalone.privacy.theorems import advanced as advanced
    from letalone.privacy.theorems import basic as basic
    from letalone.privacy.theorems import optimal as optimal
    from letalone.privacy.theorems import optimal_of as optimal_of

_LATER = {  # and their public names
    "bank": "Shares",
    "claims": "Direction Verdict loss_tail satisfies",
    "comparison": "compare",
    "curves.bounded_range": "BoundedRange",
    "filter_record": "state_from_json state_to_json",
    "filters": "Filter FilterState Odometer",
    "planning": "noise_for rate_for steps_for",
    "theorems": "OptimalComposition advanced basic optimal optimal_of",
}
_HOMES = {name: file for file, names in _LATER.items() for name in names.split()}

__all__ = [
    "ADD_REMOVE",
    "REPLACE",
    "ZCDP",
    "ApproxDP",
    "BoundedRange",
    "Budget",
    "Composed",
    "Direction",
    "DiscreteGaussianPrivacy",
    "Filter",
    "FilterState",
    "Finite",
    "FiniteGroup",
    "GaussianDP",
    "GeometricPrivacy",
    "Grouped",
    "LaplacePrivacy",
    "Neighbours",
    "NoPrivacy",
    "Odometer",
    "OptimalComposition",
    "Privacy",
    "PureDP",
    "RandomizedResponsePrivacy",
    "Relation",
    "RenyiDP",
    "Sampled",
    "SampledGroup",
    "Shares",
    "Shuffled",
    "Verdict",
    "advanced",
    "basic",
    "between",
    "compare",
    "compose",
    "convert",
    "from_json",
    "loss_tail",
    "noise_for",
    "optimal",
    "optimal_of",
    "rate_for",
    "satisfies",
    "shuffled",
    "state_from_json",
    "state_to_json",
    "steps_for",
    "unify",
    "warn_if_delta_is_large",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'letalone.privacy' has no attribute {name!r}")
    return getattr(import_module(f"letalone.privacy.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
