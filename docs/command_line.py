"""Writes docs/reference/command-line.md from the program itself.

    python docs/command_line.py

A test fails while the page and the program differ.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "reference" / "command-line.md"

INTRODUCTION = """\
# Command line

<!-- Written by docs/command_line.py from the program; edit that, or the program. -->

Every command takes `--json`, also before the command (`letalone --json demo`). The result is then
one JSON object on standard output, with `format` and `command` in it. An error is one JSON object
on standard error, with `error` (its class), `message`, `exit_code`, and `code`, `facts` and
`remedies` as [the catalogue](errors.md) and the service have them; standard output stays empty, so
that a pipe never takes an error for an answer.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | letalone or the machine failed |
| 2 | wrong usage: a parameter is outside what is allowed |
| 3 | the budget does not allow it |
| 4 | not supported: no private answer with a proof is known |
| 5 | the owner has to act: the data set is locked, or the purpose or person is not allowed |
| 6 | a ledger or a receipt was changed |
| 7 | a check found something: an audit contradicts a claim, or a script has a problem |

Colours appear in a terminal only; `NO_COLOR=1` turns them off there as well. `LETALONE_TRACEBACK=1`
shows where letalone itself failed.
"""


def page() -> str:
    """The page as it should be."""
    from typer.main import get_command

    from letalone.cli.app import app

    return "\n".join([INTRODUCTION, *_sections("letalone", get_command(app))])


def _sections(path: str, command: Any) -> Iterator[str]:
    """One section for a command, then those of its subcommands.

    Written from names and help texts rather than from --help, whose layout is Typer's and
    changes with its version.
    """
    yield f"## `{path}`\n\n{command.help}\n"
    rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
    if rows:
        yield "| argument or option | meaning | default |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    if command.epilog:
        yield f"{command.epilog}\n"
    names = command.list_commands(None) if hasattr(command, "list_commands") else []
    for name in names:
        yield from _sections(f"{path} {name}", command.get_command(None, name))


def _row(parameter: Any) -> str:
    is_argument = parameter.param_type_name == "argument"
    name = parameter.metavar if is_argument else ", ".join(parameter.opts)
    default = parameter.default
    is_number = isinstance(default, float | int) and default is not False
    shown = f"`{default:g}`".replace("e-0", "e-") if is_number else ""
    return f"| `{name}` | {parameter.help} | {shown} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
