"""The numbers of a release as people see them: none beyond its interval, none that says nothing.

Noise takes a count below 0, and the mean of a group in which nobody seems to be is the middle of
its range. `.rows()` keeps such numbers: they are unbiased, so that they can be added up. On a
screen the first is shown at the end of its interval, and the second as unknown: an interval that
is the whole declared range says no more than was public before. So is a spread (a variance, a
standard deviation) that the noise took to 0, where its interval allows much more: 0 would say that
all values are the same. What is known beforehand (that a sum of what is never negative is not)
narrows an interval, and it holds as often as before. Where the noise took the number itself beyond
what is known, its interval is that of the end that it is shown at: this holds all that the
narrowed one does, and is never empty.

  Tested:   tests/answers/test_shown.py
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isfinite
from typing import cast

from letalone.answers.columns import Output
from letalone.exact.typed import read_written
from letalone.plans.formulas import facts_of_stored
from letalone.privacy.curve import Json

Range = tuple[float, float]
Ends = tuple[float | None, float | None, float | None]
NEARLY = 1e-9  # of the range: ends are computed in floats


def as_shown(plan: Json, outputs: Sequence[Output]) -> tuple[Output, ...]:
    """The outputs of the answer to a plan: each value in its interval, or None where unknown."""
    known = _known(plan)
    return tuple(_inside(output, *known.get(output.aggregate, (None, inf))) for output in outputs)


def _inside(output: Output, whole: Range | None, much: float) -> Output:
    if output.low is None or output.high is None or not output.kind.is_numeric:
        return output
    ends = zip(output.values, output.low, output.high, strict=True)
    found = [_spread(_narrowed(cast("Ends", one), whole), much) for one in ends]
    values, low, high = zip(*found, strict=True) if found else ((), (), ())
    return replace(output, values=values, low=low, high=high)


def _narrowed(ends: Ends, whole: Range | None) -> Ends:
    value, low, high = ends
    if value is None or low is None or high is None:
        return ends
    if whole is None:
        high = high if low < high else max(high, 2 * low - value)  # of counts stored as 0 to 0
        return min(max(value, low), high), low, high
    least, most = whole
    if isfinite(most - least):
        return (None if _is_all(low, high, whole) else min(max(value, low), high)), low, high
    known = min(max(value, least), most)
    low, high = low + min(known - value, 0), high + max(known - value, 0)
    low, high = max(low, least), min(high, most)
    return min(max(known, low), high), low, high


def _spread(ends: Ends, much: float) -> Ends:
    """No value where it is 0 and may be much."""
    value, low, high = ends
    return (None, low, high) if value == 0 and high is not None and high > much else ends


def _is_all(low: float, high: float, whole: Range) -> bool:
    least, most = whole
    slack = NEARLY * (most - least)
    return low <= least + slack and high >= most - slack


def _known(plan: Json) -> dict[str, tuple[Range, float]]:
    """The range of each aggregate that has one, and what is much where it is a spread.

    None where the plan is not as it is stored.
    """
    found: dict[str, tuple[Range, float]] = {}
    try:
        for name, stored in cast("list[tuple[str, Json]]", plan["aggregates"]):
            facts = facts_of_stored(stored)
            if facts is not None and facts.known_range is not None:
                ends = facts.known_range(_bound(stored["lower"]), _bound(stored["upper"]))
                share = facts.unknown_above
                found[name] = ends, inf if share is None else share * ends[1]
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return {}
    return found


def _bound(stored: object) -> float:
    return float(read_written(str(cast("Json", stored)["number"])))
