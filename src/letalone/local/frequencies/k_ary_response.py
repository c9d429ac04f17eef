"""k-ary response: the value itself with probability p, else another one.

Theorem.  p = r/(r + d − 1) and q = 1/(r + d − 1) for each other value: the ratio is r ≤ e^ε.
Best for domains of up to about 3 e^ε + 2 values.
  Proven:   docs/explanation/proofs/local_frequencies.md, section 3
  Tested:   the exact distribution; draws, with power; unbiasedness and coverage

A report is a whole number: the place of the reported value in the domain.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, cast

import numpy as np

from letalone.local.frequencies.oracle import FrequencyOracle, SupportChances, Wholes
from letalone.local.reports import CodedReports, Reports
from letalone.local.shuffling.likelihoods import Patterns
from letalone.privacy import Privacy, RandomizedResponsePrivacy
from letalone.randomness.bits import BitSource
from letalone.randomness.chance import Chance, sample_bernoullis
from letalone.randomness.uniform import sample_belows


@dataclass(frozen=True, slots=True, init=False, repr=False)
class KaryResponse(CodedReports, FrequencyOracle):
    """Reports the value itself, or with a stated probability another value of the domain.

    Parameters: `domain` is how many values there are, or a list of them; `epsilon` is what one
    report costs its owner.
    """

    kind: ClassVar[str] = "k_ary_response"

    @property
    def chances(self) -> SupportChances:
        """The value itself, and one certain other value."""
        return k_ary_chances(self.ratio, self.size)

    def pair_curve(self) -> Privacy:
        """That of randomized response."""
        return RandomizedResponsePrivacy(truth=self.chances.held, categories=self.size)

    def randomise(self, indices: Wholes, bits: BitSource) -> Reports:
        """The index, or another one."""
        return answer_k_ary(indices, self.size, self.chances, bits)

    def count(self, reports: Reports) -> Wholes:
        """How often each index was reported."""
        return np.bincount(cast("Wholes", reports), minlength=self.size)

    def support_patterns(self, values: int) -> Patterns:
        """A report supports one value; each has at least the chance of a lie."""
        lie, some = self.chances.other, range(values)
        one_each = {tuple(int(x == y) for x in some): lie for y in some}
        return {**one_each, (0,) * values: (self.size - values) * lie}

    def most_codes(self) -> int:
        """Reports are indices."""
        return self.size


def k_ary_chances(ratio: Fraction, size: int) -> SupportChances:
    """The chance of the truth and of each lie."""
    return SupportChances(ratio / (ratio + size - 1), 1 / (ratio + size - 1))


def answer_k_ary(indices: Wholes, size: int, chances: SupportChances, bits: BitSource) -> Wholes:
    """Each index with the chance of the truth, else one of the others, all equally likely."""
    lies = np.flatnonzero(sample_bernoullis(Chance(1 - chances.held), indices.size, bits))
    others = indices[lies] + 1 + sample_belows(size - 1, lies.size, bits)
    reports = indices.copy()
    reports[lies] = np.where(others >= size, others - size, others)
    return reports
