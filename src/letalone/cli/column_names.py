"""Names of columns as people type them: with commas between, in quotes, or an option repeated.

    --on zip,birth      --on zip --on birth      --on 'zip,"Diagnosis, main"'

A value that is the name of a column is that column, whatever commas are in it. Names that an
option has by default are those of the made-up data: a file of one's own has to have them, too.
"""

import csv
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from letalone.engines.opening import open_engine
from letalone.errors import LetaloneError, ParameterError
from letalone.plans.schema import LISTED


def names_in(
    words: Sequence[str] | None, file: str | None = None, *, table: str | None = None
) -> tuple[str, ...]:
    """All names that were typed, in order."""
    return tuple(name for word in words or () for name in _names(word, file, table))


def own_or_made_up(
    option: str, words: Sequence[str] | None, made_up: Sequence[str], *, file: str | None
) -> tuple[str, ...]:
    """The names that were typed; without any, those of the made-up data, if the file has them."""
    if words:
        return names_in(words, file)
    columns = _columns(file) if file is not None else None
    if file is None or columns is None or set(made_up) <= set(columns):
        return tuple(made_up)
    more = f" and {len(columns) - LISTED} more" if len(columns) > LISTED else ""
    raise ParameterError(
        f"{option} is missing: name it with {option}. Columns of {Path(file).name} are:"
        f" {', '.join(columns[:LISTED])}{more}."
    )


def _names(word: str, file: str | None, table: str | None) -> list[str]:
    if "," not in word:
        return [word.strip()] if word.strip() else []
    if file is not None and word in (_columns(file, table) or ()):
        return [word]
    (names,) = csv.reader([word.replace("\n", " ")], skipinitialspace=True)
    return [name.strip() for name in names if name.strip()]


def _columns(file: str, table: str | None = None) -> list[str] | None:
    """The file's columns; None where it cannot be opened, which is said where it is read."""
    try:
        with closing(open_engine(file, table=table)) as engine:
            return [column.name for column in engine.schema().columns]
    except LetaloneError:
        return None
