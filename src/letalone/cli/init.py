"""`letalone init FILE`: write down what is publicly known about a table, for its owner to fill in.

The types of a CSV file, and of a Parquet file of text, are guessed from the cells, which are
private. So they are shown to the owner only, and become public when the owner confirms them.
"""

import sys
from contextlib import closing
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path

import typer

from letalone.cli.convert import points_in
from letalone.cli.offered import to_type
from letalone.cli.places import in_short_form, ledger_path
from letalone.cli.screen import console, flowing, print_json, table
from letalone.cli.source import (
    Named,
    check_one_file,
    kind_of,
    known_data_set,
    offering,
    read_unit,
    unit_example,
    wait_for_spark,
)
from letalone.engines.csv_files import Guess, guess_csv, guess_parquet
from letalone.engines.csv_lines import OddLines
from letalone.engines.opening import open_engine
from letalone.engines.sources import CSV, PARQUET, WhichTable
from letalone.errors import ParameterError
from letalone.errors.spelling import plural_rows
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.session.beside import schema_beside

LISTED = 10  # on a screen
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "|"}
KNOWN = tuple(SEPARATORS.values())
MOST = 30  # in an error
EDIT = (
    "Open it and fill in what you know without looking at the data: bounds of the numbers, keys of"
    " the groups, and types that were guessed wrong."
)


def init(
    file: str, *, unit: str | None, table_name: str | None, yes: bool, force: bool, as_json: bool
) -> None:
    """Write NAME.letalone.toml beside the file; of one of its tables, NAME.TABLE.letalone.toml."""
    check_one_file(file)
    wait_for_spark(file, table_name)
    again = _Again(file, unit, table_name, yes=yes, force=force)
    path = _place(again)
    found = _found(again)
    schema = _undecided(found.schema)
    if unit is not None:
        schema = schema.protecting(read_unit(unit, schema))
    if found.from_cells:
        _confirm(again, found, as_json=as_json)
    path.write_text(schema.to_toml(_remarks(found)), encoding="utf-8")
    if as_json:
        hints = _hints(again, found)
        print_json("init", _as_json(path, schema, found) | {"hints": hints})
        return
    if found.from_cells and yes:
        console().print(_types(found), markup=False)
    _show(again, path, schema, hints=_hints(again, found))


@dataclass(frozen=True, slots=True)
class _Again:
    """What was typed, to be typed again."""

    file: str
    unit: str | None
    table: str | None
    _: KW_ONLY
    yes: bool
    force: bool

    @property
    def which(self) -> list[str]:
        """The option that names the table of a DuckDB file."""
        return [] if self.table is None else ["--table", self.table]

    @property
    def typed(self) -> list[str]:
        """The options without a value."""
        return [*["--yes"] * self.yes, *["--force"] * self.force]

    def command(self, *more: str) -> str:
        """The command with more options."""
        unit = [] if self.unit is None else ["--unit", self.unit]
        return to_type("init", self.file, *unit, *self.which, *more)


def _place(again: _Again) -> Path:
    path = in_short_form(schema_beside(again.file, again.table))
    if path.exists() and not again.force:
        raise ParameterError(
            f"{path} is there already, and was not changed. Edit it, or write it anew. Try:"
            + again.command(*["--yes"] * again.yes, "--force")
        )
    return path


def _found(again: _Again) -> Guess:
    kind = kind_of(again.file)
    if kind == "csv" and again.table is None:
        return guess_csv(again.file)
    try:
        with closing(open_engine(again.file, table=again.table)) as engine:
            schema = engine.schema()
        texts = all(column.type is Type.TEXT for column in schema.columns)
        return guess_parquet(again.file, schema) if kind == "parquet" and texts else Guess(schema)
    except WhichTable as error:
        found = offering(error, again.file, lambda named: _naming(again, named))
    raise found


def _naming(again: _Again, named: Named) -> str:
    return replace(again, file=named.file, table=named.table).command(*again.typed)


def _remarks(found: Guess) -> dict[str, str]:
    """Why a column whose cells look like another type is text."""
    commas = dict.fromkeys(found.commas, "numbers, but with a decimal comma")
    return dict.fromkeys(found.misread, "dates, but not written 2024-01-31") | commas


