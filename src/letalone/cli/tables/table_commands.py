"""What can be typed about a table: to ask it, learn from it, describe it and make one.

A record of options goes whole to the function that does the work, options of a function by name.
"""

from pathlib import Path
from typing import Annotated

import typer

from letalone.cli import typed
from letalone.cli.typed import (
    command,
    new_app,
    number,
    row_limit,
    rows_to_show,
    switch,
    text,
    whole_number,
)

app = new_app()


@command(app, "demo")
def demo(
    attacks: Annotated[
        bool, switch("--attacks", "Play the attacks instead, in under a minute.")
    ] = False,
) -> None:
    """Ask sample data of a hospital two questions, privately."""


@command(app, "init", example="visits.csv --unit patient_id")
class InitOptions:
    """Write the schema file of a table: what is public about it."""

    file: typed.AnyTable
    unit: typed.UnitOption = None
    table: typed.TableName = None
    encoding: typed.EncodingName = None
    copy: typed.CopyFile = False
    yes: Annotated[bool, switch("--yes", "Guessed types may be known.")] = False
    force: typed.Force = False
    as_json: typed.AsJson = False


@command(app, "convert", example="visits.csv visits.parquet")
def convert(
    source: Annotated[Path, typer.Argument(help="A CSV or .xlsx file.", metavar="FILE")],
    target: Annotated[Path, typer.Argument(help="The Parquet file to write.", metavar="PARQUET")],
    decimal_comma: Annotated[
        tuple[str, ...],
        text("A column of numbers such as 1.234,50, to write as 1234.50.", "COLUMN"),
    ] = (),
    date: Annotated[
        tuple[str, ...], text("A column of dates, and how: day=DD.MM.YYYY.", "COLUMN=ORDER")
    ] = (),
    encoding: typed.EncodingName = None,
    table_name: typed.SheetName = None,
    force: typed.Force = False,
) -> None:
    """Make a Parquet file of a CSV or an Excel file."""


QUERY_SECTIONS = {
    "The question": (
        "file", "sql", "epsilon", "delta", "unit", "keys", "bounds", "private_bounds", "max_rows",
        "max_groups", "public", "dialect", "confidence",
    ),
    "The table and its budget": (
        "budget", "ledger", "table", "name", "encoding", "copy", "dry_run", "yes",
    ),
    "The answer": ("explain", "rows", "csv", "out", "plot", "receipt", "force", "as_json"),
}  # fmt: skip


@command(
    app,
    "query",
    example='visits.csv "SELECT COUNT(*) FROM visits" --epsilon 1',
    sections=QUERY_SECTIONS,
)
class QueryOptions:
    """Ask a table in SQL: a private answer, with ranges."""

    file: Annotated[str, typer.Argument(help=typed.TABLE, metavar="FILE")]
    sql: Annotated[str, typer.Argument(help="A SELECT with COUNT, SUM, AVG, …", metavar="SQL")]
    epsilon: typed.Epsilon = None
    delta: Annotated[float | None, number("Far below 1 / number of people.")] = None
    unit: typed.UnitOption = None
    keys: Annotated[tuple[str, ...], text("Groups: ward=A,B,C.", "COLUMN=KEYS")] = ()
    bounds: Annotated[tuple[str, ...], text("Range of values: cost=0:1000.", "COLUMN=BOUNDS")] = ()
    public: Annotated[tuple[str, ...], text("Tables to join: cities=cities.csv.", "NAME=FILE")] = ()
    private_bounds: Annotated[
        bool, switch("--private-bounds", "Find bounds with a fifth of epsilon.")
    ] = False
    max_rows: Annotated[str | None, row_limit("Rows per person; auto finds it.")] = None
    max_groups: Annotated[int | None, whole_number("Most groups that a person counts in.")] = None
    dialect: Annotated[
        str | None,
        text(
            "SQL of duckdb (default), postgres, spark, bigquery, tsql, …",
            "NAME",
        ),
    ] = None
    budget: Annotated[str | None, text("Total for all questions; set once.", "EPSILON[:DELTA]")] = (
        None
    )
    ledger: typed.LedgerOption = None
    table: typed.TableName = None
    encoding: typed.EncodingName = None
    copy: typed.CopyFile = False
    side_table: typed.SideTableName = None
    name: Annotated[str | None, text("Its name in the ledger, and in FROM.", "NAME")] = None
    confidence: Annotated[float, number("How often a range is right.")] = 0.95
    dry_run: Annotated[bool, switch("--dry-run", "Preview: errors; spends nothing.")] = False
    yes: typed.Confirmed = False
    explain: Annotated[bool, switch("--explain", "With the question in words and all notes.")] = (
        False
    )
    rows: Annotated[str | None, rows_to_show("Rows on the screen; a pipe has all.")] = None
    csv: Annotated[bool, switch("--csv", "Print CSV: every row and column.")] = False
    out: Annotated[Path | None, text("Write to .csv, .parquet, .xlsx or .json.", "PATH")] = None
    force: typed.Force = False
    plot: typed.PlotFile = None
    receipt: Annotated[Path | None, typer.Option(help="Write a signed receipt (.json).")] = None
    as_json: typed.AsJson = False


