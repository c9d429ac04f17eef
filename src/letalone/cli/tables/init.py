"""`letalone init FILE`: write down what is publicly known about a table, for its owner to fill in.

The types of a CSV file, and of a Parquet file of text, are guessed from the cells, which are
private. So they are shown to the owner only, and become public when the owner confirms them.
"""

import sys
from contextlib import closing, suppress
from dataclasses import replace
from glob import escape
from pathlib import Path

import typer
from rich.table import Table

from letalone.cli.offered import to_type, to_type_again
from letalone.cli.places import in_short_form, is_elsewhere, ledger_path, schema_beside
from letalone.cli.screen import number_text, print_json, put, say, table
from letalone.cli.tables import table_option
from letalone.cli.tables.convert import orders_in, points_in
from letalone.cli.tables.option_values import USUAL_BUDGET, USUAL_DELTA, read_unit, usual_budget
from letalone.cli.tables.table_commands import InitOptions
from letalone.engines.duckdb.csv_files import Guess, guess_csv, guess_parquet
from letalone.engines.duckdb.csv_lines import OddLines
from letalone.engines.duckdb.excel_files import count_formulas, guess_excel
from letalone.engines.duckdb.json_lines import guess_json_lines
from letalone.engines.duckdb.text_files import read_encoding
from letalone.engines.opening import open_engine
from letalone.engines.remote_copy import local_file
from letalone.errors import LetaloneError, ParameterError
from letalone.errors.spelling import plural, plural_rows
from letalone.exact.typed import expand_home
from letalone.ledger import DataSet
from letalone.plans.schema import SUFFIX, Column, Schema
from letalone.plans.schema_file import encoding_in, write_encoding
from letalone.plans.types import Type
from letalone.sources.files import (
    CSV,
    EXCEL,
    JSON_LINES,
    KINDS,
    PARQUET,
    SINGLE,
    TEXT_KINDS,
    TEXTS,
    UTF8,
    ending_of,
    find_files,
    stem_of,
)
from letalone.sources.places import schema_path

LISTED = 10  # on a screen
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "|"}
MOST = 30  # in an error
EDIT = (
    "Open it and fill in what you know without looking at the data: bounds of the numbers, keys of"
    " the groups, and types that were guessed wrong."
)
ABOUT_BUDGET = (
    f"The budget is for all questions together: ε = {USUAL_BUDGET}, and δ ="
    f" {number_text(USUAL_DELTA)} so that groups can be found (GROUP BY without --keys). Keep δ"
    " far below 1 / number of people."
)


def init(options: InitOptions) -> None:
    """Write NAME.letalone.toml beside the file; of one of its tables, NAME.TABLE.letalone.toml."""
    table_option.check_one_file(options.file)
    table_option.wait_for_spark(options.file, options.table)
    path = _place(options)
    again = replace(options, as_json=False)
    with local_file(options.file, allowed=options.copy) as file:
        here = replace(options, file=file)
        guess = table_option.with_one_table(
            lambda: _guess(here),
            options.file,
            lambda choice: to_type_again("init", again, file=choice.file, table=choice.table),
        )
    schema = replace(
        guess.schema, name=_name(options, guess.schema), unit=None, unit_declared=False
    )
    if options.unit is not None:
        schema = schema.protecting(read_unit(options.unit, schema))
    if guess.from_cells:
        _confirm(options, guess)
    path.write_text(_text(options, path, schema, guess), encoding="utf-8")
    hints = _hints(options, guess)
    if options.as_json:
        print_json("init", _as_json(path, schema, guess) | {"hints": hints})
        return
    if guess.from_cells and options.yes:
        put(_types(guess))
    say(*hints)
    put(f"Written to {path}; all in it is public.")
    known = table_option.known_data_set(ledger_path(options.file), schema.name)
    about = [] if known is not None else [ABOUT_BUDGET]
    say(EDIT, *about, "Then ask:" + _example(options, schema, known))


def _text(options: InitOptions, path: Path, schema: Schema, guess: Guess) -> str:
    text = schema.to_toml(_remarks(guess), likely=table_option.likely_unit(schema))
    encoding = options.encoding or _kept_encoding(options.file, path)
    return text if encoding is None else write_encoding(text, encoding)


def _kept_encoding(file: str, path: Path) -> str | None:
    """Of a file that is not of text, the encoding of the CSV file whose schema file it shares."""
    kind = KINDS.get(ending_of(Path(file)))
    if kind is None or kind in TEXTS or not path.is_file():
        return None
    with suppress(LetaloneError):  # what cannot be read is written anew
        Schema.read(path)
        return encoding_in(path)
    return None


def _place(options: InitOptions) -> Path:
    path = schema_beside(options.file, options.table)
    if path.exists() and not options.force:
        _check_owner(options.file, path)
        raise ParameterError(
            f"{path} is there already, and was not changed. Edit it, or write it again. Try:"
            + to_type_again("init", options, as_json=False, force=True)
        )
    return path


def _check_owner(file: str, schema: Path) -> None:
    """Refuses, with what would be lost, a schema file that another table beside it has."""
    others = [] if is_elsewhere(file) else _other_tables(expand_home(file), schema)
    if others:
        owners = " and ".join(others)
        raise ParameterError(
            f"{schema} is there already, and was not changed. It belongs to {owners}, too: --force"
            f" would replace it, and what it declares of {owners} would be lost. If these files"
            " hold the same people, ask only one of them. Else rename one, so that each has a"
            " schema file of its own."
        )


