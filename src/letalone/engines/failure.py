"""The one place where an engine's own errors stop.

An engine's message can print a private value (a cast error does), and whether a statement
fails at all can depend on the data. So nothing of it goes on: not the text, not the cause.

  Tested:   tests/engines/test_secrets.py plants secrets and looks for them
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from letalone.errors import LetaloneError, ParameterError

Result = TypeVar("Result")


class EngineFailed(LetaloneError):  # noqa: N818  (as in letalone.errors)
    """The engine gave up. Whoever catches it freezes the data set and says no more."""

    def __init__(self) -> None:
        super().__init__("The engine could not finish. The owner of the data set has to look.")


class RightRevoked(ParameterError):  # noqa: N818
    """The role may not read the table any more. Rights are looked at before any row is, so this
    depends on no data: there is no answer, and nothing freezes.
    """

    def __init__(self) -> None:
        super().__init__(
            "The server does not let the role read the table any more. There is no answer, and what"
            " was charged stays spent. Its owner can allow it again (GRANT SELECT ON …)."
        )


def contained(run: Callable[[], Result]) -> Result:
    """What `run` returns; whatever else it raises becomes an `EngineFailed` without a cause."""
    try:
        return run()
    except LetaloneError:
        raise
    except Exception:
        pass  # raised below, outside of this block: `from None` alone would keep the context
    raise EngineFailed


def unreadable(path: Path, error: OSError) -> ParameterError:
    """The error for a file that the system does not let us read: the system's reason."""
    return ParameterError(f"{path.name} cannot be read: {error.strerror or 'no reason given'}.")
