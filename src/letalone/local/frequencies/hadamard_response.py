"""Hadamard response: one noisy bit about the value, and which bit it is.

H(j, x) is (−1) to the number of binary digits that j and x share. A person draws a row j of the
2^b rows evenly and reports j and H(j, x), the latter told truly with probability r/(1 + r).

Theorem.  The ratio is r ≤ e^ε. A report supports the values x with H(j, x) as reported: its own
with probability p = r/(1 + r), every other with 1/2. The variance is (1 − f²c²)/(n c²) with
c = (r − 1)/(r + 1): good for small ε only, but a report is short and estimates are quick.
  Proven:   docs/explanation/proofs/local_frequencies.md, section 6
  Tested:   the exact distribution over all reports; draws, with power; unbiasedness and coverage

A report is the whole number 2j + s, s being 0 for +1 and 1 for −1.

Cormode, Maddock, Maple: Frequency estimation under local differential privacy (2021).
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar, cast

import numpy as np

from letalone.local.frequencies.oracle import FrequencyOracle, SupportChances, Wholes
from letalone.local.reports import CodedReports, Reports
from letalone.local.shuffling.likelihoods import Patterns
from letalone.privacy import Privacy
from letalone.privacy.curves.finite import between
from letalone.randomness.bits import BitSource
from letalone.randomness.chance import Chance, sample_bernoullis
from letalone.randomness.uniform import sample_belows


@dataclass(frozen=True, slots=True, init=False, repr=False)
class HadamardResponse(CodedReports, FrequencyOracle):
    """Reports one noisy bit of a transform of the value: short reports for small ε.

    Parameters: `domain` is how many values there are, or a list of them; `epsilon` is what one
    report costs its owner.
    """

    kind: ClassVar[str] = "hadamard_response"

    @property
    def order(self) -> int:
        """How many rows the transform has: the next power of two."""
        return 1 << (self.size - 1).bit_length()

    @property
    def chances(self) -> SupportChances:
        """Half of all rows agree on two different values."""
        return SupportChances(self.ratio / (1 + self.ratio), Fraction(1, 2))

    def pair_curve(self) -> Privacy:
        """In half of the rows the two values agree; in the others one bit is told or denied."""
        truthful = self.chances.held / 2
        lied, same = Fraction(1, 2) - truthful, Fraction(1, 2)
        return between((truthful, lied, same), (lied, truthful, same))

    def randomise(self, indices: Wholes, bits: BitSource) -> Reports:
        """A row and a noisy sign for each value."""
        rows = sample_belows(self.order, indices.size, bits)
        signs = np.bitwise_count(rows & indices).astype(np.int64) & 1
        lies = sample_bernoullis(Chance(1 - self.chances.held), indices.size, bits)
        return 2 * rows + (signs ^ lies)

    def count(self, reports: Reports) -> Wholes:
        """How many reports agree with each value, by a fast transform."""
        signed = np.bincount(cast("Wholes", reports), minlength=2 * self.order).reshape(-1, 2)
        agreed_more = transform(signed[:, 0] - signed[:, 1])[: self.size]
        return (len(reports) + agreed_more) // 2

    def support_patterns(self, values: int) -> Patterns:
        """Up to three values have independent signs; each report has at least a lie's chance."""
        each = 2 * (1 - self.chances.held) / (1 << values)
        kinds: list[tuple[int, ...]] = list(product((0, 1), repeat=values))
        return dict.fromkeys(kinds, each)

    def most_codes(self) -> int:
        """A row and a sign."""
        return 2 * self.order


def transform(values: Wholes) -> Wholes:
    """The sums over j of values[j] H(j, x), for every x."""
    sums, half = values.copy(), 1
    while half < sums.size:
        pairs = sums.reshape(-1, 2, half)
        sums = np.stack((pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]), axis=1).reshape(-1)
        half *= 2
    return sums
