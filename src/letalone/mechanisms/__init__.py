"""How an answer gets its noise: the mechanisms."""

from letalone.mechanisms.above_threshold import AboveThreshold
from letalone.mechanisms.choosing import Exponential, PermuteAndFlip
from letalone.mechanisms.discrete_gaussian import DiscreteGaussian
from letalone.mechanisms.gaussian import Gaussian
from letalone.mechanisms.geometric import Geometric
from letalone.mechanisms.laplace import Laplace
from letalone.mechanisms.randomized_response import RandomizedResponse
from letalone.mechanisms.top_k import TopK

__all__ = [
    "AboveThreshold",
    "DiscreteGaussian",
    "Exponential",
    "Gaussian",
    "Geometric",
    "Laplace",
    "PermuteAndFlip",
    "RandomizedResponse",
    "TopK",
]
