"""What can be typed after `letalone lint`; the work is done in `cli.lint`."""

from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import AsJson

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command(epilog="Example: letalone lint script.py")
def lint(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Scripts, notebooks or folders.", metavar="FILE")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find slips in a script that break its privacy."""
    from letalone.cli.lint import lint_files

    raise typer.Exit(lint_files(paths or [], as_json=as_json or context.obj))
