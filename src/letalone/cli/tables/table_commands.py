"""What can be typed about a table: to ask it, learn from it, describe it and make one.

A record of options goes whole to the function that does the work, options of a function by name.
"""

from pathlib import Path
from typing import Annotated

import typer

from letalone.cli import typed
from letalone.cli.typed import command, new_app, number, row_limit, switch, text, whole_number

app = new_app()


@command(app, "demo")
def demo(
    attacks: Annotated[
        bool, switch("--attacks", "Play the attacks instead, in under a minute.")
    ] = False,
) -> None:
    """Ask a made-up hospital two questions, privately, on DuckDB."""


@command(app, "init", example="visits.csv --unit patient_id")
class InitOptions:
    """Write down what is public about a table, to fill in."""

    file: typed.AnyTable
    unit: typed.UnitOption = None
    table: typed.TableName = None
    yes: Annotated[bool, switch("--yes", "Guessed types may be known.")] = False
    force: typed.Force = False
    as_json: typed.AsJson = False


@command(app, "convert", example="visits.csv visits.parquet")
def convert(
    source: Annotated[Path, typer.Argument(help="A CSV file.", metavar="CSV")],
    target: Annotated[Path, typer.Argument(help="The Parquet file to write.", metavar="PARQUET")],
    decimal_comma: Annotated[
        tuple[str, ...], text("A column of numbers such as 1,5, to write as 1.5.", "COLUMN")
    ] = (),
    force: typed.Force = False,
) -> None:
    """Make a Parquet file of a CSV with line breaks or decimal commas."""


@command(app, "query", example='visits.csv "SELECT COUNT(*) FROM visits" --epsilon 1')
class QueryOptions:
    """Ask a table in SQL: a private answer, error bars, price."""

    file: Annotated[str, typer.Argument(help=typed.TABLE, metavar="FILE", hidden=True)]
    sql: Annotated[
        str, typer.Argument(help="A SELECT with COUNT, SUM, AVG, …", metavar="SQL", hidden=True)
    ]
    epsilon: typed.Epsilon = None
    delta: Annotated[float | None, number("Slack in probability: far below 1/n.")] = None
    unit: typed.UnitOption = None
    keys: Annotated[tuple[str, ...], text("Groups: ward=A,B,C.", "COLUMN=KEYS")] = ()
    bounds: Annotated[tuple[str, ...], text("Values clamped: cost=0:1000.", "COLUMN=BOUNDS")] = ()
    public: Annotated[tuple[str, ...], text("Tables to join: cities=cities.csv.", "NAME=FILE")] = ()
    private_bounds: Annotated[
        bool, switch("--private-bounds", "Buy bounds with a fifth of epsilon.")
    ] = False
    max_rows: Annotated[str | None, row_limit("Rows per person; auto finds it.")] = None
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
    ledger: typed.LedgerOption = None
    table: typed.TableName = None
    side_table: typed.SideTableName = None
    name: Annotated[
        str | None, text("The data set's name in the ledger, and in FROM.", "NAME", hidden=True)
    ] = None
    confidence: Annotated[float, number("How often a bar must be right.")] = 0.95
    dry_run: Annotated[bool, switch("--dry-run", "Say price and errors; spend nothing.")] = False
    explain: Annotated[bool, switch("--explain", "With all notes, in words.", hidden=True)] = False
    plot: typed.PlotFile = None
    receipt: Annotated[Path | None, typer.Option(help="Write a signed receipt (.json).")] = None
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
    delta: Annotated[float | None, number("Slack in probability: far below 1/n.")] = None
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
    dry_run: Annotated[bool, switch("--dry-run", "Say price and method; spend nothing.")] = False
    as_json: typed.AsJson = False


@command(app, "predict", example="people.income.json new.csv --out predictions.csv")
class PredictOptions:
    """What a model says of the rows of a table."""

    model: Annotated[Path, typer.Argument(help="A file that train wrote.", metavar="MODEL")]
    file: typed.DataFile
    table: typed.TableOfFile = None
    keep: Annotated[str | None, text("Columns to copy beside it: id,…", "A,B,…")] = None
    out: Annotated[Path | None, text("Write all: .csv or .parquet.", "PATH")] = None
    as_json: typed.AsJson = False

    @property
    def kept_columns(self) -> list[str]:
        """The columns to copy, each once."""
        names = [name.strip() for name in (self.keep or "").split(",")]
        return list(dict.fromkeys(name for name in names if name))


@command(app, "describe")
def describe(
    file: typed.AnyTable, table_name: typed.TableName = None, ledger: typed.LedgerOption = None
) -> None:
    """What is public about a table, and its budget."""


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
    k: Annotated[int | None, whole_number("Make so many alike.")] = None
    l: Annotated[int | None, whole_number("With so many values.")] = None  # noqa: E741
    t: Annotated[float | None, number("And as close to the table as this.")] = None
    unit: Annotated[str | None, text("Count people, not rows, by this.", "COLUMN")] = None
    out: Annotated[Path | None, typer.Option(help="Write it: .csv or .parquet.")] = None
    hierarchy: Annotated[tuple[str, ...], text("Or dates, ranges, sets.", "COLUMN=prefixes")] = ()
    max_suppressed: Annotated[float, number("Share of rows left out.")] = 0.01
    population: Annotated[int | None, whole_number("People around it.")] = None
    html: Annotated[Path | None, typer.Option(help="Write a page with pictures.")] = None
    table: typed.TableOfFile = None
    as_json: typed.AsJson = False
