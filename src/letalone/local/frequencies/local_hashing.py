"""Local hashing: each person hashes with a function of their own, then answers k-ary.

x ↦ ((a x + b) mod P) mod g, P a prime that is at least d, a from 1 to P − 1 and b from 0 to P − 1
drawn evenly by each person, and reported.

Theorem.  Two different values are hashed alike with probability
c = Σ n_j (n_j − 1) / (P (P − 1)), the same for all pairs, n_j being how many of 0 … P − 1 are j
modulo g. The k-ary answer among g has the ratio r ≤ e^ε, and so has the report. It supports the
values whose hash it names: its own with p = r/(r + g − 1), any other with q + (p − q)c, where
q = 1/(r + g − 1).
  Proven:   docs/explanation/proofs/local_frequencies.md, section 7
  Tested:   the exact distribution over all functions; draws, with power; unbiasedness, coverage

A report is the whole number ((a − 1) P + b) g + y, y being the reported hash.

Wang, Blocki, Li, Jha: Locally differentially private protocols for frequency estimation (2017).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import isqrt
from typing import ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from letalone.local.frequencies.k_ary_response import answer_k_ary, k_ary_chances
from letalone.local.frequencies.oracle import FrequencyOracle, SupportChances, Wholes
from letalone.local.reports import CodedReports, Reports
from letalone.local.shuffling.likelihoods import (
    LikelihoodAtoms,
    Patterns,
    atoms_under_first,
    atoms_under_second,
    atoms_under_third,
)
from letalone.privacy import Privacy
from letalone.privacy.curves.finite import between
from letalone.randomness.bits import BitSource
from letalone.randomness.uniform import sample_belows

PEOPLE_AT_ONCE = 1 << 14
MOST_COUNTED = 4096  # up to this prime triples of values are counted


class HashFamily(NamedTuple):
    """x ↦ ((a x + b) mod prime) mod hashes, 0 < a < prime, 0 ≤ b < prime."""

    prime: int
    hashes: int

    @property
    def functions(self) -> int:
        return self.prime * (self.prime - 1)

    @property
    def collision(self) -> Fraction:
        """The probability that two different values below the prime are hashed alike."""
        return collision_chance(self.prime, self.hashes)

    def apply(self, functions: Wholes, values: Wholes) -> Wholes:
        """The hash of each value by the function (a − 1) prime + b of the same place."""
        a, b = 1 + functions // self.prime, functions % self.prime
        return (a * values + b) % self.prime % self.hashes


@dataclass(frozen=True, slots=True, init=False, repr=False)
class LocalHashing(CodedReports, FrequencyOracle):
    """Reports a hash function and a noisy hash: short reports for domains of thousands of values.

    Parameters: `domain` is how many values there are, or a list of them; `epsilon` is what one
    report costs its owner.
    """

    kind: ClassVar[str] = "local_hashing"

    @property
    def family(self) -> HashFamily:
        """The hash functions that people draw from."""
        return best_family(self.ratio, self.size)

    @property
    def chances(self) -> SupportChances:
        """Of a hash that is reported, for the value held and for another one."""
        return hashed_chances(self.ratio, self.family)

    def pair_curve(self) -> Privacy:
        """Where two values are hashed alike, nothing is told; else as in randomized response."""
        p, q = k_ary_chances(self.ratio, self.family.hashes)
        apart = 1 - self.family.collision
        rest = 1 - apart * (p + q)
        return between((apart * p, apart * q, rest), (apart * q, apart * p, rest))

    def randomise(self, indices: Wholes, bits: BitSource) -> Reports:
        """A function and a noisy hash for each value."""
        family = self.family
        functions = sample_belows(family.functions, indices.size, bits)
        hashes = family.apply(functions, indices)
        answers = answer_k_ary(
            hashes, family.hashes, k_ary_chances(self.ratio, family.hashes), bits
        )
        return functions * family.hashes + answers

    def count(self, reports: Reports) -> Wholes:
        """How many reports name the hash of each value."""
        codes, counts = cast("Wholes", reports), np.zeros(self.family.prime, np.int64)
        for start in range(0, codes.size, PEOPLE_AT_ONCE):
            _add_supports(counts, codes[start : start + PEOPLE_AT_ONCE], self.family)
        return counts[: self.size]

    def support_patterns(self, values: int) -> Patterns:
        """By the chances that two, and three, values are hashed alike."""
        g, two = self.family.hashes, self.family.collision
        three = common_hash_chance(*self.family) if values == 3 else Fraction(0)
        exactly = {2: (1 - two, two), 3: (1 - 2 * two + three, two - three, three)}[values]
        masses = {
            held: exactly[sum(held) - 1] / g for held in product((0, 1), repeat=values) if sum(held)
        }
        covered = g * k_ary_chances(self.ratio, g).other
        none = 1 - sum(masses.values())
        return {held: covered * mass for held, mass in {**masses, (0,) * values: none}.items()}

    def crowds(self) -> tuple[LikelihoodAtoms, ...]:
        """For large primes the triples are not counted: all others hold one of the two values."""
        if self.size > 2 and self.family.prime <= MOST_COUNTED:
            return (atoms_under_third(self.support_patterns(3), self.ratio),)
        pair = self.support_patterns(2)
        return atoms_under_second(pair, self.ratio), atoms_under_first(pair, self.ratio)

    def most_codes(self) -> int:
        """A function and a hash."""
        return self.family.functions * self.family.hashes

    def parameters(self) -> dict[str, object]:
        """The family."""
        return {"prime": self.family.prime, "hashes": self.family.hashes}


def _add_supports(counts: Wholes, codes: Wholes, family: HashFamily) -> None:
    """Adds each report's values: x = (u − b)/a modulo P for u = y, y + g, y + 2g, … below P."""
    functions, hashes = codes // family.hashes, codes % family.hashes
    inverse = list_inverses(family.prime)[1 + functions // family.prime]
    values = inverse * ((hashes - functions % family.prime) % family.prime) % family.prime
    step = inverse * family.hashes % family.prime
    for first in range(0, family.prime, family.hashes):
        last_round = family.prime - first < family.hashes
        named = values[hashes < family.prime - first] if last_round else values
        counts += np.bincount(named, minlength=family.prime)
        values = values + step
        values -= family.prime * (values >= family.prime)


def hashed_chances(ratio: Fraction, family: HashFamily) -> SupportChances:
    """Of a support by the k-ary answer among the hashes."""
    p, q = k_ary_chances(ratio, family.hashes)
    return SupportChances(p, q + (p - q) * family.collision)


@lru_cache(maxsize=1024)
def best_family(ratio: Fraction, size: int) -> HashFamily:
    """The number of hashes next to r + 1 with the smaller variance, and a prime."""
    prime = prime_from(max(size, 3))
    below = min(max(2, int(ratio + 1)), prime - 1)
    families = [HashFamily(prime, g) for g in (below, below + 1) if g < prime]
    return min(families, key=lambda family: hashed_chances(ratio, family).variance(Fraction(0)))


def collision_chance(prime: int, hashes: int) -> Fraction:
    """Over ordered pairs of different numbers below the prime."""
    quotient, more = divmod(prime, hashes)
    alike = more * (quotient + 1) * quotient + (hashes - more) * quotient * (quotient - 1)
    return Fraction(alike, prime * (prime - 1))


@lru_cache(maxsize=64)
def common_hash_chance(prime: int, hashes: int) -> Fraction:
    """That 0, 1 and 2 are hashed alike: b, b + a and b + 2a agree, counted over all a and b."""
    offsets = np.arange(prime)
    first, alike = offsets % hashes, 0
    for a in range(1, prime):
        second, third = (offsets + a) % prime % hashes, (offsets + 2 * a) % prime % hashes
        alike += int(((first == second) & (first == third)).sum())
    return Fraction(alike, prime * (prime - 1))


@lru_cache(maxsize=1024)
def prime_from(least: int) -> int:
    """The smallest prime that is at least this number."""
    number = least
    while any(number % factor == 0 for factor in range(2, isqrt(number) + 1)):
        number += 1
    return number


@lru_cache(maxsize=8)
def list_inverses(prime: int) -> NDArray[np.int64]:
    """1/a modulo the prime, for each a from 1 on; at 0 there is none."""
    inverses = [0, 1]
    for a in range(2, prime):
        inverses.append((prime - prime // a) * inverses[prime % a] % prime)
    return np.array(inverses, np.int64)
