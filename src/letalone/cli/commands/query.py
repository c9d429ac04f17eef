"""What can be typed after `letalone query`; the work is done in `cli.query`."""

from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import (
    TABLE,
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


@app.command(epilog='Example: letalone query visits.csv "SELECT COUNT(*) FROM visits" --epsilon 1')
def query(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help=TABLE, metavar="FILE", hidden=True)],
    sql: Annotated[
        str, typer.Argument(help="A SELECT with COUNT, SUM, AVG, …", metavar="SQL", hidden=True)
    ],
    epsilon: Epsilon = None,
    delta: Annotated[float | None, number("Slack in probability: far below 1/n.")] = None,
    unit: UnitOption = None,
    keys: Annotated[
        list[str] | None, typer.Option(help="Groups: ward=A,B,C.", metavar="COLUMN=KEYS")
    ] = None,
    bounds: Annotated[
        list[str] | None, typer.Option(help="Values clamped: cost=0:1000.", metavar="COLUMN=BOUNDS")
    ] = None,
    public: Annotated[
        list[str] | None,
        typer.Option(help="Tables to join: cities=cities.csv.", metavar="NAME=FILE"),
    ] = None,
    private_bounds: Annotated[
        bool, typer.Option("--private-bounds", help="Buy bounds with a fifth of epsilon.")
    ] = False,
    max_rows: Annotated[int | None, whole_number("Rows that count per unit.")] = None,
    max_groups: Annotated[
        int | None,
        # Hidden, so that the rest fits a screen.
        whole_number("Groups that a unit counts in.", hidden=True),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            help="How the SQL is spelled: duckdb, postgres, spark or bigquery; else the first.",
            metavar="NAME",
            hidden=True,  # so that the rest fits a screen
        ),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="For all questions, named once.", metavar="EPSILON[:DELTA]")
    ] = None,
    ledger: LedgerOption = None,
    table: TableName = None,
    side_table: SideTableName = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="The data set's name in the ledger, and in FROM.", metavar="NAME", hidden=True
        ),
    ] = None,
    confidence: Annotated[float, number("How often a bar must be right.")] = 0.95,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say price and errors; spend nothing.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="With all notes, in words.", hidden=True)
    ] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw to this .svg, .png or .pdf.")] = None,
    receipt: Annotated[Path | None, typer.Option(help="Write a signed receipt (.json).")] = None,
    as_json: AsJson = False,
) -> None:
    """Ask a table in SQL: a private answer, error bars, price."""
    from letalone.cli.query import query
    from letalone.cli.request import Request

    request = Request(
        file=file,
        sql=sql,
        epsilon=epsilon,
        delta=delta,
        unit=unit,
        keys=tuple(keys or ()),
        bounds=tuple(bounds or ()),
        public=tuple(public or ()),
        private_bounds=private_bounds,
        max_rows=max_rows,
        max_groups=max_groups,
        dialect=dialect,
        budget=budget,
        ledger=ledger,
        table=table,
        side_table=side_table,
        name=name,
        confidence=confidence,
        dry_run=dry_run,
        explain=explain,
        plot=plot,
        receipt=receipt,
        as_json=as_json or context.obj,
    )
    query(request)
