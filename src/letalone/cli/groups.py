"""Groups of commands: rows of a table, each loaded when it is asked for; and their help."""

import json
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any, cast

import typer
from typer.core import TyperGroup

from letalone.cli.typed import AsJson, new_app


class Loaded(MutableMapping[str, Any]):
    """Commands by name; listing the names loads none of them."""

    def __init__(self, names: Iterable[str], load: Callable[[str], Any]) -> None:
        self._found: dict[str, Any] = dict.fromkeys(names)
        self._load = load

    def __getitem__(self, name: str) -> Any:
        if self._found[name] is None:
            self._found[name] = self._load(name)
        return self._found[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._found[name] = command

    def __delitem__(self, name: str) -> None:
        del self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


class TableGroup(TyperGroup):
    """A group whose `commands` are `Loaded`."""

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
