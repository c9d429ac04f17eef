"""Parts of a gradient before anybody adds them up: their norms, one by one, and weighted sums.

A weight's gradient for one unit is a sum of products over the unit's positions: its examples, the
views of each, the words of each. A term holds the factors, which are small, and gives the squared
norm of each unit's sum and the weighted sum over units, mostly without ever making the gradient of
one unit.

Norms are rounded up: what doubles can lose is added, as a share of (sum of |left| |right|)^2. Of
factors in bfloat16, products are summed in single precision, and what that loses is added likewise,
with what rounding the weighted factors will lose.

  Proven:   docs/explanation/proofs/deep_learning.md, sections 3 and 8
  Tested:   tests/deep_learning/test_layers.py: against one gradient for each example
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any, Protocol, cast

import torch
from torch import Tensor

from letalone.learn.torch.gradients.precision import HALF, product, wide
from letalone.learn.torch.tensors import can_be_asked

UNIT_ROUNDOFF = 2.0**-51  # four times that of doubles: room for gamma_n, and for both neighbours
SINGLE = 2.0**-22  # the same of single precision
SHARES = {torch.float32: SINGLE, torch.float64: UNIT_ROUNDOFF, HALF: SINGLE}
LARGEST = 2.0**32  # longer vectors than this are not multiplied: their unit counts for nothing
MOST_IN_SINGLE = 344  # so many products are added in single precision, at most
SLICE = 512  # so many products of bfloat16 are summed at once for the norm of pairs
CUT_OFF = 2.0**-23  # lost by an addition within a product, where bits are cut off and not rounded
IN_HALF = 2.0**-9 + 2.0**-15  # lost by a weighted factor that is rounded to bfloat16


class Term(Protocol):
    """A part of one parameter's gradient, for each unit."""

    def squared_norms(self) -> Tensor:
        """The squared norm of each unit's gradient, rounded up; infinite or NaN where odd."""
        ...

    def weighted(self, weights: Tensor, *, doubles: bool, memory: Tensor | None = None) -> Tensor:
        """The sum of all units' gradients, each times its weight; where a weight is 0, nothing.

        doubles: whether to add in double precision even where single precision is mostly enough.
        memory: where the result may be written, as the next one may.
        """
        ...

    def whole(self) -> "Whole":
        """The gradient of each unit by itself."""
        ...

    def grouped(self, size: int) -> "Term":
        """The same, where each `size` rows in a row belong to one unit."""
        ...


@dataclass(frozen=True, slots=True)
class Whole:
    """The gradient of each unit by itself, in doubles (or single precision): units by numbers."""

    values: Tensor

    def squared_norms(self) -> Tensor:
        squares = _checked(self.values).double().square().sum(1)
        return squares * (1 + self.values.shape[1] * UNIT_ROUNDOFF)

    def weighted(self, weights: Tensor, *, doubles: bool, memory: Tensor | None = None) -> Tensor:
        del doubles, memory  # as the values are
        return weights.to(self.values.dtype) @ _kept(self.values, weights)

    def whole(self) -> "Whole":
        return self

    def grouped(self, size: int) -> "Whole":
        return Whole(self.values.reshape(-1, size, self.values.shape[1]).sum(1))


@dataclass(frozen=True, slots=True)
class Products:
    """left^T right summed over positions: units by positions by numbers, both of them."""

    left: Tensor
    right: Tensor

    @property
    def positions(self) -> int:
        return self.left.shape[1]

    def squared_norms(self) -> Tensor:
        left, right = _lengths(self.left), _lengths(self.right)
        most = (left * right).sum(1).square()
        if self.positions == 1:
            return most * (1 + IN_HALF) ** 2 if self._is_half else most
        found = self._by_pairs() if self._pairs_are_cheaper() else self._by_making()
        if self._is_half:
            return self._rounded_up(found, most)
        return found + most * (self._additions() * UNIT_ROUNDOFF)

    def weighted(self, weights: Tensor, *, doubles: bool, memory: Tensor | None = None) -> Tensor:
        """In the precision of the factors where that is proven to do, else in doubles.

        In bfloat16 always in single precision: that is assumed to do.
        """
        left, right = _kept(self.left, weights), _kept(self.right, weights)
        if self._is_half:
            left = (left * weights.float()[:, None, None]).to(HALF)  # rounded once
            return product(left.flatten(0, 1).T, right.flatten(0, 1)).flatten()
        if doubles or self.positions > 1 or len(left) > MOST_IN_SINGLE:
            left, right = left.double(), right.double()
        left = left * weights.to(left.dtype)[:, None, None]
        left, right = left.flatten(0, 1).T, right.flatten(0, 1)
        if memory is None or memory.dtype != left.dtype:
            return (left @ right).flatten()
        place = memory[: len(left) * right.shape[1]].view(len(left), -1)
        return torch.mm(left, right, out=place).flatten()

    def whole(self) -> Whole:
        return Whole(self._made().flatten(1))

    def grouped(self, size: int) -> "Products":
        return Products(_joined(self.left, size), _joined(self.right, size))

    @property
    def _is_half(self) -> bool:
        return self.left.dtype == HALF

    def _made(self) -> Tensor:
        left, right = (v if self._is_half else v.double() for v in (self.left, self.right))
        return product(left.transpose(1, 2), right)

    def _by_making(self) -> Tensor:
        return self._made().square().sum((1, 2), dtype=torch.float64)

    def _by_pairs(self) -> Tensor:
        """Of all pairs of positions: (left_t . left_s) (right_t . right_s)."""
        pairs = _pairs(self.left).double() * _pairs(self.right).double()
        return pairs.sum((1, 2)).clamp(min=0)

    def _rounded_up(self, found: Tensor, most: Tensor) -> Tensor:
        """What single precision lost of the norm is added, and what half will of the sum."""
        if self._pairs_are_cheaper():
            summed = sum(_summed(v.shape[2]) for v in (self.left, self.right))
            found, lost = found + most * (1.1 * summed * CUT_OFF), IN_HALF
        else:
            lost = IN_HALF + 1.1 * (self.positions + 1) * CUT_OFF
        return (found.sqrt() + most.sqrt() * lost).square()

    def _pairs_are_cheaper(self) -> bool:
        left, right = self.left.shape[2], self.right.shape[2]
        return self.positions * (left + right) <= left * right

    def _additions(self) -> int:
        left, right = self.left.shape[2], self.right.shape[2]
        return self.positions**2 + left + right + left * right


