"""What can be typed about noise and what it reveals: to add it, add it up, find it, explain it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from letalone.cli import typed
from letalone.cli.typed import (
    command,
    new_app,
    new_group,
    number,
    rate,
    read_number,
    text,
    whole_number,
)

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
    """Add noise to numbers: private answers, with the error."""

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
        number("Far below 1 / number of people; with --sigma, where to read epsilon (1e-6)."),
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
    """What several answers reveal together, with proven bounds."""

    expression: Annotated[
        str, typer.Argument(help="Releases, such as '3 * laplace(epsilon=0.1)'.", metavar="TEXT")
    ]
    delta: Annotated[
        float | None, number("The delta at which epsilon is reported (1e-6 if not given).")
    ] = None
    epsilon: Annotated[float | None, number("Report the delta at this epsilon instead.")] = None
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
        str | None,
        typer.Argument(help="Releases, with a ? for the number; else ε.", metavar="TEXT"),
    ] = None
    epsilon: typed.Epsilon = None
    delta: Annotated[float | None, number("Far below 1 / number of people (0 if not given).")] = (
        None
    )
    advantage: Annotated[
        float | None,
        rate("Or a risk: how much better than blind guessing.", "--advantage", "--risk"),
    ] = None
    true_positive: Annotated[float | None, rate("Or how often an attacker may be right,")] = None
    at_false_positive: Annotated[float | None, rate("who is wrong this often.")] = None
    as_json: typed.AsJson = False


THEOREMS = ("total", "tail", "shortfall", "survey", "dimensions")
SLACK = "The delta that goes with it: far below 1 / number of people."


class WordOrFile(typed.CommandGroup):
    """`letalone explain x.json` is short for `letalone explain receipt x.json`, and
    `letalone explain delta` for `letalone explain word delta`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is meant: what is not the name of one is a receipt or a word."""
        if args[0] not in self.commands:
            is_file = args[0].endswith(".json") or Path(args[0]).is_file()
            args = ["receipt" if is_file else "word", *args]
        return super().resolve_command(ctx, args)


explaining = new_group(
    "Explain a word (delta, budget, ...), a number or a receipt.", cls=WordOrFile
)
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


@command(explaining, "word", work="noise.explain_word:explain_word")
def explain_word(
    words: Annotated[
        tuple[str, ...], typer.Argument(help="A term, such as delta or row limit.", metavar="WORD")
    ] = (),
) -> None:
    """What a term means; the word 'word' can be left out."""


@command(explaining, "receipt", work="trust.verify:explain_receipt")
def explain_receipt(
    path: Annotated[
        Path, typer.Argument(help="The receipt of an answer, or a model.", metavar="FILE")
    ],
    key: typed.OwnersKey = None,
) -> None:
    """What an answer reveals, in a paragraph to quote."""
