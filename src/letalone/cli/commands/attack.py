"""What can be typed after `letalone attack`; the work is done in `cli.attack`."""

from typing import Any

import typer

from letalone.cli.attack import ATTACKS, attack_command
from letalone.cli.groups import Loaded, TableGroup, print_help
from letalone.cli.typed import AsJson, new_app


class Attacks(TableGroup):
    """`letalone attack NAME`: a row of the table of attacks."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = Loaded(ATTACKS, attack_command)


app = new_app(cls=Attacks, help="What an attacker learns, today and from a private release.")


@app.callback(invoke_without_command=True)
def start_attack(context: typer.Context, as_json: AsJson = False) -> None:
    """What an attacker learns, today and from a private release; on made-up data or your own."""
    context.obj = as_json or context.obj
    if context.invoked_subcommand is None:
        print_help(context, as_json=context.obj)
