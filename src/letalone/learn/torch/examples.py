"""A dataset as the trainer reads it: so many examples, and any of them as tensors.

Pairs of tensors are fastest: `fit((inputs, targets))` or a `TensorDataset`. Any other dataset with
a length gives pairs (input, target) one by one; inputs may be a tuple or a dict of tensors.
"""

from collections.abc import Sequence
from typing import Any, Protocol, cast

import torch
from torch import Tensor
from torch.utils.data import (
    TensorDataset,
    default_collate,  # pyright: ignore[reportUnknownVariableType]
)

from letalone.errors import ParameterError
from letalone.learn.torch.gradients.recording import ExampleBatch
from letalone.learn.torch.sampling import Piece
from letalone.learn.torch.tensors import as_tensor, leaves, mapped


class Pairs(Protocol):
    """A dataset of pairs (input, target)."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


class Examples:
    """Pairs, by their places; on the device of the model."""

    def __init__(self, dataset: Any, device: torch.device, *, views: int = 1) -> None:
        self._columns = _columns_of(dataset)
        self._pairs, self._device, self._views = cast("Pairs", dataset), device, views

    def __len__(self) -> int:
        return len(self._pairs) if self._columns is None else len(self._columns[1])

    def batch(self, piece: Piece) -> ExampleBatch:
        """The examples of a piece, each as many times as it has views, unit by unit."""
        real = as_tensor(piece.real)
        shares = real / real.sum(1, keepdim=True).clamp(min=1) / self._views
        inputs, targets = self._at(as_tensor(piece.places).flatten())
        return ExampleBatch(
            self._viewed(inputs), self._viewed(targets), self._viewed(shares.flatten())
        )

    def like_one(self) -> tuple[Any, Any]:
        """An example's shapes and types, with nothing of it; refused where there is none."""
        if self._columns is not None:
            return mapped(self._columns, self._like_one_of)
        if not len(self):
            raise ParameterError("The dataset is empty: of which shape are its examples?")
        inputs, targets = self._at(torch.zeros(1, dtype=torch.int64))
        return mapped((inputs, targets), self._like_one_of)

    def _like_one_of(self, column: Tensor) -> Tensor:
        return torch.zeros(column.shape[1:], dtype=column.dtype, device=self._device)

    def _at(self, places: Tensor) -> tuple[Any, Any]:
        if self._columns is not None:
            return mapped(self._columns, lambda column: column[places.to(column.device)])
        pairs = [self._pairs[place] for place in cast("list[int]", cast("Any", places).tolist())]
        inputs, targets = default_collate(pairs)
        return inputs, targets

    def _viewed(self, values: Any) -> Any:
        def ready(value: Tensor) -> Tensor:
            return value.repeat_interleave(self._views, 0).to(self._device)

        return mapped(values, ready)


def is_table(dataset: Any) -> bool:
    """Whether la.open gave it; asked without what tables need."""
    return hasattr(cast("object", type(dataset)), "trainable_schema")


def check_no_columns(features: Sequence[str] | None, target: str | None) -> None:
    """Refuses columns by name where tensors have none."""
    if features is not None or target is not None:
        raise ParameterError(
            "features and target are for a table that la.open gave. Tensors are given with their"
            " targets: fit((inputs, targets))."
        )


def _columns_of(dataset: Any) -> tuple[Any, Tensor] | None:
    """Inputs and targets, where the dataset is tensors that have all of them."""
    kind = cast("type[object]", type(dataset))
    if isinstance(dataset, TensorDataset) and len(dataset.tensors) == 2:
        return dataset.tensors[0], dataset.tensors[1]
    if isinstance(dataset, tuple | list):
        found = cast("Sequence[Any]", dataset)
        columns = [value for value in leaves(found) if isinstance(value, Tensor)]
        if len(found) == 2 and columns and isinstance(found[1], Tensor):
            _check_lengths(columns)
            return found[0], found[1]
    if not hasattr(kind, "__len__") or not hasattr(kind, "__getitem__"):
        raise ParameterError(
            "The dataset must have a length and give a pair (input, target) for each place; a pair"
            " of tensors will do. Streams have no length: nobody can be drawn from them by a coin."
        )
    return None


def _check_lengths(columns: Sequence[Tensor]) -> None:
    if len({len(column) for column in columns}) > 1:
        raise ParameterError("Inputs and targets must have as many examples each.")
