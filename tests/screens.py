"""What every screen of the command line must be, and how to find the commands it offers."""

import shlex
from collections.abc import Callable
from math import ceil
from typing import Any

from letalone.cli.app import IN_PLAIN_LETTERS, LIKENESSES

WIDTH, HEIGHT = 80, 25


def lines_on_a_terminal(text: str) -> int:
    """How many lines a terminal of 80 columns needs: it breaks the long ones."""
    return sum(max(1, ceil(len(line) / WIDTH)) for line in text.splitlines())


def check_screen(shown: Any) -> str:
    """A result that fits one screen, in signs that have a plain likeness; in one line."""
    assert (shown.code, shown.err) == (0, "")
    assert lines_on_a_terminal(shown.out) < HEIGHT, shown.out
    assert {sign for sign in shown.out if ord(sign) > 127} - set("─") <= LIKENESSES.keys()
    plain = shown.out.encode("ascii", IN_PLAIN_LETTERS).decode("ascii")
    assert plain.count("?") == shown.out.count("?")
    return " ".join(shown.out.split())


def check_refusal(shown: Any, code: int) -> str:
    """A refusal with this exit code, on standard error alone, that fits one screen."""
    assert (shown.code, shown.out) == (code, ""), shown.err
    assert shown.err.startswith("Error: ")
    assert "Traceback" not in shown.err
    assert lines_on_a_terminal(shown.err) < HEIGHT
    return " ".join(shown.err.split())


def offered(text: str) -> list[list[str]]:
    """The words of each command that stands on a line of its own, as a shell reads them."""
    lines = [line.strip() for line in text.splitlines() if line.startswith("  ")]
    found = [shlex.split(line) for line in lines]
    return [words[1:] for words in found if words and words[0].endswith("letalone")]


def option(command: list[str], name: str) -> str:
    """What stands after an option of a command."""
    return command[command.index(name) + 1]


def check_advice(
    letalone: Callable[..., Any], asked: tuple[str, ...], code: int
) -> tuple[str, list[str]]:
    """A refusal whose first command is answered on one screen: its words, and that command."""
    refused = letalone(*asked)
    words, command = check_refusal(refused, code), offered(refused.err)[0]
    check_screen(letalone(*command))
    return words, command
