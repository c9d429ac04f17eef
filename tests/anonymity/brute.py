"""Anonymity in plain Python, from its definitions, over lists of rows: slow, in fractions."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import exp, log

Row = tuple[Hashable, ...]


def key_of(value: object) -> Hashable:
    """What tells values apart: NaN is one value, and -0.0 is 0.0."""
    if isinstance(value, float):
        return ("nan",) if value != value else ("number", value + 0.0)
    return ("missing",) if value is None else ("value", value)


def groups_of(rows: Sequence[Sequence[object]], width: int) -> list[Counter[Hashable]]:
    """The counts of the last column's values in each group of the first `width` columns."""
    found: dict[Row, Counter[Hashable]] = defaultdict(Counter)
    for row in rows:
        found[tuple(map(key_of, row[:width]))][key_of(row[-1])] += 1
    return list(found.values())


def k_of(groups: Sequence[Counter[Hashable]]) -> int:
    return min(group.total() for group in groups)


def l_of(groups: Sequence[Counter[Hashable]]) -> int:
    return min(len(group) for group in groups)


def entropy_l_of(groups: Sequence[Counter[Hashable]]) -> float:
    return min(
        exp(-sum(n / group.total() * log(n / group.total()) for n in group.values()))
        for group in groups
    )


def recursive_of(groups: Sequence[Counter[Hashable]], c: Fraction) -> int:
    def largest(group: Counter[Hashable]) -> int:
        counts = sorted(group.values(), reverse=True)
        holding = [
            number
            for number in range(1, len(counts) + 1)
            if counts[0] < c * sum(counts[number - 1 :])
        ]
        return max(holding, default=0)

    return min(map(largest, groups))


def ts_of(groups: Sequence[Counter[Hashable]]) -> list[Fraction]:
    """The total variation of each group from the table, smallest first."""
    whole = sum(groups, Counter())

    def distance(group: Counter[Hashable]) -> Fraction:
        shares = [(Fraction(group[v], group.total()), v) for v in whole]
        return sum(abs(share - Fraction(whole[v], whole.total())) for share, v in shares) / 2

    return sorted(map(distance, groups))


def t_of(groups: Sequence[Counter[Hashable]]) -> Fraction:
    return ts_of(groups)[-1]


def ordered_ts_of(groups: Sequence[Counter[Hashable]], order: Sequence[Hashable]) -> list[Fraction]:
    """The ordered earth mover's distance of each group from the table, smallest first."""
    whole = sum(groups, Counter())
    values = [value for value in order if value in whole]
    if len(values) < 2:
        return [Fraction(0)] * len(groups)

    def distance(group: Counter[Hashable]) -> Fraction:
        moved, carried = Fraction(0), Fraction(0)
        for value in values:
            carried += Fraction(group[value], group.total())
            carried -= Fraction(whole[value], whole.total())
            moved += abs(carried)
        return moved / (len(values) - 1)

    return sorted(map(distance, groups))
