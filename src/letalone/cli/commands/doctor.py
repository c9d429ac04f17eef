"""What can be typed after `letalone doctor`; the work is done in `cli.doctor`."""

import typer

from letalone.cli.typed import AsJson

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def doctor(context: typer.Context, as_json: AsJson = False) -> None:
    """Check this installation: versions, extras, random bits."""
    from letalone.cli.doctor import doctor

    doctor(as_json=as_json or context.obj)
