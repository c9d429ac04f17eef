"""Reads the master key, under which subjects are found and members of past imports recognised.

The key makes HMAC-SHA256 of a data set's name and an id. Whoever has the database and not the key
cannot try ids one after the other. It lies in a file of the folder, readable by its user only.

When newer data take the place of older, the older rows go. To tell a person which releases were
made while they were in, a mark of each person is kept under the key, sorted, in a file: 32 bytes,
and no id.

  Tested:   tests/curator/test_subjects.py
  Assumed:  HMAC-SHA256 is a pseudo-random function
"""

import hmac
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from secrets import token_bytes

from letalone.curator.data_sets.file_places import MEMBERS, keep_private
from letalone.curator.storage.stored_values import new_id
from letalone.errors import FormatError
from letalone.exact.canonical import canonical

KEY_BYTES = 32


@dataclass(frozen=True, slots=True, repr=False)
class MasterKey:
    """A secret of 256 bits; it is never printed."""

    secret: bytes

    def finder(self, data_set: str, unit_id: str) -> str:
        """Where the key of a person in a data set is found."""
        return pseudonym(self.secret, "finder", data_set, unit_id)

    def member(self, data_set: str, unit_id: str) -> bytes:
        """The mark by which a member of a past import is recognised."""
        return bytes.fromhex(pseudonym(self.secret, "member", data_set, unit_id))

    def question(self, words: str) -> str:
        """What stands in the ledger for a question that was refused."""
        return pseudonym(self.secret, "question", words)

    def journey(self, words: str, visit: str) -> str:
        """The seal of what a browser keeps while somebody signs in elsewhere."""
        return pseudonym(self.secret, "journey", words, visit)

    @property
    def mark(self) -> str:
        """By which a database knows its own key; nobody finds the key from it."""
        return pseudonym(self.secret, "mark")

    def __repr__(self) -> str:
        return "MasterKey(…)"


def pseudonym(key: bytes, *words: str) -> str:
    """HMAC-SHA256 of some words, of which each is told apart from the next."""
    return hmac.new(key, canonical(list(words)), "sha256").hexdigest()


def read_master_key(path: Path, *, make: bool = True) -> MasterKey:
    """The key in a file; made where there is none and `make`, whole or not at all."""
    if not path.exists():
        if not make:
            raise FormatError(
                f"{path} is missing, and the curator's database is in use: under a new key nobody"
                " in the data would be found. Restore it from the backup that belongs to the"
                " database."
            )
        _make_key_file(path)
    secret = path.read_bytes()
    if len(secret) != KEY_BYTES:
        raise FormatError(
            f"{path.name} is damaged: it must hold {KEY_BYTES} bytes. Restore it from the backup"
            " that belongs to the database."
        )
    return MasterKey(secret)


def _make_key_file(path: Path) -> None:
    """Written beside and linked: of several processes one wins, and all read the same."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.{token_bytes(4).hex()}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(token_bytes(KEY_BYTES))
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(beside, path)
    except FileExistsError:
        pass
    finally:
        beside.unlink()


def keep_members(folder: Path, marks: Iterable[bytes]) -> str:
    """Writes a new file of marks; its name."""
    place = folder / f"{new_id()}{MEMBERS}"
    _write(place, b"".join(sorted(marks)))
    return place.name


def is_member(place: Path, marks: set[bytes]) -> bool:
    """Whether one of the marks is in a file."""
    return not marks.isdisjoint(_read_marks(place))


def forget_members(place: Path, gone: set[bytes]) -> None:
    """Takes marks out of a file, which is written anew and takes the place of the old whole.

    Only within the lock of the data set: of two who do so at once, one would undo the other's.
    """
    marks = _read_marks(place)
    if marks.isdisjoint(gone):
        return
    beside = place.with_name(f"{new_id()}.new")
    _write(beside, b"".join(sorted(marks - gone)))
    os.replace(beside, place)  # noqa: PTH105  (also over a file that is there, on every system)


def _read_marks(place: Path) -> set[bytes]:
    content = place.read_bytes()
    return {content[start : start + KEY_BYTES] for start in range(0, len(content), KEY_BYTES)}


def _write(place: Path, content: bytes) -> None:
    place.write_bytes(content)
    keep_private(place)
