"""Who was in a past import: marks under the master key, sorted, in a file; no id stands in it.

When newer data take the place of older, the older rows go. To tell a person which releases were
made while they were in, a mark of each is kept: 32 bytes, HMAC-SHA256 of data set and id.

  Tested:   tests/curator/test_subjects.py
"""

import os
from collections.abc import Iterable
from pathlib import Path

from letalone.curator.keys import BYTES, MasterKey
from letalone.curator.places import MEMBERS, keep_private
from letalone.curator.words import new_id


def keep_members(folder: Path, marks: Iterable[bytes]) -> str:
    """Writes a new file of marks; its name."""
    place = folder / f"{new_id()}{MEMBERS}"
    _write(place, b"".join(sorted(marks)))
    return place.name


def marks_of(master: MasterKey, data_set: str, ids: Iterable[str]) -> list[bytes]:
    """The marks of some ids."""
    return [master.member(data_set, one) for one in ids]


def is_member(place: Path, marks: set[bytes]) -> bool:
    """Whether one of the marks is in a file."""
    return not marks.isdisjoint(_marks(place))


def forget_members(place: Path, gone: set[bytes]) -> None:
    """Takes marks out of a file, which is written anew and takes the place of the old whole.

    Only within the lock of the data set: of two who do so at once, one would undo the other's.
    """
    marks = _marks(place)
    if marks.isdisjoint(gone):
        return
    beside = place.with_name(f"{new_id()}.new")
    _write(beside, b"".join(sorted(marks - gone)))
    os.replace(beside, place)  # noqa: PTH105  (also over a file that is there, on every system)


def _marks(place: Path) -> set[bytes]:
    content = place.read_bytes()
    return {content[start : start + BYTES] for start in range(0, len(content), BYTES)}


def _write(place: Path, content: bytes) -> None:
    place.write_bytes(content)
    keep_private(place)
