"""Every bit string at once: the exact law of a sampler, by walking the tree of its words."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from fractions import Fraction

from seeded import OutOfBits, StringBits


def law_of(
    draw: Callable[[StringBits], Hashable], word_size: int, depth: int
) -> tuple[dict[Hashable, Fraction], Fraction]:
    """The mass of each outcome over all strings of up to `depth` words, and the mass undecided."""
    masses: dict[Hashable, Fraction] = defaultdict(Fraction)
    undecided = Fraction(0)
    open_prefixes: list[tuple[int, ...]] = [()]
    for length in range(depth + 1):
        share = Fraction(1, 1 << (word_size * length))
        longer: list[tuple[int, ...]] = []
        for prefix in open_prefixes:
            try:
                masses[draw(StringBits(prefix, word_size))] += share
            except OutOfBits:
                longer.extend((*prefix, word) for word in range(1 << word_size))
                if length == depth:
                    undecided += share
        open_prefixes = longer
    return dict(masses), undecided


def contradicts(
    masses: dict[Hashable, Fraction], undecided: Fraction, truth: Callable[[Hashable], float]
) -> bool:
    """Whether some outcome's decided mass cannot belong to the stated law."""
    slack = 1e-12  # of the truth, which is a float
    return any(
        not (float(mass) <= truth(outcome) + slack <= float(mass + undecided) + 2 * slack)
        for outcome, mass in masses.items()
    )
