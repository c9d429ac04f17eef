"""How values are made coarser: prefixes of ZIP codes, months and years, ranges, trees.

    la.anonymity.anonymize(…, hierarchies={"zip": la.anonymity.Prefixes(), "job": JOBS})

A ladder puts the values of a column in an order in which everything below one step of the
hierarchy lies together. A group of neighbours in that order is called by the step that holds
exactly them, or by the first and the last of several steps side by side, or by * if it is all.

  Tested:   tests/anonymity/test_hierarchies.py
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from letalone.anonymity.kinds import ColumnNature, Natural
from letalone.engines.frames.coded import FIRST, Coded
from letalone.errors import ParameterError
from letalone.exact.typed import SCALE, Number

Whole = NDArray[np.int64]
MAX_PREFIXES = 16  # of prefixes
MAX_NAMES_LISTED = 6  # names in a set; of more, the first and the last are named
ALL = "*"
POSTAL = re.compile(r"(^|_)(zip|zip_?code|postcode|postal_?code|plz)(_|$)")
SPECIAL = ("missing", "NaN")


@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """A column in the order of its hierarchy.

    `steps` has for each level, coarse to fine, the step of every code; the last level is the
    values themselves. Steps are numbered in order, `names` calls them. `places` are where codes
    lie between 0 and 1, to say how wide a group is.
    """

    column: Coded
    steps: tuple[Whole, ...]
    names: tuple[tuple[str, ...], ...]
    places: NDArray[np.float64]
    words: str
    in_a_row: bool  # whether a range has a meaning, or only a set


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Texts such as ZIP codes, by ever fewer of their first letters: 02139, 0213*, 021**."""

    def ladder(self, found: Natural) -> Ladder:
        """The values in alphabetical order, with a level for each length."""
        texts = found.column.texts()
        longest = max(map(len, texts), default=0)
        if found.kind is ColumnNature.NUMBER and all(map(str.isdigit, texts)):
            texts = [text.zfill(longest) for text in texts]  # a number has lost its zeros
        lengths = range(1, min(longest, MAX_PREFIXES + 1))
        paths = [[*(_cut(text, length, longest) for length in lengths), text] for text in texts]
        order = sorted(range(len(texts)), key=texts.__getitem__)
        return _of_paths(found, paths, "prefixes", in_a_row=True, order=order)


@dataclass(frozen=True, slots=True)
class Dates:
    """Days by their month, their year, their decade."""

    def ladder(self, found: Natural) -> Ladder:
        """The dates in order, with levels for decades, years, months and days."""
        if found.kind is not ColumnNature.DATE:
            raise _unfit(found, "dates, written year first: 2024-01-31")
        moments = np.asarray(found.points, "datetime64")
        years = [str(year) for year in moments.astype("datetime64[Y]")]
        months = [str(month) for month in moments.astype("datetime64[M]")]
        days = [str(day) for day in moments.astype("datetime64[D]")]
        texts = found.column.texts()
        dates = zip(years, months, days, texts, strict=True)
        paths = [[f"{y[:-1]}0s", y, m, d, text] for y, m, d, text in dates]
        return _of_paths(found, paths, "dates", in_a_row=True)


@dataclass(frozen=True, slots=True)
class NumberRanges:
    """Numbers by ranges of these widths, from wide to narrow; without widths, as data fall.

    Each width must be a multiple of the next: 20, 10, 5.
    """

    widths: tuple[Number, ...] = ()

    def __post_init__(self) -> None:
        read = [SCALE.typed("width", width) for width in self.widths]
        for wide, narrow in pairwise(read):
            if wide <= narrow or (wide / narrow).denominator != 1:
                raise ParameterError(
                    f"widths are {self.widths}, but each must be a multiple of the next, so that"
                    " narrow ranges lie within wide ones: (20, 10, 5)."
                )

    def ladder(self, found: Natural) -> Ladder:
        """The numbers in order, with a level for each width."""
        if found.kind is not ColumnNature.NUMBER:
            raise _unfit(found, "numbers")
        numbers = np.asarray(found.points, np.float64)
        is_whole = bool((numbers == np.floor(numbers)).all())
        levels = [[_range(x, float(width), is_whole) for x in numbers] for width in self.widths]
        paths = [list(path) for path in zip(*levels, found.column.texts(), strict=True)]
        return _of_paths(found, paths, "ranges", in_a_row=True)


