"""Two prime fields with many roots of unity, and polynomials given by their values at such roots.

A polynomial of degree below n, n a power of two, is the list of its values at 1, w, …, w^(n−1),
where w is an n-th root of unity. In this form products are taken value by value, once there are
enough values.

  Theorem.  For x that is no n-th root of unity, f(x) = (x^n − 1)/n · Σ f(w^i) w^i / (x − w^i).
            A polynomial of degree below n − 1 has Σ f(w^i) w^i = 0.
  Proven:   docs/explanation/proofs/split_reports.md
  Tested:   against sums over coefficients; the encodings against the draft's vectors

Elements are plain integers from 0 to modulus − 1, encoded with the least byte first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from letalone.errors import ParameterError

Vector = list[int]


@dataclass(frozen=True, slots=True)
class Field:
    """The whole numbers modulo a prime; `generator` has order 2^`two_adicity`."""

    modulus: int
    generator: int
    two_adicity: int
    size: int  # bytes of an element

    def encode(self, vector: Sequence[int]) -> bytes:
        return b"".join(element.to_bytes(self.size, "little") for element in vector)

    def decode(self, encoded: bytes) -> Vector:
        """The elements of a whole encoding; anything else is refused."""
        if len(encoded) % self.size:
            raise ParameterError(f"{len(encoded)} bytes are not a multiple of {self.size}.")
        places = range(0, len(encoded), self.size)
        vector = [int.from_bytes(encoded[at : at + self.size], "little") for at in places]
        if any(element >= self.modulus for element in vector):
            raise ParameterError("An element is not below the field's modulus.")
        return vector

    def add(self, left: Sequence[int], right: Sequence[int]) -> Vector:
        return [(a + b) % self.modulus for a, b in zip(left, right, strict=True)]

    def subtract(self, left: Sequence[int], right: Sequence[int]) -> Vector:
        return [(a - b) % self.modulus for a, b in zip(left, right, strict=True)]

    def signed(self, element: int) -> int:
        """The whole number nearest to 0 that the element stands for."""
        return element - self.modulus if 2 * element > self.modulus else element

    def inverse(self, element: int) -> int:
        return pow(element, -1, self.modulus)


FIELD64 = Field(2**32 * 4294967295 + 1, pow(7, 4294967295, 2**32 * 4294967295 + 1), 32, 8)
_P128 = 2**66 * 4611686018427387897 + 1
FIELD128 = Field(_P128, pow(7, 4611686018427387897, _P128), 66, 16)


@cache
def roots_of_unity(field: Field, n: int) -> tuple[int, ...]:
    """1, w, …, w^(n−1) for the n-th root of unity w; n is a power of two."""
    root = pow(field.generator, (1 << field.two_adicity) // n, field.modulus)
    powers = [1]
    for _ in range(n - 1):
        powers.append(powers[-1] * root % field.modulus)
    return tuple(powers)


def transform(field: Field, coefficients: Sequence[int]) -> Vector:
    """The values at the roots of unity of the polynomial with these coefficients."""
    n = len(coefficients)
    if n == 1:
        return list(coefficients)
    even, odd = transform(field, coefficients[::2]), transform(field, coefficients[1::2])
    turned = [w * b % field.modulus for w, b in zip(roots_of_unity(field, n), odd, strict=False)]
    return field.add(even, turned) + field.subtract(even, turned)


def double(field: Field, values: Sequence[int]) -> Vector:
    """The values of the same polynomial at twice as many roots of unity."""
    n = len(values)
    backwards = transform(field, values)
    scale = field.inverse(n)
    coefficients = [backwards[-i % n] * scale % field.modulus for i in range(n)]
    shifts = roots_of_unity(field, 2 * n)
    odd = [c * w % field.modulus for c, w in zip(coefficients, shifts, strict=False)]
    doubled = [0] * (2 * n)
    doubled[::2], doubled[1::2] = values, transform(field, odd)
    return doubled


def complete(field: Field, values: Sequence[int]) -> Vector:
    """Adds the last of n values of a polynomial of degree below n − 1, given all others."""
    roots = roots_of_unity(field, len(values) + 1)
    known = sum(value * root for value, root in zip(values, roots, strict=False))
    return [*values, -known * field.inverse(roots[-1]) % field.modulus]


def evaluate(field: Field, polynomials: Sequence[Sequence[int]], x: int) -> Vector:
    """The polynomials, all of one length, at x, which must not be a root of unity."""
    n, modulus = len(polynomials[0]), field.modulus
    factor = (pow(x, n, modulus) - 1) * field.inverse(n)
    weights = [
        factor * root * field.inverse(x - root) % modulus for root in roots_of_unity(field, n)
    ]
    return [
        sum(w * value for w, value in zip(weights, values, strict=True)) % modulus
        for values in polynomials
    ]
