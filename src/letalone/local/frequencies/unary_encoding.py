"""Unary encoding: a bit for each value, each flipped on its own.

Theorem.  The bit of the true value is 1 with probability p, every other with q. The ratio is
p(1 − q)/(q(1 − p)).
  Optimised: p = 1/2, q = 1/(1 + r): the ratio is r ≤ e^ε, the variance near the smallest.
  Symmetric: p = s/(1 + s) = 1 − q with s² ≤ e^ε: the ratio is s². These are RAPPOR's reports.
  Proven:   docs/explanation/proofs/local_frequencies.md, section 5
  Tested:   the exact distribution over all rows; draws, with power; unbiasedness and coverage

A report is a row of d bits.

Wang, Blocki, Li, Jha: Locally differentially private protocols for frequency estimation (2017).
Erlingsson, Pihur, Korolova: RAPPOR (2014).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from letalone.exact.typed import Number, read_flag
from letalone.local.frequencies.bit_rows import Bytes, bytes_of_bits, count_columns, is_padded
from letalone.local.frequencies.oracle import BLOCK_CELLS, FrequencyOracle, SupportChances, Wholes
from letalone.local.ratios import ratio_below, read_epsilon, root_below
from letalone.local.reports import Reports
from letalone.local.shuffling.likelihoods import Patterns
from letalone.mechanisms.parameters import fill
from letalone.privacy import Privacy
from letalone.privacy.curves.finite import between
from letalone.randomness.bits import BitSource
from letalone.randomness.chance import Chance, sample_bernoullis


@dataclass(frozen=True, slots=True, init=False, repr=False)
class UnaryEncoding(FrequencyOracle):
    """Reports a bit for each value of the domain, each of them noisy.

    Parameters: `domain` is how many values there are, or a list of them; `epsilon` is what one
    report costs its owner; `symmetric` flips ones and zeros equally often, as RAPPOR does.
    """

    kind: ClassVar[str] = "unary_encoding"
    largest_domain: ClassVar[int] = 1 << 16

    symmetric: bool

    def __init__(
        self,
        domain: int | Sequence[Hashable],
        *,
        epsilon: Number,
        symmetric: bool = False,
    ) -> None:
        flag = read_flag("symmetric", symmetric)
        read = self.read_domain(domain)
        fill(self, domain=read, epsilon=read_epsilon(epsilon), symmetric=flag)

    @property
    def ratio(self) -> Fraction:
        """The largest likelihood ratio of a report, a rational at most e^ε."""
        return root_below(self.epsilon) ** 2 if self.symmetric else ratio_below(self.epsilon)

    @property
    def chances(self) -> SupportChances:
        """Of a one in the bit of the true value, and in any other."""
        if not self.symmetric:
            return SupportChances(Fraction(1, 2), 1 / (1 + self.ratio))
        root = root_below(self.epsilon)
        return SupportChances(root / (1 + root), 1 / (1 + root))

    @property
    def report_bytes(self) -> int:
        """A bit for each value."""
        return bytes_of_bits(self.size)

    def pair_curve(self) -> Privacy:
        """Both values' bits; all others are equally likely either way."""
        p, q = self.chances
        first, other = p * (1 - q), q * (1 - p)
        rest = 1 - first - other
        return between((first, other, rest), (other, first, rest))

    def randomise(self, indices: Wholes, bits: BitSource) -> Reports:
        """A noisy row of bits for each value."""
        rows = np.empty((indices.size, self.report_bytes), np.uint8)
        for start in range(0, indices.size, block := max(1, BLOCK_CELLS // self.size)):
            part = indices[start : start + block]
            rows[start : start + block] = flip_unary(part, self.size, self.chances, bits)
        return rows

    def count(self, reports: Reports) -> Wholes:
        """How many rows have each bit."""
        return count_columns(cast("Bytes", reports), self.size)

    def is_report(self, rows: Reports) -> NDArray[np.bool_]:
        """Rows with nothing behind the last bit."""
        return is_padded(cast("Bytes", rows), self.size)

    def support_patterns(self, values: int) -> Patterns:
        """Every row has at least the chance that it has with a 0 in the bit of the true value."""
        p, q = self.chances
        return {
            held: (1 - p) / (1 - q) * q ** sum(held) * (1 - q) ** (values - sum(held))
            for held in product((0, 1), repeat=values)
        }

    def parameters(self) -> dict[str, object]:
        """Which of the two."""
        return {"symmetric": self.symmetric}


def flip_unary(indices: Wholes, size: int, chances: SupportChances, bits: BitSource) -> Bytes:
    """Rows of bits: the bit of each index is 1 with the one chance, all others with the other."""
    flags = sample_bernoullis(Chance(chances.other), indices.size * size, bits)
    own_bits = np.arange(indices.size) * size + indices
    flags[own_bits] = sample_bernoullis(Chance(chances.held), indices.size, bits)
    return np.packbits(flags.reshape(-1, size), axis=1)
