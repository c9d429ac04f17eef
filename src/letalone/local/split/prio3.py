"""Prio3: a report is split into shares that say nothing, and checked and added up as shares.

The leader's share is written out; each helper's is a seed of 32 bytes. `shard` is run by the
person's device; `begin_check`, `agree` and `finish_check` by the counters, for each report once;
then each counter adds up its own shares.

  Theorem.  Any set of counters that leaves out one learns, of honest people, the sum and which
            reports are valid, and nothing else, as long as TurboSHAKE128 cannot be told from random
            functions.
  Proven:   by Davis, Patton, Rosulek and Schoppmann, Verifiable distributed aggregation functions
            (2023); the parts that are ours to get wrong are in
            docs/explanation/proofs/split_reports.md
  Tested:   to the byte against the draft's vectors, the broken reports among them
  Assumed:  one counter is honest; the verification key is secret from the people who report

Prio3Count, Prio3Sum and Prio3Histogram of draft-irtf-cfrg-vdaf-18 (CFRG), section 7.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from letalone.errors import ParameterError
from letalone.local.split.circuits import Circuit
from letalone.local.split.fields import Vector
from letalone.local.split.proofs import (
    accepts,
    proof_length,
    prove,
    query,
    query_length,
    verifier_length,
)
from letalone.local.split.streams import SEED_SIZE, derive_seed, expand

NONCE_SIZE = 16
VERSION = 18  # of the draft: reports of another one are refused by its tags
LEADER = 0
ONE_PROOF = b"\x01"


class Use(IntEnum):
    """What a stream of random bytes is for; no two uses share one."""

    ANSWER_SHARE = 1
    PROOF_SHARE = 2
    JOINT = 3
    PROVE = 4
    QUERY = 5
    JOINT_SEED = 6
    JOINT_PART = 7


class InvalidReport(ParameterError):  # noqa: N818
    """A report is damaged, or its answer is not one of those that are allowed."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a device sends: one share to each counter, and parts of the joint randomness to all."""

    public: bytes
    shares: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """A counter's own state of a check: its share of the answer, which no one else sees."""

    share: Vector
    joint_seed: bytes


