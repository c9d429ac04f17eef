"""What can be typed after `letalone train`; the work is done in `cli.train`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import (
    AsJson,
    Epsilon,
    LedgerOption,
    SideTableName,
    TableName,
    UnitOption,
    command,
    new_app,
    number,
    switch,
    text,
    whole_number,
)

app = new_app()


@command(
    app,
    work="letalone.cli.train:train",
    epilog="Example: letalone train people.csv --target income --epsilon 1 --budget 4:1e-4",
)
@dataclass(frozen=True, slots=True)
class TrainOptions:
    """Learn to predict a column: a private model, with its receipt."""

    file: Annotated[
        str,
        typer.Argument(help="A file (.csv, .parquet, .duckdb) or postgresql://…", metavar="FILE"),
    ]
    target: Annotated[str | None, text("The column to predict.", "COLUMN")] = None
    epsilon: Epsilon = None
    delta: Annotated[float | None, number("Slack in probability: far below 1/n.")] = None
    features: Annotated[str | None, text("Columns to learn from; else all declared.", "A,B,…")] = (
        None
    )
    model: Annotated[str | None, text("logistic, svc, trees, bayes or linear.", "NAME")] = None
    knots: Annotated[int | None, whole_number("Points of a curve along numbers, as 8.")] = None
    unit: UnitOption = None
    budget: Annotated[str | None, text("For all that is asked, once.", "EPSILON[:DELTA]")] = None
    ledger: LedgerOption = None
    table: TableName = None
    side_table: SideTableName = None
    out: Annotated[Path | None, text("The model's file; else NAME.TARGET.json.", "PATH")] = None
    dry_run: Annotated[bool, switch("--dry-run", "Say price and method; spend nothing.")] = False
    as_json: AsJson = False
