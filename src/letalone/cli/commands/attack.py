"""What can be typed after `letalone attack`; the work is done in `cli.attack`."""

from typing import Any

import typer

from letalone.cli.attack import ATTACKS, command
from letalone.cli.groups import Loaded, TableGroup, print_help
from letalone.cli.typed import AsJson


class Attacks(TableGroup):
    """`letalone attack NAME`: a row of the table of attacks."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = Loaded(ATTACKS, command)


app = typer.Typer(
    cls=Attacks,
    help="What an attacker learns, today and from a private release.",
    rich_markup_mode=None,
    add_completion=False,
)


@app.callback(invoke_without_command=True)
def start_attack(context: typer.Context, as_json: AsJson = False) -> None:
    """What an attacker learns, today and from a private release; on made-up data or your own."""
    context.obj = as_json or context.obj
    if context.invoked_subcommand is None:
        print_help(context, as_json=context.obj)
