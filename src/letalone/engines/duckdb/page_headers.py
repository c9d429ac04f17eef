"""Reads the headers of a Parquet column's pages, and nothing else: how large they are when read.

A page is at most as large as its header says, however small it is in the file. Headers are records
of Thrift's compact protocol; fields have the numbers of parquet.thrift (apache/parquet-format).

  Tested:   tests/engines/test_cell_lengths.py
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, cast

LOOKS = (1 << 10, 1 << 16, 1 << 24)  # bytes: a header may hold a least and a largest text
DATA, DICTIONARY, DATA_V2 = 0, 2, 3
DELTA_BYTE_ARRAY, BY_NUMBER = 7, (2, 8)  # whose cells are numbers of words
BOOLEANS, BYTE, INTEGERS, DOUBLE, BINARY, LISTS, STRUCT = (1, 2), 3, (4, 5, 6), 7, 8, (9, 10), 12
# Where a header's own record is, and within it the number of values and their encoding.
FIELDS = {DATA: (5, 1, 2), DICTIONARY: (7, 1, 2), DATA_V2: (8, 1, 4)}


@dataclass(frozen=True, slots=True)
class Page:
    """A page: whether it holds the words of a dictionary, its bytes when read, how many values."""

    is_dictionary: bool
    size: int
    values: int
    encoding: int


def pages_of(file: BinaryIO, start: int, values: int) -> Generator[Page]:
    """The pages of a column in a row group, up to its last value; ValueError for damaged ones."""
    while values > 0:
        header, length = _header(file, start)
        size, stored = _number(header, 2), _number(header, 3)
        start += length + stored
        kind = _number(header, 1)
        if kind not in FIELDS:
            continue  # an index
        place, counted, encoded = FIELDS[kind]
        fields = header.get(place)
        if not isinstance(fields, dict):
            raise ValueError("a page without a header of its kind")
        fields = cast("dict[int, object]", fields)
        page = Page(kind == DICTIONARY, size, _number(fields, counted), _number(fields, encoded))
        values -= 0 if page.is_dictionary else page.values
        yield page


def _header(file: BinaryIO, start: int) -> tuple[dict[int, object], int]:
    for look in LOOKS:
        file.seek(start)
        record = _Record(file.read(look))
        try:
            return record.struct(), record.place
        except IndexError:
            continue  # it is longer
    raise ValueError("a page header without an end")


def _number(fields: Mapping[int, object], place: int) -> int:
    number = fields.get(place)
    if not isinstance(number, int) or number < 0:
        raise ValueError("a page header without its numbers")
    return number


class _Record:
    """Bytes of the compact protocol; IndexError where they are too few."""

    __slots__ = ("_bytes", "place")

    def __init__(self, read: bytes) -> None:
        self._bytes, self.place = read, 0

    def struct(self) -> dict[int, object]:
        """Fields by their numbers: integers and records; of others nothing is kept."""
        fields: dict[int, object] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = self._value(head & 15)
        return fields

    def _value(self, kind: int) -> object:
        if kind in INTEGERS:
            return self._integer()
        if kind == STRUCT:
            return self.struct()
        if kind in LISTS:
            head = self._byte()
            for _ in range(self._varint() if head >> 4 == 15 else head >> 4):
                self._value(BYTE if head & 15 in BOOLEANS else head & 15)
        elif kind in (BYTE, DOUBLE, BINARY):
            self._skip({BYTE: 1, DOUBLE: 8}.get(kind) or self._varint())
        elif kind not in BOOLEANS:
            raise ValueError("a page header of an unknown kind")
        return None

    def _byte(self) -> int:
        self.place += 1
        return self._bytes[self.place - 1]

    def _varint(self) -> int:
        number = shift = 0
        while (byte := self._byte()) >= 128:
            number |= (byte & 127) << shift
            shift += 7
        return number | byte << shift

    def _integer(self) -> int:
        """Of either sign, in a zigzag."""
        number = self._varint()
        return number >> 1 ^ -(number & 1)

    def _skip(self, length: int) -> None:
        self.place += length
        if self.place > len(self._bytes):
            raise IndexError
