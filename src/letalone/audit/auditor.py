"""Auditing a mechanism from outside: a lower bound on its epsilon, from its outputs alone.

The mechanism is run `samples` times on each of two neighbouring inputs. The first half of
the draws chooses an event and a direction; the second half counts how often it happens
and bounds epsilon from below.

Theorem.  `lower` is above the mechanism's true epsilon, at the claimed delta and for these
two inputs, with probability at most 1 − confidence, whatever the mechanism is. So a true
claim is accused with at most that probability.
  Proven:   docs/explanation/proofs/audit.md
  Tested:   false accusations over seeds; the bound's coverage by exact sums; broken
            mechanisms are accused
  Assumed:  the draws are independent of each other; Arb is correct

CONSISTENT is not a proof: other neighbours, rarer events and other draws may tell more.
What epsilon is *at most*, `mechanism.privacy` says, by proof.

Jagielski, Ullman, Oprea: Auditing differentially private machine learning (2020).

The picture has the errors of an attacker, what is claimed of them and what was seen.
An attacker who says "one" whenever the event happens errs in two ways: across, how often under
the other input; up, how often not under this one. A claim keeps every attacker above a curve.
The true errors lie in the shaded region with the confidence of the audit; where it lies below the
claimed curve as a whole, the claim is accused.

  Proven:   docs/explanation/proofs/audit.md, section 1 (the region), proofs/tradeoff.md (the curve)
  Tested:   tests/audit/test_picture.py
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import exp
from pathlib import Path
from typing import Any

import numpy as np

from letalone.audit.bound import Floats, HitCounts, epsilon_below, region
from letalone.audit.draws import Source, source_of
from letalone.audit.events import Event, best_event
from letalone.audit.outputs import Raw, layout_of, raise_if_all_failed, read
from letalone.drawing import (
    Chart,
    ChartAxis,
    ChartMark,
    Series,
    SeriesStyle,
    plot,
    to_html,
)
from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, DELTA, EPSILON_OR_ZERO, Number, between_0_and_1, whole_from
from letalone.randomness.bits import BitSource

SAMPLES = whole_from(
    100, "It is the number of draws on each input; half of them choose an event, half judge."
)
CONFIDENCE = between_0_and_1(
    "0.95 means: of 100 audits of honest mechanisms at most 5 accuse, on average."
)
CURVE_POINTS = 400
MAX_EXPONENT = 700  # beyond, the exponential is no float, and the curve no different


class AuditVerdict(Enum):
    """What an audit concludes about a claim."""

    CONSISTENT = "consistent"
    ACCUSED = "accused"


def verdict_on(claimed: Fraction, lower: float) -> AuditVerdict:
    """ACCUSED if the certified lower bound is above the claim."""
    return AuditVerdict.ACCUSED if Fraction(lower) > claimed else AuditVerdict.CONSISTENT


def read_claim(
    epsilon: Number, delta: Number, confidence: Number
) -> tuple[Fraction, Fraction, Fraction]:
    """The ε and δ that are claimed, and how often an audit may accuse wrongly."""
    return (
        EPSILON_OR_ZERO.typed("claimed_epsilon", epsilon),
        DELTA.typed("claimed_delta", delta),
        1 - CONFIDENCE.typed("confidence", confidence),
    )


@dataclass(frozen=True, slots=True, repr=False)
class Audit:
    """What was found out: epsilon is at least `lower`, unless the draws misled."""

    lower: float
    event: str
    counts: HitCounts
    claimed_epsilon: Fraction
    claimed_delta: Fraction
    samples: int
    confidence: float

    @property
    def verdict(self) -> AuditVerdict:
        return verdict_on(self.claimed_epsilon, self.lower)

    @property
    def in_words(self) -> str:
        """The verdict in a sentence or two."""
        bound = _rounded_down(self.lower)
        sure = f"{100 * self.confidence:g} % confidence"
        if self.verdict is AuditVerdict.ACCUSED:
            return (
                f"ACCUSED: ε is at least {bound} with {sure}, more than the claimed"
                f" {float(self.claimed_epsilon):g}."
            )
        return (
            f"CONSISTENT with the claim of {float(self.claimed_epsilon):g}: ε is at least {bound}"
            f" with {sure}. This is not a proof; other inputs or rarer events may tell more."
        )

    def plot(self, path: Path | str | None = None) -> Any:
        """A picture: an attacker's errors against the claimed curve; to a file if one is named."""
        return plot(draw_audit(self), path)

    def _repr_html_(self) -> str:
        return to_html(draw_audit(self))

    def to_json(self) -> dict[str, object]:
        """All of it, by name; the bound is rounded down."""
        return {
            "verdict": self.verdict.value,
            "lower": self.lower,
            "claimed_epsilon": float(self.claimed_epsilon),
            "claimed_delta": float(self.claimed_delta),
            "confidence": self.confidence,
            "event": self.event,
            "often": self.counts.often,
            "seldom": self.counts.seldom,
            "judged": self.counts.total,
            "samples": self.samples,
        }

    def __repr__(self) -> str:
        delta = f", δ = {float(self.claimed_delta):g}" if self.claimed_delta else ""
        often, seldom = (f"{hits:,}" for hits in (self.counts.often, self.counts.seldom))
        return (
            f"Audit({self.verdict.value}: ε ≥ {_rounded_down(self.lower)} at"
            f" {100 * self.confidence:g} % confidence, claimed ε ="
            f" {float(self.claimed_epsilon):g}{delta}; {self.event}: {often} against {seldom}"
            f" of {self.counts.total:,} draws each)"
        )


