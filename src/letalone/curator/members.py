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


def is_member(place: Path, mark: bytes) -> bool:
    """Whether a mark is in a file."""
    return mark in _marks(place)


def forget_member(place: Path, mark: bytes) -> None:
    """Takes a mark out of a file, which is written anew and takes the place of the old whole."""
    marks = _marks(place)
    if mark not in marks:
        return
    beside = place.with_suffix(".new")
    _write(beside, b"".join(sorted(marks - {mark})))
    os.replace(beside, place)  # noqa: PTH105  (also over a file that is there, on every system)


def _marks(place: Path) -> set[bytes]:
    content = place.read_bytes()
    return {content[start : start + BYTES] for start in range(0, len(content), BYTES)}


def _write(place: Path, content: bytes) -> None:
    place.write_bytes(content)
    keep_private(place)
