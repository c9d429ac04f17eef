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
    """Test whether a mechanism keeps its claimed epsilon."""

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
    """Find privacy problems in a script or notebook."""


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
        text("A checkpoint that you stored; may be given again.", "FILE", "--checkpoint"),
    ] = (),
) -> None:
    """Check offline that a receipt is unchanged since it was signed."""


LedgerFile = Annotated[
    str, typer.Argument(help="The file of the ledger, or postgresql://...", metavar="LEDGER")
]
Checkpoints = Annotated[
    tuple[Path, ...],
    typer.Option("--checkpoint", help="A checkpoint that you stored; may be given again."),
]
JsonFile = Annotated[Path, typer.Argument(help="The JSON file to write.", metavar="FILE")]
ledger = new_group("Look at the ledger: what was spent, and on what.")
app.add_typer(ledger, name="ledger")


@command(ledger, "show", work="trust.ledger_commands:show")
def ledger_show(path: LedgerFile) -> None:
    """Budgets, what is spent and left, and the key's fingerprint."""


@command(ledger, "history", work="trust.ledger_history:history")
def ledger_history(
    path: LedgerFile,
    name: Annotated[
        str | None, typer.Argument(help="The data set; all if left out.", metavar="NAME")
    ] = None,
) -> None:
    """The questions asked: when, for which ε, and what became of them."""


@command(ledger, "raise", work="trust.ledger_commands:raise_budget")
def ledger_raise(
    path: LedgerFile,
    name: Annotated[str, typer.Argument(help="The data set.", metavar="NAME")],
    budget: Annotated[
        str, typer.Argument(help="The larger budget: 4, or 4:1e-6.", metavar="EPSILON[:DELTA]")
    ],
    yes: Annotated[bool, switch("--yes", "Do not ask first.")] = False,
) -> None:
    """Allow more for all questions together, as the owner."""


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
    """The limits of purposes and analysts."""


@command(ledger, "checkpoint", work="trust.ledger_commands:checkpoint")
def ledger_checkpoint(path: LedgerFile, to: JsonFile) -> None:
    """Sign where the ledger stands; store the file somewhere else."""


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
        str | None,
        typer.Argument(help="The data set; all that are frozen if left out.", metavar="NAME"),
    ] = None,
) -> None:
    """Why data sets are frozen, and what to look at."""


@command(ledger, "thaw", work="trust.ledger_commands:thaw")
def ledger_thaw(
    path: LedgerFile,
    name: Annotated[str, typer.Argument(help="The data set.", metavar="NAME")],
    why: Annotated[str, typer.Option("--why", help="What you have found; the ledger records it.")],
) -> None:
    """Allow questions about a frozen data set again."""


survey = new_group("Ask people who keep their answers to themselves.")
app.add_typer(survey, name="survey")
SurveyName = Annotated[str, typer.Argument(help="The survey.", metavar="NAME")]
CuratorFolder = Annotated[Path, text("The folder of `letalone serve`.", "PATH", "--folder")]
ActingAs = Annotated[str, text("The owner or steward who acts.", "NAME", "--by")]
OtherCounter = Annotated[
    str | None, text("As for `letalone serve`: the second counter.", "URL", "--other-counter")
]
CURATOR_FOLDER = Path("~/.letalone/curator")


@command(survey, "new", work="trust.survey_commands:make")
def survey_new(
    file: Annotated[Path, typer.Argument(help="Its questions, in TOML.", metavar="FILE")],
    other_counter: OtherCounter = None,
    folder: CuratorFolder = CURATOR_FOLDER,
    by: ActingAs = "owner",
) -> None:
    """Make a survey of a file; if it is not there, an example is shown."""


@command(survey, "open", work="trust.survey_commands:invite")
def survey_open(
    name: SurveyName,
    people: Annotated[int, whole_number("How many are invited.")],
    address: Annotated[str, text("Where people reach the service.", "URL", "--address")] = (
        "http://127.0.0.1:8400"
    ),
    folder: CuratorFolder = CURATOR_FOLDER,
    by: ActingAs = "owner",
) -> None:
    """Make invitations: links that count once, shown once."""


@command(survey, "results", work="trust.survey_commands:show_results")
def survey_results(
    name: SurveyName,
    margin: Annotated[float, number("Tell how many answers make it this exact.")] = 0.02,
    as_csv: Annotated[bool, switch("--csv", "As CSV.")] = False,
    other_counter: OtherCounter = None,
    folder: CuratorFolder = CURATOR_FOLDER,
    by: ActingAs = "owner",
) -> None:
    """Estimates with ranges, and how many more answers are needed."""


@command(survey, "close", work="trust.survey_commands:close")
def survey_close(
    name: SurveyName, folder: CuratorFolder = CURATOR_FOLDER, by: ActingAs = "owner"
) -> None:
    """Take no more answers."""


@command(survey, "share", work="trust.survey_commands:share")
def survey_share(
    name: SurveyName,
    to: Annotated[Path, typer.Argument(help="The file to write; it has the key.", metavar="FILE")],
    folder: CuratorFolder = CURATOR_FOLDER,
) -> None:
    """Write what the second counter needs, to be sent privately."""


@command(survey, "join", work="trust.survey_commands:join")
def survey_join(
    file: Annotated[Path, typer.Argument(help="What `share` wrote.", metavar="FILE")],
    folder: CuratorFolder = CURATOR_FOLDER,
) -> None:
    """Become the second counter of somebody else's survey."""


@command(app, "completion", example="bash")
def completion(
    shell: Annotated[str, typer.Argument(help="bash, zsh or fish.", metavar="SHELL")],
) -> None:
    """Let bash, zsh or fish complete commands and options."""


@command(app, "serve")
class ServeOptions:
    """Let others ask: a service with budgets, purposes and a ledger."""

    folder: Annotated[Path, text("Where everything is stored; only you can enter it.", "PATH")] = (
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
    other_counter: Annotated[
        str | None, text("The second counter of surveys, of somebody else.", "URL")
    ] = None
    aggregator: Annotated[
        bool, switch("--aggregator", "Be the second counter of others' surveys, nothing else.")
    ] = False
    time_step: Annotated[float, number("Fresh answers come at multiples of this many seconds.")] = (
        0.25
    )
    behind_proxy: Annotated[
        str | None, text("The proxy whose X-Forwarded-For is believed.", "ADDRESS")
    ] = None
    controller: Annotated[
        str | None, text("The organisation responsible (data controller); public.", "NAME")
    ] = None
    contact: Annotated[str | None, text("How to reach it; public.", "WORDS")] = None
    reset_owner: Annotated[
        str | None, text("A new one-time password for this owner, and stop.", "NAME")
    ] = None
    start_anew: Annotated[
        bool, switch("--start-anew", "Also where the database of a used ledger is lost.")
    ] = False
    as_json: typed.AsJson = False