def _other_tables(file: Path, schema: Path) -> list[str]:
    """Files that have this schema file and are other tables; visits.csv is visits.parquet."""
    stem = schema.name.removesuffix(SUFFIX)
    near = [path for path in sorted(schema.parent.glob(f"{escape(stem)}.*")) if path.is_file()]
    others = [
        path for path in near if path.resolve() != file.resolve() and ending_of(path) in KINDS
    ]
    return [
        other.name
        for other in others
        if in_short_form(schema_path(other)) == schema
        and not {ending_of(other), ending_of(file)} <= set(SINGLE)
    ]


def _guess(options: InitOptions) -> Guess:
    kind, encoding = table_option.kind_of(options.file), read_encoding(options.encoding or UTF8)
    if kind in TEXT_KINDS and options.table is None:
        guess = guess_csv if kind == "csv" else guess_json_lines
        return guess(find_files(options.file).paths[0], encoding=encoding)
    if kind == "excel":
        return guess_excel(find_files(options.file).paths[0], options.table)
    opened = open_engine(options.file, table=options.table, encoding=options.encoding)
    with closing(opened) as engine:
        schema = engine.schema()
    texts = all(column.type is Type.TEXT for column in schema.columns)
    if kind == "parquet" and texts:
        return guess_parquet(find_files(options.file).paths[0], schema)
    return Guess(schema)


def _name(options: InitOptions, schema: Schema) -> str:
    """The table's name; of a folder, the folder's."""
    path = Path() if is_elsewhere(options.file) else expand_home(options.file)
    return stem_of(path.resolve()) if path != Path() and path.is_dir() else schema.name


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
    hints += _of_lines(options, guess.odd)
    hints += _of_formulas(options, guess.schema)
    if guess.commas or guess.orders:
        hints.append(_of_spellings(options, guess))
    return hints


def _of_spellings(options: InitOptions, guess: Guess) -> str:
    """Which columns would have another type if written otherwise, and the command that does it."""
    numbers = f"{', '.join(guess.commas)} would be a number if written 1.5 in place of 1,5."
    days = [name for name, _ in guess.orders]
    dates = f"{', '.join(days)} would be a date if written 2024-01-31: check the order of"
    dates += " day and month in this command."
    said = [*[numbers] * bool(guess.commas), *[dates] * bool(days)]
    orders = orders_in([f"{name}={how}" for name, how in guess.orders])
    return " ".join(said) + _with_points(options, [*points_in(guess.commas), *orders])


def _of_lines(options: InitOptions, odd: OddLines) -> list[str]:
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
            f" file to Parquet:{_converting(options, options.file)}"
        )
    if odd.dropped:
        lost = f"{plural_rows(odd.dropped)} cannot be read and will be left out:"
        hints.append(f"{lost} {_why_dropped(options)}")
    return hints


def _of_formulas(options: InitOptions, schema: Schema) -> list[str]:
    """That cells of a workbook are missing, since they are formulas."""
    path = Path(options.file)
    formulas = count_formulas(path, schema.name) if ending_of(path) in EXCEL else 0
    if not formulas:
        return []
    many = plural(formulas, "cell is a formula", "cells are formulas")
    which = [] if options.table is None else ["--table", options.table]
    return [
        f"{many}, which may look at other people's rows, and will be missing. If each looks at its"
        f" own row only, make a file of their values:{_converting(options, options.file, *which)}"
    ]


def _why_dropped(options: InitOptions) -> str:
    """What may be wrong with lines; with the command for a file that Windows wrote."""
    if ending_of(Path(options.file)) in JSON_LINES:
        return "they are not objects of JSON, not UTF-8, or longer than 8 MiB."
    why = f"they are not {(options.encoding or UTF8).upper()}, or longer than 8 MiB."
    if options.encoding is not None:
        return f"{why} Name the encoding that the file was saved in, or save it as UTF-8."
    again = to_type_again("init", options, encoding="cp1252", force=True, as_json=False)
    return f"{why} Save the file as UTF-8, or name its encoding. If Windows wrote it:{again}"


def _with_points(options: InitOptions, points: list[str]) -> str:
    """The command that writes them so, where a CSV is there to be read."""
    file = Path(options.file)
    made = file.suffix.lower() in PARQUET
    sources = [file.with_suffix(end) for end in CSV] if made else [file]
    source = next((path for path in sources if path.is_file()), None)
    if source is None:
        return ""
    command = _converting(options, str(source), *points, *["--force"] * made)
    return f" To write such a file, which has this schema file and this budget, too:{command}"


def _converting(options: InitOptions, file: str, *more: str) -> str:
    """The command that makes a Parquet file of this one, read in the same encoding."""
    is_named = options.encoding is not None and ending_of(Path(file)) in CSV
    encoding = ["--encoding", str(options.encoding)] if is_named else []
    return to_type("convert", file, str(Path(file).with_suffix(".parquet")), *more, *encoding)


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
    typer.confirm(
        "Column types were guessed from the data. Is it all right to make them public?", abort=True
    )


def _example(options: InitOptions, schema: Schema, known: DataSet | None) -> str:
    name = schema.name if schema.name.isidentifier() else f'"{schema.name}"'
    unit = [] if schema.unit_declared else ["--unit", table_option.unit_example(schema, known)]
    budget = [] if known is not None else ["--budget", usual_budget(None, None)]
    sql = f"SELECT COUNT(*) FROM {name}"
    which = [] if options.table is None else ["--table", options.table]
    copy = ["--copy"] * options.copy
    return to_type("query", options.file, sql, *which, *copy, *unit, "--epsilon", "0.5", *budget)


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
