"""Several processes that take each step together, as one: those of torch.distributed.

The first process draws who takes part, from bits of its own; every process works on whole bins of
these units; the clipped sums are added up; the first one adds the noise, once, and all get the same
gradient. What fails in one process fails in all of them, as soon as they next meet.

  Proven:   docs/explanation/proofs/deep_learning.md, sections 1 and 3
  Tested:   tests/deep_learning/test_team.py, with two processes
  Assumed:  all processes are given the same data set, and only they hear what they tell each other
"""

from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from letalone.errors import ParameterError
from letalone.learn.torch.sampling import Piece

UNSAID = (
    "torch.distributed has a group of {} processes. Say distributed=True for one run that all of"
    " them take together, charged once; or distributed=False for a run of its own in each process,"
    " each of them charged."
)
NO_GROUP = (
    "distributed=True needs the processes to have met: call torch.distributed.init_process_group"
    " before, in each of them."
)
WRAPPED = (
    "The model is wrapped by DistributedDataParallel, which would add up gradients that are not"
    " clipped. Give the model itself, with distributed=True."
)
DIFFERENT = (
    "The processes were given different {}. A run is one run: make the same trainer in each of them"
    " from the same weights (call torch.manual_seed with the same number before the model is made,"
    " or load them), and give each the same data set and checkpoint."
)
FAILED = "Another process of this run could not go on, so the run is over in all of them."


@dataclass(slots=True)
class Team:
    """The processes of a run, as one of them sees it; a run of one process is a team of one."""

    rank: int = 0
    size: int = 1
    device: torch.device = torch.device("cpu")  # noqa: RUF009  (never changes)
    is_over: bool = False

    @property
    def is_first(self) -> bool:
        """Whether this is the process that draws, adds noise, is charged, and writes files."""
        return self.rank == 0

    def bins(self, least: int) -> int:
        """So many bins that each process has as many."""
        return -(-least // self.size) * self.size

    @contextmanager
    def together(self) -> Generator[None]:
        """What is done in here is done in every process, or fails in every one."""
        with self.or_leave():
            yield
        self._tell(failed=False)

    @contextmanager
    def or_leave(self) -> Generator[None]:
        """What fails in here is told to the others."""
        try:
            yield
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """The others hear, where they next meet, that this process does not go on."""
        if not self.is_over:
            with suppress(RuntimeError):  # they may be gone
                self._tell(failed=True)

    def end(self) -> None:
        """The run is over: nobody waits for anybody."""
        self.is_over = True

    def shared(self, pieces: Iterable[Piece]) -> Iterable[Piece]:
        """This process's part of the pieces that the first one drew: whole bins."""
        if self.size == 1:
            return pieces
        with self.together():
            listed = list(pieces) if self.is_first else []
        told: list[Any] = [listed]
        _talk().broadcast_object_list(told, src=0)
        return [piece for piece in cast("list[Piece]", told[0]) if self._works_on(piece)]

    def add_up(self, total: Tensor) -> None:
        """The sum over all processes, in place."""
        if self.size > 1:
            _talk().all_reduce(total)

    def spread(self, values: Tensor) -> None:
        """The numbers of the first process, in place."""
        if self.size > 1:
            _talk().broadcast(values, src=0)

    def check_same(self, what: dict[str, str]) -> None:
        """Refuses, in every process, where what they were given differs."""
        if self.size == 1:
            return
        told: list[Any] = [None] * self.size
        _talk().all_gather_object(told, what)
        different = [name for name in what if len({each[name] for each in told}) > 1]
        if different:
            self.end()  # in all of them
            raise ParameterError(DIFFERENT.format(" and ".join(different)))

    def _works_on(self, piece: Piece) -> bool:
        return piece.bin % self.size == self.rank

    def _tell(self, *, failed: bool) -> None:
        if self.size == 1:
            return
        # Whatever a process waits for when another one fails is this number.
        failures = torch.tensor([int(failed)], device=self.device)
        self.is_over = failed
        _talk().all_reduce(failures)
        if failures.item():
            self.is_over = True
            raise RuntimeError(FAILED)


def team_of(model: nn.Module, *, distributed: bool | None) -> Team:
    """All processes of the group where that was asked for, or this one alone."""
    if isinstance(model, DistributedDataParallel):
        raise ParameterError(WRAPPED)
    has_met = bool(_talk().is_available() and _talk().is_initialized())
    size = int(_talk().get_world_size()) if has_met else 1
    if distributed is None and size > 1:
        raise ParameterError(UNSAID.format(size))
    if not distributed:
        return Team()
    if not has_met:
        raise ParameterError(NO_GROUP)
    return Team(int(_talk().get_rank()), size, next(model.parameters()).device)


def digest_of(model: nn.Module) -> str:
    """Equal for equal weights and buffers, of equal names."""
    found = sha256()
    for name, values in cast("dict[str, Tensor]", model.state_dict()).items():
        found.update(f"{name} {values.dtype} {tuple(values.shape)}".encode())
        found.update(values.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    return found.hexdigest()


def _talk() -> Any:
    return cast("Any", dist)
