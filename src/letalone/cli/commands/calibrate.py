"""What can be typed after `letalone calibrate`; the work is done in `cli.account`."""

from typing import Annotated

import typer

from letalone.cli.typed import AsJson, Epsilon, number

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command(
    context_settings={"ignore_unknown_options": True},
    epilog='Example: letalone calibrate "100 * gaussian(sigma=?)" --epsilon 1 --delta 1e-6',
)
def calibrate(
    context: typer.Context,
    expression: Annotated[
        str, typer.Argument(help="Releases, with a ? for the number to find.", metavar="TEXT")
    ],
    epsilon: Epsilon = None,
    delta: Annotated[
        float | None, number("Slack in probability: far below 1/n (0 if not given).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the noise, number or rate that keeps a promise."""
    from letalone.cli.account import calibrate

    calibrate(expression, epsilon=epsilon, delta=delta, as_json=as_json or context.obj)
