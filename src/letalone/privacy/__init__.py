"""What a release reveals: curves, how they compose, and what a budget is.

from letalone import privacy
privacy.GaussianDP(1).epsilon(delta=1e-5)        # 4.377…, rounded up
privacy.between([1/2, 1/2], [1/3, 2/3]).delta(0)  # 1/6, rounded up
"""

from letalone.privacy.approximate import ApproxDP, NoPrivacy
from letalone.privacy.bounded_range import BoundedRange
from letalone.privacy.budget import Budget, warn_if_delta_is_large
from letalone.privacy.claims import Direction, Verdict, loss_tail, satisfies
from letalone.privacy.composition import Composed, compose
from letalone.privacy.curve import Privacy
from letalone.privacy.discrete_gaussian import DiscreteGaussianPrivacy
from letalone.privacy.finite import Finite, FiniteGroup, between
from letalone.privacy.gaussian import GaussianDP
from letalone.privacy.geometric import GeometricPrivacy
from letalone.privacy.laplace import LaplacePrivacy
from letalone.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours, Relation, unify
from letalone.privacy.pure import PureDP
from letalone.privacy.randomized_response import RandomizedResponsePrivacy
from letalone.privacy.stored import from_json
from letalone.privacy.zcdp import ZCDP

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
    "Finite",
    "FiniteGroup",
    "GaussianDP",
    "GeometricPrivacy",
    "LaplacePrivacy",
    "Neighbours",
    "NoPrivacy",
    "Privacy",
    "PureDP",
    "RandomizedResponsePrivacy",
    "Relation",
    "Verdict",
    "between",
    "compose",
    "from_json",
    "loss_tail",
    "satisfies",
    "unify",
    "warn_if_delta_is_large",
]
