"""The command line: `letalone …`.

Nothing of letalone is imported before a command is chosen, so that `letalone --help`
answers at once. `app` has the table of commands.

  Tested:   every command at 80 columns, its JSON, its exit codes, a closed pipe, and
            the modules that a bare `--help` loads
"""

import sys


def main() -> None:
    """Run the command that was typed, and exit with its code."""
    try:
        from letalone.cli.app import run
    except ModuleNotFoundError as error:  # installed for a client alone
        raise SystemExit(f"letalone needs {error.name}, which is not installed.") from None

    raise SystemExit(run(sys.argv[1:]))
