"""Everything that letalone raises.

LetaloneError
├── ParameterError (also a ValueError)   an argument is outside what is allowed
├── BudgetExceeded                       the answer would cost more than is left
├── DataSetFrozen                        nothing is answered until the owner acts
├── NotAllowed                           a purpose or a grant is missing, over or withdrawn
├── UnsupportedQuery                     a question with no proven private answer
├── NeighboursDiffer                     two guarantees speak of different neighbours
├── LedgerUnavailable                    the ledger cannot be read or written now
├── ServiceUnavailable                   a service cannot be reached, or fails
└── FormatError                          a stored file is damaged or newer than this letalone
    └── LedgerDamaged                    a ledger or a receipt was changed

PrivacyWarning (a UserWarning)           allowed, but it promises less than it seems to

A message says what was wrong, what is allowed and how to fix it, in that order.
It never contains a private value. Each class names the exit code of the command line.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from letalone.privacy.budget import Budget


class LetaloneError(Exception):
    """The root of every error of letalone."""

    exit_code = 1


class ParameterError(LetaloneError, ValueError):
    """An argument is outside what is allowed; nothing was spent."""

    exit_code = 2


class BudgetExceeded(LetaloneError):  # noqa: N818  (a public promise, and a better sentence)
    """The answer would cost more privacy than is left; nothing was spent.

    It says what was `spent` before, what was `asked` for (None where no epsilon is enough) and
    what is `left`, where that is known; `budget - cost` spends from the budget, all of which is
    left. Where a purpose or an analyst has too little left, and not the data set, `level` names
    which.
    """

    exit_code = 3

    def __init__(
        self,
        message: str = "",
        *,
        spent: "Budget | None" = None,
        asked: "Budget | None" = None,
        left: "Budget | None" = None,
        level: str | None = None,
    ) -> None:
        super().__init__(message)
        self.spent, self.asked, self.left, self.level = spent, asked, left, level


class DataSetFrozen(LetaloneError):  # noqa: N818
    """The data set is frozen: nothing is answered about it until its owner acts.

    `fact` is what the message says without `remedy`, which is what an owner types.
    """

    exit_code = 5

    def __init__(self, message: str = "", *, remedy: str = "") -> None:
        super().__init__(f"{message} {remedy}".rstrip())
        self.fact, self.remedy = message, remedy


class NotAllowed(LetaloneError):  # noqa: N818
    """Who asks, or what for, has no share of the budget that holds now; nothing was spent."""

    exit_code = 5


class UnsupportedQuery(LetaloneError):  # noqa: N818
    """No private answer with a proof is known for this question; nothing was spent."""

    exit_code = 4


class NeighboursDiffer(LetaloneError):  # noqa: N818
    """Two guarantees protect against different changes and cannot be combined."""

    exit_code = 4


class FormatError(LetaloneError, ValueError):
    """A stored file is damaged, or was written by a newer letalone."""

    exit_code = 2


class LedgerDamaged(FormatError):  # noqa: N818
    """A ledger or a receipt is not as it was written: rely on nothing in it."""

    exit_code = 6


class LedgerUnavailable(LetaloneError):  # noqa: N818
    """The ledger cannot be read or written now, so nothing is released."""


class ServiceUnavailable(LetaloneError):  # noqa: N818
    """A service cannot be reached, does not answer in time, or fails."""


class PrivacyWarning(UserWarning):
    """A setting is allowed, but promises less than it seems to."""