@dataclass(frozen=True, slots=True)
class Tree:
    """Categories in a tree: {"heart": ["angina", "infarct"], "lung": {"acute": […], …}}."""

    branches: Mapping[str, object]

    def ladder(self, found: Natural) -> Ladder:
        """The values in the order of the tree, with a level for each of its depths."""
        known = dict(_leaves(self.branches, ()))
        texts = found.column.texts()
        if not all(text in known for text in texts):
            raise ParameterError(
                f"Column {found.column.name!r} has values that its tree does not list. Add them to"
                " the tree, each to one branch; missing values need no branch."
            )
        depth = max((len(known[text]) for text in texts), default=0)
        paths = [[*known[text], *[text] * (depth - len(known[text])), text] for text in texts]
        places = {text: place for place, text in enumerate(known)}
        order = sorted(range(len(texts)), key=lambda number: places[texts[number]])
        return _of_paths(found, paths, "a tree", in_a_row=False, order=order)


@dataclass(frozen=True, slots=True)
class Sets:
    """Names without a hierarchy: sets of them, in alphabetical order."""

    def ladder(self, found: Natural) -> Ladder:
        """The values in order, with no level above them."""
        return _of_paths(found, [[t] for t in found.column.texts()], "sets", in_a_row=False)


def ladder_of(found: Natural, given: object = None) -> Ladder:
    """The ladder of a column: by the hierarchy that was given, else by what its values are.

    A column that is called zip or postcode has prefixes.
    """
    if isinstance(given, Prefixes | Dates | NumberRanges | Tree | Sets):
        return given.ladder(found)
    if isinstance(given, Mapping):
        return Tree(cast("Mapping[str, object]", given)).ladder(found)
    if given is not None:
        raise ParameterError(
            f"The hierarchy of {found.column.name!r} is {type(given).__name__}, but must be one of"
            " Prefixes(), Dates(), Ranges(), Sets() of la.anonymity, or a tree as a dictionary."
        )
    if POSTAL.search(found.column.name.lower()):
        return Prefixes().ladder(found)
    usual = {
        ColumnNature.NUMBER: NumberRanges(),
        ColumnNature.DATE: Dates(),
        ColumnNature.NAME: Sets(),
    }
    return usual[found.kind].ladder(found)


def labels(ladder: Ladder, low: Whole, high: Whole) -> list[str]:
    """What groups are called that reach from one code to another, both of values."""
    names = np.full(len(low), ALL, object)
    common = _common(ladder, low, high)
    for level in range(len(ladder.steps) + 1):
        chosen = np.flatnonzero(common == level)
        names[chosen] = _on_level(ladder, level, low[chosen], high[chosen])
    return names.tolist()


def covered_codes(ladder: Ladder, low: Whole, high: Whole) -> tuple[Whole, Whole]:
    """The first and the last code that each group's label stands for."""
    common, last = _common(ladder, low, high), len(ladder.steps) - 1
    begin, end = low.copy(), high.copy()
    for level in range(last + 1):
        chosen = np.flatnonzero(common == level)
        begin[chosen] = _whole(ladder, low[chosen], level)[0]
        end[chosen] = _whole(ladder, high[chosen], level)[1]
    return begin, end


def _on_level(ladder: Ladder, level: int, low: Whole, high: Whole) -> list[str]:
    """The labels of groups whose ends are in the same step on all levels above this one."""
    if level == len(ladder.steps):
        return [ladder.names[-1][step] for step in ladder.steps[-1][low]]
    fine = ladder.steps[level]
    start, end = _whole(ladder, low, level - 1)
    first, last = fine[low], fine[high]
    is_whole = (first == fine[start]) & (last == fine[end])
    above = [ALL for _ in low]
    if level:
        above = [ladder.names[level - 1][int(step)] for step in ladder.steps[level - 1][low]]
    each = zip(above, is_whole.tolist(), first.tolist(), last.tolist(), strict=True)
    return [up if is_all else _several(ladder, level, a, b) for up, is_all, a, b in each]


def _common(ladder: Ladder, low: Whole, high: Whole) -> Whole:
    """On how many levels both codes are in the same step: steps lie within steps."""
    common = np.zeros(len(low), np.int64)
    for steps in ladder.steps:
        common += steps[low] == steps[high]
    return common


