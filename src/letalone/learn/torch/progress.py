"""What is told of a run while it goes on: facts of the plan alone."""

from collections.abc import Callable
from dataclasses import dataclass
from warnings import warn

from letalone.exact.typed import Number, as_typed
from letalone.privacy.bounds import six


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, and what it has revealed so far; nothing of it depends on data."""

    step: int
    steps: int
    epsilon: float
    planned: Number

    def __str__(self) -> str:
        spent, planned = six(as_typed(self.epsilon)), six(as_typed(self.planned))
        return f"step {self.step:,} of {self.steps:,}: ε = {spent} of {planned}"


def tell(progress: Callable[[Progress], object], told: Progress) -> None:
    """What a listener does wrong stops no run: what was charged would be lost."""
    try:
        progress(told)
    except Exception as error:
        warn(f"progress failed with {type(error).__name__}; training goes on.", stacklevel=2)