@dataclass(frozen=True, slots=True)
class Lookups:
    """Rows of a table that were looked up: `gradients` is added at the rows `places`."""

    places: Tensor
    gradients: Tensor
    rows: int

    def squared_norms(self) -> Tensor:
        most = _lengths(self.gradients).sum(1).square()
        doubles = self.gradients.double()
        same = self.places[:, :, None] == self.places[:, None, :]
        found = (torch.bmm(doubles, doubles.transpose(1, 2)) * same).sum((1, 2)).clamp(min=0)
        additions = self.places.shape[1] ** 2 + self.gradients.shape[2]
        found = found + most * (additions * UNIT_ROUNDOFF)
        if self.gradients.dtype == HALF:
            return (found.sqrt() + most.sqrt() * SINGLE).square()
        return found

    def weighted(self, weights: Tensor, *, doubles: bool, memory: Tensor | None = None) -> Tensor:
        del doubles, memory  # always in doubles, or of bfloat16 in single precision
        kind = wide(self.gradients)
        gradients = _kept(self.gradients, weights).to(kind) * weights.to(kind)[:, None, None]
        return (
            self._empty(1).index_add_(0, self.places.flatten(), gradients.flatten(0, 1)).flatten()
        )

    def whole(self) -> Whole:
        units = len(self.places)
        first = torch.arange(units, device=self.places.device)[:, None] * self.rows
        at = (self.places + first).flatten()
        gradients = self.gradients.to(wide(self.gradients)).flatten(0, 1)
        return Whole(self._empty(units).index_add_(0, at, gradients).reshape(units, -1))

    def grouped(self, size: int) -> "Lookups":
        places = self.places.reshape(-1, size * self.places.shape[1])
        return Lookups(places, _joined(self.gradients, size), self.rows)

    def _empty(self, units: int) -> Tensor:
        shape = (units * self.rows, self.gradients.shape[2])
        return torch.zeros(shape, dtype=wide(self.gradients), device=self.gradients.device)


def added(terms: list[Term]) -> Term:
    """One term for a parameter that was used several times: norms are those of the sum."""
    if len(terms) == 1:
        return terms[0]
    products = [term for term in terms if isinstance(term, Products)]
    if len(products) == len(terms):
        lefts, rights = [t.left for t in products], [t.right for t in products]
        return Products(torch.cat(lefts, 1), torch.cat(rights, 1))
    return Whole(torch.stack([term.whole().values for term in terms]).sum(0))


def _lengths(vectors: Tensor) -> Tensor:
    """The length of each vector, rounded up, in doubles; infinite where it is odd or too long."""
    if vectors.dtype == HALF:  # without a copy in single precision
        norm = cast("Callable[..., Tensor]", cast("Any", torch).linalg.vector_norm)
        found = norm(vectors, dim=2, dtype=torch.float32).double()
    else:
        found = vectors.square().sum(2).double().sqrt()
    found *= 1 + vectors.shape[2] * SHARES[vectors.dtype]
    # Also where a length is NaN: a comparison with it does not hold.
    return torch.where(found <= LARGEST, found, torch.inf)


def _pairs(vectors: Tensor) -> Tensor:
    """The products of every two positions of a unit."""
    if vectors.dtype != HALF:
        return torch.bmm(vectors.double(), vectors.double().transpose(1, 2))
    slices = cast("tuple[Tensor, ...]", cast("Any", vectors).split(SLICE, 2))
    found = product(slices[0], slices[0].transpose(1, 2))
    for part in slices[1:]:
        found = found + product(part, part.transpose(1, 2))
    return found


def _summed(width: int) -> int:
    """How many additions lie on the longest way through the sum of a product, at most."""
    return min(width, SLICE) + ceil(width / SLICE)


def _checked(values: Tensor) -> Tensor:
    return torch.where(values.abs() <= LARGEST, values, torch.inf)


def _kept(values: Tensor, weights: Tensor) -> Tensor:
    """Nothing of units that weigh 0: 0 times NaN is NaN."""
    out = weights == 0
    if can_be_asked(out) and not bool(out.any()):
        return values
    return torch.where(out.reshape(-1, *[1] * (values.dim() - 1)), 0, values)


def _joined(values: Tensor, size: int) -> Tensor:
    return values.reshape(-1, size * values.shape[1], values.shape[2])
