"""Frequency oracles: each person reports about their own value, and shares are estimated.

Each report *supports* some values of the domain. The holder of a value supports it with
probability p, anybody else with q < p, independently of each other.

Theorem.  With c of n reports supporting a value, (c/n − q)/(p − q) is an unbiased estimate of its
share f, with variance (f p(1−p) + (1−f) q(1−q)) / (n (p−q)²) among the people asked. Clopper and
Pearson's interval for c, mapped the same way, holds the share at its confidence.
  Proven:   docs/explanation/proofs/local_frequencies.md
  Tested:   by enumeration of small domains; simulated variance and coverage
  Assumed:  the bits are uniform; each person reports once, on their own
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from letalone.answers.estimate import Estimate
from letalone.errors import ParameterError, UnsupportedQuery
from letalone.exact.typed import CONFIDENCE, COUNT, PROBABILITY, Number, write_rational
from letalone.local.ratios import ratio_below, read_epsilon
from letalone.local.reports import Reports, read_reports
from letalone.local.shuffling.likelihoods import (
    LikelihoodAtoms,
    Patterns,
    atoms_under_blanket,
    atoms_under_first,
    atoms_under_second,
    atoms_under_third,
    lie_of_two,
)
from letalone.mechanisms.parameters import fill
from letalone.mechanisms.randomized_response import Categories, clopper_pearson
from letalone.privacy import REPLACE, Privacy
from letalone.privacy.bounds import six
from letalone.randomness.bits import SYSTEM, BitSource

Wholes = NDArray[np.int64]
BLOCK_CELLS = 1 << 20  # cells of a block: its arrays stay in the cache


class SupportChances(NamedTuple):
    """How likely a report supports a value, from its holder and from anybody else."""

    held: Fraction
    other: Fraction

    @property
    def contrast(self) -> Fraction:
        return self.held - self.other

    def variance(self, share: Fraction) -> Fraction:
        """Of an estimated share, for one report."""
        p, q = self
        return (share * p * (1 - p) + (1 - share) * q * (1 - q)) / self.contrast**2


@dataclass(frozen=True, slots=True, init=False, repr=False)
class FrequencyOracle(ABC):
    """What all frequency oracles share: a domain, an ε, and estimates from supports."""

    kind: ClassVar[str]
    largest_domain: ClassVar[int] = 1 << 20

    domain: Categories
    epsilon: Fraction

    def __init__(self, domain: int | Sequence[Hashable], *, epsilon: Number) -> None:
        fill(self, domain=self.read_domain(domain), epsilon=read_epsilon(epsilon))

    @classmethod
    def read_domain(cls, domain: int | Sequence[Hashable]) -> Categories:
        """The values that people can hold: a number of them, or a list of labels."""
        read = Categories.of(domain)
        if read.count > cls.largest_domain:
            raise ParameterError(
                f"The domain has {read.count} values, but {cls.__name__} takes at most"
                f" {cls.largest_domain}. Use la.local.CountMeanSketch or la.local.HeavyHitters."
            )
        return read

    @property
    def size(self) -> int:
        """How many values the domain has."""
        return self.domain.count

    @property
    def ratio(self) -> Fraction:
        """The largest likelihood ratio of a report, a rational at most e^ε."""
        return ratio_below(self.epsilon)

    @property
    def privacy(self) -> Privacy:
        """What one report reveals about its owner's value, exactly; neighbours are REPLACE."""
        return self.pair_curve().with_neighbours(REPLACE)

    @property
    @abstractmethod
    def chances(self) -> SupportChances:
        """How likely a report supports a value."""

    @property
    @abstractmethod
    def report_bytes(self) -> int:
        """How many bytes a report has."""

    @abstractmethod
    def pair_curve(self) -> Privacy:
        """The curve of the two values that a report tells apart best."""

    @abstractmethod
    def randomise(self, indices: Wholes, bits: BitSource) -> Reports:
        """A report for each index of a value."""

    @abstractmethod
    def count(self, reports: Reports) -> Wholes:
        """How many of the reports, which were read before, support each value."""

    def support_patterns(self, values: int) -> Patterns:
        """Which of two or three values a report supports, with its mass under the blanket.

        The blanket is what every report is at least as likely as, whatever its owner holds; a
        smaller one than the largest does no harm.
        """
        raise UnsupportedQuery(
            f"Shuffling of {values} values is not proven for {type(self).__name__}."
        )

    def blanket_atoms(self) -> LikelihoodAtoms:
        """The likelihoods of any two values, relative to the blanket."""
        return atoms_under_blanket(self.support_patterns(2), self.ratio)

    def crowds(self) -> tuple[LikelihoodAtoms, ...]:
        """The likelihoods of two values, relative to a third one's; of two, to either one's."""
        if self.size == 2:
            pair = self.support_patterns(2)
            return atoms_under_second(pair, self.ratio), atoms_under_first(pair, self.ratio)
        return (atoms_under_third(self.support_patterns(3), self.ratio),)

    def lie_of_two(self) -> Fraction | None:
        """The chance of a lie if there are two values and two reports, else None."""
        return lie_of_two(self.support_patterns(2), self.ratio) if self.size == 2 else None

    def privatize(self, values: object, *, bits: BitSource = SYSTEM) -> Any:
        """A report for each value; for a single value a single report.

        Many reports are an array. A single report is a whole number or bytes.
        """
        indices = self.domain.read(values)
        reports = self.randomise(indices.reshape(-1), bits)
        if indices.ndim:
            return reports
        return int(reports[0]) if reports.ndim == 1 else reports[0].tobytes()

    def estimate(self, reports: object, confidence: Number = 0.95) -> Estimate:
        """The share of each value of the domain, unbiased, each with its own interval.

        A value is not cut to [0, 1], which would bias it. The interval is.
        """
        read = self.read(reports)
        return self.estimate_counts(self.count(read), len(read), confidence)

    def estimate_counts(
        self,
        counts: Wholes,
        people: int,
        confidence: Number = 0.95,
        *,
        labels: tuple[Hashable, ...] | None = None,
    ) -> Estimate:
        """The same from how many of all reports support each value: such counts can be added.

        `labels` are what the counts belong to, if not to all values of the domain.
        """
        level = float(CONFIDENCE.typed("confidence", confidence))
        if people < 1:
            raise ParameterError("There are no reports to estimate from. Give one or more.")
        other, contrast = float(self.chances.other), float(self.chances.contrast)
        low, high = (
            np.clip((end - other) / contrast, 0.0, 1.0)
            for end in self.interval(counts, people, level)
        )
        value = (counts / people - other) / contrast
        names = self.domain.labels if labels is None else labels
        return Estimate(value, low, high, level, self.privacy, names)

    def interval(
        self, counts: Wholes, people: int, confidence: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For each count, where the mean chance of a support lies."""
        return clopper_pearson(counts, people, confidence)

    def variance(self, n: int, frequency: Number = 0) -> float:
        """The variance of an estimated share among n people, of whom this share hold the value."""
        share = PROBABILITY.typed("frequency", frequency)
        return float(self.chances.variance(share) / COUNT.typed("n", n))

    def read(self, reports: object) -> Reports:
        """The reports as an array, checked; one report may stand alone."""
        return read_reports(self, reports)

    def describe(self) -> dict[str, object]:
        """All that a client needs to make reports, as JSON values."""
        labels = self.domain.labels
        return {
            "kind": self.kind,
            "domain": self.size if labels is None else list(labels),
            "epsilon": write_rational(self.epsilon),
            "ratio": write_rational(self.ratio),
            **self.parameters(),
        }

    def parameters(self) -> dict[str, object]:
        """What a browser has to know beside the domain, the ε and the ratio."""
        return {}

    def most_codes(self) -> int | None:
        """Reports are whole numbers below this; None: rows of bytes."""
        return None

    def is_report(self, rows: Reports) -> NDArray[np.bool_]:
        """Which of these rows of bytes are reports of this oracle."""
        return np.ones(len(rows), np.bool_)

    def __repr__(self) -> str:
        extras = "".join(f", {name}={value}" for name, value in self.parameters().items())
        return (
            f"{type(self).__name__}({self.size} values, ε = {six(self.epsilon)}{extras},"
            f" {self.report_bytes} bytes a report, variance {self.variance(1):.4g}/n)"
        )
