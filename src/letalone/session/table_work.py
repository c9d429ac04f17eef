"""Works on the rows of open tables: under their locks, at a time step, in words that name no row.

A server that does not answer before anything was sent to it, and a file that was changed before
anything was read of it, depend on no data (docs/decisions/0020): nothing freezes then.

  Tested:   tests/session/test_source_away.py, test_files_that_change.py
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

from letalone.engines.core.failure import FileChanged, RightRevoked, SourceAway, SourceUnreadable
from letalone.errors.codes import Code
from letalone.errors.problem import problem
from letalone.errors.remedies import RaiseVersion
from letalone.ledger.acts import ENGINE_FAILED, FILE_CHANGED
from letalone.ledger.charging import Work
from letalone.session.joins.private_joins import lock_tables
from letalone.session.time_steps import at_step

if TYPE_CHECKING:
    from letalone.session.open_table import OpenTable

Result = TypeVar("Result")


class TableWork(Work):
    """Work on rows of open tables: under their locks, at the time step of who asks."""

    harmless = (RightRevoked,)

    def __init__(self, tables: "Sequence[OpenTable]") -> None:
        self.tables = tables

    def hold(self) -> AbstractContextManager[None]:
        return lock_tables(self.tables)

    def reach(self, *, paid: bool) -> None:
        """Goes on only where servers of rows answer, and files are those that were opened."""
        for table in self.tables:
            try:
                table.engine.reach()
            except SourceAway:
                error = source_away(table.name, paid=paid)  # the engine's words could name a server
            except FileChanged:
                error = file_changed(table.name, paid=paid)
            else:
                continue
            raise error  # outside of the block, so that nothing of the engine's error goes with it

    def at_step(self, began: float, run: Callable[[], Result]) -> Result:
        return at_step(self.tables[0].asker, began, run)

    def reason(self, error: Exception) -> str:
        return FILE_CHANGED if isinstance(error, FileChanged) else ENGINE_FAILED


def source_away(name: str, *, paid: bool = False) -> SourceAway:
    """What is told where rows cannot be read, for reasons that no row can have."""
    cost = "Ask the same again: nothing more is charged" if paid else "Nothing was charged"
    return SourceAway(
        f"The rows of {name!r} cannot be read now, so there is no answer: their server does not"
        f" answer, or their table is locked, or it is not what it was. {cost}. Try again in a"
        " moment; if it stays so, its owner has to look."
    )


def file_changed(name: str, *, paid: bool = False) -> SourceUnreadable:
    """What is told where a file is not what it was when it was opened."""
    cost = "What was charged stays spent" if paid else "Nothing was charged"
    words = (
        f"The file of {name!r} was changed, replaced or removed since it was opened, so there is no"
        f" answer. {cost}."
    )
    return SourceUnreadable(problem(Code.DATA_UNREADABLE, RaiseVersion(name), words=words))
