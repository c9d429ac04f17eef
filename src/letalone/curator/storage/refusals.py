"""What the curator refuses beyond what letalone refuses anyway.

LetaloneError
├── NotRecognised        who asks is not known: a wrong name, password or token
├── NotPermitted         who asks is known, and may not do this
├── NotThere             no such data set, request, proposal, release, person or token
├── Retired              the data set is over: its rows are gone (a NotAllowed)
├── AlreadyDecided       a request or a proposal that was decided before, a name that is taken
└── TooManyTries         wait, then try again

No message says whether a person exists, or holds a private value.
"""

from typing import TYPE_CHECKING

from letalone.errors import LetaloneError, NotAllowed

if TYPE_CHECKING:
    from letalone.errors.problem import Fact


class NotRecognised(LetaloneError):  # noqa: N818  (as in letalone.errors)
    """A wrong name, password or token: which of them is not said."""

    default_code = "NOT_RECOGNISED"


class NotPermitted(LetaloneError):  # noqa: N818
    """The person is known, and this is not theirs to do."""

    default_code = "NOT_PERMITTED"


class NotThere(LetaloneError):  # noqa: N818
    """There is no such thing, or it is not to be seen by who asks."""

    default_code = "UNKNOWN_RECORD"


class Retired(NotAllowed):
    """The data set was retired, or its retention date is over."""

    default_code = "RETIRED"


class AlreadyDecided(LetaloneError):  # noqa: N818
    """It was decided before, or the name is taken."""

    default_code = "ALREADY_DECIDED"


class TooManyTries(LetaloneError):  # noqa: N818
    """There were too many tries; `seconds` from now there may be more."""

    default_code = "TOO_MANY_TRIES"

    def __init__(self, message: str = "", *, seconds: int = 0) -> None:
        super().__init__(message)
        self.seconds = seconds

    def _fields(self) -> "dict[str, Fact]":
        return {"seconds": self.seconds}
