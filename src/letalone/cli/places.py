"""Where the ledger of a file lies, and how the command line shows places."""

from pathlib import Path

from letalone.engines.addresses import is_address, stand_in
from letalone.errors import ParameterError
from letalone.exact.typed import expand_home
from letalone.plans import schema


def ledger_path(file: str, given: Path | None = None) -> Path:
    """The ledger that was given, or the one beside the file.

    That of a database on a server is DATABASE.letalone.db in the working folder, that of a schema
    on Spark CATALOG.SCHEMA.letalone.db.
    """
    if given is not None:
        return expand_home(given)
    elsewhere = stand_in(file) if is_address(file) else None
    return in_short_form(schema.ledger_path(file if elsewhere is None else elsewhere[0]))


def in_short_form(path: Path) -> Path:
    """A path as seen from the working folder, where it lies in it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def check_place(option: str, path: Path | None) -> None:
    """Refuses, before any work is done, a place where no file can be written."""
    if path is None:
        return
    if path.is_dir():
        raise ParameterError(f"{option} is {path}, which is a folder. Name a file in it.")
    if not path.parent.is_dir():
        raise ParameterError(
            f"{option} is {path}, but there is no folder {path.parent}. Make it first."
        )


def check_folder(path: Path) -> None:
    """Refuses a file in a folder that is not there."""
    if not path.absolute().parent.is_dir():
        raise ParameterError(f"There is no folder {path.parent}. Make it, or write elsewhere.")


def drawable(path: Path | None) -> Path | None:
    """The place of a picture, once it is clear that one can be drawn there."""
    from letalone.answers.figure import check_drawable

    check_place("--plot", path)
    if path is not None:
        check_drawable(path)
    return path
