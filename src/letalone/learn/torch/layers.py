"""What each kind of layer says of its parameters' gradients: terms from its input and its slopes.

`slopes` are the gradient of the loss by the layer's output. A kind that is not listed is given a
gradient for each example by `torch.func`, from the layer's own forward.

  Tested:   tests/deep_learning/test_layers.py: each kind against one gradient for each example
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast
from warnings import catch_warnings, filterwarnings

import torch
from torch import Tensor, nn
from torch.func import functional_call, vjp, vmap  # pyright: ignore[reportPrivateImportUsage]
from torch.nn import functional

from letalone.learn.torch.standardised import StandardisedConv2d, through_standardising
from letalone.learn.torch.terms import Lookups, Products, Term, Whole

Terms = dict[str, Term]
Rule = Callable[[Any, Tensor, Tensor], Terms]


def terms_of(layer: nn.Module, given: Tensor, slopes: Tensor) -> Terms:
    """A term for each trainable parameter of the layer, by its name there."""
    found = _rule(layer)(layer, given, slopes)
    own = dict(layer.named_parameters(recurse=False))
    return {name: term for name, term in found.items() if name in own and own[name].requires_grad}


def _rule(layer: nn.Module) -> Rule:
    for kind in type(layer).__mro__:
        if kind in RULES and type(layer).forward is cast("Any", kind).forward:
            return RULES[kind]
    return any_layer


def _linear(layer: nn.Linear, given: Tensor, slopes: Tensor) -> Terms:
    del layer  # its shapes are those of the tensors
    given, slopes = _positions(given), _positions(slopes)
    return {"weight": Products(slopes, given), "bias": _over_positions(slopes)}


def _embedding(layer: nn.Embedding, given: Tensor, slopes: Tensor) -> Terms:
    places = given.reshape(len(given), -1)
    slopes = slopes.reshape(len(given), -1, slopes.shape[-1])
    if layer.padding_idx is not None:
        slopes = torch.where((places == layer.padding_idx)[:, :, None], 0, slopes)
    return {"weight": Lookups(places, slopes, layer.num_embeddings)}


def _layer_norm(layer: nn.LayerNorm, given: Tensor, slopes: Tensor) -> Terms:
    normed = functional.layer_norm(given, layer.normalized_shape, eps=layer.eps)
    size = len(layer.normalized_shape)
    return {"weight": _last(slopes * normed, size), "bias": _last(slopes, size)}


def _rms_norm(layer: nn.RMSNorm, given: Tensor, slopes: Tensor) -> Terms:
    normed = functional.rms_norm(given, list(layer.normalized_shape), eps=layer.eps)
    return {"weight": _last(slopes * normed, len(layer.normalized_shape))}


def _group_norm(layer: nn.GroupNorm, given: Tensor, slopes: Tensor) -> Terms:
    normed = functional.group_norm(given, layer.num_groups, eps=layer.eps)
    return {"weight": _channels(slopes * normed), "bias": _channels(slopes)}


def _conv(layer: nn.Conv1d | nn.Conv2d, given: Tensor, slopes: Tensor) -> Terms:
    if layer.padding_mode != "zeros" or isinstance(layer.padding, str):
        return any_layer(layer, given, slopes)
    flat = slopes.flatten(2)
    patches = _patches(layer, given)
    if layer.groups == 1:
        weight: Term = Products(flat.transpose(1, 2), patches.transpose(1, 2))
    else:
        left, right = (_split(part.double(), layer.groups) for part in (flat, patches))
        weight = Whole(torch.einsum("ngol,ngil->ngoi", left, right).flatten(1))
    return {"weight": weight, "bias": _channels(slopes)}


def _standardised(layer: StandardisedConv2d, given: Tensor, slopes: Tensor) -> Terms:
    if layer.padding_mode != "zeros" or isinstance(layer.padding, str):
        return any_layer(layer, given, slopes)
    found = _conv(layer, given, slopes)
    used = found["weight"].whole().values.reshape(len(given), len(layer.weight), -1)
    return {**found, "weight": Whole(through_standardising(used, layer.weight).flatten(1))}


def _split(values: Tensor, groups: int) -> Tensor:
    """The numbers of each group by themselves."""
    return values.reshape(len(values), groups, -1, values.shape[2])


def _patches(layer: nn.Conv1d | nn.Conv2d, given: Tensor) -> Tensor:
    """What each place of the output looks at: examples by numbers by places."""
    sizes = [layer.kernel_size, layer.dilation, layer.padding, layer.stride]
    if isinstance(layer, nn.Conv1d):
        given, before = given.unsqueeze(2), [1, 1, 0, 1]
        sizes = [(first, *size) for first, size in zip(before, sizes, strict=True)]
    kernel, dilation, padding, stride = cast("list[tuple[int, ...]]", sizes)
    return functional.unfold(given, kernel, dilation=dilation, padding=padding, stride=stride)


def any_layer(layer: nn.Module, given: Tensor, slopes: Tensor) -> Terms:
    """One gradient for each example, from the layer's own forward."""
    own = dict(layer.named_parameters(recurse=False))
    trained = {n: p.detach() for n, p in own.items() if p.requires_grad}
    frozen = {n: p.detach() for n, p in own.items() if not p.requires_grad}

    def one(example: Tensor, slope: Tensor) -> dict[str, Tensor]:
        def forward(parameters: dict[str, Tensor]) -> Tensor:
            return functional_call(layer, {**parameters, **frozen}, (example[None],))

        return cast("Any", vjp(forward, trained))[1](slope[None])[0]

    with unhurried():
        found = vmap(one, randomness="different")(given, slopes)
    return {name: Whole(values.detach().double().flatten(1)) for name, values in found.items()}


@contextmanager
def unhurried() -> Generator[None]:
    """Without the warning that some operation is done one example at a time: that is the point."""
    with catch_warnings():
        filterwarnings("ignore", "There is a performance drop", UserWarning)
        yield


def _positions(values: Tensor) -> Tensor:
    """Examples by positions by numbers."""
    return values.reshape(len(values), -1, values.shape[-1])


def _over_positions(slopes: Tensor) -> Term:
    if slopes.shape[1] > 1:
        return Whole(slopes.double().sum(1))
    return Products(slopes, slopes.new_ones(len(slopes), 1, 1))


def _last(values: Tensor, size: int) -> Whole:
    """The sum of all but the last dimensions, for each example."""
    shape = values.shape[values.dim() - size :]
    return Whole(values.double().reshape(len(values), -1, *shape).sum(1).flatten(1))


def _channels(values: Tensor) -> Whole:
    return Whole(values.double().reshape(*values.shape[:2], -1).sum(2))


RULES: dict[type, Rule] = {
    nn.Linear: _linear,
    nn.Embedding: _embedding,
    nn.LayerNorm: _layer_norm,
    nn.RMSNorm: _rms_norm,
    nn.GroupNorm: _group_norm,
    nn.Conv1d: _conv,
    nn.Conv2d: _conv,
    StandardisedConv2d: _standardised,
}
