"""What can be typed after `letalone predict`; the work is done in `cli.predict`."""

from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import AsJson, DataFile, TableOfFile

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command(epilog="Example: letalone predict people.income.json new.csv --out predictions.csv")
def predict(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(help="A file that train wrote.", metavar="MODEL")],
    file: DataFile,
    table: TableOfFile = None,
    keep: Annotated[
        str | None, typer.Option(help="Columns to copy beside it: id,…", metavar="A,B,…")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write all: .csv or .parquet.", metavar="PATH")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What a model says of the rows of a table."""
    from letalone.cli.predict import Predicting, predict

    predict(Predicting(model, file, table, keep, out, as_json or context.obj))
