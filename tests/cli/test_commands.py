"""The table of commands: a row is a file and its words, and nothing else has to be told."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from socket import socket
from typing import Any, cast

import pytest
import typer
from typer.main import get_command

from letalone.cli.app import COMMANDS, FILES, app
from screens import check_refusal

Letalone = Callable[..., Any]
LOADED: Any = cast("Any", get_command(app)).commands


@pytest.mark.parametrize("name", COMMANDS)
def test_the_words_of_a_row_are_those_of_its_command(name: str) -> None:
    assert LOADED[name].help == COMMANDS[name]


def test_every_command_of_a_file_has_its_row() -> None:
    for file, names in FILES.items():
        declared: Any = get_command(import_module(f"letalone.cli.{file}").app)
        assert set(declared.commands) == set(names)
    assert sorted(name for names in FILES.values() for name in names) == sorted(COMMANDS)


def test_the_help_lists_the_table_in_its_order(letalone: Letalone) -> None:
    lines = letalone("--help").out.split("Commands:\n")[1].splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        f"{name} {words}" for name, words in COMMANDS.items()
    ]
    as_json = letalone("--json").json()["commands"]
    assert list(as_json.items()) == list(COMMANDS.items())


@pytest.mark.parametrize("command", [get_command(app), LOADED["query"], LOADED["explain"]])
def test_the_option_of_the_help_has_its_names_in_their_order(command: Any) -> None:
    names = [f"--{letter}" for letter in "zyxwvutsrq"]
    context = typer.Context(command, help_option_names=names)
    assert command.get_help_option_names(context) == names


def test_the_help_of_a_question_lists_every_option_once(letalone: Letalone) -> None:
    shown = letalone("query", "--help").out
    listed = [line.split()[0] for line in shown.splitlines() if line.startswith("  --")]
    hidden = ("--side-table",)
    options = [one.opts[0] for one in LOADED["query"].params if one.opts[0].startswith("--")]
    assert sorted(listed) == sorted(set(options) - {*hidden, "--help"})


def test_a_mistyped_file_is_answered_with_the_nearest_one(
    letalone: Letalone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text("a\n1\n")
    refused = letalone("query", "vists.csv", "SELECT COUNT(*) FROM visits")
    words = "There is no file 'vists.csv'. Check the path. Did you mean 'visits.csv'?"
    assert words in check_refusal(refused, 2)


def test_a_mistyped_command_is_answered_with_the_nearest_one(letalone: Letalone) -> None:
    assert "Did you mean 'query'?" in letalone("qeury").err
    assert "Did you mean 'linkage'?" in letalone("attack", "linkag").err


@pytest.mark.long  # addresses of Spark: sources/test_spark_names.py
def test_a_wrong_schema_of_spark_is_said_in_the_words_of_the_option(
    letalone: Letalone, tmp_path: Path
) -> None:
    with socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    folder = tmp_path / "curator"
    refused = letalone("serve", "--folder", str(folder), "--port", port, "--spark-schema", "clinic")
    assert "--spark-schema has 'clinic', but must have names such as" in check_refusal(refused, 2)
    assert not folder.exists()


@pytest.mark.parametrize("name", ["init", "describe"])
def test_the_help_says_which_tables_there_are(letalone: Letalone, name: str) -> None:
    assert "postgresql://… or spark:…" in " ".join(letalone(name, "--help").out.split())
