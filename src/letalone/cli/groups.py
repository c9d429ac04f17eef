"""Groups of commands: rows of a table, each loaded when it is asked for; and their help."""

import json
from collections import UserDict
from collections.abc import Callable, Iterable
from typing import Any, cast

import typer
from typer.core import TyperGroup

from letalone.cli.typed import AsJson, new_app


class Loaded(UserDict[str, Any]):
    """Commands by name; listing the names loads none of them."""

    def __init__(self, names: Iterable[str], load: Callable[[str], Any]) -> None:
        super().__init__(dict.fromkeys(names))
        self._load = load

    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            self.data[name] = self._load(name)
        return self.data[name]


class TableGroup(TyperGroup):
    """A group whose commands are the rows of a table."""

    def __init__(self, names: Iterable[str], load: Callable[[str], Any], **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = cast("Any", Loaded(names, load))

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Their names, in the order of the table."""
        return list(self.commands)


def new_group(words: str, **settings: Any) -> typer.Typer:
    """An app of several commands, which shows its help where none of them is typed."""
    group = new_app(help=words, **settings)

    def start(context: typer.Context, as_json: AsJson = False) -> None:
        context.obj = as_json or context.obj
        if context.invoked_subcommand is None:
            print_help(context, as_json=context.obj)

    group.callback(invoke_without_command=True)(start)
    return group


def print_help(context: typer.Context, *, as_json: bool) -> None:
    """The help of a group of commands; as JSON, their names and what each does."""
    if not as_json:
        typer.echo(context.get_help())
        return
    group = cast("Any", context.command)
    children = {name: group.get_command(context, name) for name in group.list_commands(context)}
    commands = {name: child.get_short_help_str(100) for name, child in children.items()}
    content = {"format": 1, "command": context.info_name, "help": group.help, "commands": commands}
    typer.echo(json.dumps(content))
