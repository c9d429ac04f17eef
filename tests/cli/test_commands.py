"""The table of commands: a row is a file and its words, and nothing else has to be told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from typer.main import get_command

from letalone.cli import commands
from letalone.cli.app import COMMANDS, app

Letalone = Callable[..., Any]
LOADED: Any = cast("Any", get_command(app)).commands


@pytest.mark.parametrize("name", COMMANDS)
def test_the_words_of_a_row_are_those_of_its_command(name: str) -> None:
    assert LOADED[name].help == COMMANDS[name]


def test_every_file_of_a_command_has_its_row() -> None:
    (folder,) = commands.__path__
    assert {path.stem for path in Path(folder).glob("[!_]*.py")} == set(COMMANDS)


def test_the_help_lists_the_table_in_its_order(letalone: Letalone) -> None:
    lines = letalone("--help").out.split("Commands:\n")[1].splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        f"{name} {words}" for name, words in COMMANDS.items()
    ]
    as_json = letalone("--json").json()["commands"]
    assert list(as_json.items()) == list(COMMANDS.items())


def test_a_mistyped_command_is_answered_with_the_nearest_one(letalone: Letalone) -> None:
    assert "Did you mean 'query'?" in letalone("qeury").err
    assert "Did you mean 'linkage'?" in letalone("attack", "linkag").err
