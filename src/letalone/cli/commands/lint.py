"""What can be typed after `letalone lint`; the work is done in `cli.lint`."""

from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import AsJson, command, new_app

app = new_app()


@command(app, epilog="Example: letalone lint script.py")
def lint(
    paths: Annotated[
        tuple[Path, ...], typer.Argument(help="Scripts, notebooks or folders.", metavar="FILE")
    ] = (),
    as_json: AsJson = False,
) -> int:
    """Find slips in a script that break its privacy."""
    from letalone.cli.lint import lint_files

    return lint_files(paths, as_json=as_json)
