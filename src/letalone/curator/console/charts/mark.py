"""One number of an answer as it is drawn: where it is, between which ends, and both in words.

The ends and the words are those of the table beside the chart: what is drawn is what is written.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite


@dataclass(frozen=True, slots=True)
class ChartMark:
    """A number, the range in which the exact one probably is, and both in words."""

    estimate: float | None
    ends: tuple[float, float] | None
    words: str

    def places(self) -> list[float]:
        """What an axis must hold."""
        return [] if self.estimate is None else [self.estimate, *(self.ends or ())]


def make_mark(
    estimate: float | None, low: float | None, high: float | None, words: str
) -> ChartMark:
    """A number with its range; what is not finite is not there, and has no range."""
    if estimate is None or not isfinite(estimate):
        return ChartMark(None, None, words)
    if low is None or high is None or not isfinite(low) or not isfinite(high):
        return ChartMark(estimate, None, words)
    return ChartMark(estimate, (low, high), words)


def about_ranges(marks: Iterable[ChartMark], line: str, confidence: str) -> str:
    """What the lines over a chart are, and what it means where there is none."""
    known = [mark for mark in marks if mark.estimate is not None]
    words = ""
    if any(mark.ends is not None for mark in known):
        words += f" {line} is the range that holds the exact number {confidence} of the time."
    if any(mark.ends is None for mark in known):
        words += " Where there is no line, the error is not known."
    return words
