"""What a table needs to know of a model that is trained on it: tables and models meet here alone.

An estimator makes a job from what is public about a table (`schema`); the table charges it, fetches
the rows that it names, and settles what `fit` gives (`session.training`).

  Tested:   tests/learn/test_sessions.py
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from letalone.exact.typed import Number
from letalone.privacy import Privacy
from letalone.privacy.curve import Json

FitColumns = Mapping[str, NDArray[Any]]
UNIT_OF_ROWS = ""  # beside the columns, none of which has this name


class FitJob(Protocol):
    """A fit of some columns of a table."""

    @property
    def features(self) -> Sequence[str]: ...  # the columns that the model looks at

    @property
    def target(self) -> str | None:
        """The column that it learns to predict; rows without it are left out."""
        ...

    @property
    def per_unit(self) -> int | None:
        """How many rows of a unit it bounds itself to; None: it gets one row of each."""
        ...

    @property
    def goes_on(self) -> bool: ...  # whether a fit that was cut short is gone on with, free

    @property
    def epsilon(self) -> Number: ...  # the price, with `delta`: what `privacy` promises

    @property
    def delta(self) -> Number: ...  # the probability at which the promise may fail

    @property
    def privacy(self) -> Privacy: ...  # what the model reveals about one row

    def described(self) -> Json: ...  # all that decides the law of the model, but the rows

    def fit(self, columns: FitColumns) -> Json:
        """The model, as it is published; must succeed for any values."""
        ...
