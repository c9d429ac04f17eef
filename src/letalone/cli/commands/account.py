"""What can be typed after `letalone account`; the work is done in `cli.account`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import AsJson, command, new_app, number

app = new_app()


@command(
    app,
    work="letalone.cli.account:account",
    context_settings={"ignore_unknown_options": True},  # "-3 * …" is a text, though a wrong one
    epilog='Example: letalone account "1000 * laplace(epsilon=0.1)" --delta 1e-6',
)
@dataclass(frozen=True, slots=True)
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
    as_json: AsJson = False
