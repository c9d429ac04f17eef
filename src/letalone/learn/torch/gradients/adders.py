"""Which adder the options of a trainer ask for, and in which pieces a step is worked off.

Without a graph a piece has at most PIECE units unless another size is given. A graph has one shape:
the smallest that nearly all bins fit into, the rest of which is masked.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import ceil, sqrt

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT
from letalone.learn.torch.gradients.checks import Augment
from letalone.learn.torch.gradients.compiled import CompiledAdder
from letalone.learn.torch.gradients.computing import Adder, AtOnce, Summing
from letalone.learn.torch.gradients.low_memory import TwoPasses
from letalone.learn.torch.gradients.precision import Precision
from letalone.learn.torch.gradients.terms import MOST_IN_SINGLE
from letalone.learn.torch.sampling import bins_for

PIECE = MOST_IN_SINGLE  # units at once, where nothing else is asked for
LARGEST_PIECE = 512  # beyond, the bound of rounding is not proven
LARGEST_FAST = 1 << 13  # where sums are assumed to do
MEMORY = ("usual", "low")


@dataclass(frozen=True, slots=True)
class Pieces:
    """How a step is cut: units at once, whether always exactly so many, and what is done first."""

    size: int
    padded: bool
    augment: Augment | None = None
    adder: Callable[[Summing], Adder] = AtOnce


def pieces_for(
    size: int | None,
    augment: Augment | None,
    *,
    batch: int,
    precision: Precision,
    backend: str | None,
    memory: str,
) -> Pieces:
    """The pieces of a step that draws so many units on average."""
    adder = _adder(backend, memory)
    if size is not None:
        size = int(COUNT.typed("physical_batch_size", size))
        _check_size(size, precision)
        return Pieces(size, padded=True, augment=augment, adder=adder)
    size = PIECE if backend is None else _fitting(batch)
    return Pieces(size, padded=backend is not None, augment=augment, adder=adder)


def read_backend(compile: bool | str) -> str | None:  # noqa: A002  (the name of the option)
    """The backend of torch.compile; inductor for True."""
    return compile if isinstance(compile, str) else ("inductor" if compile else None)


def _adder(backend: str | None, memory: str) -> Callable[[Summing], Adder]:
    if memory not in MEMORY:
        raise ParameterError(f"memory is {memory!r}, but must be 'usual' or 'low'.")
    if backend is None:
        return TwoPasses if memory == "low" else AtOnce
    if memory == "low":
        raise ParameterError(
            "compile= and memory='low' do not go together: a compiler sees that both backward"
            " passes are the same and keeps what the first gave. Leave one of them out."
        )
    return partial(CompiledAdder, backend=backend)


def _check_size(size: int, precision: Precision) -> None:
    largest = LARGEST_FAST if precision.is_fast else LARGEST_PIECE
    if size > largest:
        raise ParameterError(
            f"physical_batch_size is {size}, but must be at most {largest}: of more gradients"
            " at once rounding is not bounded closely enough. batch_size may be larger."
        )


def _fitting(batch: int) -> int:
    """The size of pieces that nearly all bins fit into, without much room to spare."""
    mean = batch / bins_for(batch, PIECE)
    return min(PIECE, ceil(mean + 4 * sqrt(mean + 4)) + 9)
