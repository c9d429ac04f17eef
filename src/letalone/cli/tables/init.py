"""`letalone init FILE`: write down what is publicly known about a table, for its owner to fill in.

The types of a CSV file, and of a Parquet file of text, are guessed from the cells, which are
private. So they are shown to the owner only, and become public when the owner confirms them.
"""

import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import typer
from rich.table import Table

from letalone.cli.offered import to_type, to_type_again
from letalone.cli.places import ledger_path, schema_beside
from letalone.cli.screen import print_json, put, say, table
from letalone.cli.tables import table_option
from letalone.cli.tables.convert import points_in
from letalone.cli.tables.option_values import read_unit
from letalone.cli.tables.table_commands import InitOptions
from letalone.engines.duckdb.csv_files import Guess, guess_csv, guess_parquet
from letalone.engines.duckdb.csv_lines import OddLines
from letalone.engines.opening import open_engine
from letalone.errors import ParameterError
from letalone.errors.spelling import plural_rows
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.sources.files import CSV, PARQUET

LISTED = 10  # on a screen
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "|"}
MOST = 30  # in an error
EDIT = (
    "Open it and fill in what you know without looking at the data: bounds of the numbers, keys of"
    " the groups, and types that were guessed wrong."
)


def init(options: InitOptions) -> None:
    """Write NAME.letalone.toml beside the file; of one of its tables, NAME.TABLE.letalone.toml."""
    table_option.check_one_file(options.file)
    table_option.wait_for_spark(options.file, options.table)
    path = _place(options)
    again = replace(options, as_json=False)
    guess = table_option.with_one_table(
        lambda: _guess(options),
        options.file,
        lambda choice: to_type_again("init", again, file=choice.file, table=choice.table),
    )
    schema = replace(guess.schema, unit=None, unit_declared=False)
    if options.unit is not None:
        schema = schema.protecting(read_unit(options.unit, schema))
    if guess.from_cells:
        _confirm(options, guess)
    path.write_text(schema.to_toml(_remarks(guess)), encoding="utf-8")
    hints = _hints(options, guess)
    if options.as_json:
        print_json("init", _as_json(path, schema, guess) | {"hints": hints})
        return
    if guess.from_cells and options.yes:
        put(_types(guess))
    say(*hints)
    put(f"Written to {path}; all in it is public.")
    say(EDIT, "Then ask:" + _example(options, schema))


def _place(options: InitOptions) -> Path:
    path = schema_beside(options.file, options.table)
    if path.exists() and not options.force:
        raise ParameterError(
            f"{path} is there already, and was not changed. Edit it, or write it anew. Try:"
            + to_type_again("init", options, as_json=False, force=True)
        )
    return path


def _guess(options: InitOptions) -> Guess:
    kind = table_option.kind_of(options.file)
    if kind == "csv" and options.table is None:
        return guess_csv(options.file)
    with closing(open_engine(options.file, table=options.table)) as engine:
        schema = engine.schema()
    texts = all(column.type is Type.TEXT for column in schema.columns)
    return guess_parquet(options.file, schema) if kind == "parquet" and texts else Guess(schema)


def _remarks(guess: Guess) -> dict[str, str]:
    """Why a column whose cells look like another type is text."""
    commas = dict.fromkeys(guess.commas, "numbers, but with a decimal comma")
    return dict.fromkeys(guess.misread, "dates, but not written 2024-01-31") | commas


def _hints(options: InitOptions, guess: Guess) -> list[str]:
    """What was found out about the file that its owner may want to mend."""
    hints: list[str] = []
    if guess.delimiter != ",":
        hints.append(f"Cells are separated by {SEPARATORS[guess.delimiter]}, as in the first line.")
    if len(guess.schema.columns) == 1:
        known = " or ".join(SEPARATORS.values())
        hints.append(f"Only one column was found. Cells are separated by {known}.")
    hints += _of_lines(options.file, guess.odd)
    if guess.commas:
        hints.append(
            f"{', '.join(guess.commas)} would be a number if written 1.5 in place of 1,5."
            + _with_points(options.file, points_in(guess.commas))
        )
    return hints


def _of_lines(file: str, odd: OddLines) -> list[str]:
    """Lines that are read in another way than their writer may have meant."""
    hints: list[str] = []
    if odd.overfull:
        hints.append(
            "Some lines have more cells than the first has names, and the last are not read:"
            ' write 1.5 or "1,5" in place of 1,5.'
        )
    if odd.open_quotes:
        hints.append(
            f"{plural_rows(odd.open_quotes)} with a quote that is not closed in its line. A record"
            " is one line: letalone ends the quote there. If cells hold line breaks, convert the"
            f" file to Parquet:{_converting(file)}"
        )
    if odd.dropped:
        hints.append(
            f"{plural_rows(odd.dropped)} cannot be read and will be left out: they are not UTF-8,"
            " or longer than 8 MiB. Save the file as UTF-8."
        )
    return hints


def _with_points(file: str, options: list[str]) -> str:
    """The command that writes them so, where a CSV is there to be read."""
    made = Path(file).suffix.lower() in PARQUET
    sources = [Path(file).with_suffix(end) for end in CSV] if made else [Path(file)]
    source = next((path for path in sources if path.is_file()), None)
    if source is None:
        return ""
    command = _converting(str(source), *options, *["--force"] * made)
    return f" To write such a file, which has this schema file and this budget, too:{command}"


def _converting(file: str, *options: str) -> str:
    return to_type("convert", file, str(Path(file).with_suffix(".parquet")), *options)


def _confirm(options: InitOptions, guess: Guess) -> None:
    if options.yes:
        return
    if options.as_json or not sys.stdin.isatty():
        columns = guess.schema.columns
        types = ", ".join(f"{column.name} {_type(column, guess)}" for column in columns[:MOST])
        types += f" and {len(columns) - MOST} more" * (len(columns) > MOST)
        raise ParameterError(
            "The types are guessed from the cells, and become public when you confirm"
            f" them: {types}. If everybody may know these types, type:"
            + to_type_again("init", options, as_json=False, yes=True)
        )
    put(_types(guess))
    typer.confirm("These types were guessed from the cells. May they be known?", abort=True)


def _example(options: InitOptions, schema: Schema) -> str:
    name = schema.name if schema.name.isidentifier() else f'"{schema.name}"'
    known = table_option.known_data_set(ledger_path(options.file), schema.name)
    unit = [] if schema.unit_declared else ["--unit", table_option.unit_example(schema, known)]
    budget = [] if known is not None else ["--budget", "2"]
    sql = f"SELECT COUNT(*) FROM {name}"
    which = [] if options.table is None else ["--table", options.table]
    return to_type("query", options.file, sql, *which, *unit, "--epsilon", "0.5", *budget)


def _types(guess: Guess) -> Table:
    columns = guess.schema.columns
    rows = [(column.name, _type(column, guess)) for column in columns[:LISTED]]
    if (more := len(columns) - LISTED) > 0:
        rows.append((f"and {more} more", "in the file"))
    return table("column", "type", rows=rows)


def _type(column: Column, guess: Guess) -> str:
    why = _remarks(guess).get(column.name)
    return column.type.value if why is None else f"{column.type.value} ({why})"


def _as_json(path: Path, schema: Schema, guess: Guess) -> dict[str, object]:
    return {
        "path": path,
        "name": schema.name,
        "unit": schema.unit,
        "unit_declared": schema.unit_declared,
        "types_guessed": guess.from_cells,
        "remarks": _remarks(guess),
        "columns": [{"name": column.name, "type": column.type.value} for column in schema.columns],
    }