@dataclass(frozen=True, slots=True)
class Prio3:
    """One kind of report for a number of counters, bound to a `context` such as a survey's name."""

    circuit: Circuit
    context: bytes
    counters: int = 2

    def __post_init__(self) -> None:
        if not 2 <= self.counters < 256:
            raise ParameterError(f"counters is {self.counters}, but must be from 2 to 255.")

    @property
    def random_size(self) -> int:
        """How many random bytes `shard` needs."""
        return SEED_SIZE * self.counters * (2 if self.circuit.joint else 1)

    def shard(self, answer: int, nonce: bytes, random: bytes) -> Report:
        """The report of an answer; `nonce` names it, `random` comes from the operating system."""
        _check_size("nonce", nonce, NONCE_SIZE)
        _check_size("random", random, self.random_size)
        places = range(0, len(random), SEED_SIZE)
        seeds = [random[at : at + SEED_SIZE] for at in places]
        encoded = self.circuit.encode(answer)
        blinds, leader_blind = [b""] * (self.counters - 1), b""
        if self.circuit.joint:
            blinds, leader_blind = seeds[1:-2:2], seeds[-2]
            seeds = [*seeds[:-2:2], seeds[-1]]
        *helpers, prove_seed = seeds
        return self._split(encoded, nonce, helpers, prove_seed, [leader_blind, *blinds])

    def _split(
        self,
        encoded: Vector,
        nonce: bytes,
        helpers: list[bytes],
        prove_seed: bytes,
        blinds: list[bytes],
    ) -> Report:
        field = self.circuit.field
        answers = [self._answer_share(at, seed) for at, seed in enumerate(helpers, 1)]
        answers.insert(LEADER, _without(self.circuit, encoded, answers))
        parts = [
            self._joint_part(at, blind, share, nonce)
            for at, (blind, share) in enumerate(zip(blinds, answers, strict=True))
        ]
        joint = self._joint(self._joint_seed(parts))
        proof = prove(self.circuit, encoded, self._prove_random(prove_seed), joint)
        proofs = [self._proof_share(at, seed) for at, seed in enumerate(helpers, 1)]
        leader = field.encode(answers[LEADER] + _without(self.circuit, proof, proofs))
        shares = [leader, *helpers]
        return Report(b"".join(parts), tuple(a + b for a, b in zip(shares, blinds, strict=True)))

    def begin_check(
        self, key: bytes, counter: int, nonce: bytes, public: bytes, share: bytes
    ) -> tuple[Check, bytes]:
        """A counter's state, and what it tells the others about a report."""
        _check_size("key", key, SEED_SIZE)
        _check_size("nonce", nonce, NONCE_SIZE)
        answer, proof, blind = self._read_share(counter, share)
        part = self._joint_part(counter, blind, answer, nonce)
        seed = self._joint_seed(self._corrected(public, counter, part))
        random = expand(
            self.circuit.field,
            key,
            self._tag(Use.QUERY),
            ONE_PROOF + nonce,
            query_length(self.circuit),
        )
        answers = query(self.circuit, answer, proof, random, self._joint(seed), self.counters)
        return Check(self.circuit.truncate(answer), seed), self.circuit.field.encode(answers) + part

    def agree(self, told: Sequence[bytes]) -> bytes:
        """The message that all counters get, from what each told; refuses what is not valid."""
        if len(told) != self.counters:
            raise InvalidReport(f"{len(told)} counters told, but there are {self.counters}.")
        size = verifier_length(self.circuit) * self.circuit.field.size
        verifier = [0] * verifier_length(self.circuit)
        for each in told:
            _check_size("what a counter told", each, size + self._part_size)
            verifier = self.circuit.field.add(verifier, self.circuit.field.decode(each[:size]))
        if not accepts(self.circuit, verifier):
            raise InvalidReport("The report's proof does not hold: its answer is not allowed.")
        return self._joint_seed([each[size:] for each in told])

    def finish_check(self, check: Check, message: bytes) -> Vector:
        """The share to add up, once the device is seen to have used the right joint randomness."""
        if message != check.joint_seed:
            raise InvalidReport("The report's joint randomness is not what its shares give.")
        return check.share

    def add_up(self, shares: Sequence[Vector]) -> Vector:
        """A counter's share of the total; also the total, of all counters' shares."""
        total = [0] * self.circuit.outputs
        for share in shares:
            total = self.circuit.field.add(total, share)
        return total

    @property
    def _part_size(self) -> int:
        return SEED_SIZE if self.circuit.joint else 0

    def _tag(self, use: Use) -> bytes:
        head = bytes([VERSION, 0]) + self.circuit.algorithm.to_bytes(4, "big")
        return head + use.to_bytes(2, "big") + self.context

    def _answer_share(self, counter: int, seed: bytes) -> Vector:
        tag, binder = self._tag(Use.ANSWER_SHARE), bytes([counter])
        return expand(self.circuit.field, seed, tag, binder, self.circuit.length)

    def _proof_share(self, counter: int, seed: bytes) -> Vector:
        tag, binder = self._tag(Use.PROOF_SHARE), ONE_PROOF + bytes([counter])
        return expand(self.circuit.field, seed, tag, binder, proof_length(self.circuit))

    def _prove_random(self, seed: bytes) -> Vector:
        return expand(self.circuit.field, seed, self._tag(Use.PROVE), ONE_PROOF, self.circuit.arity)

    def _read_share(self, counter: int, share: bytes) -> tuple[Vector, Vector, bytes]:
        length, size = self.circuit.length, self.circuit.field.size
        own_size = SEED_SIZE if counter else (length + proof_length(self.circuit)) * size
        _check_size("a share", share, own_size + self._part_size)
        body, blind = share[:own_size], share[own_size:]
        if counter:
            return self._answer_share(counter, body), self._proof_share(counter, body), blind
        elements = self.circuit.field.decode(body)
        return elements[:length], elements[length:], blind

    def _joint_part(self, counter: int, blind: bytes, answer: Vector, nonce: bytes) -> bytes:
        if not self.circuit.joint:
            return b""
        binder = bytes([counter]) + nonce + self.circuit.field.encode(answer)
        return derive_seed(blind, self._tag(Use.JOINT_PART), binder)

    def _corrected(self, public: bytes, counter: int, part: bytes) -> list[bytes]:
        """The parts that the device sent, with this counter's own in its place."""
        size = self._part_size
        _check_size("the public share", public, size * self.counters)
        parts = [public[at * size : (at + 1) * size] for at in range(self.counters)]
        parts[counter] = part
        return parts

    def _joint_seed(self, parts: Sequence[bytes]) -> bytes:
        if not self.circuit.joint:
            return b""
        return derive_seed(bytes(SEED_SIZE), self._tag(Use.JOINT_SEED), b"".join(parts))

    def _joint(self, seed: bytes) -> Vector:
        if not self.circuit.joint:
            return []
        return expand(self.circuit.field, seed, self._tag(Use.JOINT), ONE_PROOF, self.circuit.joint)


def _without(circuit: Circuit, vector: Vector, shares: Sequence[Vector]) -> Vector:
    for share in shares:
        vector = circuit.field.subtract(vector, share)
    return vector


def _check_size(what: str, value: bytes, size: int) -> None:
    if len(value) != size:
        raise InvalidReport(f"{what} has {len(value)} bytes, but must have {size}.")
