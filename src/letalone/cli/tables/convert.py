"""`letalone convert visits.csv visits.parquet`: for line breaks, decimal commas and Excel files.

letalone reads a record of a CSV file from one line, so that no line changes what the others count
for. This command reads the file as spreadsheets do. In the columns that are named it writes numbers
with a decimal comma with a point, and dates with the year first. Nothing else is guessed. What it
says tells about rows: it is for the owner, who runs it.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from letalone.cli.offered import to_type
from letalone.cli.places import in_short_form
from letalone.cli.screen import print_json, put, say
from letalone.engines.duckdb.csv_conversion import Converted, convert_file
from letalone.engines.duckdb.text_files import name_of_encoding
from letalone.engines.texts.spreadsheet_cells import Spellings
from letalone.errors import ParameterError
from letalone.errors.spelling import plural, plural_rows
from letalone.plans.schema import Schema
from letalone.plans.schema_file import encoding_in, key_in_file
from letalone.plans.types import Type
from letalone.sources.files import CSV, EXCEL, PARQUET, UTF8, ending_of
from letalone.sources.places import schema_path

LIKELY = {
    "cp1252": "Windows",
    "cp1250": "Windows in Central Europe",
    "mac-roman": "an old Mac",
    "cp850": "DOS",
}


def convert(
    source: Path,
    target: Path,
    *,
    decimal_comma: Sequence[str],
    date: Sequence[str],
    encoding: str | None,
    table_name: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write the Parquet file, and say what was odd."""
    spellings = Spellings(decimal_comma, _orders(date))
    words = [
        *points_in(decimal_comma),
        *orders_in(date),
        *([] if table_name is None else ["--table", table_name]),
    ]
    typed = [] if encoding is None else ["--encoding", encoding]
    _check_places(source, target, [*words, *typed], force=force)
    written = name_of_encoding(encoding or _declared_encoding(source) or UTF8)
    again = ["convert", str(source), str(target), *words]
    converted = convert_file(
        source,
        target,
        spellings=spellings,
        encoding=written,
        sheet=table_name,
        check=None if force else partial(_check_lost, encoding=written, again=again),
    )
    if as_json:
        content = {
            "path": target,
            "rows": converted.rows,
            "rows_with_line_breaks": converted.with_line_breaks,
            "rows_uneven": converted.uneven,
            "rows_with_stray_quotes": converted.stray_quotes,
            "rows_not_utf8": converted.not_text,
            "cells_not_read": converted.unread,
        }
        print_json("convert", content)
        return
    put(f"Wrote {plural_rows(converted.rows)} to {target}.")
    schema = in_short_form(schema_path(target))
    following = "describe" if schema.exists() else "init"
    more = "Next:" + to_type(following, str(target))
    say(*_oddities(converted, written), *_budgets(source), _types(schema, spellings), more)


def _orders(words: Sequence[str]) -> dict[str, str]:
    """By column: how its dates are written."""
    pairs = [word.rpartition("=") for word in words]
    for name, _, how in pairs:
        if not name:
            raise ParameterError(
                f"--date {how} does not say how the dates of that column are written. Write --date"
                f" {how}=DD.MM.YYYY, with the day, the month and the year as they stand there."
            )
    return {name: how for name, _, how in pairs}


def _declared_encoding(source: Path) -> str | None:
    """The encoding that the schema file beside a CSV file names, if any."""
    schema = schema_path(source)
    if ending_of(source) not in CSV or not schema.is_file():
        return None
    Schema.read(schema)  # or says what is wrong with it
    return encoding_in(schema)


def _check_lost(converted: Converted, *, encoding: str, again: Sequence[str]) -> None:
    """Refuses a file most of whose rows are not written as was said."""
    if converted.not_text <= converted.rows:
        return
    total = plural_rows(converted.rows + converted.not_text)
    likely = {name: whose for name, whose in LIKELY.items() if name != encoding}
    named = ", ".join(f"{name} (of {whose})" for name, whose in likely.items())
    raise ParameterError(
        f"{converted.not_text:,} of {total} would be left out: not {encoding.upper()}. Nothing was"
        f" written. Name the encoding that the file was saved in. Likely ones: {named}. To leave"
        " these rows out, add --force. Try:" + to_type(*again, "--encoding", next(iter(likely)))
    )


