"""Stops an engine's own errors: nothing of them goes on.

An engine's message can print a private value (a cast error does), and whether a statement
fails at all can depend on the data. So nothing of it goes on: not the text, not the cause.

  Tested:   tests/engines/test_secrets.py plants secrets and looks for them
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from signal import SIGINT, getsignal, signal
from threading import current_thread, main_thread
from types import FrameType
from typing import TypeVar

from letalone.errors import LetaloneError, ParameterError, ServiceUnavailable
from letalone.errors.codes import Code
from letalone.errors.problem import Problem

Result = TypeVar("Result")


class EngineFailed(LetaloneError):  # noqa: N818  (as in letalone.errors)
    """The engine gave up. Whoever catches it freezes the data set and says no more."""

    def __init__(self) -> None:
        super().__init__(Problem(Code.ENGINE_FAILED))


class FileChanged(EngineFailed):
    """A file is not what it was when it was opened: changed, replaced or removed.

    Its size, its time and its number decide, which depend on who writes to it and on no row that a
    question reads. So it freezes nothing where a question has not begun (`Engine.reach`). Whether a
    change falls into the time in which rows are read depends on how long that takes, and so on
    rows: that freezes, as a server that is lost then does (docs/decisions/0020).
    """


class RightRevoked(ParameterError):  # noqa: N818
    """The role may not read the table any more. Rights are looked at before any row is, so this
    depends on no data: there is no answer, and nothing freezes.
    """

    def __init__(self) -> None:
        super().__init__(
            "The server does not let the role read the table any more. There is no answer, and what"
            " was charged stays spent. Its owner can allow it again (GRANT SELECT ON …)."
        )


class SourceAway(ServiceUnavailable):
    """The server that has the rows cannot be reached, or its catalogue says that the table cannot
    be read (locked by its keeper, or not what was opened): nothing freezes.

    It is said only where a question has sent no statement about rows yet, so whether it is said
    depends on no row that the question would read. What others have asked may have ended the
    server; then their own data set is frozen, and tells as much. A connection that is lost later,
    whatever the server says of it, may be lost because of rows (memory, a keeper who ends what
    takes long): that freezes.
    """


class SourceUnreadable(ServiceUnavailable):
    """The rows cannot be opened, or are not those that were opened: their owner has to act.

    It is said only where a question has read no row yet, so nothing freezes.
    """

    default_code = "DATA_UNREADABLE"


def hide_engine_errors(run: Callable[[], Result]) -> Result:
    """What `run` returns; whatever else it raises becomes an `EngineFailed` without a cause.

    If Ctrl-C was pressed meanwhile it is `KeyboardInterrupt`: libraries make errors of it.
    """
    with _watching_ctrl_c() as pressed:
        try:
            return run()
        except LetaloneError:
            raise
        except Exception:
            pass  # raised below, outside of this block: `from None` alone would keep the context
    raise KeyboardInterrupt if pressed else EngineFailed


@contextmanager
def _watching_ctrl_c() -> Generator[list[int]]:
    """A list that is not empty if Ctrl-C was pressed in the block, whatever came of it."""
    pressed, before = list[int](), getsignal(SIGINT)
    if current_thread() is not main_thread() or not callable(before):
        yield pressed
        return

    def press(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        before(number, frame)

    signal(SIGINT, press)
    try:
        yield pressed
    finally:
        signal(SIGINT, before)
