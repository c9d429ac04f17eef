"""An audit as a picture: the errors of an attacker, what is claimed of them, what was seen.

An attacker who says "one" whenever the event happens errs in two ways: across, how often under
the other input; up, how often not under this one. A claim keeps every attacker above a curve.
The true errors lie in the shaded region with the confidence of the audit; where it lies below the
claimed curve as a whole, the claim is accused.

  Proven:   docs/explanation/proofs/audit.md, section 1 (the region), proofs/tradeoff.md (the curve)
  Tested:   tests/audit/test_picture.py
"""

from math import exp
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from letalone.answers.figure import empty_figure, written
from letalone.audit.bound import Counts, Floats, region

if TYPE_CHECKING:
    from letalone.audit.auditor import Audit

CLAIM, SEEN, FOUND = "#0072B2", "#D55E00", "#000000"  # Okabe and Ito
POINTS = 400
LARGEST = 700  # beyond, the exponential is no float, and the curve no different
SIZE = (6, 6.4)
LETTERS = 78  # of a line of the title


def draw(audit: "Audit", path: Path | str | None = None) -> Any:
    """The figure, written to a file where a path is given."""
    figure = empty_figure(path, figsize=SIZE)
    axes = figure.subplots()
    _draw_curves(axes, audit)
    _draw_region(axes, audit)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.set_xlabel("the event happens, though it was the other input")
    axes.set_ylabel("the event does not happen, though it was this one")
    axes.legend(loc="upper right", fontsize=8)
    figure.suptitle(fill(audit.in_words, LETTERS), fontsize=9)
    return written(figure, path)


def curve(across: Floats, *, epsilon: float, delta: float) -> Floats:
    """The least share of misses that (epsilon, delta) allows at each share of false alarms."""
    most = exp(min(epsilon, LARGEST))
    steep, flat = 1 - delta - most * across, (1 - delta - across) / most
    return np.maximum(np.maximum(steep, flat), 0)


def _draw_curves(axes: Any, audit: "Audit") -> None:
    across, delta = np.linspace(0, 1, POINTS), float(audit.claimed_delta)
    claimed = float(audit.claimed_epsilon)
    words = f"claimed: ε = {claimed:g}" + (f", δ = {delta:g}" if delta else "")
    axes.plot(across, curve(across, epsilon=claimed, delta=delta), color=CLAIM, label=words)
    seen = curve(across, epsilon=audit.lower, delta=delta)
    words = f"seen: ε is at least {int(audit.lower * 1000) / 1000:g}"
    axes.plot(across, seen, color=SEEN, linestyle="--", label=words)


def _draw_region(axes: Any, audit: "Audit") -> None:
    alarms, misses = errors_of(audit.counts, audit.confidence)
    words = f"the true errors, at {100 * audit.confidence:g} %"
    axes.fill_between(alarms, 0, misses, color=SEEN, alpha=0.25, linewidth=0, label=words)
    total = audit.counts.total
    at = audit.counts.seldom / total, 1 - audit.counts.often / total
    axes.plot(*at, marker="o", color=FOUND, linestyle="", label="as counted", clip_on=False)


def errors_of(counts: Counts, confidence: float) -> tuple[Floats, Floats]:
    """The edge of the region: shares of false alarms, and the most misses at each."""
    least, most = region(counts, confidence)
    alarms = np.concatenate([[0.0], most])
    misses = np.concatenate([[1 - least[0]], 1 - least])
    return alarms, misses
