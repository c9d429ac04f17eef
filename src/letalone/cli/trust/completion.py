"""`letalone completion SHELL`: the lines that let a shell complete commands and options.

They are typer's. The shell calls letalone again at each Tab, which answers from the table of
commands alone.
"""

from importlib import import_module
from typing import Any

from letalone.cli.app import COMPLETING
from letalone.cli.screen import print_json
from letalone.errors import ParameterError
from letalone.errors.spelling import did_you_mean

SHELLS = {
    "bash": 'eval "$(letalone completion bash)"',
    "zsh": 'eval "$(letalone completion zsh)"',
    "fish": "letalone completion fish | source",
}


def completion(shell: str, *, as_json: bool) -> None:
    """Print the lines for one shell."""
    if shell not in SHELLS:
        known = ", ".join(SHELLS)
        raise ParameterError(
            f"{shell!r} is not a shell that is known: {known}.{did_you_mean(shell, SHELLS)}"
        )
    lines: Any = import_module("typer.completion")  # which does not declare what it has
    script = lines.get_completion_script(prog_name="letalone", complete_var=COMPLETING, shell=shell)
    if as_json:
        print_json("completion", {"shell": shell, "script": script, "add": SHELLS[shell]})
        return
    print(f"# For your shell's start-up file: {SHELLS[shell]}")
    print(script)
