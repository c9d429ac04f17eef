"""Tensors in tuples and dicts, and arrays as tensors."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.utils import _pytree


def mapped(values: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """The same shape of tuples, lists and dicts, with the function of each tensor."""
    return cast("Any", _pytree.tree_map)(function, values)


def leaves(values: Any) -> list[Any]:
    """All that is not a tuple, a list or a dict."""
    return cast("Any", _pytree.tree_leaves)(values)


def as_tensor(array: NDArray[Any]) -> Tensor:
    """A tensor of the same memory."""
    return cast("Any", torch.from_numpy)(array)  # pyright: ignore[reportUnknownMemberType]


def length(values: Tensor) -> float:
    """The square root of the sum of squares."""
    return float(values.double().square().sum().sqrt())


def split(values: Tensor, sizes: Sequence[int]) -> tuple[Tensor, ...]:
    """Parts of these sizes, one after the other, in the same memory."""
    return cast("Any", values).split(list(sizes))


def can_be_asked(values: Tensor) -> bool:
    """Whether a number of them is cheap to know: not while traced, nor on another device."""
    return values.device.type == "cpu" and get_proxy_mode() is None
