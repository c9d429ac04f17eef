"""How the clipped sum of a piece is computed: at once, in two backward passes, or as one graph.

  at once      all factors of all layers are kept until every norm is known (the default)
  low memory   one backward pass for the norms and one for the sums; see `low_memory`
  compiled     the same as at once, traced and compiled; see `compiled`

Tested:   tests/deep_learning/test_compiled.py, test_low_memory.py: the same sums each way
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import torch
from torch import Tensor, nn

from letalone.errors import ParameterError
from letalone.learn.torch.gradients.checks import Way
from letalone.learn.torch.gradients.clipping import Clip
from letalone.learn.torch.gradients.precision import Precision, exact_products
from letalone.learn.torch.gradients.recording import ExampleBatch, Loss, by_book_keeping
from letalone.learn.torch.gradients.sums import Sums
from letalone.learn.torch.gradients.terms import Term


@dataclass(frozen=True, slots=True)
class PieceShare:
    """Of a batch: how many of its rows belong to each unit, and whether doubles are needed."""

    rows: int
    doubles: bool


@dataclass(frozen=True, slots=True)
class Summing:
    """What is computed: the clipped gradients of this model, read in this way."""

    model: nn.Module
    loss: Loss
    way: Way
    clip: Clip
    precision: Precision = Precision.PROVEN

    def weighted(self, terms: dict[str, Term], rows: int) -> Generator[tuple[str, Term, Tensor]]:
        """Each parameter's term, and how much of each unit's counts; none if none was used."""
        terms = {name: term.grouped(rows) for name, term in terms.items()}
        if not terms:
            return
        squared = torch.stack([term.squared_norms() for term in terms.values()])
        weights = self.clip.weights(squared)
        yield from zip(terms, terms.values(), weights, strict=True)

    @property
    def is_kept(self) -> bool:
        """Whether gradients are read by book-keeping."""
        return self.way is by_book_keeping

    def terms(self, batch: ExampleBatch) -> dict[str, Term]:
        """A term for each parameter that was used."""
        half = self.is_kept and self.precision.is_fast
        way = partial(by_book_keeping, half=True) if half else self.way
        return way(self.model, self.loss, batch)


class Adder(Protocol):
    """Adds the clipped gradients of a batch to sums."""

    def prepare(self, like: Callable[[], ExampleBatch], share: PieceShare) -> None:
        """Whatever can fail for such batches fails now, with made-up examples."""
        ...

    def add(self, batch: ExampleBatch, sums: Sums, share: PieceShare) -> None:
        """Adds what the batch gives."""
        ...


@dataclass(frozen=True, slots=True)
class AtOnce:
    """All factors are kept until every norm is known."""

    summing: Summing

    def prepare(self, like: Callable[[], ExampleBatch], share: PieceShare) -> None:
        """Nothing: the model was tried."""

    def add(self, batch: ExampleBatch, sums: Sums, share: PieceShare) -> None:
        """Adds what the batch gives."""
        terms = self.summing.terms(batch)
        with exact_products():
            for name, term, weights in self.summing.weighted(terms, share.rows):
                sums.add(name, term, weights, doubles=share.doubles)


def check_kept(summing: Summing, option: str) -> None:
    """Refuses what needs book-keeping for models whose gradients are read otherwise."""
    if not summing.is_kept:
        raise ParameterError(
            f"{option} needs a model whose weights are used in layers only, but this one uses some"
            f" outside of them. Leave {option} out, or write that part as a layer."
        )
