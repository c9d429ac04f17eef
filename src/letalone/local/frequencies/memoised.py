"""Answers that are asked for again and again: RAPPOR's two levels of noise.

Each person flips the bits of their value once and keeps the result on their device: the memo. Every
report flips the bits of the memo again. Whoever averages many reports learns the memo and no more.

Theorem.  A bit survives the memo with probability t₁ = s₁/(1 + s₁), s₁² ≤ e^forever, the second
level with t₂, and both with s/(1 + s), s² ≤ e^once. One report is once-DP. All reports about one
unchanging value together are forever-DP, however many there are: m of them cost exactly
2 ln((t₁R + 1 − t₁)/((1 − t₁)R + t₁)) with R = (t₂/(1 − t₂))^m, at most m·once. A value that changes
needs a new memo and costs `forever` again.
  Proven:   docs/explanation/proofs/local_frequencies.md, section 9
  Tested:   the exact distributions of memo and report; what many reports reveal

A memo, which never leaves its device, and a report are rows of d bits.

Erlingsson, Pihur, Korolova: RAPPOR: randomized aggregatable privacy-preserving ordinal response
(2014).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from letalone.answers.estimate import Estimate
from letalone.errors import ParameterError
from letalone.exact.balls import Ball, ball, certain, upper
from letalone.exact.typed import COUNT, Number, write_rational
from letalone.local.frequencies.bit_rows import Bytes
from letalone.local.frequencies.oracle import BLOCK_CELLS
from letalone.local.frequencies.unary_encoding import UnaryEncoding
from letalone.local.ratios import LOCAL_EPSILON
from letalone.local.reports import Reports
from letalone.mechanisms.parameters import fill
from letalone.privacy import Privacy
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.chance import Chance, sample_bernoullis


@dataclass(frozen=True, slots=True, init=False)
class Rappor:
    """Reports about the same value again and again, at a total cost that does not grow.

    Parameters: `domain` is how many values there are, or a list of them; `forever` is the ε of all
    reports about one unchanging value together; `once` is that of one report, below `forever`.
    """

    kind: ClassVar[str] = "rappor"

    forever: UnaryEncoding
    once: UnaryEncoding

    def __init__(self, domain: int | Sequence[Hashable], *, forever: Number, once: Number) -> None:
        total, each = (
            LOCAL_EPSILON.typed(name, value)
            for name, value in (("forever", forever), ("once", once))
        )
        if each >= total:
            raise ParameterError(
                "once must be smaller than forever: one report reveals less than all of them."
            )
        memo = UnaryEncoding(domain, epsilon=total, symmetric=True)
        fill(self, forever=memo, once=UnaryEncoding(domain, epsilon=each, symmetric=True))

    @property
    def privacy(self) -> Privacy:
        """What all reports about one unchanging value reveal together."""
        return self.forever.privacy

    def epsilon_of(self, reports: int) -> float:
        """The ε of this many reports about one unchanging value, rounded up."""
        count, first = int(COUNT.typed("reports", reports)), self.forever.chances.held

        def cost() -> Ball:
            odds = (ball(self.kept) / ball(1 - self.kept)) ** count
            other = ball(1 - first) + ball(first) / odds
            return 2 * ((ball(first) + ball(1 - first) / odds) / other).log()

        return upper(certain(cost))

    @property
    def report_bytes(self) -> int:
        """A bit for each value."""
        return self.once.report_bytes

    @property
    def kept(self) -> Fraction:
        """The probability that a bit of the memo is reported as it is."""
        first, both = self.forever.chances.held, self.once.chances.held
        return (both + first - 1) / (2 * first - 1)

    def memoise(self, values: object, *, bits: BitSource = SYSTEM) -> Any:
        """The memo of each value: drawn once, and kept by its owner."""
        return self.forever.privatize(values, bits=bits)

    def privatize(self, memo: object, *, bits: BitSource = SYSTEM) -> Any:
        """A new report from each memo."""
        rows = np.asarray(self.forever.read(memo), np.uint8)
        reports = np.empty_like(rows)
        for start in range(0, len(rows), block := max(1, BLOCK_CELLS // self.once.size)):
            reports[start : start + block] = self._flip(rows[start : start + block], bits)
        return reports[0].tobytes() if isinstance(memo, bytes) else reports

    def estimate(self, reports: object, confidence: Number = 0.95) -> Estimate:
        """The share of each value, unbiased, from one report of each person."""
        return replace(self.once.estimate(reports, confidence), privacy=self.privacy)

    def variance(self, n: int, frequency: Number = 0) -> float:
        """The variance of an estimated share among n people, from one report of each."""
        return self.once.variance(n, frequency)

    def most_codes(self) -> None:
        """Reports are rows of bytes."""

    def is_report(self, rows: Reports) -> NDArray[np.bool_]:
        """Which of these rows of bytes are reports."""
        return self.once.is_report(rows)

    def describe(self) -> dict[str, object]:
        """All that a client needs: how a memo is drawn, and how likely a bit of it is kept."""
        memo, report = self.forever.describe(), self.once.describe()
        return {
            "kind": self.kind,
            "memo": memo,
            "kept": write_rational(self.kept),
            "report": report,
        }

    def _flip(self, rows: Bytes, bits: BitSource) -> Bytes:
        size = self.once.size
        flips = sample_bernoullis(Chance(1 - self.kept), len(rows) * size, bits)
        return rows ^ np.packbits(flips.reshape(-1, size), axis=1)
