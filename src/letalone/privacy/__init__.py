"""What a release reveals: curves, how they compose, and what a budget is.

from letalone import privacy
privacy.GaussianDP(1).epsilon(delta=1e-5)        # 4.377…, rounded up
privacy.between([1/2, 1/2], [1/3, 2/3]).delta(0)  # 1/6, rounded up
"""

from letalone.privacy.approximate import ApproxDP, NoPrivacy, PureDP
from letalone.privacy.bank import Shares
from letalone.privacy.bounded_range import BoundedRange
from letalone.privacy.budget import Budget, warn_if_delta_is_large
from letalone.privacy.claims import Direction, Verdict, loss_tail, satisfies
from letalone.privacy.comparison import compare
from letalone.privacy.composition import Composed, compose
from letalone.privacy.conversions import convert
from letalone.privacy.curve import Privacy
from letalone.privacy.discrete_gaussian import DiscreteGaussianPrivacy
from letalone.privacy.filter_record import state_from_json, state_to_json
from letalone.privacy.filters import Filter, FilterState, Odometer
from letalone.privacy.finite import Finite, FiniteGroup, between
from letalone.privacy.gaussian import GaussianDP
from letalone.privacy.geometric import GeometricPrivacy
from letalone.privacy.grouped import Grouped
from letalone.privacy.laplace import LaplacePrivacy
from letalone.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours, Relation, unify

# Not public: only `learn` makes it, and `from_json` must know its kind.
from letalone.privacy.perturbed import PerturbedObjective as PerturbedObjective
from letalone.privacy.planning import noise_for, rate_for, steps_for
from letalone.privacy.randomized_response import RandomizedResponsePrivacy
from letalone.privacy.renyi import ZCDP, RenyiDP
from letalone.privacy.sampled import Sampled, SampledGroup
from letalone.privacy.shuffled import Shuffled, shuffled
from letalone.privacy.stored import from_json
from letalone.privacy.theorems import OptimalComposition, advanced, basic, optimal, optimal_of

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
