"""Keeps row counts in a file beside the ledger, so that the next process need not count again.

**The file is private.** It says of each row how many rows its person has. It lies beside the ledger
under its name with "-rows" at the end, is readable by its owner alone, and may be deleted at any
time. It is as secret as the data.

Counts of other rows than those that are read would break the bound on what a person adds. So a
kept file is used only with the key that it was written with: who reads makes the key of the source
before, and asks `is_current` of it after the rows were read. In doubt there is no key, or the file
is not used: rows are counted again.

Theorem.  Counts that are read, with a key that is current before and after, are those of the rows.
  Proven:   the key holds, for each file, its path, what the system says of it (size, times, number
            of the file) and a digest of its ends and its Parquet footer; what is read as the unit
            and how; and the number of rows. Whoever writes to a file or puts another in its place
            gives it a new time of change (ctime), or a new number: a source that changed after
            its key was made has another key, since one whose times are not SETTLED has none. A
            kept file has the digest of its key, its own length and checksums of the counts.
  Tested:   tests/engines/test_kept_counts.py, for every way to change a source, and every byte
            of the file
  Assumed:  the system notes the time of every change, and its clock is not set back to the time of
            an old one; a file on another machine is as honest. 64 bits of checksums see damage:
            whoever may write beside the ledger may write the ledger, too, so nobody is kept out.
"""

import json
import os
import stat
import struct
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.unsignedinteger[Any]]

FORMAT = 1  # raised when counts, or what is read as a unit, come to mean something else
SETTLED = 2 * 10**9  # nanoseconds: a change within the step of a file system's clock is not seen
ENDS = 1 << 16  # bytes at each end of a file that its digest is of
MAGIC = b"letalone rows\n"
HEADER = struct.Struct("<14sHQ32s")  # magic, bytes of a count, rows, key
SUMS = struct.Struct("<II")
WIDTHS = {2: np.dtype("<u2"), 4: np.dtype("<u4")}
ABANDONED_SECONDS = 600
BINARY = getattr(os, "O_BINARY", 0)  # on Windows; what follows is not there
PLAIN = os.O_RDONLY | BINARY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY
PARQUET_ENDS = (b"PAR1", b"PARE")


@dataclass(frozen=True, slots=True)
class SeenFile:
    """What a file looked like."""

    path: str
    size: int
    changed: tuple[int, int]  # nanoseconds: of what it holds, of anything
    number: tuple[int, int]  # device and inode
    digest: str


@dataclass(frozen=True, slots=True)
class KeptKey:
    """What counts belong to: the files, the unit as it is read, the rows as they are scanned."""

    kind: str
    files: tuple[SeenFile, ...]
    table: str | None
    unit: tuple[str, str]  # name, stored type
    rows: int
    batches: tuple[int, ...]
    reader: str  # the programs that read the rows, and their versions

    def digest(self) -> bytes:
        """Of all of it, and of the format."""
        return sha256(json.dumps([FORMAT, asdict(self)], sort_keys=True).encode()).digest()

    def is_current(self) -> bool:
        """Whether the files still look as they did."""
        return _see_all([Path(file.path) for file in self.files], self.kind) == self.files


def kept_key(
    paths: Sequence[Path],
    kind: str,
    *,
    unit: tuple[str, str],
    rows: int,
    table: str | None = None,
    batches: Sequence[int] = (),
    reader: str,
) -> KeptKey | None:
    """The key of a source as it is now; None where it cannot be told from a changed one.

    `kind` is that of the files: "parquet", "duckdb" or another. `batches` are their sizes where
    that is known, and `rows` their sum.
    """
    if not paths or (batches and sum(batches) != rows):
        return None
    files = _see_all([path.resolve() for path in paths], kind)
    if files is None or not all(_is_settled(file) for file in files):
        return None
    return KeptKey(kind, files, table, unit, rows, tuple(batches), reader)


def kept_place(ledger: Path, key: KeptKey) -> Path:
    """Where counts are kept beside a ledger: one file for each source and unit."""
    first = Path(key.files[0].path)
    source = str(first if len(key.files) == 1 else first.parent)
    name = sha256(json.dumps([source, key.table, key.unit]).encode()).hexdigest()[:16]
    return ledger.with_name(f"{ledger.name}-{name}-rows")


def read_kept(ledger: Path, key: KeptKey) -> Counts | None:
    """The counts that were kept with this very key, beside the rows; None where there are none."""
    with suppress(OSError), os.fdopen(os.open(kept_place(ledger, key), PLAIN), "rb") as file:
        return _read(file, key)
    return None


