"""How far one unit can move an answer, in L1 and in L2, for each neighbouring relation.

A unit has `rows` rows. With `rows=1` and nothing filtered it has exactly one; otherwise
between 0 and `rows` of them count, because a filter, a NULL or another relation may drop
any of them. Then, for values in [a, b] and k rows (rules 20 and 21 of
docs/explanation/soundness.md; claim M4):

  count       k under either relation (a count of rows that meet a condition)
  sum         b − a           replace, one row, not filtered
              max(kb, 0) − min(ka, 0)   replace
              k·max(|a|, |b|)           add/remove
  mean        (b − a)/n       replace, one row, not filtered, n declared; else refused
  histogram   L1 2k, L2 √2·k  replace;  k and k  add/remove
  mean_vector L2 2c/n         vectors of norm at most c; L1 is √d times that

  Proven:   docs/explanation/proofs/sensitivity.md
  Tested:   by brute force over all neighbours of small tables, and reached there
  Assumed:  the data keep the declared bounds (clamp them first); sums and means are those of
            real numbers

A sum or a mean computed in floats can move further than the real one: with b = 2^52, a mean
of three values in [b, b + 1] can move by 1, three times its sensitivity. Sum exactly, with
ints or Fractions; or, where each result is proven to be within r of the real one (math.fsum
rounds once), add 2r to the sensitivity.

Bounds may be typed or read off data, so the wider of both readings is taken.
"""

from dataclasses import dataclass
from fractions import Fraction

from letalone.errors import ParameterError
from letalone.exact.balls import ball, certain, upper
from letalone.exact.typed import COUNT, FINITE, SENSITIVITY, Number, as_binary, as_typed, read_flag
from letalone.privacy import ADD_REMOVE, REPLACE, Neighbours
from letalone.privacy.bounds import six
from letalone.privacy.neighbours import is_replace, read_neighbours

__all__ = ["Sensitivity", "count", "histogram", "mean", "mean_vector", "sum"]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The most that one unit moves an answer; mechanisms take the norm that they need.

    `l1` is None where it depends on a dimension that was not told.
    """

    l1: Fraction | None
    l2: Fraction
    neighbours: Neighbours

    def __post_init__(self) -> None:
        read_neighbours(self.neighbours)

    def __repr__(self) -> str:
        l1 = "unknown" if self.l1 is None else six(self.l1)
        return f"Sensitivity(L1 {l1}, L2 {six(self.l2)}, {self.neighbours})"


def count(*, neighbours: Neighbours = ADD_REMOVE, rows: int = 1) -> Sensitivity:
    """The sensitivity of one count of rows that meet a condition."""
    return _scalar(COUNT.typed("rows", rows), neighbours)


def sum(  # noqa: A001  (la.sensitivity.sum reads as it should)
    lower: Number,
    upper: Number,
    *,
    neighbours: Neighbours = ADD_REMOVE,
    rows: int = 1,
    filtered: bool = False,
) -> Sensitivity:
    """The sensitivity of a sum of values from `lower` to `upper`.

    It is that of the real sum. A sum of floats is rounded at every step and may move further:
    sum ints or Fractions, or add twice a proven bound on the rounding.
    """
    low, high = _bounds(lower, upper)
    max_rows, some_dropped = COUNT.typed("rows", rows), read_flag("filtered", filtered)
    if not is_replace(neighbours):
        change = max_rows * max(abs(low), abs(high))
    elif some_dropped or max_rows > 1:
        change = max(max_rows * high, Fraction(0)) - min(max_rows * low, Fraction(0))
    else:
        change = high - low
    return _scalar(change, neighbours)


def mean(
    lower: Number,
    upper: Number,
    *,
    size: int,
    neighbours: Neighbours = REPLACE,
    rows: int = 1,
    filtered: bool = False,
) -> Sensitivity:
    """The sensitivity of the mean of `size` values, a public number of them.

    It is that of the real mean. A mean of floats is rounded at every step and may move further:
    sum ints or Fractions, or add twice a proven bound on the rounding.
    """
    _whole_table_only("a mean", neighbours, rows=rows, filtered=filtered)
    low, high = _bounds(lower, upper)
    return _scalar((high - low) / COUNT.typed("size", size), neighbours)


def histogram(*, neighbours: Neighbours = ADD_REMOVE, rows: int = 1) -> Sensitivity:
    """The sensitivity of counts by group, where a row falls into at most one group."""
    max_rows = COUNT.typed("rows", rows)
    if not is_replace(neighbours):
        return _scalar(max_rows, neighbours)
    return Sensitivity(2 * max_rows, _root_above(2 * max_rows**2), neighbours)


def mean_vector(
    radius: Number,
    *,
    size: int,
    dimension: int | None = None,
    neighbours: Neighbours = REPLACE,
    rows: int = 1,
    filtered: bool = False,
) -> Sensitivity:
    """The sensitivity of the mean of `size` vectors of Euclidean norm at most `radius`.

    It is that of the real mean, with norms that are at most `radius` exactly. A mean of floats
    is rounded at every step and may move further: sum exactly, or add twice a proven bound on
    the rounding.
    """
    _whole_table_only("a mean", neighbours, rows=rows, filtered=filtered)
    change = 2 * SENSITIVITY.cautious("radius", radius) / COUNT.typed("size", size)
    if dimension is None:
        return Sensitivity(None, change, neighbours)
    spread = _root_above(COUNT.typed("dimension", dimension))
    return Sensitivity(change * spread, change, neighbours)


def _scalar(change: Fraction, neighbours: Neighbours) -> Sensitivity:
    return Sensitivity(change, change, neighbours)


def _bounds(lower: Number, upper: Number) -> tuple[Fraction, Fraction]:
    FINITE.typed("lower", lower)
    high = FINITE.cautious("upper", upper)
    low = min(as_typed(lower), as_binary(lower))
    if low >= high:
        raise ParameterError(
            f"lower is {lower} and upper is {upper}, but lower must be below upper. Swap them,"
            " or widen the bounds: values outside are clamped to them."
        )
    return low, high


def _whole_table_only(what: str, neighbours: Neighbours, *, rows: int, filtered: bool) -> None:
    some_dropped, max_rows = read_flag("filtered", filtered), COUNT.typed("rows", rows)
    if is_replace(neighbours) and max_rows == 1 and not some_dropped:
        return
    raise ParameterError(
        f"The size of the data is public only for a whole table under REPLACE with one row a"
        f" unit, but neighbours is {neighbours}, rows is {rows} and filtered is {filtered}."
        f" There is no sensitivity of {what} then: release a sum and a count, and divide."
    )


def _root_above(square: Fraction) -> Fraction:
    root = upper(certain(lambda: ball(square).sqrt()))
    return Fraction(root)