def _hints(again: _Again, found: Guess) -> list[str]:
    """What was found out about the file that its owner may want to mend."""
    said: list[str] = []
    if found.delimiter != ",":
        said.append(f"Cells are separated by {SEPARATORS[found.delimiter]}, as in the first line.")
    if len(found.schema.columns) == 1:
        said.append(f"Only one column was found. Cells are separated by {' or '.join(KNOWN)}.")
    said += _of_lines(again.file, found.odd)
    if found.commas:
        said.append(
            f"{', '.join(found.commas)} would be a number if written 1.5 in place of 1,5."
            + _with_points(again.file, points_in(found.commas))
        )
    return said


def _of_lines(file: str, odd: OddLines) -> list[str]:
    """Lines that are read in another way than their writer may have meant."""
    said: list[str] = []
    if odd.overfull:
        said.append(
            "Some lines have more cells than the first has names, and the last are not read:"
            ' write 1.5 or "1,5" in place of 1,5.'
        )
    if odd.open_quotes:
        said.append(
            f"{plural_rows(odd.open_quotes)} with a quote that is not closed in its line. A record"
            " is one line: letalone ends the quote there. If cells hold line breaks, convert the"
            f" file to Parquet:{_converting(file)}"
        )
    if odd.dropped:
        said.append(
            f"{plural_rows(odd.dropped)} cannot be read and will be left out: they are not UTF-8,"
            " or longer than 8 MiB. Save the file as UTF-8."
        )
    return said


def _with_points(file: str, options: list[str]) -> str:
    """The command that writes them so, where a CSV is there to be read."""
    made = Path(file).suffix.lower() in PARQUET
    sources = [Path(file).with_suffix(end) for end in CSV] if made else [Path(file)]
    source = next((one for one in sources if one.is_file()), None)
    if source is None:
        return ""
    command = _converting(str(source), *options, *["--force"] * made)
    return f" To write such a file, which has this schema file and this budget, too:{command}"


def _converting(file: str, *options: str) -> str:
    return to_type("convert", file, str(Path(file).with_suffix(".parquet")), *options)


def _undecided(schema: Schema) -> Schema:
    return replace(schema, unit=None, unit_declared=False)


def _confirm(again: _Again, found: Guess, *, as_json: bool) -> None:
    if again.yes:
        return
    if as_json or not sys.stdin.isatty():
        columns = found.schema.columns
        types = ", ".join(f"{one.name} {_type(one, found)}" for one in columns[:MOST])
        types += f" and {len(columns) - MOST} more" * (len(columns) > MOST)
        raise ParameterError(
            "The types are guessed from the cells, and become public when you confirm"
            f" them: {types}. If everybody may know these types, type:"
            + again.command("--yes", *["--force"] * again.force)
        )
    console().print(_types(found), markup=False)
    typer.confirm("These types were guessed from the cells. May they be known?", abort=True)


def _show(again: _Again, path: Path, schema: Schema, *, hints: list[str]) -> None:
    screen = console()
    for hint in hints:
        words, *command = hint.split("\n")
        screen.print(flowing(words, screen.width), markup=False)
        screen.print("\n".join(command), markup=False, soft_wrap=True, end="\n" * bool(command))
    screen.print(f"Written to {path}; all in it is public.", markup=False, soft_wrap=True)
    screen.print(flowing(EDIT, screen.width), markup=False)
    screen.print("Then ask:" + _example(again, schema), markup=False, soft_wrap=True)


def _example(again: _Again, schema: Schema) -> str:
    name = schema.name if schema.name.isidentifier() else f'"{schema.name}"'
    known = known_data_set(ledger_path(again.file), schema.name)
    unit = [] if schema.unit_declared else ["--unit", unit_example(schema, known)]
    budget = [] if known is not None else ["--budget", "2"]
    sql = f"SELECT COUNT(*) FROM {name}"
    return to_type("query", again.file, sql, *again.which, *unit, "--epsilon", "0.5", *budget)


def _types(found: Guess) -> object:
    rows = table("column", "type")
    for column in found.schema.columns[:LISTED]:
        rows.add_row(column.name, _type(column, found))
    if (more := len(found.schema.columns) - LISTED) > 0:
        rows.add_row(f"and {more} more", "in the file")
    return rows


def _type(column: Column, found: Guess) -> str:
    why = _remarks(found).get(column.name)
    return column.type.value if why is None else f"{column.type.value} ({why})"


def _as_json(path: Path, schema: Schema, found: Guess) -> dict[str, object]:
    return {
        "path": str(path),
        "name": schema.name,
        "unit": schema.unit,
        "unit_declared": schema.unit_declared,
        "types_guessed": found.from_cells,
        "remarks": _remarks(found),
        "columns": [{"name": column.name, "type": column.type.value} for column in schema.columns],
    }
