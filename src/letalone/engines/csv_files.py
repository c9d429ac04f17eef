"""CSV files: every cell is text until a type is declared, and no line can make reading fail.

The first line holds the names; it is metadata. Everything below is data, so nothing is guessed
from it: an empty cell is missing, cells that are too few are missing, further ones are left
out, a line that is no UTF-8 is dropped.

A private question drops such a line in silence, since to say so would tell about a row. The owner's
own tools count people, and a row less can make a table look better than it is: `check_every_line`
is for them, and refuses.

`sniff_csv` does guess. It is for the owner, who sees its guesses and makes them public by
confirming them.

Files are copied into a table when first asked, all columns at once. DuckDB drops a broken line
only where the broken cell is read, and moves casts into the reader, where they drop lines, too:
read directly, a file would have other rows, and ranks other positions, in each statement.

  Tested:   tests/engines/test_csv_files.py
"""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sqlglot import exp

from letalone.answers.so_many import so_many_rows
from letalone.engines import syntax
from letalone.engines.failure import unreadable
from letalone.engines.lockdown import LockedDuck
from letalone.engines.reading import DATED, Stored, check_columns, read, type_of_stored
from letalone.engines.syntax import Sql
from letalone.errors import ParameterError
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type

DELIMITERS = ",;\t|"
LONGEST_LINE = 1 << 27  # in bytes
LONGEST_HEADER = 1 << 20
LOOKED_AT = 20_480  # rows, as many as DuckDB's own guess looks at
YEAR_FIRST = re.compile(r"\s*\d{4}[-/]\d{1,2}[-/]\d{1,2}(\D|$)")
WITH_COMMA = re.compile(r"\s*[-+]?\d+(,\d+)?\s*")
_NONE: list[str] = []


@dataclass(frozen=True, slots=True)
class Guess:
    """A proposal to the owner; `misread` are columns of dates, or the like, that stay text.

    Their cells look like another type, and would be misread or missing if it were declared.
    `commas` are columns of numbers with a decimal comma; `overfull` is whether a line has more
    cells than the first, as where such numbers stand between commas.
    """

    schema: Schema
    misread: Mapping[str, Type]
    delimiter: str = ","
    commas: tuple[str, ...] = ()
    overfull: bool = False


def sniff_csv(path: str | Path) -> Schema:
    """The columns with the types that their values look like: a proposal to the owner."""
    return guess_csv(path).schema


def guess_csv(path: str | Path) -> Guess:
    """The same, with the columns that stay text because they would not be read as they look."""
    file = Path(path).resolve()
    names, delimiter = csv_dialect(file)
    duck = LockedDuck()
    try:
        duck.lock([file])
        kinds = _guessed(duck, file, delimiter, len(names))
        looks = dict(zip(names, kinds, strict=True))
        cells = csv_sql([file], names, delimiter)
        misread, commas = _misread(duck, cells, looks), _commas(duck, cells, looks)
    finally:
        duck.close()
    columns = [Column(n, Type.TEXT if n in misread else kind) for n, kind in looks.items()]
    return Guess(
        Schema(file.stem, tuple(columns)),
        {name: looks[name] for name in misread},
        delimiter,
        commas,
        _overfull(file, delimiter, len(names)),
    )


def _guessed(duck: LockedDuck, file: Path, delimiter: str, number: int) -> list[Type]:
    options = {
        "header": exp.Boolean(this=True),
        "delim": syntax.text(delimiter),
        "quote": syntax.text('"'),
        "escape": syntax.text('"'),
    }
    named = [syntax.option(name, value) for name, value in options.items()]
    source = syntax.called("read_csv", syntax.text(str(file)), *named)
    everything = syntax.select([exp.Star()], syntax.renamed(source, "file"))
    try:
        rows = duck.run(exp.Describe(this=everything))
    except Exception:  # what cannot be guessed is text; the engine's words could hold a value
        rows = []
    kinds = [type_of_stored(str(kind)) for _, kind, *_ in rows]
    known = [Type.TEXT if kind is Type.OTHER else kind for kind in kinds]
    return known if len(known) == number else [Type.TEXT] * number


def _misread(duck: LockedDuck, cells: Sql, looks: Mapping[str, Type]) -> list[str]:
    """Columns with a cell that the engine's own reader would not read as what it looks like."""
    tried = {name: kind for name, kind in looks.items() if kind is not Type.TEXT}
    if not tried:
        return []
    both = [[syntax.named(name), _read(name, kind)] for name, kind in tried.items()]
    some = syntax.select([one for pair in both for one in pair], syntax.renamed(cells, "file"))
    try:
        rows = duck.run(some.limit(LOOKED_AT))
    except Exception:  # as above
        return list(tried)
    return [
        name
        for place, (name, kind) in enumerate(tried.items())
        if not all(_is_read(row[2 * place], row[2 * place + 1], kind) for row in rows)
    ]


