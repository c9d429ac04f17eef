"""Finds the files that may be imported, and names the files that are kept.

A file is imported by its name within one folder. The name is refused if it leads anywhere else:
absolute, with "..", through a link, or to what is no plain file. What is kept has a random name.

  Tested:   tests/curator/test_places.py
  Assumed:  nobody but the owner writes into the import folder while a file is imported; a file
            that is exchanged meanwhile is found, and nothing of it is kept
"""

import os
import stat
from glob import has_magic
from pathlib import Path, PurePosixPath, PureWindowsPath

from letalone.curator.storage.settings import Settings
from letalone.curator.storage.stored_values import new_id
from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Spelled, problem
from letalone.sources.files import ARROW, COMPRESSED, EXCEL, JSON_LINES

NOT_IMPORTED = (*COMPRESSED, *JSON_LINES, *ARROW, *EXCEL)
KINDS = {"csv": ".csv", "parquet": ".parquet"}
SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".pq")
KEPT, MEMBERS, LOCK, WHOSE = ".parquet", ".members", ".lock", ".whose"


def place_of_import(settings: Settings, name: object) -> Path:
    """The plain file of this name within the import folder."""
    if not isinstance(name, str) or not _is_inside(name):
        raise ParameterError(
            "file must be the name of a file within the import folder, such as 'visits.csv' or"
            " 'may/visits.csv': not absolute, without '..', '\\', '*', '?' and '['."
        )
    if PurePosixPath(name).suffix.lower() in NOT_IMPORTED:
        raise ParameterError(
            "Files that are compressed, and JSON lines, Feather and Excel files, are not imported:"
            " their size cannot be told before they are read. Convert the file to Parquet."
        )
    place = settings.imports_folder
    for part in PurePosixPath(name).parts:
        place = place / part
        if place.is_symlink():
            raise ParameterError(
                f"{part!r} is a link. Links could lead anywhere: put the file itself into the"
                " import folder."
            )
    return _plain_file(place, name)


def place_for_upload(settings: Settings, kind: str) -> Path:
    """A fresh place for an upload; whoever writes it hands it to `register` or removes it."""
    if kind not in KINDS:
        raise ParameterError(f"kind is {str(kind)[:40]!r}, but must be one of: csv, parquet.")
    return settings.incoming_folder / f"{new_id()}{KINDS[kind]}"


def place_of_upload(settings: Settings, upload: Path) -> Path:
    """The upload, if it lies where `place_for_upload` puts them."""
    place = Path(upload)
    if place.parent != settings.incoming_folder or place.is_symlink():
        words = Spelled(
            "An upload must lie where data_sets.incoming(kind) says.",
            http="There is no such upload: POST /api/v1/uploads gives its id.",
        )
        raise ParameterError(problem(Code.OTHER, words=words))
    if not place.is_file():
        raise ParameterError("There is no such upload. It was used before, or waited for a day.")
    return _plain_file(place, "the upload")


def place_to_keep(settings: Settings) -> Path:
    """A fresh place for an imported table."""
    return settings.data_folder / f"{new_id()}{KEPT}"


def lock_of_files(settings: Settings) -> Path:
    """Shared by whoever makes files that no table names yet; who removes such has it alone."""
    return settings.data_folder / f"files{LOCK}"


def keep_private(place: Path) -> None:
    """Readable by this user only, and on the disk."""
    place.chmod(0o600)
    handle = os.open(place, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _is_inside(name: str) -> bool:
    """Whether a name, by its letters alone, is one below a folder, on every system."""
    windows, plain = PureWindowsPath(name), PurePosixPath(name)
    return (
        bool(plain.parts)
        and name.isprintable()
        and not (plain.is_absolute() or windows.drive or windows.root)
        and ".." not in plain.parts
        and not name.startswith("~")
        and "\\" not in name
        and not has_magic(name)
    )


def _plain_file(place: Path, words: str) -> Path:
    try:
        mode = place.lstat().st_mode
    except OSError:
        mode = 0
    if not stat.S_ISREG(mode):
        raise ParameterError(f"There is no file {words!r} in the import folder.")
    if place.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"{words!r} must end in one of: {', '.join(SUFFIXES)}.")
    return place
