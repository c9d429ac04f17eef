"""What can be typed after `letalone verify`; the work is done in `cli.verify`."""

from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import AsJson, KeptHead, OwnersKey, command, new_app, text

app = new_app()


@command(app)
def verify(
    path: Annotated[
        Path,
        typer.Argument(help="A receipt, model, checkpoint or exported ledger.", metavar="FILE"),
    ],
    key: OwnersKey = None,
    head: KeptHead = None,
    checkpoint: Annotated[
        tuple[Path, ...], text("A checkpoint kept elsewhere; may be given again.", "FILE")
    ] = (),
    as_json: AsJson = False,
) -> None:
    """Check a receipt offline: is it as it was signed?"""
    from letalone.cli.verify import verify

    verify(path, key=key, head=head, checkpoints=checkpoint, as_json=as_json)
