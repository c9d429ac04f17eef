"""What can be typed after `letalone noise`; the work is done in `cli.noise`."""

from typing import Annotated

import typer

from letalone.cli.typed import AsJson, Confidence, Epsilon, number

MECHANISMS = ("laplace", "geometric", "gaussian", "discrete-gaussian")
app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command(
    context_settings={"ignore_unknown_options": True},  # -5 is a number, not an option
    epilog="Example: letalone noise geometric 42 --epsilon 0.5 --sensitivity 1",
)
def noise(
    context: typer.Context,
    mechanism: Annotated[
        str, typer.Argument(help=f"One of {', '.join(MECHANISMS)}.", metavar="MECHANISM")
    ],
    values: Annotated[
        list[str] | None,
        typer.Argument(help="Numbers; from standard input if none is given.", metavar="VALUE"),
    ] = None,
    sensitivity: Annotated[
        float | None, number("The most one person can change all values together (required).")
    ] = None,
    epsilon: Epsilon = None,
    delta: Annotated[
        float | None,
        number("Slack in probability, far below 1/n; with --sigma, where to read epsilon (1e-6)."),
    ] = None,
    scale: Annotated[float | None, number("Size of the noise, instead of --epsilon.")] = None,
    sigma: Annotated[
        float | None, number("Standard deviation of Gaussian noise, instead of --epsilon.")
    ] = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """Add noise to numbers: private answers, error bar, price."""
    from letalone.cli.noise import Amount, noise

    amount = Amount(sensitivity=sensitivity, epsilon=epsilon, delta=delta, scale=scale, sigma=sigma)
    as_json = as_json or context.obj
    noise(mechanism, values or [], amount, confidence=confidence, as_json=as_json)
