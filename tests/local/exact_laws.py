"""The exact distribution of a report, by naive enumeration in rationals: slow, and independent."""

from fractions import Fraction
from itertools import combinations, product

from letalone.local import (
    FrequencyOracle,
    HadamardResponse,
    KaryResponse,
    LocalHashing,
    SubsetSelection,
    UnaryEncoding,
)

Law = dict[int | bytes, Fraction]

SMALL: list[FrequencyOracle] = [
    KaryResponse(4, epsilon=1),
    KaryResponse(2, epsilon=0.3),
    SubsetSelection(6, epsilon=1),
    SubsetSelection(7, epsilon=0.5),
    SubsetSelection(3, epsilon=3),
    SubsetSelection(2, epsilon=1),
    UnaryEncoding(4, epsilon=1),
    UnaryEncoding(5, epsilon=2, symmetric=True),
    LocalHashing(4, epsilon=1),
    LocalHashing(5, epsilon=0.5),
    LocalHashing(2, epsilon=2),
    HadamardResponse(4, epsilon=1),
    HadamardResponse(5, epsilon=0.5),
]


def exact_law(oracle: FrequencyOracle, value: int) -> Law:
    """How likely each report is from somebody who holds the value."""
    match oracle:
        case KaryResponse():
            return weigh(oracle, {y: y == value for y in range(oracle.size)})
        case SubsetSelection():
            sets = combinations(range(oracle.size), oracle.chosen)
            return weigh(oracle, {pack(s, oracle.size): value in s for s in sets})
        case HadamardResponse():
            codes = range(2 * oracle.order)
            return weigh(oracle, {c: sign(c // 2, value) == c % 2 for c in codes})
        case LocalHashing():
            return hashing_law(oracle, value)
        case UnaryEncoding():
            return unary_law(oracle, value)
        case _:
            raise AssertionError(oracle)


def weigh(oracle: FrequencyOracle, likely: dict[int | bytes, bool]) -> Law:
    """Reports that are r times as likely as the others."""
    total = sum((oracle.ratio if more else Fraction(1) for more in likely.values()), Fraction(0))
    return {y: (oracle.ratio if more else 1) / total for y, more in likely.items()}


def hashing_law(oracle: LocalHashing, value: int) -> Law:
    prime, g = oracle.family
    law: Law = {}
    for a, b in product(range(1, prime), range(prime)):
        own = ((a * value + b) % prime) % g
        answers = weigh(oracle, {y: y == own for y in range(g)})
        law |= {
            ((a - 1) * prime + b) * g + y: p / (prime * (prime - 1)) for y, p in answers.items()
        }
    return law


def unary_law(oracle: UnaryEncoding, value: int) -> Law:
    p, q = oracle.chances
    law: Law = {}
    for row in product((0, 1), repeat=oracle.size):
        likely = Fraction(1)
        for x, bit in enumerate(row):
            one = p if x == value else q
            likely *= one if bit else 1 - one
        law[pack((x for x, bit in enumerate(row) if bit), oracle.size)] = likely
    return law


def pack(places, size: int) -> bytes:
    """A row of bits, written digit by digit."""
    ones = set(places)
    digits = "".join("1" if x in ones else "0" for x in range(size)).ljust(-(-size // 8) * 8, "0")
    return bytes(int(digits[at : at + 8], 2) for at in range(0, len(digits), 8))


def sign(row: int, value: int) -> int:
    return bin(row & value).count("1") % 2