@command(app, "shell", example="visits.csv --epsilon 0.1")
class ShellOptions:
    """Ask question after question, with the budget in the prompt."""

    file: typed.AnyTable
    epsilon: typed.Epsilon = None
    delta: Annotated[float | None, number("Slack in probability: far below 1/n.")] = None
    unit: typed.UnitOption = None
    keys: Annotated[tuple[str, ...], text("Groups: ward=A,B,C.", "COLUMN=KEYS")] = ()
    bounds: Annotated[tuple[str, ...], text("Values clamped: cost=0:1000.", "COLUMN=BOUNDS")] = ()
    public: Annotated[tuple[str, ...], text("Tables to join: cities=cities.csv.", "NAME=FILE")] = ()
    private_bounds: Annotated[
        bool, switch("--private-bounds", "Find bounds with a fifth of each epsilon.")
    ] = False
    max_rows: Annotated[str | None, row_limit("Rows per person; auto finds it.")] = None
    dialect: Annotated[
        str | None, text("SQL of duckdb, postgres, spark, bigquery, tsql, mysql, sqlite.", "NAME")
    ] = None
    budget: Annotated[str | None, text("For all questions, named once.", "EPSILON[:DELTA]")] = None
    ledger: typed.LedgerOption = None
    table: typed.TableName = None
    name: Annotated[str | None, text("Its name in the ledger, and in FROM.", "NAME")] = None
    as_json: typed.AsJson = False


@command(app, "train", example="people.csv --target income --epsilon 1 --budget 4:1e-4")
class TrainOptions:
    """Learn to predict a column: a private model, with its receipt."""

    file: Annotated[
        str,
        typer.Argument(
            help="A file (.csv, .parquet, .duckdb, .sqlite) or postgresql://…", metavar="FILE"
        ),
    ]
    target: Annotated[str | None, text("The column to predict.", "COLUMN")] = None
    epsilon: typed.Epsilon = None
    delta: Annotated[float | None, number("Far below 1 / number of people.")] = None
    features: Annotated[str | None, text("Columns to learn from; else all declared.", "A,B,…")] = (
        None
    )
    model: Annotated[str | None, text("logistic, svc, trees, bayes or linear.", "NAME")] = None
    knots: Annotated[int | None, whole_number("Points of a curve along numbers, as 8.")] = None
    unit: typed.UnitOption = None
    budget: Annotated[str | None, text("For all that is asked, once.", "EPSILON[:DELTA]")] = None
    ledger: typed.LedgerOption = None
    table: typed.TableName = None
    side_table: typed.SideTableName = None
    out: Annotated[Path | None, text("The model's file; else NAME.TARGET.json.", "PATH")] = None
    dry_run: Annotated[bool, switch("--dry-run", "Preview: method; spends nothing.")] = False
    yes: typed.Confirmed = False
    as_json: typed.AsJson = False


@command(app, "predict", example="people.income.json new.csv --out predictions.csv")
class PredictOptions:
    """Apply a model to a table."""

    model: Annotated[Path, typer.Argument(help="A file that train wrote.", metavar="MODEL")]
    file: typed.DataFile
    table: typed.TableOfFile = None
    keep: Annotated[str | None, text("Columns to copy with it: id,…", "A,B,…")] = None
    out: Annotated[Path | None, text("Write all: .csv or .parquet.", "PATH")] = None
    as_json: typed.AsJson = False

    @property
    def kept_columns(self) -> list[str]:
        """The columns to copy, each once."""
        names = [name.strip() for name in (self.keep or "").split(",")]
        return list(dict.fromkeys(name for name in names if name))


@command(app, "describe")
def describe(
    file: typed.AnyTable,
    table_name: typed.TableName = None,
    ledger: typed.LedgerOption = None,
    copy: typed.HiddenCopyFile = False,
) -> None:
    """Show what is public about a table, and the budget left."""


@command(
    app,
    "anonymity",
    work="tables.anonymity_command:anonymity",
    example="a.csv --quasi-identifiers zip --sensitive ill",
)
class AnonymityOptions:
    """How anonymous a table is: k, l, t; and make it so."""

    file: typed.DataFile
    quasi_identifiers: Annotated[
        tuple[str, ...], text("What others may know: zip,birth.", "COLUMNS")
    ] = ()
    sensitive: Annotated[tuple[str, ...], text("What they must not learn.", "COLUMNS")] = ()
    k: Annotated[int | None, whole_number("At least this many alike.")] = None
    l: Annotated[int | None, whole_number("At least this many values.")] = None  # noqa: E741
    t: Annotated[float | None, number("And as close to the table as this.")] = None
    unit: Annotated[str | None, text("Count people, not rows, by this.", "COLUMN")] = None
    out: Annotated[Path | None, typer.Option(help="Write it: .csv or .parquet.")] = None
    hierarchy: Annotated[tuple[str, ...], text("Or dates, ranges, sets.", "COLUMN=prefixes")] = ()
    max_suppressed: Annotated[float, number("Share of rows left out.")] = 0.01
    population: Annotated[int | None, whole_number("People around it.")] = None
    html: Annotated[Path | None, typer.Option(help="Write a page with pictures.")] = None
    table: typed.TableOfFile = None
    as_json: typed.AsJson = False
