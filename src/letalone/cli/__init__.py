"""The command line: `letalone …`.

Nothing of letalone is imported before a command is chosen, so that `letalone --help`
answers at once. `app` has the table of commands.

  Tested:   every command at 80 columns, its JSON, its exit codes, a closed pipe, and
            the modules that a bare `--help` loads
"""

import gc
import sys

OBJECTS = 500_000  # so many that may be garbage are looked at together


def main() -> None:
    """Run the command that was typed, and exit with its code."""
    if sys.argv[1:2] == ["query"]:
        gc.set_threshold(OBJECTS)  # what is loaded stays: to search it takes a tenth of the time
    try:
        from letalone.cli.app import run
    except ModuleNotFoundError as error:  # installed for a client alone
        from letalone.errors.installing import not_installed

        raise SystemExit(not_installed("letalone", str(error.name), "")) from None

    raise SystemExit(run(sys.argv[1:]))