def _budgets(source: Path) -> list[str]:
    """That a sheet and the file made of it are two tables, where no name makes them one."""
    if ending_of(source) not in EXCEL:
        return []
    return [
        "The sheet and this file hold the same people: ask only one of them, or give both one name"
        " (--name), so that they have one budget."
    ]


def _types(schema: Path, spellings: Spellings) -> str:
    """Where the types come from, which a file of text does not have."""
    if not schema.exists():
        return "All columns are text until you declare other types."
    lacking = ", ".join(_undeclared(Schema.read(schema), spellings))
    declare = f" Declare there what these columns are: {lacking}." if lacking else ""
    return f"All columns are text; {schema} says their types.{declare}"


def _undeclared(schema: Schema, spellings: Spellings) -> Iterator[str]:
    """Columns that were respelled and that the schema file still calls text, with their type."""
    texts = {column.name for column in schema.columns if column.type is Type.TEXT}
    kinds = dict.fromkeys(spellings.decimal_comma, Type.NUMBER)
    for name, kind in {**kinds, **dict.fromkeys(spellings.dates or {}, Type.DATE)}.items():
        if name in texts:
            yield f'[columns.{key_in_file(name)}] type = "{kind.value}"'


def _check_places(source: Path, target: Path, options: Sequence[str], *, force: bool) -> None:
    for path, kinds in ((source, (*CSV, *EXCEL)), (target, PARQUET)):
        if ending_of(path) not in kinds:
            raise ParameterError(f"{path.name} must end in one of {', '.join(kinds)}.")
    if not source.is_file():
        raise ParameterError(f"There is no file {str(source)!r}. Check the path.")
    if target.exists() and not force:
        raise ParameterError(
            f"{target} exists already and was not changed. To write over it, type:"
            + to_type("convert", str(source), str(target), *options, "--force")
        )


def _oddities(converted: Converted, encoding: str) -> list[str]:
    rows = {
        "with a line break in a cell": converted.with_line_breaks,
        "with more or fewer cells than the first line has names": converted.uneven,
        "with a quote in the middle of a cell. Check that the one before it is closed": (
            converted.stray_quotes
        ),
    }
    lines = [f"{plural_rows(number)} {what}." for what, number in rows.items() if number]
    lines += [
        f"{plural(number, 'cell')} of {name} could not be read, and stay as they are: they count"
        " as missing once the column has a type."
        for name, number in converted.unread.items()
    ]
    if converted.not_text:
        lost = plural(converted.not_text, "row")
        lines.append(f"{lost} left out: not {encoding.upper()}. {_other_encoding(encoding)}")
    return lines


def _other_encoding(encoding: str) -> str:
    """What to do about rows that are not written as was said."""
    if encoding != UTF8:
        return "Convert it again with the encoding that it was saved in."
    return "Save the CSV as UTF-8, or convert it again with --encoding cp1252 if Windows wrote it."


def points_in(columns: Sequence[str]) -> list[str]:
    """The options that name columns of numbers with a decimal comma."""
    return [word for name in columns for word in ("--decimal-comma", name)]


def orders_in(words: Sequence[str]) -> list[str]:
    """The options that name columns of dates, with how these are written."""
    return [part for word in words for part in ("--date", word)]


def to_respell(file: str, columns: Sequence[str], encoding: str | None) -> str:
    """The command that writes columns of a CSV file with a decimal point; "" of other files."""
    source = Path(file)
    if ending_of(source) not in CSV or not source.is_file():
        return ""
    known = encoding or encoding_in(schema_path(source))
    named = [] if known is None else ["--encoding", known]
    made = str(source.with_suffix(".parquet"))
    return to_type("convert", file, made, *points_in(columns), *named)