def _whole(ladder: Ladder, codes: Whole, level: int) -> tuple[Whole, Whole]:
    """The first and the last code in the same step; of all codes above the top level."""
    if level < 0:
        return np.full(len(codes), FIRST), np.full(len(codes), ladder.column.size - 1)
    values, step = ladder.steps[level][FIRST:], ladder.steps[level][codes]
    ends = (np.searchsorted(values, step), np.searchsorted(values, step + 1) - 1)
    return FIRST + ends[0], FIRST + ends[1]


def _several(ladder: Ladder, level: int, first: int, last: int) -> str:
    names = ladder.names[level]
    if not ladder.in_a_row and last - first < MAX_NAMES_LISTED:
        return ", ".join(names[first : last + 1])
    if not ladder.in_a_row:
        return f"{names[first]} … {names[last]}"
    between = "–" if names[first].isdigit() and names[last].isdigit() else " to "
    return f"{names[first]}{between}{names[last]}"


def _of_paths(
    found: Natural,
    paths: Sequence[Sequence[str]],
    words: str,
    *,
    in_a_row: bool,
    order: Sequence[int] | None = None,
) -> Ladder:
    """A ladder from the names of the steps above each value, coarse to fine, and its own."""
    column, points = found.column, found.points
    if order is not None:
        column, points = column.moved(np.argsort(order)), None
        paths = [paths[number] for number in order]
    depth = len(paths[0]) if paths else 1
    levels = [_level(paths, level) for level in range(depth)]
    places = _places(points, len(paths))
    steps = tuple(np.concatenate([[-2, -1], step]) for step, _ in levels)
    return Ladder(column, steps, tuple(names for _, names in levels), places, words, in_a_row)


def _level(paths: Sequence[Sequence[str]], level: int) -> tuple[Whole, tuple[str, ...]]:
    """The step of each value on a level. Values are apart on the last, whatever their names."""
    last = bool(paths) and level == len(paths[0]) - 1
    changes = [
        number > 0 and (last or path[: level + 1] != paths[number - 1][: level + 1])
        for number, path in enumerate(paths)
    ]
    steps = np.cumsum(np.array(changes, np.int64), dtype=np.int64)
    starts = [n for n, changed in enumerate(changes) if changed or n == 0]
    return steps, tuple(paths[n][level] for n in starts)


def _places(points: NDArray[np.generic] | None, number: int) -> NDArray[np.float64]:
    """Where each code lies between 0 and 1; what has no place lies at 0."""
    values = np.arange(number, dtype=np.float64)
    if points is not None and number:
        with np.errstate(invalid="ignore", over="ignore"):  # infinite points are put in order only
            values = (points - points[0]).astype(np.float64)
    widest = values[-1] if number and np.isfinite(values).all() and values[-1] > 0 else 0.0
    spread = values / widest if widest else np.linspace(0, 1, number)
    return np.concatenate([[0.0, 0.0], spread])


def _leaves(
    branch: Mapping[str, object], path: tuple[str, ...]
) -> list[tuple[str, tuple[str, ...]]]:
    leaf_paths: list[tuple[str, tuple[str, ...]]] = []
    for name, below in branch.items():
        if isinstance(below, Mapping):
            leaf_paths += _leaves(cast("Mapping[str, object]", below), (*path, str(name)))
        elif isinstance(below, Sequence) and not isinstance(below, str):
            leaves = cast("Sequence[object]", below)
            leaf_paths += [(str(leaf), (*path, str(name))) for leaf in leaves]
        else:
            raise ParameterError(
                f"The branch {name!r} of a tree must be a list of values or a dictionary of further"
                " branches."
            )
    names = [name for name, _ in leaf_paths]
    if len(set(names)) != len(names):
        raise ParameterError("A tree lists a value twice. Put each value into one branch.")
    return leaf_paths


def _cut(text: str, length: int, longest: int) -> str:
    return text[:length] + "*" * (max(len(text), longest) - length)


def _range(x: float, width: float, whole: bool) -> str:
    if not np.isfinite(x):
        return f"{x:g}"
    low = float(np.floor(x / width) * width)
    if whole and width == int(width):
        return f"{int(low)}–{int(low + width) - 1}"
    return f"{low:g} to below {low + width:g}"


def _unfit(found: Natural, needed: str) -> ParameterError:
    return ParameterError(
        f"Column {found.column.name!r} must hold {needed}, for the hierarchy that was given. Leave"
        " the hierarchy out, or convert the column."
    )
