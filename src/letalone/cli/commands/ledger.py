"""What can be typed after `letalone ledger`; the work is done in `cli.ledger`."""

from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.groups import print_help
from letalone.cli.typed import AsJson, KeptHead, command, new_app

LedgerFile = Annotated[
    str, typer.Argument(help="The file of the ledger, or postgresql://...", metavar="LEDGER")
]
Checkpoints = Annotated[
    tuple[Path, ...],
    typer.Option("--checkpoint", help="A checkpoint that was kept elsewhere; may come often."),
]
app = new_app(help="Look at the record of what was spent.")


@app.callback(invoke_without_command=True)
def start_ledger(context: typer.Context, as_json: AsJson = False) -> None:
    """Look at the record of what was spent."""
    context.obj = as_json or context.obj
    if context.invoked_subcommand is None:
        print_help(context, as_json=context.obj)


@command(app, "show")
def ledger_show(path: LedgerFile, as_json: AsJson = False) -> None:
    """Budgets, what is spent, what is left, and the key's fingerprint."""
    from letalone.cli.ledger import show

    show(path, as_json=as_json)


@command(app, "verify")
def ledger_verify(
    path: LedgerFile,
    head: KeptHead = None,
    checkpoint: Checkpoints = (),
    as_json: AsJson = False,
) -> None:
    """Check the chain and do every charge again."""
    from letalone.cli.ledger import verify

    verify(path, head=head, checkpoints=checkpoint, as_json=as_json)


@command(app, "export")
def ledger_export(
    path: LedgerFile,
    to: Annotated[Path, typer.Argument(help="The JSON file to write.", metavar="FILE")],
    as_json: AsJson = False,
) -> None:
    """Write it as JSON, for others to check."""
    from letalone.cli.ledger import export

    export(path, to, as_json=as_json)


@command(app, "levels")
def ledger_levels(path: LedgerFile, as_json: AsJson = False) -> None:
    """Who may use how much of each budget, and what for."""
    from letalone.cli.ledger import levels

    levels(path, as_json=as_json)


@command(app, "checkpoint")
def ledger_checkpoint(
    path: LedgerFile,
    to: Annotated[Path, typer.Argument(help="The JSON file to write.", metavar="FILE")],
    as_json: AsJson = False,
) -> None:
    """Sign where the ledger stands, to be kept elsewhere."""
    from letalone.cli.ledger import checkpoint

    checkpoint(path, to, as_json=as_json)


@command(app, "backup")
def ledger_backup(
    path: LedgerFile,
    to: Annotated[Path, typer.Argument(help="The file to write; it must be new.", metavar="FILE")],
    as_json: AsJson = False,
) -> None:
    """Copy the file with its key, also while it is in use."""
    from letalone.cli.ledger import backup

    backup(path, to, as_json=as_json)


@command(app, "why")
def ledger_why(
    path: LedgerFile,
    name: Annotated[
        str | None, typer.Argument(help="The data set; all that are frozen if left out.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Why data sets are frozen, and what to look at."""
    from letalone.cli.ledger import why

    why(path, name, as_json=as_json)


@command(app, "thaw")
def ledger_thaw(
    path: LedgerFile,
    name: Annotated[str, typer.Argument(help="The data set.")],
    why: Annotated[str, typer.Option("--why", help="What you have found; it is written down.")],
    as_json: AsJson = False,
) -> None:
    """Allow questions about a frozen data set again."""
    from letalone.cli.ledger import thaw

    thaw(path, name, why=why, as_json=as_json)
