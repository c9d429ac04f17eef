"""What can be typed after `letalone anonymity`; the work is done in `cli.anonymity`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import (
    AsJson,
    DataFile,
    TableOfFile,
    command,
    new_app,
    number,
    text,
    whole_number,
)

app = new_app()


@command(
    app,
    work="letalone.cli.anonymity:anonymity",
    epilog="Example: letalone anonymity a.csv --quasi-identifiers zip --sensitive ill",
)
@dataclass(frozen=True, slots=True)
class AnonymityOptions:
    """How anonymous a table is: k, l, t; and make it so."""

    file: DataFile
    quasi_identifiers: Annotated[
        tuple[str, ...], text("What others may know: zip,birth.", "COLUMNS")
    ] = ()
    sensitive: Annotated[tuple[str, ...], text("What they must not learn.", "COLUMNS")] = ()
    k: Annotated[int | None, whole_number("Make so many alike.")] = None
    l: Annotated[int | None, whole_number("With so many values.")] = None  # noqa: E741
    t: Annotated[float | None, number("And as close to the table as this.")] = None
    unit: Annotated[str | None, text("Count people, not rows, by this.", "COLUMN")] = None
    out: Annotated[Path | None, typer.Option(help="Write it: .csv or .parquet.")] = None
    hierarchy: Annotated[tuple[str, ...], text("Or dates, ranges, sets.", "COLUMN=prefixes")] = ()
    max_suppressed: Annotated[float, number("Share of rows left out.")] = 0.01
    population: Annotated[int | None, whole_number("People around it.")] = None
    html: Annotated[Path | None, typer.Option(help="Write a page with pictures.")] = None
    table: TableOfFile = None
    as_json: AsJson = False
