"""What `--help` says of every command."""

import pytest

from golden.keeping import check
from golden.terminal import commands, letalone


def below(*path: str) -> list[str]:
    """The help of a command, and of all below it."""
    told = letalone(*path, "--help")
    assert (told.code, told.err) == (0, "")
    found = [f"$ letalone {' '.join([*path, '--help'])}\n{told.out.rstrip()}\n"]
    return found + [text for name in commands(*path) for text in below(*path, name)]


def test_help_of_letalone() -> None:
    check("help/letalone.txt", letalone("--help").out)


@pytest.mark.parametrize("command", commands())
def test_help(command: str) -> None:
    check(f"help/{command}.txt", "\n".join(below(command)))
