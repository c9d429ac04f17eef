"""What can be typed after `letalone anonymity`; the work is done in `cli.anonymity`."""

from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import AsJson, DataFile, TableOfFile, number, whole_number

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command(epilog="Example: letalone anonymity a.csv --quasi-identifiers zip --sensitive ill")
def anonymity(
    context: typer.Context,
    file: DataFile,
    quasi_identifiers: Annotated[
        list[str] | None, typer.Option(help="What others may know: zip,birth.", metavar="COLUMNS")
    ] = None,
    sensitive: Annotated[
        list[str] | None, typer.Option(help="What they must not learn.", metavar="COLUMNS")
    ] = None,
    k: Annotated[int | None, whole_number("Make so many alike.")] = None,
    l: Annotated[  # noqa: E741
        int | None, whole_number("With so many values.")
    ] = None,
    t: Annotated[float | None, number("And as close to the table as this.")] = None,
    unit: Annotated[
        str | None, typer.Option(help="Count people, not rows, by this.", metavar="COLUMN")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write it: .csv or .parquet.")] = None,
    hierarchy: Annotated[
        list[str] | None, typer.Option(help="Or dates, ranges, sets.", metavar="COLUMN=prefixes")
    ] = None,
    max_suppressed: Annotated[float, number("Share of rows left out.")] = 0.01,
    population: Annotated[int | None, whole_number("People around it.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with pictures.")] = None,
    table: TableOfFile = None,
    as_json: AsJson = False,
) -> None:
    """How anonymous a table is: k, l, t; and make it so."""
    from letalone.cli.anonymity import Request, anonymity
    from letalone.cli.column_names import names_in

    request = Request(
        file=file,
        quasi_identifiers=names_in(quasi_identifiers, file, table=table),
        sensitive=names_in(sensitive, file, table=table),
        k=k,
        l=l,
        t=t,
        unit=unit,
        hierarchies=tuple(hierarchy or ()),
        max_suppressed=max_suppressed,
        population=population,
        table=table,
        out=out,
        html=html,
        as_json=as_json or context.obj,
    )
    anonymity(request)
