"""Parts of a gradient before anybody adds them up: their norms, one by one, and weighted sums.

A weight's gradient for one unit is a sum of products over the unit's positions: its examples, the
views of each, the words of each. A term holds the factors, which are small, and gives the squared
norm of each unit's sum and the weighted sum over units, mostly without ever making the gradient of
one unit.

Norms are rounded up: what doubles can lose is added, as a share of (sum of |left| |right|)^2.

  Proven:   docs/explanation/proofs/deep_learning.md, section 3
  Tested:   tests/deep_learning/test_layers.py: against one gradient for each example
"""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

UNIT_ROUNDOFF = 2.0**-51  # four times that of doubles: room for gamma_n, and for both neighbours
SHARES = {torch.float32: 2.0**-22, torch.float64: UNIT_ROUNDOFF}  # the same for each precision
LARGEST = 2.0**32  # longer vectors than this are not multiplied: their unit counts for nothing
MOST_IN_SINGLE = 344  # so many products are added in single precision, at most


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
    """The gradient of each unit by itself, in doubles: units by numbers."""

    values: Tensor

    def squared_norms(self) -> Tensor:
        return _checked(self.values).square().sum(1) * (1 + self.values.shape[1] * UNIT_ROUNDOFF)

    def weighted(self, weights: Tensor, *, doubles: bool, memory: Tensor | None = None) -> Tensor:
        del doubles, memory  # always in doubles
        return weights @ _kept(self.values, weights)

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
            return most
        found = self._by_pairs() if self._pairs_are_cheaper() else self._by_making()
        return found + most * (self._additions() * UNIT_ROUNDOFF)

    def weighted(self, weights: Tensor, *, doubles: bool, memory: Tensor | None = None) -> Tensor:
        """In the precision of the factors where that is proven to do, else in doubles."""
        left, right = _kept(self.left, weights), _kept(self.right, weights)
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

    def _made(self) -> Tensor:
        return torch.bmm(self.left.double().transpose(1, 2), self.right.double())

    def _by_making(self) -> Tensor:
        return self._made().square().sum((1, 2))

    def _by_pairs(self) -> Tensor:
        """Of all pairs of positions: (left_t . left_s) (right_t . right_s)."""
        left, right = self.left.double(), self.right.double()
        pairs = torch.bmm(left, left.transpose(1, 2)) * torch.bmm(right, right.transpose(1, 2))
        return pairs.sum((1, 2)).clamp(min=0)

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
        return found + most * (additions * UNIT_ROUNDOFF)

    def weighted(self, weights: Tensor, *, doubles: bool, memory: Tensor | None = None) -> Tensor:
        del doubles, memory  # always in doubles
        gradients = _kept(self.gradients, weights).double() * weights[:, None, None]
        return (
            self._empty(1).index_add_(0, self.places.flatten(), gradients.flatten(0, 1)).flatten()
        )

    def whole(self) -> Whole:
        units = len(self.places)
        first = torch.arange(units, device=self.places.device)[:, None] * self.rows
        at, gradients = (self.places + first).flatten(), self.gradients.double().flatten(0, 1)
        return Whole(self._empty(units).index_add_(0, at, gradients).reshape(units, -1))

    def grouped(self, size: int) -> "Lookups":
        places = self.places.reshape(-1, size * self.places.shape[1])
        return Lookups(places, _joined(self.gradients, size), self.rows)

    def _empty(self, units: int) -> Tensor:
        shape = (units * self.rows, self.gradients.shape[2])
        return torch.zeros(shape, dtype=torch.float64, device=self.gradients.device)


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
    found = vectors.square().sum(2).double().sqrt()
    found *= 1 + vectors.shape[2] * SHARES[vectors.dtype]
    # Also where a length is NaN: a comparison with it does not hold.
    return torch.where(found <= LARGEST, found, torch.inf)


def _checked(values: Tensor) -> Tensor:
    return torch.where(values.abs() <= LARGEST, values, torch.inf)


def _kept(values: Tensor, weights: Tensor) -> Tensor:
    """Nothing of units that weigh 0: 0 times NaN is NaN."""
    out = weights == 0
    if not bool(out.any()):
        return values
    return torch.where(out.reshape(-1, *[1] * (values.dim() - 1)), 0, values)


def _joined(values: Tensor, size: int) -> Tensor:
    return values.reshape(-1, size * values.shape[1], values.shape[2])
