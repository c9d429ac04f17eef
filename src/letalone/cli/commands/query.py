"""What can be typed after `letalone query`; the work is done in `cli.query`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import (
    TABLE,
    AsJson,
    Epsilon,
    LedgerOption,
    PlotFile,
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
    work="letalone.cli.query:query",
    epilog='Example: letalone query visits.csv "SELECT COUNT(*) FROM visits" --epsilon 1',
)
@dataclass(frozen=True, slots=True)
class QueryOptions:
    """Ask a table in SQL: a private answer, error bars, price."""

    file: Annotated[str, typer.Argument(help=TABLE, metavar="FILE", hidden=True)]
    sql: Annotated[
        str, typer.Argument(help="A SELECT with COUNT, SUM, AVG, …", metavar="SQL", hidden=True)
    ]
    epsilon: Epsilon = None
    delta: Annotated[float | None, number("Slack in probability: far below 1/n.")] = None
    unit: UnitOption = None
    keys: Annotated[tuple[str, ...], text("Groups: ward=A,B,C.", "COLUMN=KEYS")] = ()
    bounds: Annotated[tuple[str, ...], text("Values clamped: cost=0:1000.", "COLUMN=BOUNDS")] = ()
    public: Annotated[tuple[str, ...], text("Tables to join: cities=cities.csv.", "NAME=FILE")] = ()
    private_bounds: Annotated[
        bool, switch("--private-bounds", "Buy bounds with a fifth of epsilon.")
    ] = False
    max_rows: Annotated[int | None, whole_number("Rows that count per unit.")] = None
    max_groups: Annotated[
        int | None, whole_number("Groups that a unit counts in.", hidden=True)
    ] = None
    dialect: Annotated[
        str | None,
        text(
            "How the SQL is spelled: duckdb, postgres, spark or bigquery; else the first.",
            "NAME",
            hidden=True,
        ),
    ] = None
    budget: Annotated[str | None, text("For all questions, named once.", "EPSILON[:DELTA]")] = None
    ledger: LedgerOption = None
    table: TableName = None
    side_table: SideTableName = None
    name: Annotated[
        str | None, text("The data set's name in the ledger, and in FROM.", "NAME", hidden=True)
    ] = None
    confidence: Annotated[float, number("How often a bar must be right.")] = 0.95
    dry_run: Annotated[bool, switch("--dry-run", "Say price and errors; spend nothing.")] = False
    explain: Annotated[bool, switch("--explain", "With all notes, in words.", hidden=True)] = False
    plot: PlotFile = None
    receipt: Annotated[Path | None, typer.Option(help="Write a signed receipt (.json).")] = None
    as_json: AsJson = False