def audit(
    mechanism: Any,
    one: object,
    other: object,
    *,
    claimed_epsilon: Number,
    claimed_delta: Number = 0,
    samples: int = 100_000,
    confidence: Number = 0.95,
    many: bool = False,
    bits: BitSource | None = None,
) -> Audit:
    """Whether a mechanism's outputs on two neighbouring inputs contradict its claim.

    `mechanism` is a function of an input, or has a method `release`; with `many=True` it is
    a function of an input and a count that returns so many independent outputs. `samples`
    are drawn on each input. `bits`, if given, is passed on to the mechanism.
    """
    epsilon, delta, miss = read_claim(claimed_epsilon, claimed_delta, confidence)
    count = int(SAMPLES.typed("samples", samples))
    event, counts = judge(source_of(mechanism, many=many, bits=bits), one, other, count, delta)
    return Audit(
        lower=epsilon_below(counts, delta=delta, miss=miss),
        event=str(event),
        counts=counts,
        claimed_epsilon=epsilon,
        claimed_delta=delta,
        samples=count,
        confidence=float(1 - miss),
    )


def confidence_of_each(tests: int, confidence: Number = 0.95) -> Fraction:
    """The confidence that each of several audits needs for all to be right this often."""
    miss = 1 - CONFIDENCE.typed("confidence", confidence)
    return 1 - miss / COUNT.typed("tests", tests)


def judge(
    draw: Source, one: object, other: object, samples: int, delta: Fraction
) -> tuple[Event, HitCounts]:
    """An event chosen on the first half of the draws, and its counts in the second."""
    return judge_pairs(lambda count: (draw(one, count), draw(other, count)), samples, delta)


def judge_pairs(
    draw: Callable[[int], tuple[Raw, Raw]], samples: int, delta: Fraction
) -> tuple[Event, HitCounts]:
    """The same, for so many draws on both inputs at once, in whatever order."""
    first = samples // 2
    raw = draw(first)
    if all(output is None for part in raw for output in part):
        raise ParameterError("The mechanism returned None every time: let it return its answer.")
    raise_if_all_failed(output for part in raw for output in part)
    layout = layout_of(*raw)
    _, event = best_event(*(read(part, layout) for part in raw), delta=delta)
    judges = draw(samples - first)
    return event, event.counts(*(read(part, layout) for part in judges))


def _rounded_down(number: float) -> str:
    return f"{int(number * 10_000) / 10_000:.4f}"


def draw_audit(audit: Audit) -> Chart:
    """The claimed curve, the one that was seen, and the region of the true errors."""
    total = audit.counts.total
    shares = tuple(step / CURVE_POINTS for step in range(CURVE_POINTS + 1))
    alarms, misses = errors_of(audit.counts, audit.confidence)
    counted = audit.counts.seldom / total, 1 - audit.counts.often / total
    words = f"the true errors, at {100 * audit.confidence:g} %"
    region = Series(words, tuple(alarms.tolist()), tuple(misses.tolist()), SeriesStyle.REGION)
    return Chart(
        audit.in_words,
        ChartAxis("the event happens, though it was the other input", ends=(0.0, 1.0)),
        ChartAxis("the event does not happen, though it was this one", ends=(0.0, 1.0)),
        (*_curves(audit, shares), region),
        (ChartMark(*counted, "as counted"),),
        square=True,
    )


def curve(across: Floats, *, epsilon: float, delta: float) -> Floats:
    """The least share of misses that (epsilon, delta) allows at each share of false alarms."""
    ratio = exp(min(epsilon, MAX_EXPONENT))
    steep, flat = 1 - delta - ratio * across, (1 - delta - across) / ratio
    return np.maximum(np.maximum(steep, flat), 0)


def _curves(audit: Audit, shares: tuple[float, ...]) -> tuple[Series, Series]:
    claimed, delta = float(audit.claimed_epsilon), float(audit.claimed_delta)
    words = f"claimed: ε = {claimed:g}" + (f", δ = {delta:g}" if delta else "")
    seen = f"seen: ε is at least {int(audit.lower * 1000) / 1000:g}"
    ups = [
        tuple(curve(np.array(shares), epsilon=epsilon, delta=delta).tolist())
        for epsilon in (claimed, audit.lower)
    ]
    return Series(words, shares, ups[0]), Series(seen, shares, ups[1])


def errors_of(counts: HitCounts, confidence: float) -> tuple[Floats, Floats]:
    """The edge of the region: shares of false alarms, and the most misses at each."""
    least, highest = region(counts, confidence)
    alarms = np.concatenate([[0.0], highest])
    misses = np.concatenate([[1 - least[0]], 1 - least])
    return alarms, misses