def write_kept(ledger: Path, key: KeptKey, counts: Counts) -> bool:
    """Keeps the counts of rows that were read after the key was made; whether it could be done.

    Not if the source has changed meanwhile, nor where there is no room or no right to write.
    """
    width = counts.dtype.itemsize
    if counts.size != key.rows or counts.dtype not in WIDTHS.values() or not key.is_current():
        return False
    start = HEADER.pack(MAGIC, width, counts.size, key.digest())
    content = np.ascontiguousarray(counts).view(np.uint8).data
    place = kept_place(ledger, key)
    beside = place.with_name(f"{place.name}.new")
    try:
        handle = os.open(beside, NEW, 0o600)
    except FileExistsError:
        _remove_abandoned(beside)
        return False
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(start + _checksums(start, content))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, place)  # noqa: PTH105  (also over a file that is there)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError):
            return False
        raise
    _sync_folder(place.parent)
    return True


def _read(file: BufferedReader, key: KeptKey) -> Counts | None:
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode) or not _is_ours(status):
        return None
    start, sums = file.read(HEADER.size), file.read(SUMS.size)
    if len(sums) != SUMS.size:
        return None
    magic, width, rows, digest = HEADER.unpack(start)
    if (magic, rows, digest) != (MAGIC, key.rows, key.digest()) or width not in WIDTHS:
        return None
    if status.st_size != HEADER.size + SUMS.size + rows * width:
        return None
    counts = np.empty(rows, WIDTHS[width])
    content = counts.view(np.uint8).data
    if file.readinto(content) != counts.nbytes:
        return None
    return counts if _checksums(start, content) == sums else None


def _checksums(start: bytes, content: memoryview) -> bytes:
    """Of the whole file. A digest would take several times as long."""
    sums = (check(content, check(start)) for check in (zlib.crc32, zlib.adler32))
    return SUMS.pack(*sums)


def _is_ours(status: os.stat_result) -> bool:
    """Whether nobody else could have read or written it."""
    if not hasattr(os, "geteuid"):
        return True
    return status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o077


def _see_all(paths: Sequence[Path], kind: str) -> tuple[SeenFile, ...] | None:
    seen = [_see(path, kind) for path in paths]
    files = tuple(file for file in seen if file is not None)
    return files if len(files) == len(seen) else None


def _see(path: Path, kind: str) -> SeenFile | None:
    """The file as it is; None where it cannot be read, or is being changed."""
    if kind == "duckdb" and os.path.lexists(f"{path}.wal"):
        return None  # what stands there belongs to the tables, and not to the file
    try:
        with path.open("rb") as file:
            before = os.fstat(file.fileno())
            digest = _digest_of_ends(file, before.st_size, footer=kind == "parquet")
            after, named = os.fstat(file.fileno()), path.stat()
    except OSError:
        return None
    looks = {_look_of(status) for status in (before, after, named)}
    if digest is None or len(looks) > 1 or not stat.S_ISREG(before.st_mode):
        return None
    size, *times, device, inode = looks.pop()
    return SeenFile(str(path), size, (times[0], times[1]), (device, inode), digest)


def _look_of(status: os.stat_result) -> tuple[int, int, int, int, int]:
    times = status.st_mtime_ns, status.st_ctime_ns
    return status.st_size, *times, status.st_dev, status.st_ino


def _digest_of_ends(file: BufferedReader, size: int, *, footer: bool) -> str | None:
    """Of the first and the last bytes, and of all of a Parquet footer; None where that has none."""
    digest, last = sha256(file.read(ENDS)), min(size, ENDS)
    if footer:
        file.seek(max(0, size - 8))
        length, end = file.read(4), file.read()
        if len(length) != 4 or end not in PARQUET_ENDS:
            return None
        last = min(size, max(last, int.from_bytes(length, "little") + 8))
    file.seek(size - last)
    digest.update(file.read(last))
    return digest.hexdigest()


def _is_settled(file: SeenFile) -> bool:
    """Whether a later change would have a later time; not so for times that are yet to come."""
    return time.time_ns() - max(file.changed) >= SETTLED


def _remove_abandoned(beside: Path) -> None:
    """What a process left that was stopped while it wrote; another's that still writes stays."""
    with suppress(OSError):
        if time.time() - beside.lstat().st_mtime > ABANDONED_SECONDS:
            beside.unlink()


def _sync_folder(folder: Path) -> None:
    """So that the new name outlives a power cut. The file is whole or is not used, without it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
