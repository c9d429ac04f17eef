"""What is added up over a step: one number for each weight, all in one piece of memory.

Pieces are added in doubles, or in single precision where the plan has so few pieces and units that
what this loses is proven to be small.

  Proven:   docs/explanation/proofs/deep_learning.md, section 3
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from letalone.learn.torch.gradients.terms import Term
from letalone.learn.torch.tensors import split

MOST_IN_SINGLE_SUMS = 1 << 17  # then less than 2^-7 of a clip is lost (proof, section 3)


@dataclass(frozen=True, slots=True)
class Sums:
    """The sum of all gradients so far, and what becomes of it: `gradient`, noisy and divided.

    memory is for the next one to be added, made when it is needed; empty, the parameters to which
    nothing was added yet.
    """

    total: Tensor
    gradient: Tensor
    parts: dict[str, Tensor]
    memory: list[Tensor]
    sizes: tuple[int, ...]
    empty: set[str]

    def add(self, name: str, term: Term, weights: Tensor, *, doubles: bool) -> None:
        """Adds one parameter's gradients of all units, each times its weight."""
        memory = self.parts[name] if name in self.empty else self._memory()
        self.put(name, term.weighted(weights, doubles=doubles, memory=memory))

    def put(self, name: str, found: Tensor) -> None:
        """Adds what was summed for one parameter."""
        part, is_first = self.parts[name], name in self.empty
        # Adding two kinds of numbers at once would be several times slower.
        found = found.to(part.dtype)
        self.empty.discard(name)
        if not is_first:
            part.add_(found)
        elif found.data_ptr() != part.data_ptr():
            part.copy_(found)

    def _memory(self) -> Tensor:
        if not self.memory:
            self.memory.append(torch.empty_like(self.gradient[: max(self.sizes)]))
        return self.memory[0]

    def finished(self) -> "Sums":
        """The same, with 0 where nothing was added."""
        for name in self.empty:
            self.parts[name].zero_()
        return self


def single_will_do(batch: int, bins: int, size: int, *, in_order: bool = True) -> bool:
    """Whether pieces may be added in single precision: a function of the plan alone.

    in_order: one after the other, not by processes that each add up some of the numbers.
    """
    most_drawn = 3 * batch + 400  # more are drawn with a chance below e^-240
    pieces = bins + most_drawn // size
    most_lost = pieces + 3 if in_order else 2 * (pieces + 1)
    return size * pieces * most_lost <= MOST_IN_SINGLE_SUMS


def emptied(again: Sums | None, own: Mapping[str, nn.Parameter], *, single: bool) -> Sums:
    """Sums of nothing, in the same memory if it fits."""
    sizes = tuple(parameter.numel() for parameter in own.values())
    first = next(iter(own.values()))
    kind = first.dtype if single else torch.float64
    if again is None or (again.sizes, again.total.dtype) != (sizes, kind):
        total = torch.zeros(sum(sizes), dtype=kind, device=first.device)
        parts = dict(zip(own, split(total, sizes), strict=True))
        gradient = torch.empty(sum(sizes), dtype=first.dtype, device=first.device)
        return Sums(total, gradient, parts, [], sizes, set(parts))
    again.empty.update(again.parts)
    return again
