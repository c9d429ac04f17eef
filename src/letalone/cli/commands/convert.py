"""What can be typed after `letalone convert`; the work is done in `cli.convert`."""

from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import AsJson, Force, command, new_app, text

app = new_app()


@command(app, epilog="Example: letalone convert visits.csv visits.parquet")
def convert(
    source: Annotated[Path, typer.Argument(help="A CSV file.", metavar="CSV")],
    target: Annotated[Path, typer.Argument(help="The Parquet file to write.", metavar="PARQUET")],
    decimal_comma: Annotated[
        tuple[str, ...], text("A column of numbers such as 1,5, to write as 1.5.", "COLUMN")
    ] = (),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make a Parquet file of a CSV with line breaks or decimal commas."""
    from letalone.cli.convert import convert

    convert(source, target, decimal_comma=decimal_comma, force=force, as_json=as_json)
