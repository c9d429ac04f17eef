"""CSV files: every cell is text until a type is declared, and no line can make reading fail.

The first line holds the names; it is metadata. Everything below is data, so nothing is guessed
from it: an empty cell is missing, cells that are too few are missing, further ones are left
out, a line that is no UTF-8 is dropped.

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
from pathlib import Path

from sqlglot import exp

from letalone.engines import syntax
from letalone.engines.failure import unreadable
from letalone.engines.lockdown import LockedDuck
from letalone.engines.reading import check_columns, type_of_stored
from letalone.engines.syntax import Sql
from letalone.errors import ParameterError
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type

DELIMITERS = ",;\t|"
LONGEST_LINE = 1 << 27  # in bytes
LONGEST_HEADER = 1 << 20
LOOKED_AT = 20_480  # rows, as many as DuckDB's own guess looks at
DATED = (Type.DATE, Type.TIMESTAMP)
YEAR_FIRST = re.compile(r"\s*\d{4}[-/]\d{1,2}[-/]\d{1,2}(\D|$)")
_NONE: list[str] = []


def sniff_csv(path: str | Path) -> Schema:
    """The columns with the types that their values look like: a proposal to the owner."""
    file = Path(path).resolve()
    names, delimiter = csv_dialect(file)
    duck = LockedDuck()
    try:
        duck.lock([file])
        kinds = _guessed(duck, file, delimiter, len(names))
        kinds = _readable(duck, csv_sql([file], names, delimiter), names, kinds)
    finally:
        duck.close()
    columns = [Column(name, kind) for name, kind in zip(names, kinds, strict=True)]
    return Schema(file.stem, tuple(columns))


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


def _readable(duck: LockedDuck, cells: Sql, names: list[str], kinds: list[Type]) -> list[Type]:
    """A date that is not written year first would be misread or missing, so it stays text."""
    dates = [name for name, kind in zip(names, kinds, strict=True) if kind in DATED]
    if not dates:
        return kinds
    some = syntax.select([syntax.named(name) for name in dates], syntax.renamed(cells, "file"))
    try:
        rows = duck.run(some.limit(LOOKED_AT))
    except Exception:  # as above
        rows = [("",) * len(dates)]
    seen = zip(*rows, strict=True) if rows else [()] * len(dates)
    good = {name for name, column in zip(dates, seen, strict=True) if all(map(_iso, column))}
    return [
        Type.TEXT if kind in DATED and name not in good else kind
        for name, kind in zip(names, kinds, strict=True)
    ]


def _iso(cell: object) -> bool:
    return cell is None or YEAR_FIRST.match(str(cell)) is not None


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
        raise ParameterError(f"The first line of {path.name} is no list of names in UTF-8.")
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