def _commas(duck: LockedDuck, cells: Sql, looks: Mapping[str, Type]) -> tuple[str, ...]:
    """Columns of text in which every cell is a number, some with a decimal comma."""
    texts = [name for name, kind in looks.items() if kind is Type.TEXT]
    if not texts:
        return ()
    some = syntax.select([syntax.named(name) for name in texts], syntax.renamed(cells, "file"))
    try:
        rows = duck.run(some.limit(LOOKED_AT))
    except Exception:  # as above
        return ()
    columns = zip(*rows, strict=True)
    return tuple(n for n, column in zip(texts, columns, strict=False) if _has_commas(column))


def _has_commas(column: Sequence[object]) -> bool:
    cells = [str(cell) for cell in column if cell is not None]
    return any("," in cell for cell in cells) and all(map(WITH_COMMA.fullmatch, cells))


def _overfull(file: Path, delimiter: str, number: int) -> bool:
    """Whether one of the first lines has a cell beyond the last name."""
    try:
        with file.open(encoding="utf-8", errors="replace", newline="") as lines:
            rows = csv.reader(islice(lines, LOOKED_AT), delimiter=delimiter)
            return any(cell for row in rows for cell in row[number:])
    except csv.Error:
        return False


def _read(name: str, kind: Type) -> Sql:
    return read(Stored(name, "VARCHAR"), syntax.named(name), Column(name, kind)).sql


def _is_read(cell: object, value: object, kind: Type) -> bool:
    """A date that is not written year first can be read, as another day."""
    if cell is None:
        return True
    return value is not None and (kind not in DATED or YEAR_FIRST.match(str(cell)) is not None)


def csv_dialect(path: Path) -> tuple[list[str], str]:
    """The names in the first line, and what separates them: whichever of , ; tab | is there most.

    Only the first line is looked at: the others are data.
    """
    try:
        with path.open("rb") as file:
            line = _first_line(file.read(LONGEST_HEADER)).decode("utf-8-sig")
    except UnicodeDecodeError:
        line = None
    except OSError as error:
        raise unreadable(path, error) from None
    if line is None:
        raise ParameterError(
            f"The first line of {path.name} is no list of names in UTF-8. Save the file as UTF-8."
        )
    delimiter = max(DELIMITERS, key=line.count)
    names = next(csv.reader([line], delimiter=delimiter), _NONE)
    check_columns(names, f"The first line of {path.name}")
    return names, delimiter


def _first_line(start: bytes) -> bytes:
    """Up to the first line break that is not within quotes."""
    quoted = False
    for place, byte in enumerate(start):
        if byte == ord('"'):
            quoted = not quoted
        elif byte in b"\r\n" and not quoted:
            return start[:place]
    return start


def check_every_line(paths: Sequence[Path]) -> None:
    """Refuses files with lines that `csv_sql` drops. It tells about rows: for the owner alone."""
    for path in paths:
        if lost := _lines_that_are_no_text(path):
            raise ParameterError(
                f"{so_many_rows(lost)} of {path.name} could not be read: what is written there is"
                " not UTF-8. Save the file as UTF-8; spreadsheets call it CSV UTF-8."
            )


def lines_not_text(path: Path) -> int:
    """How many lines `csv_sql` drops, since they are not UTF-8. For the owner alone."""
    return _lines_that_are_no_text(path)


def uneven_rows(path: Path) -> int:
    """How many rows have more or fewer cells than the first line. For the owner alone."""
    names, delimiter = csv_dialect(path)
    uneven, first = 0, True
    with path.open(encoding="utf-8", errors="replace", newline="") as lines:
        rows = csv.reader(lines, delimiter=delimiter)
        while True:
            try:
                row = next(rows)
            except StopIteration:
                return uneven
            except csv.Error:  # a cell beyond what this reader takes
                uneven += 1
                continue
            uneven += bool(row) and not first and len(row) != len(names)
            first = False


def _lines_that_are_no_text(path: Path) -> int:
    try:
        with path.open("rb") as file:
            return sum(not _is_text(part) for line in file for part in line.splitlines())
    except OSError as error:
        raise unreadable(path, error) from None


def _is_text(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def csv_sql(paths: Sequence[Path], names: Sequence[str], delimiter: str) -> Sql:
    """Reads every cell as text. Total: missing cells are NULL, further ones are left out, and a
    line that is no text in UTF-8 is dropped."""
    columns = exp.Struct(
        expressions=[
            exp.PropertyEQ(this=syntax.text(name), expression=syntax.text("VARCHAR"))
            for name in names
        ]
    )
    yes, no = exp.Boolean(this=True), exp.Boolean(this=False)
    options: Mapping[str, Sql] = {
        "auto_detect": no,
        "header": yes,
        "delim": syntax.text(delimiter),
        "quote": syntax.text('"'),
        "escape": syntax.text('"'),
        "nullstr": syntax.text(""),
        "columns": columns,
        "strict_mode": no,
        "null_padding": yes,
        "ignore_errors": yes,
        "parallel": no,
        "max_line_size": syntax.whole(LONGEST_LINE),
    }
    named = [syntax.option(name, value.copy()) for name, value in options.items()]
    return syntax.called("read_csv", syntax.texts([str(path) for path in paths]), *named)
