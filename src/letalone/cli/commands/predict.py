"""What can be typed after `letalone predict`; the work is done in `cli.predict`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import AsJson, DataFile, TableOfFile, command, new_app, text

app = new_app()


@command(
    app,
    work="letalone.cli.predict:predict",
    epilog="Example: letalone predict people.income.json new.csv --out predictions.csv",
)
@dataclass(frozen=True, slots=True)
class PredictOptions:
    """What a model says of the rows of a table."""

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
