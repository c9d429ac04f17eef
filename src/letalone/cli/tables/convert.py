"""`letalone convert visits.csv visits.parquet`: for cells with line breaks or decimal commas.

letalone reads a record of a CSV file from one line, so that no line changes what the others count
for. This command reads the file as spreadsheets do, and writes numbers with a decimal comma with a
point in the columns that are named. Nothing else is guessed. What it says tells about rows: it is
for the owner, who runs it.
"""

from collections.abc import Sequence
from pathlib import Path

from letalone.cli.offered import to_type
from letalone.cli.places import in_short_form
from letalone.cli.screen import print_json, put, say
from letalone.engines.duckdb.csv_conversion import Converted, convert_csv
from letalone.errors import ParameterError
from letalone.errors.spelling import plural, plural_rows
from letalone.sources.files import CSV, PARQUET
from letalone.sources.places import schema_path


def convert(
    source: Path, target: Path, *, decimal_comma: Sequence[str], force: bool, as_json: bool
) -> None:
    """Write the Parquet file, and say what was odd."""
    _check_places(source, target, decimal_comma, force=force)
    converted = convert_csv(source, target, decimal_comma=decimal_comma)
    if as_json:
        content = {
            "path": target,
            "rows": converted.rows,
            "rows_with_line_breaks": converted.with_line_breaks,
            "rows_uneven": converted.uneven,
            "rows_with_stray_quotes": converted.stray_quotes,
            "rows_not_utf8": converted.not_text,
        }
        print_json("convert", content)
        return
    put(f"Wrote {plural_rows(converted.rows)} to {target}.")
    schema = in_short_form(schema_path(target))
    following = "describe" if schema.exists() else "init"
    more = "Next:" + to_type(following, str(target))
    say(*_oddities(converted), _types(schema, decimal_comma), more)


def _types(schema: Path, points: Sequence[str]) -> str:
    """Where the types come from, which a file of text does not have."""
    if not schema.exists():
        return "All columns are text until you declare other types."
    numbers = f" Declare there that {', '.join(points)} is a number." if points else ""
    return f"All columns are text; {schema} says their types.{numbers}"


def _check_places(source: Path, target: Path, decimal_comma: Sequence[str], *, force: bool) -> None:
    for path, kinds in ((source, CSV), (target, PARQUET)):
        if path.suffix.lower() not in kinds:
            raise ParameterError(f"{path.name} must end in one of {', '.join(kinds)}.")
    if not source.is_file():
        raise ParameterError(f"There is no file {str(source)!r}. Check the path.")
    if target.exists() and not force:
        raise ParameterError(
            f"{target} exists already and was not changed. To write over it, type:"
            + to_type("convert", str(source), str(target), *points_in(decimal_comma), "--force")
        )


def _oddities(converted: Converted) -> list[str]:
    rows = {
        "with a line break in a cell": converted.with_line_breaks,
        "with more or fewer cells than the first line has names": converted.uneven,
        "with a quote in the middle of a cell. Check that the one before it is closed": (
            converted.stray_quotes
        ),
    }
    lines = [f"{plural_rows(number)} {what}." for what, number in rows.items() if number]
    if converted.not_text:
        lost = plural(converted.not_text, "row")
        lines.append(f"{lost} left out: not UTF-8. Save the CSV as UTF-8 and convert it again.")
    return lines


def points_in(columns: Sequence[str]) -> list[str]:
    """The options that name columns of numbers with a decimal comma."""
    return [word for name in columns for word in ("--decimal-comma", name)]
