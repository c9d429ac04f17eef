"""How likely the kinds of reports are from two values, relative to a common measure.

Most oracles have two levels: a report is r times as likely from a value that it supports as from
one that it does not. All that matters for two values is then which of them a report supports.
"""

from collections.abc import Mapping
from fractions import Fraction

LikelihoodAtoms = tuple[tuple[Fraction, Fraction, Fraction], ...]
Patterns = Mapping[tuple[int, ...], Fraction]  # which values are supported, with the blanket's mass


def atoms_under_blanket(patterns: Patterns, ratio: Fraction) -> LikelihoodAtoms:
    """Masses under the blanket, and likelihoods relative to it, from patterns of two values."""
    return tuple(
        (mass, ratio**first, ratio**other) for (first, other), mass in patterns.items() if mass
    )


def atoms_under_third(patterns: Patterns, ratio: Fraction) -> LikelihoodAtoms:
    """Masses from a third value, and likelihoods relative to it, from patterns of three values."""
    return tuple(
        (mass * ratio**third, ratio ** (first - third), ratio ** (other - third))
        for (first, other, third), mass in patterns.items()
        if mass
    )


def atoms_under_first(patterns: Patterns, ratio: Fraction) -> LikelihoodAtoms:
    """The same if all others hold the first of two values."""
    return tuple(
        (mass * ratio**first, Fraction(1), ratio ** (other - first))
        for (first, other), mass in patterns.items()
        if mass
    )


def atoms_under_second(patterns: Patterns, ratio: Fraction) -> LikelihoodAtoms:
    """The same if all others hold the second of two values."""
    return tuple(
        (mass * ratio**other, ratio ** (first - other), Fraction(1))
        for (first, other), mass in patterns.items()
        if mass
    )


def lie_of_two(patterns: Patterns, ratio: Fraction) -> Fraction | None:
    """The chance of a lie if a report is one of two answers whatever is held, else None."""
    held = {pattern: mass for pattern, mass in patterns.items() if mass}
    lie = held.get((1, 0), Fraction(0))
    return lie if held == {(1, 0): lie, (0, 1): lie} and lie * (1 + ratio) == 1 else None
