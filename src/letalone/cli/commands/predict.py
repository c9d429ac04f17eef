"""What can be typed after `letalone predict`; the work is done in `cli.predict`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import AsJson, DataFile, TableOfFile, command, new_app, text

app = new_app()


@dataclass(frozen=True, slots=True)
class PredictOptions:
    """The model, the rows to predict for, and where to write."""

    model: Annotated[Path, typer.Argument(help="A file that train wrote.", metavar="MODEL")]
    file: DataFile
    table: TableOfFile = None
    keep: Annotated[str | None, text("Columns to copy beside it: id,…", "A,B,…")] = None
    out: Annotated[Path | None, text("Write all: .csv or .parquet.", "PATH")] = None
    as_json: AsJson = False

    @property
    def kept_columns(self) -> list[str]:
        """The columns to copy, each once."""
        names = [name.strip() for name in (self.keep or "").split(",")]
        return list(dict.fromkeys(name for name in names if name))


@command(app, epilog="Example: letalone predict people.income.json new.csv --out predictions.csv")
def predict(options: PredictOptions) -> None:
    """What a model says of the rows of a table."""
    from letalone.cli.predict import predict

    predict(options)
