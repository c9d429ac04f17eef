"""`letalone ledger show|verify|export`: what was spent, whether the record holds, a copy of it.

It shows prices and counts, never an answer and never data.
"""

from collections.abc import Sequence
from pathlib import Path

from letalone.cli.offered import to_type
from letalone.cli.places import ledger_path
from letalone.cli.screen import console, flowing, print_json
from letalone.errors import FormatError, ParameterError
from letalone.ledger import DataSet, Ledger, Verified
from letalone.ledger.data_sets import budget_to_json, neighbours_to_json
from letalone.privacy.filters import brief, left_in_words

MOST = 5  # of three lines each, which leaves room for the rest on one screen
WIDTH = 78
LONG_NAME = 30


def show(path: str, *, as_json: bool) -> None:
    """Print how each data set stands, the head and the fingerprint of the key."""
    with opened(path, "show") as ledger:
        found, head, fingerprint = ledger.data_sets(), ledger.head, ledger.fingerprint
        open_ends = {one.name: ledger.unsettled(one.name) for one in found}
        count = len(ledger)
    if as_json:
        listed = [_as_json(one, open_ends[one.name]) for one in found]
        print_json(
            "ledger show",
            {"head": head, "entries": count, "fingerprint": fingerprint, "data_sets": listed},
        )
        return
    _print(found, open_ends)
    screen = console()
    screen.print(f"entries      {count}", markup=False)
    screen.print(f"head         {head}", markup=False)
    screen.print(f"fingerprint  {fingerprint}", markup=False)
    screen.print("Spent and left are book-keeping; the budget is what is certified.")


def verify(path: str, *, head: str | None, checkpoints: list[Path], as_json: bool) -> None:
    """Check the whole ledger; a damaged one leaves with its own exit code."""
    kept = [one.read_bytes() for one in checkpoints]
    with opened(path, "verify") as ledger:
        found = ledger.verify(head=head, checkpoints=kept)
    if as_json:
        print_json("ledger verify", verified_as_json(found))
        return
    print_verified(found)


def export(path: str, to: Path, *, as_json: bool) -> None:
    """Write the entries, the releases and the signed head as one JSON file."""
    with opened(path, "export") as ledger:
        written, head = ledger.export(to), ledger.head
    if as_json:
        print_json("ledger export", {"path": written, "head": head})
        return
    screen = console()
    screen.print(f"Written to {to}", markup=False, soft_wrap=True)
    screen.print("It holds every entry and every release, and not the key.")
    screen.print("Anyone can check it: letalone verify FILE")


def opened(path: str, command: str) -> Ledger:
    """The ledger in a file; where that is a table, the one that lies beside it is named."""
    beside = ledger_path(path)
    try:
        return Ledger.open(path, create=False)
    except (ParameterError, FormatError) as error:
        if Path(path) == beside or not beside.exists():
            raise
        words = f"{error} A ledger lies beside it. Try:{to_type('ledger', command, str(beside))}"
    raise ParameterError(words)


def print_verified(found: Verified) -> None:
    """The words of a check that passed."""
    screen = console()
    screen.print(flowing(str(found), WIDTH), markup=False)
    screen.print(f"head         {found.head}", markup=False)
    screen.print(f"fingerprint  {found.fingerprint}", markup=False)
    if found.repriced:
        many = len(found.repriced)
        words = f"{many} charges have other last digits when they are computed on this machine."
        screen.print(words, markup=False)
    if found.set_back:
        screen.print(flowing(_set_back(found.set_back), WIDTH), markup=False)


def _set_back(entries: Sequence[int]) -> str:
    first = f"Entry {entries[0]} has an earlier time than the entry before it"
    more = f", and so have {len(entries) - 1} more" if len(entries) > 1 else ""
    return f"{first}{more}: a clock was set back, or clocks of machines differ. Look at the clock."


def verified_as_json(found: Verified) -> dict[str, object]:
    """The same for programs."""
    return {
        "holds": True,
        "entries": found.entries,
        "head": found.head,
        "fingerprint": found.fingerprint,
        "data_sets": list(found.data_sets),
        "compared": found.compared,
        "repriced": list(found.repriced),
        "set_back": list(found.set_back),
    }


def _print(found: list[DataSet], open_ends: dict[str, list[int]]) -> None:
    screen = console()
    if not found:
        screen.print("No data set is registered yet.")
    for one in found[:MOST]:
        screen.print(_title(one, open_ends[one.name]), markup=False)
        screen.print(f"  spent  {brief(one.spent)}  of  {brief(one.budget)}", markup=False)
        screen.print(f"  left   about {left_in_words(one.state)}", markup=False)
    if len(found) > MOST:
        screen.print(f"and {len(found) - MOST} more: --json lists all.")


def _title(one: DataSet, unsettled: list[int]) -> str:
    name = one.name if len(one.name) <= LONG_NAME else f"{one.name[: LONG_NAME - 3]}..."
    facts = [f"version {one.version}", f"{one.releases} release{'s' * (one.releases != 1)}"]
    facts += [f"{len(unsettled)} not settled"] if unsettled else []
    facts += ["frozen"] if one.frozen else []
    return f"{name}: {', '.join(facts)}"


def _as_json(one: DataSet, unsettled: list[int]) -> dict[str, object]:
    return {
        "name": one.name,
        "version": one.version,
        "neighbours": neighbours_to_json(one.neighbours),
        "budget": budget_to_json(one.budget),
        "spent": budget_to_json(one.spent),
        "remaining": budget_to_json(one.remaining),
        "releases": one.releases,
        "frozen": one.frozen,
        "not_settled": unsettled,
    }
