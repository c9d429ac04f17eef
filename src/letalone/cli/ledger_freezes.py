"""`letalone ledger why|thaw`: why a data set is frozen, and how questions are allowed again."""

from dataclasses import asdict

from letalone.cli.ledger import WIDTH, opened
from letalone.cli.offered import to_type
from letalone.cli.screen import console, flowing, print_json
from letalone.errors import ParameterError
from letalone.ledger.freezes import Freeze, freeze_of

MOST = 3  # of six lines each, on one screen


def why(path: str, name: str | None, *, as_json: bool) -> None:
    """Print what froze a data set, or all that are frozen, and what to look at."""
    with opened(path, "why") as ledger:
        names = [one.name for one in ledger.data_sets()] if name is None else [name]
        found = [one for one in (freeze_of(ledger, each) for each in names) if one is not None]
    if as_json:
        listed = [{**asdict(one), "look_at": one.look_at} for one in found]
        print_json("ledger why", {"frozen": listed})
        return
    if not found:
        console().print("Nothing is frozen." if name is None else f"{name} is not frozen.")
    for one in found[:MOST]:
        _print(path, one)
    if len(found) > MOST:
        console().print(f"and {len(found) - MOST} more: --json lists all.")


def thaw(path: str, name: str, *, why: str, as_json: bool) -> None:
    """Allow questions about a frozen data set again."""
    with opened(path, "thaw") as ledger:
        if not ledger.data_set(name).frozen:
            raise ParameterError(f"{name!r} is not frozen: questions about it are answered.")
        ledger.thaw(name, why)
        entry = len(ledger)
    if as_json:
        print_json("ledger thaw", {"data_set": name, "frozen": False, "entry": entry})
        return
    console().print(f"{name} is thawed, by entry {entry}.", markup=False, soft_wrap=True)


def _print(path: str, one: Freeze) -> None:
    screen = console()
    screen.print(f"{one.name}: frozen by entry {one.entry}, {one.time}", markup=False)
    screen.print(flowing(f"Why: {one.why}.", WIDTH), markup=False)
    if one.digest is not None:
        screen.print(f"Question: charged by entry {one.reservation}, digest", markup=False)
        screen.print(f"  {one.digest}", markup=False)
    screen.print(flowing(one.look_at, WIDTH), markup=False)
    typed = to_type("ledger", "thaw", path, one.name, "--why", "…")
    screen.print(f"To allow questions again:{typed}", markup=False, soft_wrap=True)
