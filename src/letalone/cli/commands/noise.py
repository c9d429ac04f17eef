"""What can be typed after `letalone noise`; the work is done in `cli.noise`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from letalone.cli.typed import AsJson, Confidence, Epsilon, command, new_app, number

MECHANISMS = ("laplace", "geometric", "gaussian", "discrete-gaussian")
app = new_app()


@command(
    app,
    work="letalone.cli.noise:noise",
    context_settings={"ignore_unknown_options": True},  # -5 is a number, not an option
    epilog="Example: letalone noise geometric 42 --epsilon 0.5 --sensitivity 1",
)
@dataclass(frozen=True, slots=True)
class NoiseOptions:
    """Add noise to numbers: private answers, error bar, price."""

    mechanism: Annotated[
        str, typer.Argument(help=f"One of {', '.join(MECHANISMS)}.", metavar="MECHANISM")
    ]
    values: Annotated[
        tuple[str, ...],
        typer.Argument(help="Numbers; from standard input if none is given.", metavar="VALUE"),
    ] = ()
    sensitivity: Annotated[
        float | None, number("The most one person can change all values together (required).")
    ] = None
    epsilon: Epsilon = None
    delta: Annotated[
        float | None,
        number("Slack in probability, far below 1/n; with --sigma, where to read epsilon (1e-6)."),
    ] = None
    scale: Annotated[float | None, number("Size of the noise, instead of --epsilon.")] = None
    sigma: Annotated[
        float | None, number("Standard deviation of Gaussian noise, instead of --epsilon.")
    ] = None
    confidence: Confidence = 0.95
    as_json: AsJson = False
