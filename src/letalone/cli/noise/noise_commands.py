"""What can be typed about noise and what it reveals: to add it, add it up, find it, explain it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from letalone.cli import typed
from letalone.cli.typed import command, new_app, new_group, number, read_number, text, whole_number

app = new_app()
MECHANISMS = ("laplace", "geometric", "gaussian", "discrete-gaussian")


@command(
    app,
    "noise",
    work="noise.noise_command:noise",
    context_settings={"ignore_unknown_options": True},  # -5 is a number, not an option
    example="geometric 42 --epsilon 0.5 --sensitivity 1",
)
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
    epsilon: typed.Epsilon = None
    delta: Annotated[
        float | None,
        number("Slack in probability, far below 1/n; with --sigma, where to read epsilon (1e-6)."),
    ] = None
    scale: Annotated[float | None, number("Size of the noise, instead of --epsilon.")] = None
    sigma: Annotated[
        float | None, number("Standard deviation of Gaussian noise, instead of --epsilon.")
    ] = None
    confidence: typed.Confidence = 0.95
    as_json: typed.AsJson = False


@command(
    app,
    "account",
    work="noise.account_command:account",
    context_settings={"ignore_unknown_options": True},  # "-3 * …" is a text, though a wrong one
    example='"1000 * laplace(epsilon=0.1)" --delta 1e-6',
)
class AccountOptions:
    """What releases reveal together, certified from both sides."""

    expression: Annotated[
        str, typer.Argument(help="Releases, such as '3 * laplace(epsilon=0.1)'.", metavar="TEXT")
    ]
    delta: Annotated[
        float | None, number("Where to say epsilon: far below 1/n (1e-6 if not given).")
    ] = None
    epsilon: Annotated[float | None, number("Say the delta at this epsilon instead.")] = None
    plot: Annotated[Path | None, typer.Option(help="Draw the curve to this file (.svg).")] = None
    as_json: typed.AsJson = False


@command(
    app,
    "calibrate",
    work="noise.account_command:calibrate",
    context_settings={"ignore_unknown_options": True},
    example='"100 * gaussian(sigma=?)" --epsilon 1 --delta 1e-6',
)
class CalibrateOptions:
    """Find the noise, number or rate that keeps a promise."""

    expression: Annotated[
        str, typer.Argument(help="Releases, with a ? for the number to find.", metavar="TEXT")
    ]
    epsilon: typed.Epsilon = None
    delta: Annotated[
        float | None, number("Slack in probability: far below 1/n (0 if not given).")
    ] = None
    as_json: typed.AsJson = False


THEOREMS = ("total", "tail", "shortfall", "survey", "dimensions")
SLACK = "Slack in probability beside epsilon: far below 1/n for n people."


class NumberOrFile(typed.CommandGroup):
    """`letalone explain x.json` is short for `letalone explain receipt x.json`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is meant: a file that is no command's name is a receipt."""
        if args[0] not in self.commands and (args[0].endswith(".json") or Path(args[0]).is_file()):
            args = ["receipt", *args]
        return super().resolve_command(ctx, args)


explaining = new_group("Say what a number or a receipt means.", cls=NumberOrFile)
app.add_typer(explaining, name="explain")


@command(
    explaining,
    "epsilon",
    work="noise.explain_epsilon:explain_epsilon",
    context_settings={"ignore_unknown_options": True},  # -1 is a number, though a wrong one
)
def explain_epsilon(
    epsilon: Annotated[
        float, typer.Argument(help="The epsilon to explain.", parser=read_number, metavar="VALUE")
    ] = 1.0,
    delta: Annotated[float, number(SLACK)] = 0.0,
) -> None:
    """What an epsilon promises to a person in the data."""


@command(explaining, "error", work="noise.explain_error:explain_error")
class ErrorOptions:
    """What privacy costs in accuracy, and which noise to choose."""

    theorem: Annotated[
        str | None, text(f"One of {', '.join(THEOREMS)}; otherwise the last two.", "NAME")
    ] = None
    epsilon: Annotated[float, number("The privacy spent.")] = 1.0
    delta: Annotated[
        float, number("The delta of the Gaussian noise; 1e-6 if not given.", show_default=False)
    ] = 1e-6
    people: Annotated[int, whole_number("People, where the dimension varies.")] = 10_000
    plot: Annotated[
        Path | None, typer.Option(help="Also draw to this file (.svg, .png, .pdf).")
    ] = None
    as_json: typed.AsJson = False


@command(explaining, "receipt", work="trust.verify:explain_receipt")
def explain_receipt(
    path: Annotated[Path, typer.Argument(help="The receipt of an answer.", metavar="FILE")],
    key: typed.OwnersKey = None,
) -> None:
    """What an answer reveals, in a paragraph to quote."""
