"""What can be typed after `letalone demo`; the work is done in `cli.demo` and `cli.scenes`."""

from typing import Annotated

import typer

from letalone.cli.typed import AsJson

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def demo(
    context: typer.Context,
    attacks: Annotated[
        bool, typer.Option("--attacks", help="Play the attacks instead, in under a minute.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask a made-up hospital two questions, privately, on DuckDB."""
    as_json = as_json or context.obj
    if attacks:
        from letalone.cli.scenes import play_attacks

        play_attacks(as_json=as_json)
    else:
        from letalone.cli.demo import demo

        demo(as_json=as_json)
