"""Two counters: each holds half of every report, adds up, and adds noise before it tells.

Neither counter can read a report. Together they learn the noisy totals and how many reports were
valid. People need to trust that *one* of the two is honest; whoever runs the survey need not be.

  Theorem.  What a dishonest counter, all other people and the survey's owner see together is ε-DP
            for the answer of one person (REPLACE), or (ε, δ)-DP with a δ, if the other counter is
            honest. The difference of a yes/no total from the truth is the sum of two independent
            draws.
  Proven:   docs/explanation/proofs/split_reports.md, section 4
  Tested:   the noise of each counter alone follows the stated law; intervals cover; a report counts
            once
  Assumed:  the other counter does not collude, and it tells its total once
"""

import secrets
from bisect import bisect_left
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, isqrt

import numpy as np

from letalone.answers.estimate import Estimate
from letalone.errors import ParameterError
from letalone.exact.typed import CONFIDENCE, DELTA, EPSILON, Number
from letalone.local.split.circuits import Circuit, OneOption, WholeNumber
from letalone.local.split.fields import Vector
from letalone.local.split.prio3 import NONCE_SIZE, Check, InvalidReport, Prio3, Report
from letalone.local.split.streams import SEED_SIZE
from letalone.mechanisms.discrete_gaussian import DiscreteGaussian
from letalone.mechanisms.geometric import Geometric
from letalone.mechanisms.tails import discrete_gaussian_width
from letalone.privacy import Privacy
from letalone.randomness.bits import SYSTEM, BitSource

ROOT_TWO = Fraction(isqrt(2 << 120) + 1, 1 << 60)  # just above √2


@dataclass(frozen=True, slots=True)
class SplitReport:
    """A report with the nonce that names it: `report.shares[0]` goes to the first counter."""

    nonce: bytes
    report: Report


@dataclass(frozen=True, slots=True)
class TwoCounters:
    """A question for two counters: `YesNo()`, `OneOption(count)` or `WholeNumber(largest)`."""

    question: Circuit
    epsilon: Number
    delta: Number = 0
    survey: str = "survey"

    def __post_init__(self) -> None:
        EPSILON.typed("epsilon", self.epsilon)
        if self.delta:
            DELTA.typed("delta", self.delta)

    @property
    def noise(self) -> Geometric | DiscreteGaussian:
        """The noise that each counter adds, which alone keeps the promise."""
        if not self.delta:
            return Geometric(epsilon=self.epsilon, sensitivity=self._most_in_sum())
        return DiscreteGaussian(
            epsilon=self.epsilon,
            delta=self.delta,
            sensitivity=ROOT_TWO if isinstance(self.question, OneOption) else self._most_in_sum(),
            dimension=self.question.outputs,
        )

    @property
    def privacy(self) -> Privacy:
        return self.noise.privacy

    @property
    def prio3(self) -> Prio3:
        return Prio3(self.question, self.survey.encode())

    def report(self, answer: int) -> SplitReport:
        """The report of one person's answer, made on their own device."""
        nonce, random = secrets.token_bytes(NONCE_SIZE), secrets.token_bytes(self.prio3.random_size)
        return SplitReport(nonce, self.prio3.shard(answer, nonce, random))

    def counter(self, place: int, key: bytes) -> "Counter":
        """One of the two counters, 0 or 1; both have the same secret `key` of 32 bytes."""
        if place not in (0, 1) or len(key) != SEED_SIZE:
            raise ParameterError(f"place must be 0 or 1, and the key have {SEED_SIZE} bytes.")
        return Counter(self, place, key)

    def add_noise(self, total: Vector, *, bits: BitSource = SYSTEM) -> Vector:
        """A counter's share of the totals with its own noise, drawn anew: to be told once."""
        noise = self.noise.release(np.zeros(len(total), np.int64), bits=bits)
        modulus = self.question.field.modulus
        return [(part + int(draw)) % modulus for part, draw in zip(total, noise, strict=True)]

    def estimate(self, first: Vector, second: Vector, *, confidence: Number = 0.95) -> Estimate:
        """The totals, with intervals, from what the two counters told."""
        totals = self.prio3.add_up([first, second])
        values = np.array([self.question.field.signed(total) for total in totals], float)
        width = self._width(CONFIDENCE.typed("confidence", confidence))
        return Estimate(values, values - width, values + width, float(confidence), self.privacy)

    def _width(self, confidence: Fraction) -> int:
        """The sum of both draws stays within this with at least this probability."""
        noise = self.noise
        if isinstance(noise, Geometric):
            return _width_of_two_geometrics(float(noise.scale), float(1 - confidence))
        return discrete_gaussian_width(noise.sigma * ROOT_TWO, confidence, 1) + 1

    def _most_in_sum(self) -> int:
        if isinstance(self.question, OneOption):
            return 2  # one choice goes down, another up
        return self.question.largest if isinstance(self.question, WholeNumber) else 1


@dataclass(slots=True)
class Counter:
    """The state of one counter: reports under way, those that count, and whether it has told."""

    survey: TwoCounters
    place: int
    key: bytes = field(repr=False)
    total: Vector = field(init=False, repr=False)
    valid: int = field(default=0, init=False)
    _waiting: dict[bytes, Check] = field(default_factory=dict[bytes, Check], init=False, repr=False)
    _seen: set[bytes] = field(default_factory=set[bytes], init=False, repr=False)
    _told: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.total = self.survey.prio3.add_up([])

    def receive(self, nonce: bytes, public: bytes, share: bytes) -> bytes:
        """What to tell the other counter about a new report; each nonce is taken once."""
        self._check_open()
        if nonce in self._seen:
            raise InvalidReport("A report with this nonce was received before. It counts once.")
        check, message = self.survey.prio3.begin_check(self.key, self.place, nonce, public, share)
        self._seen.add(nonce)
        self._waiting[nonce] = check
        return message

    def finish(self, nonce: bytes, told: tuple[bytes, bytes]) -> None:
        """Counts a report if what both told, first counter first, shows that it is valid."""
        self._check_open()
        if nonce not in self._waiting:
            raise InvalidReport("No report with this nonce waits here.")
        check = self._waiting.pop(nonce)
        prio3 = self.survey.prio3
        share = prio3.finish_check(check, prio3.agree(told))
        self.total = prio3.add_up([self.total, share])
        self.valid += 1

    def tell(self, *, bits: BitSource = SYSTEM) -> Vector:
        """This counter's share of the totals, with its own noise; nothing counts afterwards."""
        self._check_open()
        self._told = True
        return self.survey.add_noise(self.total, bits=bits)

    def _check_open(self) -> None:
        if self._told:
            raise ParameterError(
                "This counter has told its total. A second draw of noise would tell more; take"
                " the first answer."
            )


def _width_of_two_geometrics(scale: float, miss: float) -> int:
    """The least t whose chance of being passed by the sum of two draws is at most `miss`.

    With a = e^(−1/scale), P[sum = n] = ((1−a)/(1+a))² aⁿ (n + (1+a²)/(1−a²)) for n ≥ 0.
    """
    a = exp(-1 / scale)
    level = (1 + a * a) / (1 - a * a)

    def passed(t: int) -> float:
        rest = (t + 1 + level) / (1 - a) + a / (1 - a) ** 2
        return 2 * ((1 - a) / (1 + a)) ** 2 * a ** (t + 1) * rest

    top = 1
    while passed(top) > miss:
        top *= 2
    return bisect_left(range(top + 1), True, key=lambda t: passed(t) <= miss)
