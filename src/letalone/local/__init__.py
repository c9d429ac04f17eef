"""The local model: every answer is randomised before it leaves its owner's hands.

    import letalone as la
    drinks = la.local.SubsetSelection(["tea", "coffee", "water"], epsilon=1)
    reports = drinks.privatize(["tea"] * 60 + ["water"] * 40)  # in life: each person their own
    drinks.estimate(reports)

Nobody has to be trusted with an answer. The price is noise that grows with the number of people,
so a survey needs thousands of them.
"""

from letalone.local.biased import BiasedShares, project
from letalone.local.frequencies.choosing import OracleChoice, best
from letalone.local.frequencies.count_mean_sketch import CountMeanSketch
from letalone.local.frequencies.hadamard_response import HadamardResponse
from letalone.local.frequencies.heavy_hitters import FoundValues, HeavyHitters
from letalone.local.frequencies.k_ary_response import KaryResponse
from letalone.local.frequencies.local_hashing import LocalHashing
from letalone.local.frequencies.memoised import Rappor
from letalone.local.frequencies.oracle import FrequencyOracle
from letalone.local.frequencies.subset_selection import SubsetSelection
from letalone.local.frequencies.unary_encoding import UnaryEncoding
from letalone.local.numeric.numbers import Duchi, Hybrid, NumberOracle, Piecewise
from letalone.local.numeric.ranges import RangeAnswers, Ranges
from letalone.local.numeric.square_wave import SquareWave
from letalone.local.reports import from_bytes, from_json, to_bytes, to_json
from letalone.local.shuffling.shuffled_batch import ShuffledBatch
from letalone.local.surveys import Survey
from letalone.local.vectors.priv_unit import PrivUnit

__all__ = [
    "BiasedShares",
    "CountMeanSketch",
    "Duchi",
    "FoundValues",
    "FrequencyOracle",
    "HadamardResponse",
    "HeavyHitters",
    "Hybrid",
    "KaryResponse",
    "LocalHashing",
    "NumberOracle",
    "OracleChoice",
    "Piecewise",
    "PrivUnit",
    "RangeAnswers",
    "Ranges",
    "Rappor",
    "ShuffledBatch",
    "SquareWave",
    "SubsetSelection",
    "Survey",
    "UnaryEncoding",
    "best",
    "from_bytes",
    "from_json",
    "project",
    "to_bytes",
    "to_json",
]
