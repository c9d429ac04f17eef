"""One forward and one backward pass, from which every parameter's gradients can be read.

Hooks keep the input of each layer that has parameters of its own. Autograd is asked for the slopes
of their outputs only, so that no gradient of a weight is made on the way.

  Tested:   tests/deep_learning/test_layers.py; in-place layers, tied weights, LoRA
"""

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.autograd.graph import get_gradient_edge
from torch.func import functional_call, grad, vmap  # pyright: ignore[reportPrivateImportUsage]

from letalone.learn.torch.gradients.layers import terms_of, unhurried
from letalone.learn.torch.gradients.precision import HALF, in_half
from letalone.learn.torch.gradients.terms import Term, Whole, added
from letalone.learn.torch.tensors import mapped

Loss = Callable[[Any, Any], Tensor]
Terms = dict[str, Term]


@dataclass(slots=True)
class ExampleBatch:
    """Examples, their targets, and how much each counts: those of a unit add up to 1 or to 0."""

    inputs: Any
    targets: Any
    shares: Tensor


@dataclass(slots=True)
class Records:
    """The layers that were used, one after the other, their inputs and the edges of their outputs.

    names: of trained parameters, by identity. depends: whether an input depends on some of them.
    """

    names: dict[int, str]
    half: bool
    layers: list[nn.Module] = field(default_factory=list[nn.Module])
    inputs: list[Tensor] = field(default_factory=list[Tensor])
    outputs: list[Any] = field(default_factory=list[Any])
    depends: list[bool] = field(default_factory=list[bool])

    def terms(self, number: int, slope: Tensor) -> Terms:
        """The terms of a layer's parameters, by the names that the model has for them."""
        layer, slope = self.layers[number], _factor(slope, half=self.half)
        found = terms_of(layer, self.inputs[number], slope)
        return {self.names[id(getattr(layer, name))]: term for name, term in found.items()}

    def uses(self) -> dict[str, int]:
        """How often each parameter was used."""
        own = (p for layer in self.layers for p in layer.parameters(recurse=False))
        return dict(Counter(self.names[id(p)] for p in own if id(p) in self.names))


def trained(model: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that are trained, each once, by its first name."""
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def losses_of(model: Callable[..., Any], loss: Loss, batch: ExampleBatch) -> Tensor:
    """The loss of each example, however many of its places have one."""
    found = loss(_call(model, batch.inputs), batch.targets)
    return found.flatten(1).mean(1) if found.dim() > 1 else found


def by_book_keeping(
    model: nn.Module, loss: Loss, batch: ExampleBatch, *, half: bool = False
) -> Terms:
    """A term for each parameter, from one backward pass to the outputs of the layers.

    half: layers compute in bfloat16, and all factors are rounded to it.
    """
    total, records = forward(model, loss, batch, half=half)
    found = dict[str, list[Term]]()
    for number, slope in enumerate(_slopes(total, records.outputs)):
        if slope is not None:
            for name, term in records.terms(number, slope).items():
                found.setdefault(name, []).append(term)
    return {name: added(terms) for name, terms in found.items()}


def forward(
    model: nn.Module, loss: Loss, batch: ExampleBatch, *, half: bool = False
) -> tuple[Tensor, Records]:
    """The sum of all losses, and what the layers kept on the way."""
    device = batch.shares.device
    records = Records({id(p): name for name, p in trained(model).items()}, half=half)
    with torch.enable_grad(), _recorded(model, records), in_half(device, half=half):
        total = (losses_of(model, loss, batch) * batch.shares).sum()
    for given in records.inputs:
        if len(given) != len(batch.shares):
            raise RuntimeError("The first dimension of a layer's input is not that of examples.")
    return total, records


def one_by_one(model: nn.Module, loss: Loss, batch: ExampleBatch) -> Terms:
    """The same by the definition: the whole model's gradient for each example."""
    own = {name: p.detach() for name, p in trained(model).items()}

    def one_loss(parameters: dict[str, Tensor], given: Any, target: Any, share: Tensor) -> Tensor:
        alone = ExampleBatch(_rows_of_one(given), _rows_of_one(target), share[None])

        def call(*args: Any, **named: Any) -> Any:
            return functional_call(model, parameters, args, named, tie_weights=True)

        return (losses_of(call, loss, alone) * alone.shares).sum()

    each = vmap(grad(one_loss), in_dims=(None, 0, 0, 0), randomness="different")
    with unhurried():
        found = cast("dict[str, Tensor]", each(own, batch.inputs, batch.targets, batch.shares))
    return {name: Whole(values.detach().double().flatten(1)) for name, values in found.items()}


@contextmanager
def _recorded(model: nn.Module, records: Records) -> Generator[None]:
    def keep(layer: nn.Module, given: tuple[Any, ...], output: Any) -> None:
        if isinstance(output, Tensor) and output.requires_grad and len(given) == 1:
            records.layers.append(layer)
            records.inputs.append(_factor(given[0].detach(), half=records.half))
            records.depends.append(given[0].requires_grad)
            # The edge stays where it is if a later layer works in place on this output.
            records.outputs.append(get_gradient_edge(output))

    owners = [m for m in model.modules() if any(p.requires_grad for p in m.parameters(False))]
    hooks = [owner.register_forward_hook(keep) for owner in owners]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _factor(values: Tensor, *, half: bool) -> Tensor:
    return values.to(HALF) if half and values.is_floating_point() else values


def _slopes(total: Tensor, outputs: list[Any]) -> list[Tensor | None]:
    if not outputs:
        return []
    return list(torch.autograd.grad(total, outputs, allow_unused=True))


def _call(model: Callable[..., Any], inputs: Any) -> Any:
    if isinstance(inputs, dict):
        return model(**cast("dict[str, Any]", inputs))
    return model(*cast("list[Any]", inputs)) if isinstance(inputs, list | tuple) else model(inputs)


def _rows_of_one(values: Any) -> Any:
    return mapped(values, lambda value: value[None])
