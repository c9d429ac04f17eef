"""The sparse vector technique: which of many queries are above a threshold.

Every query moves by at most `sensitivity` between neighbours. The threshold gets noise
once, every query its own; True is answered where the noisy query is above the noisy
threshold, and the stream ends after `count` times True. However many times False is said
before, nothing more is paid.

Theorem.  With noise Laplace(sensitivity/ε₁) on the threshold and
Laplace(2·count·sensitivity/ε₂) on the queries, ε₁ = ε₂ = ε/2, the answers are (ε, 0)-DP,
also when queries are chosen after seeing answers. If all queries move in one direction
between neighbours (counts, add/remove), count·sensitivity/ε₂ does. Nothing sharper than
pure ε is claimed.
  Proven:   docs/explanation/proofs/above_threshold.md
  Tested:   the exact probabilities of all answers, by quadrature; published wrong variants
            break the same test
  Assumed:  the bits are uniform; an observer does not see how long it took

The noise is ideal: both sides of a comparison are real numbers of which as many bits are
drawn as the comparison needs. This is Algorithm 1 of Lyu, Su, Li: Understanding the sparse
vector technique for differential privacy (2017). The threshold's noise is not refreshed
after a True.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral

from letalone.exact.balls import ball, certain, upper
from letalone.exact.typed import CONFIDENCE, COUNT, FINITE, Number
from letalone.mechanisms.containers import private_entries
from letalone.mechanisms.parameters import SensitivityLike, about, fill, fill_choice
from letalone.mechanisms.values import read_float, read_integer
from letalone.privacy import Neighbours, Privacy, PureDP
from letalone.privacy.bounds import shown_above, six
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.draws import sampler
from letalone.randomness.lazy import LazyReal, is_above
from letalone.randomness.ziggurat import EXPONENTIAL

THRESHOLD = replace(FINITE, hint="It is compared with the values and is public.")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class AboveThreshold:
    """Says for each value whether it is above the threshold, until `count` are.

    Parameters: `epsilon` is what the whole stream costs. `sensitivity` is the most that one
    unit can move any one value. `threshold` is public. `count` is after how many times True
    the stream ends. `monotone=True` says that adding a unit can only raise values (counts):
    half the noise on them, for add/remove neighbours only.

    There is no `expected_error`: an answer is True or False, not a number with noise. `error`
    says how near to the threshold an answer may be wrong.
    """

    epsilon: Fraction
    sensitivity: Fraction
    threshold: Fraction
    count: int
    monotone: bool
    neighbours: Neighbours | None

    def __init__(
        self,
        *,
        epsilon: Number,
        sensitivity: SensitivityLike,
        threshold: Number,
        count: int = 1,
        monotone: bool = False,
    ) -> None:
        fill_choice(self, epsilon=epsilon, sensitivity=sensitivity, monotone=monotone)
        limit, times = THRESHOLD.typed("threshold", threshold), COUNT.typed("count", count)
        fill(self, threshold=limit, count=int(times))

    @property
    def threshold_scale(self) -> Fraction:
        """The scale of the noise that the threshold gets, once."""
        return 2 * self.sensitivity / self.epsilon

    @property
    def query_scale(self) -> Fraction:
        """The scale of the noise that every query gets."""
        width = self.sensitivity if self.monotone else 2 * self.sensitivity
        return 2 * self.count * width / self.epsilon

    @property
    def privacy(self) -> Privacy:
        """What the whole stream of answers reveals, however long it is."""
        return about(PureDP(self.epsilon), self.neighbours)

    def release(self, values: Iterable[float], *, bits: BitSource = SYSTEM) -> list[bool]:
        """The answers, in order; the last one is the `count`-th True, if there are so many."""
        return list(self.stream(values, bits=bits))

    def stream(self, values: Iterable[float], *, bits: BitSource = SYSTEM) -> Iterator[bool]:
        """The same, one by one, so that the next value may depend on the answers so far."""
        return self._answers(private_entries("The values", values, entry="a number each"), bits)

    def _answers(self, values: Iterator[float], bits: BitSource) -> Iterator[bool]:
        border = _laplace(self.threshold_scale, bits).plus(self.threshold)
        remaining = self.count
        for value in values:
            noisy = _laplace(self.query_scale, bits).plus(_exact(value))
            above = is_above(noisy, border, bits)
            remaining -= above
            yield above
            if remaining == 0:
                return

    def error(self, confidence: Number = 0.95, *, size: int = 1) -> float:
        """Of `size` values, True means above threshold − error and False below threshold + error.

        All answers are right in this sense at least this often; rounded up.
        """
        half = (1 - CONFIDENCE.typed("confidence", confidence)) / 2
        many = COUNT.typed("size", size)
        return upper(
            certain(
                lambda: (
                    -ball(self.threshold_scale) * ball(half).log()
                    - ball(self.query_scale) * ball(half / many).log()
                )
            )
        )

    def __repr__(self) -> str:
        return (
            f"AboveThreshold(ε = {six(self.epsilon)}, sensitivity {six(self.sensitivity)},"
            f" threshold {float(self.threshold):g}, ends after {self.count},"
            f" error {shown_above(self.error())} for one value at 95 %)"
        )


def _laplace(scale: Fraction, bits: BitSource) -> LazyReal:
    return sampler(EXPONENTIAL, bits.word_size).draw(bits).times(scale)


def _exact(value: object) -> Fraction:
    return Fraction(read_integer(value) if isinstance(value, Integral) else read_float(value))
