"""What a report may say, as circuits: a yes or no, a whole number, one of several.

Each circuit calls one gadget of degree two on inputs that are linear in the encoded answer. So
shares of the answer give shares of the inputs, and the proof (`letalone.local.split.proofs`) gives
shares of the gadget's outputs.

A circuit has the number of its `algorithm` in the draft, its `field`, the `length` of an encoded
answer, how many `outputs` are added up, how many `calls` its gadget has with how many inputs
(`arity`), how many `joint` random elements both counters derive, and how many `checks` are 0.

  Tested:   every valid answer is accepted, and every other vector of a small field's corner
            refused; the encodings against the draft's vectors

The circuits Count, Sum and Histogram of draft-irtf-cfrg-vdaf-18 (CFRG), sections 7.4.1 to 7.4.4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from letalone.errors import ParameterError
from letalone.local.split.fields import FIELD64, FIELD128, Field, Vector


@dataclass(frozen=True, slots=True)
class YesNo:
    """0 or 1; the counters learn how many 1s there are."""

    algorithm: ClassVar[int] = 1
    field: ClassVar[Field] = FIELD64
    length: ClassVar[int] = 1
    outputs: ClassVar[int] = 1
    calls: ClassVar[int] = 1
    arity: ClassVar[int] = 2
    joint: ClassVar[int] = 0
    checks: ClassVar[int] = 1

    def encode(self, answer: int) -> Vector:
        return [_within(answer, 1)]

    def gadget(self, inputs: Sequence[int]) -> int:
        return inputs[0] * inputs[1] % self.field.modulus

    def inputs(self, answer: Vector, joint: Vector, shares: int) -> list[Vector]:  # noqa: ARG002
        return [[answer[0], answer[0]]]

    def check(self, answer: Vector, gadgets: Vector, shares: int) -> Vector:  # noqa: ARG002
        return [(gadgets[0] - answer[0]) % self.field.modulus]

    def truncate(self, answer: Vector) -> Vector:
        return answer


@dataclass(frozen=True, slots=True)
class WholeNumber:
    """A whole number from 0 to `largest`; the counters learn the sum.

    It is written as weighted bits. The weights are powers of two, but for the last, which is chosen
    so that all weights add up to `largest`: no bits stand for more.
    """

    largest: int
    algorithm: ClassVar[int] = 2
    field: ClassVar[Field] = FIELD64
    outputs: ClassVar[int] = 1
    arity: ClassVar[int] = 1
    joint: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if not 1 <= self.largest < 1 << 31:
            raise ParameterError(
                f"largest is {self.largest}, but must be from 1 to 2^31 − 1: sums of as many"
                " reports still fit."
            )

    @property
    def length(self) -> int:
        return self.largest.bit_length()

    calls = checks = length

    @property
    def weights(self) -> Vector:
        powers = [1 << place for place in range(self.length - 1)]
        return [*powers, self.largest - sum(powers)]

    def encode(self, answer: int) -> Vector:
        weights = self.weights
        last = _within(answer, self.largest) > sum(weights[:-1])
        rest = answer - last * weights[-1]
        return [*(rest >> place & 1 for place in range(self.length - 1)), int(last)]

    def gadget(self, inputs: Sequence[int]) -> int:
        return inputs[0] * (inputs[0] - 1) % self.field.modulus

    def inputs(self, answer: Vector, joint: Vector, shares: int) -> list[Vector]:  # noqa: ARG002
        return [[bit] for bit in answer]

    def check(self, answer: Vector, gadgets: Vector, shares: int) -> Vector:  # noqa: ARG002
        return gadgets

    def truncate(self, answer: Vector) -> Vector:
        total = sum(weight * bit for weight, bit in zip(self.weights, answer, strict=True))
        return [total % self.field.modulus]


@dataclass(frozen=True, slots=True)
class OneOption:
    """One of `options` choices, from 0; the counters learn how often each was chosen.

    `chunk` choices are checked by one call of the gadget; about the root of `options` makes the
    shortest reports. A random power in front of each check keeps one fault from hiding another.
    """

    options: int
    chunk: int = 0
    algorithm: ClassVar[int] = 4
    field: ClassVar[Field] = FIELD128
    checks: ClassVar[int] = 2

    def __post_init__(self) -> None:
        if not 2 <= self.options <= 1 << 16:
            raise ParameterError(f"options is {self.options}, but must be from 2 to 65,536.")
        if not self.chunk:
            object.__setattr__(self, "chunk", max(1, round(self.options**0.5)))

    @property
    def length(self) -> int:
        return self.options

    outputs = length

    @property
    def calls(self) -> int:
        return -(-self.options // self.chunk)

    joint = calls

    @property
    def arity(self) -> int:
        return 2 * self.chunk

    def encode(self, answer: int) -> Vector:
        chosen = _within(answer, self.options - 1)
        return [int(option == chosen) for option in range(self.options)]

    def gadget(self, inputs: Sequence[int]) -> int:
        pairs = zip(inputs[::2], inputs[1::2], strict=True)
        return sum(a * b for a, b in pairs) % self.field.modulus

    def inputs(self, answer: Vector, joint: Vector, shares: int) -> list[Vector]:
        padded = [*answer, *[0] * (self.calls * self.chunk - self.options)]
        pieces = (padded[at : at + self.chunk] for at in range(0, len(padded), self.chunk))
        return [self._piece(piece, r, shares) for piece, r in zip(pieces, joint, strict=True)]

    def _piece(self, piece: Vector, r: int, shares: int) -> Vector:
        modulus, unit, power = self.field.modulus, self.field.inverse(shares), 1
        wires: Vector = []
        for element in piece:
            power = power * r % modulus
            wires += [power * element % modulus, (element - unit) % modulus]
        return wires

    def check(self, answer: Vector, gadgets: Vector, shares: int) -> Vector:
        modulus = self.field.modulus
        return [sum(gadgets) % modulus, (sum(answer) - self.field.inverse(shares)) % modulus]

    def truncate(self, answer: Vector) -> Vector:
        return answer


Circuit = YesNo | WholeNumber | OneOption


def _within(answer: int, largest: int) -> int:
    if isinstance(answer, float) or not 0 <= answer <= largest:
        raise ParameterError(f"An answer must be a whole number from 0 to {largest}.")
    return int(answer)
