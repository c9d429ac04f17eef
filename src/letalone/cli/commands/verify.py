"""What can be typed after `letalone verify`; the work is done in `cli.verify`."""

from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import AsJson, KeptHead, OwnersKey

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def verify(
    context: typer.Context,
    path: Annotated[
        Path,
        typer.Argument(help="A receipt, model, checkpoint or exported ledger.", metavar="FILE"),
    ],
    key: OwnersKey = None,
    head: KeptHead = None,
    checkpoint: Annotated[
        list[Path] | None,
        typer.Option(help="A checkpoint kept elsewhere; may be given again.", metavar="FILE"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a receipt offline: is it as it was signed?"""
    from letalone.cli.verify import verify

    verify(
        path,
        key=key,
        head=head,
        checkpoints=checkpoint or [],
        as_json=as_json or context.obj,
    )
