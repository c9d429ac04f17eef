"""The clipped sum of one step in which everybody takes part, before the noise."""

from typing import Any

import torch

from letalone.learn.torch import PrivateTrainer
from networks import make
from seeded import SeededBits

ROWS = 24


def trainer_of(model: Any, loss: Any, *, rows: int = ROWS, **others: Any) -> PrivateTrainer:
    settings = {"epsilon": 2, "delta": 1e-5, "epochs": 10, "batch_size": rows, **others}
    trainer = PrivateTrainer(model, loss, rows=rows, **settings)
    trainer._bits = SeededBits(5)
    return trainer


def steps_of(name: str, *, rows: int = ROWS, dtype: torch.dtype = torch.float64, **others: Any):
    """Of a named network, with data of its own."""
    model, loss, batch = make(name, examples=rows, dtype=dtype)
    unit = others.pop("unit", None)
    trainer = trainer_of(model, loss, rows=rows, **others)
    return trainer._prepared((batch.inputs, batch.targets), unit)


def sum_of(name: str, **others: Any) -> torch.Tensor:
    return steps_of(name, **others)._clipped_sums().total.double()


def apart(first: torch.Tensor, second: torch.Tensor) -> float:
    """How far two sums are from each other, as a share of the first."""
    return ((first - second).norm() / first.norm()).item()
