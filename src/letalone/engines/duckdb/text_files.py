"""Opens files of text: unpacked where they are compressed, in UTF-8 whatever they are written in.

Theorem.  Lines stay lines: what becomes of a line depends on the bytes of that line alone.
  Proven:   only encodings are taken in which each letter is one byte and the bytes below 128 are
            ASCII: line ends, quotes and delimiters are the bytes that they are in UTF-8, and no
            byte changes what another one means. A byte that the encoding has no letter for becomes
            bytes that are no UTF-8, so that its line is left out, as it would be in UTF-8.
  Tested:   tests/engines/test_text_files.py, byte by byte for every encoding
  Assumed:  a compressed file is whole; one that is damaged cannot be read, as a Parquet file
"""

import bz2
import codecs
import gzip
import lzma
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa

from letalone.errors import ParameterError
from letalone.errors.spelling import did_you_mean
from letalone.sources.files import COMPRESSED, UTF8

BYTE_ORDER_MARK = "\ufeff".encode()
MAX_FIRST_BYTES = 1 << 20
LETTER_BYTES = 4  # in bytes: the most that one letter takes in UTF-8
SINGLE_BYTE = (
    "ascii", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257",
    "cp1258", "cp437", "cp850", "cp852", "cp858", "cp866", "iso8859-1", "iso8859-2", "iso8859-3",
    "iso8859-4", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9", "iso8859-10",
    "iso8859-11", "iso8859-13", "iso8859-14", "iso8859-15", "iso8859-16", "koi8-r", "koi8-u",
    "mac-roman",
)  # fmt: skip
MULTI_BYTE = (
    "utf-16", "utf-16-le", "utf-16-be", "shift_jis", "cp932", "euc_jp", "gb2312", "gbk", "gb18030",
    "big5", "euc_kr", "cp949",
)  # fmt: skip


def _open_zst(path: Path) -> Any:
    return BufferedReader(cast("Any", pa).input_stream(str(path), compression="zstd"))


OPENERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _open_zst,
}
DAMAGED = (OSError, EOFError, lzma.LZMAError, zlib.error)  # what unpacking raises


def open_bytes(path: Path) -> IO[bytes]:
    """The bytes of a file; unpacked, if its name says that it is compressed."""
    opener = OPENERS.get(path.suffix.lower())
    return path.open("rb") if opener is None else cast("IO[bytes]", opener(path))


def is_compressed(path: Path) -> bool:
    """Whether the name of a file says that it is compressed."""
    return path.suffix.lower() in COMPRESSED


def read_encoding(name: object) -> str:
    """The encoding of this name, in which a line is found without looking into another one."""
    known = name_of_encoding(name)
    if known in MULTI_BYTE:
        raise ParameterError(
            f"encoding is {name!r}, in which a letter may take several bytes. Convert the file"
            f" first: letalone convert visits.csv visits.parquet --encoding {known}"
        )
    return known


def name_of_encoding(name: object) -> str:
    """What an encoding is called here, however it was written; for `letalone convert`."""
    try:
        known = codecs.lookup(name).name if isinstance(name, str) else ""
    except (LookupError, ValueError):
        known = ""
    if known in (UTF8, "utf-8-sig"):
        return UTF8
    if known in (*SINGLE_BYTE, *MULTI_BYTE):
        return known
    raise ParameterError(
        f"encoding is {str(name)[:40]!r}, but must be one that is known, such as 'cp1252' (of"
        " Windows), 'latin-1', 'iso-8859-15' or 'utf-8'."
        + did_you_mean(str(name)[:40], SINGLE_BYTE)
    )


class Utf8Lines:
    """The lines of a file in UTF-8, whatever its encoding: for the owner, who converts a file.

    Here one line can change what becomes of the next, as it can in the encodings themselves.
    """

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file, self._encoding = file, encoding
        is_plain = encoding in (UTF8, *SINGLE_BYTE)
        self._text = None if is_plain else _decode(file, encoding)
        self.first = self._read(MAX_FIRST_BYTES).removeprefix(BYTE_ORDER_MARK)
        self._again = self.first

    def readline(self, most: int) -> bytes:
        """The next line with its LF, in UTF-8; at most so many letters of it."""
        line, self._again = self._again or self._read(most), b""
        return line

    def _read(self, most: int) -> bytes:
        if self._text is not None:
            return self._text.readline(most).encode(UTF8, "surrogatepass")
        return to_utf8(self._file.readline(most), self._encoding)


def _decode(file: IO[bytes], encoding: str) -> TextIOWrapper:
    return TextIOWrapper(file, encoding, "surrogateescape", newline="\n")


@contextmanager
def open_lines(path: Path, encoding: str) -> Generator[Utf8Lines]:
    """The lines of a file, to be converted."""
    with open_bytes(path) as file:
        yield Utf8Lines(file, encoding)


def to_utf8(lines: bytes, encoding: str) -> bytes:
    """The same lines in UTF-8; a byte without a letter becomes bytes that are no UTF-8."""
    if encoding == UTF8:
        return lines
    return lines.decode(encoding, "surrogateescape").encode(UTF8, "surrogatepass")
