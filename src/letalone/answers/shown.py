"""The numbers of a release as people see them: none beyond its interval, none that says nothing.

Noise takes a count below 0, and the mean of a group in which nobody seems to be is the middle of
its range. `.rows()` keeps such numbers: they are unbiased, so that they can be added up. On a
screen the first is shown at the end of its interval, and the second as unknown: an interval that
is the whole declared range says no more than was public before. So is a spread (a variance, a
standard deviation) that the noise took to 0, where its interval allows much more: 0 would say that
all values are the same. What is known beforehand (that a sum of what is never negative is not)
narrows an interval, and it holds as often as before. Where the noise took the number itself beyond
what is known, its interval is that of the end that it is shown at: this holds all that the
narrowed one does, and is never empty. `title_of` says what was asked in the few words that stand
above a picture: count and mean of cost by ward. All of it is from the stored plan, which is public.

  Tested:   tests/answers/test_shown.py, test_titles.py
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, isfinite
from typing import cast

from letalone.answers.columns import Output
from letalone.exact.typed import read_rational
from letalone.plans.aggregates.formulas import facts_of_stored
from letalone.plans.wording import and_words
from letalone.privacy.curve import Json

Range = tuple[float, float]
Ends = tuple[float | None, float | None, float | None]
MAX_TITLE_LENGTH = 200  # a picture breaks it into lines
NEARLY = 1e-9  # of the range: ends are computed in floats


def as_shown(plan: Json, outputs: Sequence[Output]) -> tuple[Output, ...]:
    """The outputs of the answer to a plan: each value in its interval, or None where unknown."""
    known = _read_ranges(plan)
    return tuple(_inside(output, *known.get(output.aggregate, (None, inf))) for output in outputs)


def _inside(output: Output, known: Range | None, much: float) -> Output:
    if output.low is None or output.high is None or not output.kind.is_numeric:
        return output
    ends = zip(output.values, output.low, output.high, strict=True)
    shown = [_spread(_narrow(cast("Ends", triple), known), much) for triple in ends]
    values, low, high = zip(*shown, strict=True) if shown else ((), (), ())
    return replace(output, values=values, low=low, high=high)


def _narrow(ends: Ends, known_range: Range | None) -> Ends:
    value, low, high = ends
    if value is None or low is None or high is None:
        return ends
    if known_range is None:
        high = high if low < high else max(high, 2 * low - value)  # of counts stored as 0 to 0
        return min(max(value, low), high), low, high
    least, largest = known_range
    if isfinite(largest - least):
        return (None if _is_all(low, high, known_range) else min(max(value, low), high)), low, high
    known = min(max(value, least), largest)
    low, high = low + min(known - value, 0), high + max(known - value, 0)
    low, high = max(low, least), min(high, largest)
    return min(max(known, low), high), low, high


def _spread(ends: Ends, much: float) -> Ends:
    """No value where it is 0 and may be much."""
    value, low, high = ends
    return (None, low, high) if value == 0 and high is not None and high > much else ends


def _is_all(low: float, high: float, whole: Range) -> bool:
    least, largest = whole
    slack = NEARLY * (largest - least)
    return low <= least + slack and high >= largest - slack


def _read_ranges(plan: Json) -> dict[str, tuple[Range, float]]:
    """The range of each aggregate that has one, and what is much where it is a spread.

    None where the plan is not as it is stored.
    """
    ranges: dict[str, tuple[Range, float]] = {}
    try:
        for name, stored in cast("list[tuple[str, Json]]", plan["aggregates"]):
            facts = facts_of_stored(stored)
            if facts is not None and facts.known_range is not None:
                ends = facts.known_range(_bound(stored["lower"]), _bound(stored["upper"]))
                share = facts.unknown_above
                ranges[name] = ends, inf if share is None else share * ends[1]
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return {}
    return ranges


def _bound(stored: object) -> float:
    return float(read_rational(str(cast("Json", stored)["number"])))


def title_of(plan: Json, keys: Sequence[str]) -> str:
    """The aggregates and the group columns; what is filtered or bounded is not said here."""
    listed = cast("list[list[object]]", plan.get("aggregates", []))
    words = list(dict.fromkeys(_title(cast("Json", node)) for _, node in listed)) or ["answer"]
    by = f" by {and_words(list(keys))}" if keys else ""
    title = and_words(words) + by
    return title if len(title) <= MAX_TITLE_LENGTH else title[: MAX_TITLE_LENGTH - 1] + "…"


def _title(node: Json) -> str:
    facts = facts_of_stored(node)
    word = str(node.get("node")).lower() if facts is None else facts.title_of(node)
    column = node.get("of")
    if not isinstance(column, Mapping):
        return word
    name = cast("Json", column).get("name")
    return f"{word} of {name}" if isinstance(name, str) else word
