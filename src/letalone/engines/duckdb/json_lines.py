"""Reads JSON lines (.ndjson, .jsonl): a record is a line, and nothing in it concerns another one.

A line is an object, {"age": 42, "ward": "A"}. A cell is text until a type is declared: of a number,
the digits as they are written; of a truth value, true or false. What is null, absent, a list or an
object is missing. A line that is not an object, not UTF-8 or longer than 8 MiB is left out, alone.

Which columns there are is nowhere but in the lines, which are private: so they are declared.
`guess_json_lines` proposes them to the owner, who makes them public by confirming them.

Theorem.  What is read of a line depends on that line alone; the columns depend on none.
  Proven:   lines are cut at LF before anything else is looked at (csv_lines.py), and each is read
            by itself; digits are never made a number, so none is too long
  Tested:   tests/engines/test_loaded_files.py
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from json import JSONDecoder
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from letalone.engines.core.stored_types import check_columns
from letalone.engines.duckdb.csv_files import GUESSED_ROWS, Guess, guess_types
from letalone.engines.duckdb.csv_lines import OddLines, blocks_of, decode_text
from letalone.engines.duckdb.text_files import DAMAGED
from letalone.errors import ParameterError
from letalone.sources.files import UTF8, stem_of, unreadable

RECORDS_AT_ONCE = 1 << 14  # that are handed on
Record = Mapping[str, object]


class _Digits(str):
    """A number as it is written."""

    __slots__ = ()


DECODER = JSONDecoder(parse_int=_Digits, parse_float=_Digits, parse_constant=_Digits)


def json_rows(paths: Sequence[Path], names: Sequence[str], *, encoding: str = UTF8) -> Any:
    """A stream of the rows of files, these columns of them, every cell as text. Total: nothing in
    a line makes it fail."""
    fields = pa.schema([pa.field(name, pa.large_string()) for name in names])
    return pa.RecordBatchReader.from_batches(fields, _batches(paths, fields, encoding))


def guess_json_lines(path: str | Path, *, encoding: str = UTF8) -> Guess:
    """The columns of the first lines, with the types that they look like: for the owner."""
    file = Path(path).resolve()
    try:
        records = list(islice(_records(file, encoding), GUESSED_ROWS))
        odd = odd_json_lines(file, encoding)
    except DAMAGED as error:
        raise unreadable(file, error) from None
    names = list(dict.fromkeys(name for record in records for name in record))
    check_columns(names, file.name)
    rows = json_rows([file], names, encoding=encoding)
    return replace(guess_types(stem_of(file), names, rows), odd=odd)


def odd_json_lines(path: Path, encoding: str = UTF8) -> OddLines:
    """How many lines are left out. It tells about rows: for the owner alone."""
    odd = OddLines()
    for block, too_long in blocks_of(path, encoding, below_names=False):
        read = [_record(line) for line in _lines(block)]
        lost = read.count(None)
        odd += OddLines(rows=len(read) - lost, not_text=lost, too_long=too_long)
    return odd


def undeclared_columns(name: str) -> ParameterError:
    """The refusal of JSON lines without declared columns."""
    return ParameterError(
        f"{name} has no list of columns that everybody may know: declare them. letalone init {name}"
        " proposes a schema file; or, in Python, types={'age': 'integer', 'ward': 'text'}."
    )


def _batches(paths: Sequence[Path], fields: Any, encoding: str) -> Iterator[Any]:
    for path in paths:
        records = _records(path, encoding)
        while some := list(islice(records, RECORDS_AT_ONCE)):
            columns = [_column([record.get(name) for record in some]) for name in fields.names]
            yield pa.RecordBatch.from_arrays(columns, schema=fields)


def _records(path: Path, encoding: str) -> Iterator[Record]:
    for block, _ in blocks_of(path, encoding, below_names=False):
        for line in _lines(block):
            record = _record(line)
            if record is not None:
                yield record


def _lines(block: bytes) -> Iterator[bytes]:
    return (line for line in block.split(b"\n") if line.strip(b" \t\r"))


def _record(line: bytes) -> Record | None:
    """The object of a line; None where it is none."""
    text = decode_text(line, "utf-8-sig")
    try:
        record = None if text is None else DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return cast("Record", record) if isinstance(record, dict) else None


def _column(cells: Sequence[object]) -> Any:
    texts = [_text(cell) for cell in cells]
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError:  # half a letter, as "\\ud800" writes it
        return pa.array([text if _is_whole(text) else None for text in texts], pa.large_string())


def _text(cell: object) -> str | None:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return str(cell) if isinstance(cell, str) else None


def _is_whole(text: str | None) -> bool:
    return text is None or not any("\ud800" <= letter <= "\udfff" for letter in text)
