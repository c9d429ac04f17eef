"""What can be typed after `letalone explain`; each command has a file `cli.explain_…`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from letalone.cli.groups import print_help
from letalone.cli.typed import (
    AsJson,
    OwnersKey,
    command,
    new_app,
    number,
    read_number,
    text,
    whole_number,
)

THEOREMS = ("total", "tail", "shortfall", "survey", "dimensions")
SLACK = "Slack in probability beside epsilon: far below 1/n for n people."


class NumberOrFile(TyperGroup):
    """`letalone explain x.json` is short for `letalone explain receipt x.json`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is meant: a file that is no command's name is a receipt."""
        if args[0] not in self.commands and (args[0].endswith(".json") or Path(args[0]).is_file()):
            args = ["receipt", *args]
        return super().resolve_command(ctx, args)


app = new_app(cls=NumberOrFile, help="Say what a number or a receipt means.")


@app.callback(invoke_without_command=True)
def start_explaining(context: typer.Context, as_json: AsJson = False) -> None:
    """Say what a number or a receipt means, in words: `letalone explain x.json` works, too."""
    context.obj = as_json or context.obj
    if context.invoked_subcommand is None:
        print_help(context, as_json=context.obj)


@command(
    app,
    "epsilon",
    context_settings={"ignore_unknown_options": True},  # -1 is a number, though a wrong one
)
def explain_epsilon(
    value: Annotated[
        float, typer.Argument(help="The epsilon to explain.", parser=read_number, metavar="VALUE")
    ] = 1.0,
    delta: Annotated[float, number(SLACK)] = 0.0,
    as_json: AsJson = False,
) -> None:
    """What an epsilon promises to a person in the data."""
    from letalone.cli.explain_epsilon import explain_epsilon

    explain_epsilon(value, delta=delta, as_json=as_json)


@command(app, "error", work="letalone.cli.explain_error:explain_error")
@dataclass(frozen=True, slots=True)
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
    as_json: AsJson = False


@command(app, "receipt")
def explain_receipt(
    path: Annotated[Path, typer.Argument(help="The receipt of an answer.", metavar="FILE")],
    key: OwnersKey = None,
    as_json: AsJson = False,
) -> None:
    """What an answer reveals, in a paragraph to quote."""
    from letalone.cli.explain_receipt import explain_receipt

    explain_receipt(path, key=key, as_json=as_json)
