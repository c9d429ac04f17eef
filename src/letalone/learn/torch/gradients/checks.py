"""Refuses models that mix examples or remember them, before anything is charged or read.

By type where it is known (BatchNorm), and by trying: of four made-up examples one is changed, and
nothing may change for the others, nor in what the model stores. This finds mixing that made-up
examples show; a model that mixes only for some inputs is not found.

  Tested:   tests/deep_learning/test_checks.py: planted leaks
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import (
    _BatchNorm,  # pyright: ignore[reportPrivateUsage]
    _NormBase,  # pyright: ignore[reportPrivateUsage]
)

from letalone.errors import ParameterError
from letalone.learn.torch.gradients.recording import (
    ExampleBatch,
    Loss,
    Terms,
    by_book_keeping,
    losses_of,
    one_by_one,
    trained,
)
from letalone.learn.torch.tensors import leaves, length, mapped

MADE_UP = 4
TRIES = (1.0, 100.0)  # how large the changed example is
NEAR = 1e-3  # single precision agrees far better; a forgotten use of a weight far worse
MIXES = (
    "{} normalises by the whole batch, so that one example moves the gradients of all others."
    " Replace it by GroupNorm or LayerNorm."
)
LEAKS = (
    "The model or its loss mixes examples: when one of a batch is changed, the loss of another"
    " changes. Private training needs each loss from its own example alone; look for statistics"
    " over the first dimension."
)
REMEMBERS = (
    "The model stores numbers from its examples in a buffer ({}), which would be published without"
    " noise. Switch that off (track_running_stats=False), or compute it from public data."
)
Way = Callable[[nn.Module, Loss, ExampleBatch], Terms]
Augment = Callable[[Any], Any]


def checked_way(
    model: nn.Module, loss: Loss, like: tuple[Any, Any], augment: Augment | None = None
) -> Way:
    """How to read gradients of this model: by book-keeping where that sees every use of a weight.

    `like` is an example's shapes and types. ParameterError where the model mixes examples.
    """
    first = deepcopy(model).train()
    _check_unmixed(first, loss, like, augment)
    settled = deepcopy(model).eval()  # without dropout, which would draw otherwise for each way
    batch = augmented(made_up(like), augment)
    wanted = _added_up(settled, loss, batch)
    for way in (by_book_keeping, one_by_one):
        if _agrees(way, settled, loss, batch, wanted):
            return way
    raise ParameterError(
        "The gradients of single examples cannot be read from this model: neither from its layers"
        " nor by torch.func.vmap. Look for weights that are used outside of layers together with"
        " steps that depend on values, or write the model from layers."
    )


def check_layers(model: nn.Module) -> None:
    """Refuses what mixes examples, or lets data change a weight, by its type."""
    if not trained(model):
        raise ParameterError("The model has no parameter that requires a gradient.")
    for name, layer in cast("Any", model).named_modules():
        keeps = isinstance(layer, _NormBase) and layer.track_running_stats
        if keeps or isinstance(layer, _BatchNorm):
            raise ParameterError(MIXES.format(f"{name or 'The model'} ({type(layer).__name__})"))
        odd = isinstance(layer, nn.Embedding | nn.EmbeddingBag)
        if odd and (layer.max_norm is not None or layer.scale_grad_by_freq):
            raise ParameterError(
                f"{name or 'The model'} has max_norm or scale_grad_by_freq, by which examples"
                " change each other's rows. Leave both out."
            )
    for name, parameter in trained(model).items():
        if parameter.dtype not in (torch.float32, torch.float64):
            raise ParameterError(
                f"{name} is {parameter.dtype}, but trained parameters must be float32 or float64."
                " Call model.float() first."
            )


def check_losses(losses: Any, examples: int) -> None:
    """Refuses a loss that does not give one number for each example."""
    if not isinstance(losses, Tensor) or losses.dim() == 0 or len(losses) != examples:
        raise ParameterError(
            "loss must give one number for each example, such as"
            " torch.nn.CrossEntropyLoss(reduction='none'), but gives one for all."
        )


def _check_unmixed(
    model: nn.Module, loss: Loss, like: tuple[Any, Any], augment: Augment | None
) -> None:
    before = _tried(model, loss, made_up(like), augment)
    for size in TRIES:
        after = _tried(model, loss, _changed(made_up(like), size), augment)
        if not torch.equal(before[0][1:], after[0][1:]):
            raise ParameterError(LEAKS)
        for name, buffer in before[1].items():
            if not torch.equal(buffer, after[1][name]):
                raise ParameterError(REMEMBERS.format(name))


def _tried(
    model: nn.Module, loss: Loss, batch: ExampleBatch, augment: Augment | None
) -> tuple[Tensor, dict[str, Tensor]]:
    """The losses, and what the model stores afterwards."""
    fresh = deepcopy(model)
    with _same_luck(), torch.no_grad():
        losses = losses_of(fresh, loss, augmented(batch, augment))
        check_losses(losses, len(batch.shares))
    return losses.nan_to_num(), {n: b.nan_to_num() for n, b in fresh.named_buffers()}


def _added_up(model: nn.Module, loss: Loss, batch: ExampleBatch) -> dict[str, Tensor]:
    """The gradients of all examples, each times a weight of its own."""
    own = trained(model)
    with torch.enable_grad():
        total = (losses_of(model, loss, batch) * _weights(batch).to(batch.shares.dtype)).sum()
    found = cast("Any", torch.autograd).grad(total, list(own.values()), allow_unused=True)
    return {n: g for n, g in zip(own, found, strict=True) if g is not None}


def _agrees(
    way: Way, model: nn.Module, loss: Loss, batch: ExampleBatch, wanted: dict[str, Tensor]
) -> bool:
    """Whether the gradients that this way reads add up to those of the batch.

    Weights differ, so that a model that changes the order of examples within is seen.
    """
    try:
        terms = way(model, loss, batch)
    except RuntimeError:  # where shapes do not fit
        return False
    for name, gradient in wanted.items():
        size = length(gradient)
        if name not in terms:
            if size > 0:
                return False
            continue
        found = terms[name].weighted(_weights(batch), doubles=True).double()
        if not length(found - gradient.double().flatten()) <= NEAR * size + 1e-6:
            return False
    return True


def _weights(batch: ExampleBatch) -> Tensor:
    found = torch.linspace(0.5, 2, len(batch.shares), dtype=torch.float64)
    return found.to(batch.shares.device)


def made_up(like: tuple[Any, Any], examples: int = MADE_UP) -> ExampleBatch:
    """Examples of this shape, always the same ones; of whole numbers, 0 and 1."""
    luck = torch.Generator().manual_seed(1)

    def made(one: Tensor) -> Tensor:
        shape = (examples, *one.shape)
        if not one.is_floating_point():
            return torch.randint(0, 2, shape, generator=luck).to(one)
        return torch.randn(shape, generator=luck).to(one)

    inputs, targets = mapped(like, made)
    device = leaves(inputs)[0].device
    return ExampleBatch(inputs, targets, torch.ones(examples, device=device))


def _changed(batch: ExampleBatch, size: float) -> ExampleBatch:
    """The same with another first example."""

    def change(values: Tensor) -> Tensor:
        values = values.clone()
        if values.is_floating_point():
            values[0] = values[0] * -size + size
        else:
            values[0] = values[0] == 0  # the other of 0 and 1
        return values

    inputs, targets = mapped((batch.inputs, batch.targets), change)
    return ExampleBatch(inputs, targets, batch.shares)


def augmented(batch: ExampleBatch, augment: Augment | None) -> ExampleBatch:
    """The batch with its inputs changed by what the trainer was given."""
    return batch if augment is None else replace(batch, inputs=augment(batch.inputs))


@contextmanager
def _same_luck() -> Generator[None]:
    """Dropout draws the same each time, and what torch would draw afterwards is left alone."""
    anything = cast("Any", torch)
    with anything.random.fork_rng():
        anything.manual_seed(1)
        yield
