"""Clipped sums without keeping factors: two backward passes over one forward pass.

The first gives each layer's slopes to whoever measures norms, the second, the same once more, to
whoever adds up; either time a layer's slopes are dropped before those of the next are made. So of
all layers only what plain training keeps is kept. It costs one more backward pass to the outputs,
and every norm twice: a step takes a sixth to a half longer, more where norms are dear.

The second pass measures again, and a layer in which a unit's gradient came out longer than in the
first is cut to what the first said. So nothing rests on both passes giving the same bits.

  Proven:   docs/explanation/proofs/deep_learning.md, section 9
  Tested:   tests/deep_learning/test_low_memory.py: the sums of one pass; slopes that change
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

from letalone.errors import ParameterError
from letalone.learn.torch.gradients.computing import PieceShare, Summing, check_kept
from letalone.learn.torch.gradients.precision import exact_products
from letalone.learn.torch.gradients.recording import ExampleBatch, Records, forward
from letalone.learn.torch.gradients.sums import Sums
from letalone.learn.torch.gradients.terms import Term, added

MISSED = (
    "memory='low' does not meet all layers of this model on its way back. Leave it out, or write"
    " weights that are used outside of layers as layers."
)
See = Callable[[str, Term], None]


@dataclass(frozen=True, slots=True)
class TwoPasses:
    """Norms first, then sums."""

    summing: Summing

    def prepare(self, like: Callable[[], ExampleBatch], share: PieceShare) -> None:
        """Refuses models some of whose layers are not met on the way back."""
        check_kept(self.summing, "memory='low'")
        batch, seen = like(), set[str]()
        known = set(self.summing.terms(batch))
        total, records = self._forward(batch)
        see = _Seen(records, share.rows, lambda name, _: seen.add(name))
        _pass(total, records, see, again=False)
        if seen != known:
            raise ParameterError(MISSED)

    def add(self, batch: ExampleBatch, sums: Sums, share: PieceShare) -> None:
        """Adds what the batch gives."""
        squared = dict[str, Tensor]()
        total, records = self._forward(batch)

        def measure(name: str, term: Term) -> None:
            squared[name] = term.squared_norms()

        def add(name: str, term: Term) -> None:
            row = weights[name] * _shorter(squared[name], term.squared_norms())
            sums.add(name, term, row, doubles=share.doubles)

        with exact_products():
            _pass(total, records, _Seen(records, share.rows, measure), again=True)
            if squared:
                rows = self.summing.clip.weights(torch.stack(list(squared.values())))
                weights = dict(zip(squared, rows, strict=True))
                _pass(total, records, _Seen(records, share.rows, add), again=False)

    def _forward(self, batch: ExampleBatch) -> tuple[Tensor, Records]:
        summing = self.summing
        return forward(summing.model, summing.loss, batch, half=summing.precision.is_fast)


class _Seen:
    """Gives each parameter's term to `see` as soon as all of its uses are there."""

    def __init__(self, records: Records, rows: int, see: See) -> None:
        self._records, self._rows, self._see = records, rows, see
        self._uses, self._waiting = records.uses(), dict[str, list[Term]]()

    def slope(self, number: int, slope: Tensor | None) -> None:
        """The slopes of one layer's output."""
        if slope is None:
            return
        for name, term in self._records.terms(number, slope).items():
            waiting = self._waiting.setdefault(name, [])
            waiting.append(term.grouped(self._rows))
            if len(waiting) == self._uses[name]:
                self._see(name, added(self._waiting.pop(name)))

    def finish(self) -> None:
        """What was used in a layer whose output was not."""
        for name, terms in self._waiting.items():
            self._see(name, added(terms))
        self._waiting.clear()


def _pass(total: Tensor, records: Records, seen: _Seen, *, again: bool) -> None:
    """A backward pass that keeps nothing: each layer's slopes are seen on the way.

    Autograd is asked only for those layers' slopes before which nothing is trained: all others
    lie on the way to them.
    """
    ends = [number for number, depends in enumerate(records.depends) if not depends]
    asked = [*(records.outputs[end] for end in ends), *_beside_layers(records)]
    with _watched(records, seen):
        slopes = torch.autograd.grad(total, asked, retain_graph=again, allow_unused=True)
    for end, slope in zip(ends, cast("list[Tensor | None]", slopes), strict=False):
        seen.slope(end, slope)
    seen.finish()


def _beside_layers(records: Records) -> list[Tensor]:
    """Weights of what has layers inside: such a weight may come before any layer."""
    owners = (layer for layer in records.layers if any(True for _ in layer.children()))
    own = (p for owner in owners for p in owner.parameters(recurse=False))
    return [parameter for parameter in own if parameter.requires_grad]


@contextmanager
def _watched(records: Records, seen: _Seen) -> Generator[None]:
    def watch(number: int, edge: Any) -> Any:
        def see(slopes: tuple[Tensor | None, ...]) -> None:
            seen.slope(number, slopes[cast("int", edge.output_nr)])

        return edge.node.register_prehook(see)

    inner = [number for number, depends in enumerate(records.depends) if depends]
    hooks = [watch(number, records.outputs[number]) for number in inner]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _shorter(first: Tensor, second: Tensor) -> Tensor:
    """How much of a gradient counts whose squared norm was measured twice: 1 where they agree."""
    share = torch.where(second > first, (first / second).sqrt(), 1)
    return torch.where(torch.isfinite(second), share, 0)
