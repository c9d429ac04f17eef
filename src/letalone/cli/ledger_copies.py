"""`letalone ledger checkpoint|backup`: what is kept elsewhere, to find or to mend damage."""

import json
from pathlib import Path

from letalone.cli.ledger import opened
from letalone.cli.screen import console, print_json
from letalone.errors import ParameterError


def checkpoint(path: str, to: Path, *, as_json: bool) -> None:
    """Sign the last entry and write the statement to a new file."""
    if to.exists():
        raise ParameterError(f"{to} is there already. Name a new file for the checkpoint.")
    with opened(path, "checkpoint") as ledger:
        found = ledger.checkpoint()
    to.write_text(json.dumps(found) + "\n", encoding="utf-8")
    if as_json:
        print_json("ledger checkpoint", {"path": str(to), "checkpoint": found})
        return
    screen = console()
    screen.print(f"Entry {found['number']} is signed in {to}", markup=False, soft_wrap=True)
    screen.print("Keep it where the holder of the ledger cannot change it.")
    screen.print("Compare later: letalone ledger verify LEDGER --checkpoint FILE")


def backup(path: str, to: Path, *, as_json: bool) -> None:
    """Copy the ledger as it stands."""
    with opened(path, "backup") as ledger:
        written, head = ledger.backup(to), ledger.head
    if as_json:
        print_json("ledger backup", {"path": written, "head": head})
        return
    screen = console()
    screen.print(f"Written to {to}", markup=False, soft_wrap=True)
    screen.print("It holds every answer and the key: guard it as you guard the ledger.")
    screen.print("Restored, it forgets what was spent since: verify it with a later checkpoint.")
