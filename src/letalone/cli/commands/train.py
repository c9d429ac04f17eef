"""What can be typed after `letalone train`; the work is done in `cli.train`."""

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
    number,
    whole_number,
)

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command(
    epilog="Example: letalone train people.csv --target income --epsilon 1 --budget 4:1e-4"
)
def train(
    context: typer.Context,
    file: Annotated[
        str,
        typer.Argument(help="A file (.csv, .parquet, .duckdb) or postgresql://…", metavar="FILE"),
    ],
    target: Annotated[
        str | None, typer.Option(help="The column to predict.", metavar="COLUMN")
    ] = None,
    epsilon: Epsilon = None,
    delta: Annotated[float | None, number("Slack in probability: far below 1/n.")] = None,
    features: Annotated[
        str | None, typer.Option(help="Columns to learn from; else all declared.", metavar="A,B,…")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="logistic, svc, trees, bayes or linear.", metavar="NAME")
    ] = None,
    knots: Annotated[int | None, whole_number("Points of a curve along numbers, as 8.")] = None,
    unit: UnitOption = None,
    budget: Annotated[
        str | None, typer.Option(help="For all that is asked, once.", metavar="EPSILON[:DELTA]")
    ] = None,
    ledger: LedgerOption = None,
    table: TableName = None,
    side_table: SideTableName = None,
    out: Annotated[
        Path | None, typer.Option(help="The model's file; else NAME.TARGET.json.", metavar="PATH")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say price and method; spend nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Learn to predict a column: a private model, with its receipt."""
    from letalone.cli.train import train
    from letalone.cli.training import Training

    asked = Training(
        file=file,
        target=target,
        epsilon=epsilon,
        delta=delta,
        features=features,
        model=model,
        knots=knots,
        unit=unit,
        budget=budget,
        ledger=ledger,
        table=table,
        side_table=side_table,
        out=out,
        dry_run=dry_run,
        as_json=as_json or context.obj,
    )
    train(asked)
