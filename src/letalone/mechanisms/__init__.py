"""How an answer gets its noise: the mechanisms."""

from letalone.mechanisms.above_threshold import AboveThreshold as AboveThreshold
from letalone.mechanisms.choosing import Exponential as Exponential
from letalone.mechanisms.choosing import PermuteAndFlip as PermuteAndFlip
from letalone.mechanisms.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
from letalone.mechanisms.gaussian import Gaussian as Gaussian
from letalone.mechanisms.geometric import Geometric as Geometric
from letalone.mechanisms.laplace import Laplace as Laplace
from letalone.mechanisms.randomized_response import RandomizedResponse as RandomizedResponse
from letalone.mechanisms.top_k import TopK as TopK

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
