"""What can be typed to check on others and on letalone itself, and to let others ask."""

from pathlib import Path
from typing import Annotated

import typer

from letalone.cli import typed
from letalone.cli.typed import command, new_app, new_group, number, switch, text, whole_number

app = new_app()


@command(
    app, "audit", work="trust.audit:run_audit", example="mycode:noisy_count --claimed-epsilon 1"
)
class AuditOptions:
    """Hold a mechanism's outputs against its claim."""

    mechanism: Annotated[
        str | None, typer.Argument(help="A function: mycode:noisy_count.", metavar="MODULE:NAME")
    ] = None
    claimed_epsilon: Annotated[float | None, number("What it claims.")] = None
    claimed_delta: Annotated[float, number("And its delta.")] = 0.0
    one: Annotated[str | None, text("An input.", "VALUE")] = None
    other: Annotated[str | None, text("Its neighbour.", "VALUE")] = None
    table: Annotated[Path | None, text("Or a table; neighbours are found.", "FILE")] = None
    unit: typed.UnitOption = None
    samples: Annotated[int | None, whole_number("Draws on each.")] = None
    confidence: Annotated[float, number("How rarely it may be wrong.")] = 0.95
    many: Annotated[bool, switch("--many", "It takes (value, count).")] = False
    timing: Annotated[bool, switch("--timing", "Audit the time it takes.")] = False
    itself: Annotated[bool, switch("--self", "Audit letalone's own.")] = False
    plot: typed.PlotFile = None
    as_json: typed.AsJson = False


@command(app, "lint", work="trust.lint:lint_files", example="script.py")
def lint(
    paths: Annotated[
        tuple[Path, ...], typer.Argument(help="Scripts, notebooks or folders.", metavar="FILE")
    ] = (),
) -> None:
    """Find slips in a script that break its privacy."""


@command(app, "doctor")
def doctor() -> None:
    """Check this installation: versions, extras, random bits."""


@command(app, "verify")
def verify(
    path: Annotated[
        Path,
        typer.Argument(help="A receipt, model, checkpoint or exported ledger.", metavar="FILE"),
    ],
    key: typed.OwnersKey = None,
    head: typed.KeptHead = None,
    checkpoints: Annotated[
        tuple[Path, ...],
        text("A checkpoint kept elsewhere; may be given again.", "FILE", "--checkpoint"),
    ] = (),
) -> None:
    """Check a receipt offline: is it as it was signed?"""


LedgerFile = Annotated[
    str, typer.Argument(help="The file of the ledger, or postgresql://...", metavar="LEDGER")
]
Checkpoints = Annotated[
    tuple[Path, ...],
    typer.Option("--checkpoint", help="A checkpoint that was kept elsewhere; may come often."),
]
JsonFile = Annotated[Path, typer.Argument(help="The JSON file to write.", metavar="FILE")]
ledger = new_group("Look at the record of what was spent.")
app.add_typer(ledger, name="ledger")


@command(ledger, "show", work="trust.ledger_commands:show")
def ledger_show(path: LedgerFile) -> None:
    """Budgets, what is spent, what is left, and the key's fingerprint."""


@command(ledger, "verify", work="trust.ledger_commands:verify")
def ledger_verify(
    path: LedgerFile, head: typed.KeptHead = None, checkpoints: Checkpoints = ()
) -> None:
    """Check the chain and do every charge again."""


@command(ledger, "export", work="trust.ledger_commands:export")
def ledger_export(path: LedgerFile, to: JsonFile) -> None:
    """Write it as JSON, for others to check."""


@command(ledger, "levels", work="trust.ledger_commands:levels")
def ledger_levels(path: LedgerFile) -> None:
    """Who may use how much of each budget, and what for."""


@command(ledger, "checkpoint", work="trust.ledger_commands:checkpoint")
def ledger_checkpoint(path: LedgerFile, to: JsonFile) -> None:
    """Sign where the ledger stands, to be kept elsewhere."""


@command(ledger, "backup", work="trust.ledger_commands:backup")
def ledger_backup(
    path: LedgerFile,
    to: Annotated[Path, typer.Argument(help="The file to write; it must be new.", metavar="FILE")],
) -> None:
    """Copy the file with its key, also while it is in use."""


@command(ledger, "why", work="trust.ledger_commands:why")
def ledger_why(
    path: LedgerFile,
    name: Annotated[
        str | None, typer.Argument(help="The data set; all that are frozen if left out.")
    ] = None,
) -> None:
    """Why data sets are frozen, and what to look at."""


@command(ledger, "thaw", work="trust.ledger_commands:thaw")
def ledger_thaw(
    path: LedgerFile,
    name: Annotated[str, typer.Argument(help="The data set.")],
    why: Annotated[str, typer.Option("--why", help="What you have found; it is written down.")],
) -> None:
    """Allow questions about a frozen data set again."""


@command(app, "serve")
class ServeOptions:
    """Let others ask: a service with budgets, purposes and a ledger."""

    folder: Annotated[Path, text("Where everything is kept; only you can enter it.", "PATH")] = (
        Path("~/.letalone/curator")
    )
    host: Annotated[
        str, typer.Option(help="The address to listen on; others reach it by a proxy with TLS.")
    ] = "127.0.0.1"
    port: Annotated[int, whole_number("The port to listen on.")] = 8400
    workers: Annotated[int, whole_number("How many processes answer.")] = 1
    memory: Annotated[str | None, text("What tables take together; else half of it.", "4GB")] = None
    database: Annotated[str | None, text("People and grants; else SQLite.", "URL")] = None
    ledger: Annotated[str | None, text("The ledger; else SQLite.", "URL")] = None
    imports: Annotated[
        Path | None, text("The one folder that files are imported from.", "PATH")
    ] = None
    source_host: Annotated[
        tuple[str, ...], text("A server whose tables owners may register.", "HOST[:PORT]")
    ] = ()
    spark_schema: Annotated[
        tuple[str, ...], text("On Spark, a schema to register from.", "CATALOG.SCHEMA")
    ] = ()
    time_step: Annotated[float, number("Fresh answers come at multiples of so many seconds.")] = (
        0.25
    )
    behind_proxy: Annotated[
        str | None, text("The proxy whose X-Forwarded-For is believed.", "ADDRESS")
    ] = None
    controller: Annotated[
        str | None, text("Who answers for the data; kept, and public.", "NAME")
    ] = None
    contact: Annotated[str | None, text("How they are reached; kept, and public.", "WORDS")] = None
    reset_owner: Annotated[
        str | None, text("A new one-time password for this owner, and stop.", "NAME")
    ] = None
    start_anew: Annotated[
        bool, switch("--start-anew", "Also where the database of a used ledger is lost.")
    ] = False
    as_json: typed.AsJson = False
