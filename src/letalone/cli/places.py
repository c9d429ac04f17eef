"""Where the ledger of a file lies, and how the command line shows places."""

from pathlib import Path

from letalone.engines.postgres_server import is_address, stand_in
from letalone.plans import schema


def ledger_path(file: str, given: Path | None = None) -> Path:
    """The ledger that was given, or the one beside the file.

    That of a database on a server is DATABASE.letalone.db in the working folder.
    """
    place = stand_in(file) if is_address(file) else file
    return given or in_short_form(schema.ledger_path(place))


def in_short_form(path: Path) -> Path:
    """A path as seen from the working folder, where it lies in it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
