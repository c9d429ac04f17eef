"""What `--help` says of every command."""

from golden.keeping import check
from golden.terminal import commands, letalone


def below(*path: str) -> list[str]:
    """The help of a command, and of all below it."""
    told = letalone(*path, "--help")
    assert (told.code, told.err) == (0, "")
    found = [f"$ letalone {' '.join([*path, '--help'])}\n{told.out.rstrip()}\n"]
    return found + [text for name in commands(*path) for text in below(*path, name)]


def test_help() -> None:
    check("help/letalone.txt", letalone("--help").out)
    for command in commands():
        check(f"help/{command}.txt", "\n".join(below(command)))
