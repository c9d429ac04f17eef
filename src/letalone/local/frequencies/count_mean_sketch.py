"""A count-mean sketch: unary encoding of a hash, by one of K public hash functions.

The K functions are x ↦ ((a x + b) mod P) mod m, drawn once from a public seed. A person picks one
of them evenly, hashes their value into m buckets, and sends a noisy bit for each bucket.

Theorem.  The report has the ratio r of the unary encoding. Over the draw of the functions, two
values collide with probability c (`local_hashing`), so a report supports its own value with p and
any other with q + (p − q)c: estimates are unbiased. Given the functions, another value's chance is
off by (p − q) times at most the deviation of a mean of K independent numbers in [0, 1] of variance
at most c(1 − c): the interval is widened by Bernstein's bound for it.
  Proven:   docs/explanation/proofs/local_frequencies.md, section 8
  Tested:   unbiasedness over seeds; coverage; counts against one report at a time
  Assumed:  SHA-256 of the seed looks random; people's values do not depend on it

A report is the number of the function in two bytes, big-endian, and a row of m bits. Counting takes
K·m counters and time for n + K·d, where local hashing takes n·d.

Apple's Differential Privacy Team: Learning with privacy at scale (2017).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from math import log, sqrt
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from letalone.answers.estimate import Estimate
from letalone.errors import ParameterError
from letalone.exact.typed import Number, refusal, whole_from
from letalone.local.frequencies.bit_rows import Bytes, bytes_of_bits, is_padded
from letalone.local.frequencies.local_hashing import HashFamily, prime_from
from letalone.local.frequencies.oracle import BLOCK_CELLS, FrequencyOracle, SupportChances, Wholes
from letalone.local.frequencies.unary_encoding import UnaryEncoding, flip_unary
from letalone.local.ratios import read_epsilon
from letalone.local.reports import Reports
from letalone.local.shuffling.likelihoods import LikelihoodAtoms, Patterns
from letalone.mechanisms.parameters import fill
from letalone.mechanisms.randomized_response import clopper_pearson
from letalone.mechanisms.values import Floats
from letalone.privacy import Privacy
from letalone.randomness.bits import BitSource
from letalone.randomness.uniform import sample_belows

NAME_BYTES = 2  # of the function's number
MOST_FUNCTIONS = 1 << (8 * NAME_BYTES)
MOST_ESTIMATED = 1 << 24  # more would take many minutes and gigabytes
SIZE = whole_from(2)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class CountMeanSketch(FrequencyOracle):
    """Reports noisy bits about a hash: for domains of up to 2^31 values.

    Parameters: `domain` is how many values there are, or a list of them; `epsilon` is what one
    report costs its owner; `buckets` is how many bits a report has, `functions` how many hash
    functions there are (at most 65,536), and `seed` the public text that they are drawn from.
    `variance` is that of the noise; values that share buckets add to it, and `estimate` widens its
    intervals for that.
    """

    kind: ClassVar[str] = "count_mean_sketch"
    largest_domain: ClassVar[int] = 1 << 31

    buckets: int
    functions: int
    seed: str

    def __init__(
        self,
        domain: int | Sequence[Hashable],
        *,
        epsilon: Number,
        buckets: int = 256,
        functions: int = 4096,
        seed: str = "letalone",
    ) -> None:
        read = self.read_domain(domain)
        sizes = {
            "buckets": int(SIZE.typed("buckets", buckets)),
            "functions": int(SIZE.typed("functions", functions)),
        }
        if sizes["functions"] > MOST_FUNCTIONS or sizes["buckets"] >= prime_from(read.count):
            raise ParameterError(
                f"functions must be at most {MOST_FUNCTIONS}, and buckets fewer than the values of"
                " the domain. For small domains use la.local.SubsetSelection."
            )
        fill(self, domain=read, epsilon=read_epsilon(epsilon), seed=_read_seed(seed), **sizes)

    @property
    def family(self) -> HashFamily:
        """The hash functions that the public ones were drawn from."""
        return HashFamily(prime_from(self.size), self.buckets)

    @property
    def chances(self) -> SupportChances:
        """Over the draw of the functions."""
        p, q = self._bits().chances
        return SupportChances(p, q + (p - q) * self.family.collision)

    @property
    def report_bytes(self) -> int:
        """The function and a bit for each bucket."""
        return NAME_BYTES + bytes_of_bits(self.buckets)

    def pair_curve(self) -> Privacy:
        """That of the unary encoding: under some functions no two values need collide."""
        return self._bits().pair_curve()

    def randomise(self, indices: Wholes, bits: BitSource) -> Reports:
        """A function and a noisy row for each value."""
        rows = np.empty((indices.size, self.report_bytes), np.uint8)
        for start in range(0, indices.size, block := max(1, BLOCK_CELLS // self.buckets)):
            part = indices[start : start + block]
            picked = sample_belows(self.functions, part.size, bits)
            hashes = hash_affine(list_functions(self)[picked], part, self.family)
            row = rows[start : start + block]
            row[:, :NAME_BYTES] = picked.astype(">u2").view(np.uint8).reshape(-1, NAME_BYTES)
            row[:, NAME_BYTES:] = flip_unary(hashes, self.buckets, self._bits().chances, bits)
        return rows

    def estimate_some(
        self, reports: object, values: Sequence[Hashable], confidence: Number = 0.95
    ) -> Estimate:
        """The shares of these values alone, unbiased, each with its own interval.

        It takes as long for a domain of a thousand values as for one of a billion.
        """
        rows, indices = self.read(reports), np.atleast_1d(self.domain.read(values))
        known = self.domain.labels
        labels = tuple(known[place] if known else place for place in indices.tolist())
        counts = self.count_some(rows, indices)
        return self.estimate_counts(counts, len(rows), confidence, labels=labels)

    def count(self, reports: Reports) -> Wholes:
        """How many reports have the bit of each value's bucket."""
        if self.size > MOST_ESTIMATED:
            raise ParameterError(
                f"The domain has {self.size} values, too many to estimate all of them. Name those"
                " that you want to know with estimate_some(reports, values)."
            )
        return self.count_some(reports, np.arange(self.size))

    def count_some(self, reports: Reports, indices: Wholes) -> Wholes:
        """The same for some values only: for domains that are too large to list."""
        sketch = self._sketch(cast("Bytes", reports))
        counts = np.zeros(indices.size, np.int64)
        for function, cells in zip(list_functions(self), sketch, strict=True):
            counts += cells[hash_affine(function[None, :], indices, self.family)]
        return counts

    def interval(self, counts: Wholes, people: int, confidence: float) -> tuple[Floats, Floats]:
        """Half of the misses for the noise, half for the draw of the functions."""
        low, high = clopper_pearson(counts, people, 1 - (1 - confidence) / 2)
        p, q = self._bits().chances
        spread = float(self.family.collision * (1 - self.family.collision)) / self.functions
        needed = log(4 / (1 - confidence))
        off = needed / (3 * self.functions)
        width = float(p - q) * (off + sqrt(off**2 + 2 * spread * needed)) * (1 + 1e-9)
        return low - width, high + width

    def is_report(self, rows: Reports) -> NDArray[np.bool_]:
        """Rows that name one of the functions, with nothing behind the last bit."""
        read = cast("Bytes", rows)
        return is_padded(read, self.buckets + 8 * NAME_BYTES) & (_names(read) < self.functions)

    def support_patterns(self, values: int) -> Patterns:
        """As for rows of buckets: values that share a bucket are told apart less."""
        return self._bits().support_patterns(values)

    def crowds(self) -> tuple[LikelihoodAtoms, ...]:
        """Which values share buckets depends on the seed: nothing is claimed from below."""
        return ()

    def parameters(self) -> dict[str, object]:
        """What the functions are made from."""
        prime = self.family.prime
        sizes = {"prime": prime, "buckets": self.buckets, "functions": self.functions}
        return {**sizes, "seed": self.seed}

    def _bits(self) -> UnaryEncoding:
        return UnaryEncoding(self.buckets, epsilon=self.epsilon)

    def _sketch(self, rows: Bytes) -> Wholes:
        """For each function and bucket, how many of its reports have the bit."""
        sketch = np.zeros((self.functions, self.buckets), np.int64)
        for start in range(0, len(rows), block := max(1, BLOCK_CELLS // self.buckets)):
            part = rows[start : start + block]
            bits = np.unpackbits(part[:, NAME_BYTES:], axis=1, count=self.buckets)
            people, buckets = np.nonzero(bits)
            cells = _names(part)[people] * self.buckets + buckets
            sketch += np.bincount(cells, minlength=sketch.size).reshape(sketch.shape)
        return sketch


def _read_seed(seed: object) -> str:
    if isinstance(seed, str):
        return seed
    raise refusal("seed", seed, "a text that everybody may know")


def _names(rows: Bytes) -> Wholes:
    return rows[:, 0].astype(np.int64) << 8 | rows[:, 1]


def hash_affine(functions: Wholes, values: Wholes, family: HashFamily) -> Wholes:
    """((a x + b) mod P) mod m, by the pair (a, b) of the same place, or one for all."""
    return (functions[:, 0] * values + functions[:, 1]) % family.prime % family.hashes


@lru_cache(maxsize=16)
def list_functions(sketch: CountMeanSketch) -> Wholes:
    """The pairs (a, b): for function j, SHA-256 of "seed/j/0", "seed/j/1", … until both are even.

    The first 8 bytes of a hash, big-endian, are taken if they are below the largest multiple of
    P (P − 1); their rest modulo P (P − 1) is (a − 1) P + b.
    """
    count = sketch.family.functions
    limit = (1 << 64) // count * count
    pairs = [
        divmod(_draw(sketch.seed, j, limit) % count, sketch.family.prime)
        for j in range(sketch.functions)
    ]
    return np.array(pairs, np.int64) + np.array([1, 0])


def _draw(seed: str, function: int, most: int) -> int:
    attempt = 0
    while True:
        content = f"{seed}/{function}/{attempt}".encode()
        if (number := int.from_bytes(sha256(content).digest()[:8], "big")) < most:
            return number
        attempt += 1
