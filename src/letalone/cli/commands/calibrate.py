"""What can be typed after `letalone calibrate`; the work is done in `cli.account`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from letalone.cli.typed import AsJson, Epsilon, command, new_app, number

app = new_app()


@command(
    app,
    work="letalone.cli.account:calibrate",
    context_settings={"ignore_unknown_options": True},
    epilog='Example: letalone calibrate "100 * gaussian(sigma=?)" --epsilon 1 --delta 1e-6',
)
@dataclass(frozen=True, slots=True)
class CalibrateOptions:
    """Find the noise, number or rate that keeps a promise."""

    expression: Annotated[
        str, typer.Argument(help="Releases, with a ? for the number to find.", metavar="TEXT")
    ]
    epsilon: Epsilon = None
    delta: Annotated[
        float | None, number("Slack in probability: far below 1/n (0 if not given).")
    ] = None
    as_json: AsJson = False
