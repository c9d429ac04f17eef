"""Where the schema file and the ledger of a file lie, and how the command line shows places."""

from pathlib import Path

from letalone.engines.catalogue import ENGINES
from letalone.errors import ParameterError
from letalone.exact.typed import expand_home
from letalone.sources import places
from letalone.sources.places import is_schema_file
from letalone.sources.remote_address import is_remote
from letalone.sources.resolve import is_address, read_source


def ledger_path(file: str, given: Path | None = None) -> Path:
    """The ledger that was given, or the one beside the file."""
    if given is not None:
        return expand_home(given)
    beside = read_source(file, look=ENGINES).ledger_file if is_elsewhere(file) else None
    return in_short_form(beside or places.ledger_path(file))


def is_elsewhere(file: str) -> bool:
    """Whether this is the address of a table or a file that is not on this machine."""
    return is_address(file) or is_remote(file)


def schema_beside(file: str, table: str | None = None) -> Path:
    """Where the schema file of a table lies, or would lie; a schema file is itself."""
    beside = None if is_schema_file(file) else read_source(file, table, look=ENGINES).schema_file
    return in_short_form(beside or expand_home(file))


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
    from letalone.drawing.figure import check_drawable

    check_place("--plot", path)
    if path is not None:
        check_drawable(path)
    return path
