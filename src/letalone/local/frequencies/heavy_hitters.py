"""Frequent values of a domain that nobody can list: prefixes that grow, one group of people a step.

A text is its first `length` bytes of UTF-8, filled up with zeros. Each person draws a group evenly
and reports on the prefix of its own length by local hashing. The collector keeps the most frequent
prefixes of the first group, extends them by all that can follow, counts those among the second
group, and so on.

A text is cut into chunks x_1, x_2, … of 24 bits, and hashed as (Σ a_i x_i + b mod P) mod g with
P = 2^31 − 1 and a_i, b drawn evenly from 0 … P − 1 by each person, and reported.

Theorem.  Two different prefixes are hashed alike with probability c = Σ n_j² / P², n_j being how
many of 0 … P − 1 are j modulo g. The report has the ratio r ≤ e^ε, supports its own prefix with
p = r/(r + g − 1) and any other with q + (p − q)c. The last group's reports did not choose the
candidates that it is asked about, so its intervals hold for all of them at once, as shares of the
population that people are drawn from.
  Proven:   docs/explanation/proofs/local_frequencies.md, section 11
  Tested:   collisions by enumeration at a small prime; planted values are found
  Assumed:  the bits are uniform; each person reports once, on their own

A report is a byte for the group, each a_i and b in four bytes, and the hash in four bytes, all
big-endian.

Wang, Li, Jha: Locally differentially private heavy hitter identification (2018).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from letalone.answers.estimate import Estimate
from letalone.errors import ParameterError
from letalone.exact.typed import CONFIDENCE, Number, whole_from, write_rational
from letalone.local.frequencies.k_ary_response import answer_k_ary, k_ary_chances
from letalone.local.frequencies.oracle import SupportChances, Wholes
from letalone.local.ratios import ratio_below, read_epsilon
from letalone.local.reports import Reports, read_reports
from letalone.mechanisms.parameters import fill
from letalone.mechanisms.randomized_response import clopper_pearson
from letalone.mechanisms.values import list_values
from letalone.privacy import REPLACE, Privacy, RandomizedResponsePrivacy
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.uniform import sample_belows

PRIME = (1 << 31) - 1
CHUNK_BYTES = 3
CHUNK_BITS = 8 * CHUNK_BYTES
FIELD_BYTES = 4
STEPS = (1, 2, 3, 4, 6, 8, 12)  # so that no step crosses from one chunk to the next
SIZE = whole_from(1)
CELLS_AT_ONCE = 1 << 19


@dataclass(frozen=True, slots=True)
class FoundValues:
    """Values that somebody holds, at the stated confidence, the most frequent first, and shares.

    All intervals hold together at that confidence. The shares lean upwards a little, because
    they were chosen for being large; the intervals do not.
    """

    values: tuple[str, ...]
    shares: Estimate


@dataclass(frozen=True, slots=True, init=False)
class HeavyHitters:
    """Reports noisy hashes of prefixes of a text; finds frequent texts that nobody has listed.

    Parameters: `epsilon` is what one report costs; `length` is how many bytes of a text count;
    `keep` is how many prefixes survive each step, and `step_bits` how many bits a step adds.
    """

    kind: ClassVar[str] = "heavy_hitters"

    epsilon: Fraction
    length: int
    keep: int
    step_bits: int

    def __init__(
        self, *, epsilon: Number, length: int = 8, keep: int = 32, step_bits: int = 4
    ) -> None:
        sizes = {
            name: int(SIZE.typed(name, value))
            for name, value in (("length", length), ("keep", keep), ("step_bits", step_bits))
        }
        if sizes["step_bits"] not in STEPS or sizes["length"] > 24 or sizes["keep"] > 1024:
            raise ParameterError(
                f"step_bits must be one of {', '.join(map(str, STEPS))}, length at most 24 and keep"
                " at most 1024."
            )
        fill(self, epsilon=read_epsilon(epsilon), **sizes)

    @property
    def ratio(self) -> Fraction:
        """The largest likelihood ratio of a report, a rational at most e^ε."""
        return ratio_below(self.epsilon)

    @property
    def hashes(self) -> int:
        """How many hashes there are: next to r + 1."""
        return max(2, round(self.ratio + 1))

    @property
    def chances(self) -> SupportChances:
        """Of a hash that is reported, for the prefix held and for another one."""
        p, q = k_ary_chances(self.ratio, self.hashes)
        return SupportChances(p, q + (p - q) * even_collision(PRIME, self.hashes))

    @property
    def privacy(self) -> Privacy:
        """What one report reveals about its owner's text; neighbours are REPLACE."""
        truth = k_ary_chances(self.ratio, self.hashes).held
        curve = RandomizedResponsePrivacy(truth=truth, categories=self.hashes)
        return curve.with_neighbours(REPLACE)

    @property
    def chunks(self) -> int:
        """How many chunks a text has."""
        return -(-self.length // CHUNK_BYTES)

    @property
    def prefixes(self) -> tuple[int, ...]:
        """How many bits each group's prefix has."""
        all_bits = 8 * self.length
        return (*range(self.step_bits, all_bits, self.step_bits), all_bits)

    @property
    def report_bytes(self) -> int:
        """The group, the hash function and the hash."""
        return 1 + FIELD_BYTES * (self.chunks + 2)

    def most_codes(self) -> None:
        """Reports are rows of bytes."""

    def is_report(self, rows: Reports) -> NDArray[np.bool_]:
        """Rows that name a group, numbers below the prime, and a hash."""
        groups, fields = _fields(rows)
        named = (groups < len(self.prefixes)) & (fields[:, -1] < self.hashes)
        return named & (fields[:, :-1] < PRIME).all(axis=1)

    def describe(self) -> dict[str, object]:
        """All that a client needs to make reports, as JSON values."""
        return {
            "kind": self.kind,
            "length": self.length,
            "prefixes": list(self.prefixes),
            "hashes": self.hashes,
            "epsilon": write_rational(self.epsilon),
            "ratio": write_rational(self.ratio),
        }

    def privatize(self, values: object, *, bits: BitSource = SYSTEM) -> Any:
        """A report for each text; for a single text a single report."""
        single = isinstance(values, str)
        texts = cut_texts([values] if single else values, self.length)
        groups = sample_belows(len(self.prefixes), len(texts), bits)
        fields = np.empty((len(texts), self.chunks + 2), np.int64)
        drawn = sample_belows(PRIME, len(texts) * (self.chunks + 1), bits)
        fields[:, :-1] = drawn.reshape(len(texts), self.chunks + 1)
        masks = np.array([_masks(prefix, self.chunks) for prefix in self.prefixes])
        hashes = hash_chunks(texts & masks[groups], fields[:, :-1]) % self.hashes
        fields[:, -1] = answer_k_ary(
            hashes, self.hashes, k_ary_chances(self.ratio, self.hashes), bits
        )
        rows = np.empty((len(texts), self.report_bytes), np.uint8)
        rows[:, 0] = groups
        rows[:, 1:] = fields.astype(">u4").view(np.uint8).reshape(len(texts), self.report_bytes - 1)
        return rows[0].tobytes() if single else rows

    def estimate(self, reports: object, confidence: Number = 0.95) -> FoundValues:
        """The texts that the reports show to be held, with their shares."""
        level = float(CONFIDENCE.typed("confidence", confidence))
        groups, fields = _fields(read_reports(self, reports))
        kept, done = np.zeros((1, self.chunks), np.int64), 0
        counts, people = np.zeros(1, np.int64), 0
        for group, prefix in enumerate(self.prefixes):
            mine = fields[groups == group]
            if not len(mine):
                raise ParameterError("A group has no reports: far more people are needed.")
            steps = _extensions(done, prefix, self.chunks)
            counts, people = self._count(mine, kept, steps), len(mine)
            kept, done = (kept[:, None, :] + steps[None, :, :]).reshape(-1, self.chunks), prefix
            if group < len(self.prefixes) - 1:
                kept = kept[np.argsort(-counts, kind="stable")[: self.keep]]
        return self._found(kept, counts, people, level)

    def _count(self, fields: Wholes, kept: Wholes, steps: Wholes) -> Wholes:
        """How many reports name the hash of each prefix with each step, prefixes first."""
        counts = np.zeros((len(kept), len(steps)), np.int64)
        for start in range(0, len(fields), block := max(1, CELLS_AT_ONCE // counts.size)):
            part = fields[start : start + block]
            base = np.stack([hash_chunks(prefix[None, :], part[:, :-1]) for prefix in kept], axis=1)
            plain = np.concatenate((part[:, :-2], np.zeros((len(part), 1), np.int64)), axis=1)
            more = np.stack([hash_chunks(step[None, :], plain) for step in steps], axis=1)
            sums = base[:, :, None] + more[:, None, :]
            sums -= PRIME * (sums >= PRIME)
            counts += (sums % self.hashes == part[:, -1][:, None, None]).sum(axis=0)
        return counts.reshape(-1)

    def _found(self, texts: Wholes, counts: Wholes, people: int, level: float) -> FoundValues:
        other, contrast = float(self.chances.other), float(self.chances.contrast)
        each = 1 - (1 - level) / len(texts)  # so that all intervals hold together
        shares = (counts / people - other) / contrast
        low, high = (
            np.clip((end - other) / contrast, 0.0, 1.0)
            for end in clopper_pearson(counts, people, each)
        )
        order = np.argsort(-shares, kind="stable")
        sure = order[low[order] > 0][: self.keep]
        values = tuple(_text(texts[place], self.length) for place in sure.tolist())
        ends = (low[sure], high[sure])
        estimate = Estimate(shares[sure], *ends, level, self.privacy, values)
        return FoundValues(values, estimate)


def even_collision(prime: int, hashes: int) -> Fraction:
    """That two independent even numbers below the prime are equal modulo `hashes`."""
    quotient, more = divmod(prime, hashes)
    alike = more * (quotient + 1) ** 2 + (hashes - more) * quotient**2
    return Fraction(alike, prime**2)


def hash_chunks(chunks: Wholes, functions: Wholes) -> Wholes:
    """(Σ a_i x_i + b) mod P, row by row; the last column of the functions is b."""
    total = functions[:, -1] % PRIME
    for place in range(chunks.shape[1]):
        total = (total + chunks[:, place] * functions[:, place]) % PRIME
    return total


def cut_texts(values: object, length: int) -> Wholes:
    """The first bytes of each text in UTF-8, as chunks of 24 bits, big-endian."""
    given = values.tolist() if isinstance(values, np.ndarray) else list_values(values)
    texts = cast("list[object]", given) if isinstance(given, list | tuple) else [given]
    if not all(isinstance(text, str) for text in texts):
        raise ParameterError("A value is not a text. Values must be texts, one or a list of them.")
    padded = -(-length // CHUNK_BYTES) * CHUNK_BYTES
    joined = b"".join(
        cast("str", text).encode(errors="replace")[:length].ljust(padded, b"\0") for text in texts
    )
    shape = len(texts), padded // CHUNK_BYTES, CHUNK_BYTES
    content = np.frombuffer(joined, np.uint8).astype(np.int64).reshape(shape)
    return content[:, :, 0] << 16 | content[:, :, 1] << 8 | content[:, :, 2]


def _text(chunks: Wholes, length: int) -> str:
    content = b"".join(int(chunk).to_bytes(CHUNK_BYTES, "big") for chunk in chunks)
    return content[:length].rstrip(b"\0").decode(errors="replace")


def _masks(prefix: int, chunks: int) -> list[int]:
    """For each chunk, which of its bits belong to the prefix."""
    held = [min(max(prefix - at * CHUNK_BITS, 0), CHUNK_BITS) for at in range(chunks)]
    return [((1 << bits) - 1) << (CHUNK_BITS - bits) for bits in held]


def _extensions(done: int, prefix: int, chunks: int) -> Wholes:
    """All ways to go on from `done` bits to `prefix` bits, as chunks; both lie in one chunk."""
    place = done // CHUNK_BITS
    ways = np.zeros((1 << (prefix - done), chunks), np.int64)
    ways[:, place] = np.arange(len(ways)) << ((place + 1) * CHUNK_BITS - prefix)
    return ways


def _fields(rows: Reports) -> tuple[Wholes, Wholes]:
    """The group, and the numbers a_1, …, b and the hash of each report."""
    read = cast("NDArray[np.uint8]", rows)
    numbers = np.ascontiguousarray(read[:, 1:]).view(">u4").astype(np.int64)
    return read[:, 0].astype(np.int64), numbers
