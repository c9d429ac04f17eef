"""Keeps files that an owner sends: under a random name, for that person alone, for an hour.

Beside a file stands whose it is and what it was called. It goes when it was imported, when its
hour is over, and when the curator sweeps.

  Tested:   tests/curator/console/test_steward_registration.py
"""

from contextlib import suppress
from dataclasses import dataclass
from json import dumps, loads
from pathlib import Path
from re import fullmatch
from shutil import copyfileobj
from time import time
from typing import BinaryIO

from letalone.curator.data_sets.file_places import WHOSE
from letalone.curator.http.problems import problem_error
from letalone.curator.people.visitors import Visitor
from letalone.curator.storage.sweeping import VISIT_SECONDS

KINDS = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet"}
NO_KIND = f"Choose a file whose name ends in one of {', '.join(KINDS)}: it says what the file is."
OTHERS = {b"%PDF": "a PDF document", b"PK\x03\x04": "an archive, such as an Excel workbook"}
NO_TABLE = "It is {}, whatever its name says. Save the table as a CSV file, and send that."
GONE = (
    "There is no such file of yours. Files that were sent wait for an hour, and are used once. Send"
    " it again."
)
MAX_NAME_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was sent: its id, where it lies, and what its owner calls it."""

    id: str
    place: Path
    called: str


def keep(visitor: Visitor, file: BinaryIO, called: str) -> Upload:
    """Keeps a file for this person; nothing where that fails."""
    kind = KINDS.get(Path(called).suffix.lower())
    if kind is None:
        raise problem_error("not-valid", NO_KIND)
    _check_begins(file)
    visitor.curator.sweep()
    place = visitor.curator.data_sets.incoming(kind)
    upload = Upload(place.name, place, Path(called).name[-MAX_NAME_LENGTH:])
    try:
        _whose(place).write_text(dumps({"person": visitor.name, "called": upload.called}))
        with place.open("xb") as target:
            place.chmod(0o600)
            copyfileobj(file, target, 1 << 20)
    except BaseException:
        drop(upload)
        raise
    return upload


def find(visitor: Visitor, upload: str) -> Upload:
    """The file of this id, if it is this person's and its hour is not over."""
    place = visitor.curator.settings.incoming_folder / upload
    if not fullmatch(r"[0-9a-f]{32}\.(csv|parquet)", upload):
        raise problem_error("not-found", GONE)
    try:
        content = loads(_whose(place).read_text())
        age = time() - place.stat().st_mtime
    except (OSError, ValueError):
        raise problem_error("not-found", GONE) from None
    if content["person"] != visitor.name or age > VISIT_SECONDS:
        raise problem_error("not-found", GONE)
    return Upload(upload, place, content["called"])


def drop(upload: Upload) -> None:
    """Removes a file, and what stands beside it."""
    for path in (upload.place, _whose(upload.place)):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _check_begins(file: BinaryIO) -> None:
    """Refuses files that are often taken for tables."""
    begins = file.read(4)
    file.seek(0)
    if begins in OTHERS:
        raise problem_error("not-valid", NO_TABLE.format(OTHERS[begins]))


def _whose(place: Path) -> Path:
    return place.with_name(place.name + WHOSE)
