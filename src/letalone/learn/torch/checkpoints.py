"""A run as a file, and how it goes on: as one run, charged once.

A file holds the weights, the optimizer and how many steps were taken, and no key: noise is drawn
anew. A run that is cut short leaves the model as the last file (or the start) has it, so that what
is computed again was never seen. A file stands for one run; two runs from copies of it would show
two draws of the same steps, of which one was charged.

  Proven:   docs/explanation/proofs/deep_learning.md, section 5
  Tested:   tests/deep_learning/test_checkpoints.py
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any, cast

import torch
from torch import Tensor, nn

from letalone.errors import ParameterError
from letalone.learn.torch.training_plan import TrainPlan

FORMAT = 1


@dataclass(slots=True)
class RunState:
    """What goes on: a name that the ledger knows the run by, and the steps taken."""

    run: str = field(default_factory=lambda: token_hex(16))
    taken: int = 0
    averaged: dict[str, Tensor] = field(default_factory=dict[str, Tensor])


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The model, the optimizer and the run at one moment."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    plan: TrainPlan
    state: RunState

    def kept(self) -> dict[str, Any]:
        """A copy of all of it."""
        found = {
            "format": FORMAT,
            "plan": self.plan.described(),
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "run": self.state.run,
            "taken": self.state.taken,
            "averaged": self.state.averaged,
        }
        return cast("dict[str, Any]", _copied(found))

    def restore(self, kept: dict[str, Any]) -> None:
        """Everything as it was kept."""
        self.model.load_state_dict(kept["model"])
        self.optimizer.load_state_dict(_copied(kept["optimizer"]))
        self.state.run, self.state.taken = kept["run"], kept["taken"]
        self.state.averaged = _copied(kept["averaged"])

    def read(self, path: str | os.PathLike[str]) -> None:
        """Goes on from a file; refused where its plan is another."""
        kept = torch.load(path, weights_only=True, map_location="cpu")
        if not isinstance(kept, dict) or cast("Any", kept).get("format") != FORMAT:
            raise ParameterError(f"{os.fspath(path)} was not written by a private run.")
        if kept["plan"] != self.plan.described():
            raise ParameterError(
                "The checkpoint is of a run with another plan: its noise, rows, batch, clip and"
                " steps must be those of this trainer. Make the trainer as it was made then."
            )
        self.restore(cast("dict[str, Any]", kept))


def write(kept: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """The whole file or the one before."""
    target = Path(path)
    beside = target.with_name(f"{target.name}.{token_hex(4)}.new")
    torch.save(kept, beside)
    os.replace(beside, target)  # noqa: PTH105  (of the same name in every system's manual)


def _copied(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {k: _copied(v) for k, v in cast("dict[Any, Any]", value).items()}
    return [_copied(v) for v in cast("list[Any]", value)] if isinstance(value, list) else value
