"""The commands of `letalone ledger`: what was spent, whether the record holds, copies, freezes.

They show prices and counts, never an answer and never data.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from letalone.cli.offered import to_type
from letalone.cli.places import ledger_path
from letalone.cli.screen import console, flowing, print_json
from letalone.errors import FormatError, ParameterError
from letalone.ledger import DataSet, Ledger, Level, Verified
from letalone.ledger.data_sets import budget_to_json, neighbours_to_json
from letalone.ledger.entries import now
from letalone.ledger.freezes import Freeze, freeze_of
from letalone.privacy.filters import brief, left_in_words

MAX_DATA_SETS = 5  # of three lines each, which leaves room for the rest on one screen
MAX_LEVELS = 20
MAX_FREEZES = 3  # of six lines each, on one screen
WIDTH = 78
LONG_NAME = 30


def show(path: str, *, as_json: bool) -> None:
    """Print how each data set stands, the head and the fingerprint of the key."""
    with open_ledger(path, "show") as ledger:
        data_sets, head, fingerprint = ledger.data_sets(), ledger.head, ledger.fingerprint
        open_ends = {data_set.name: ledger.unsettled(data_set.name) for data_set in data_sets}
        count = len(ledger)
    if as_json:
        listed = [_as_json(data_set, open_ends[data_set.name]) for data_set in data_sets]
        print_json(
            "ledger show",
            {"head": head, "entries": count, "fingerprint": fingerprint, "data_sets": listed},
        )
        return
    _print(data_sets, open_ends)
    screen = console()
    screen.print(f"entries      {count}", markup=False)
    screen.print(f"head         {head}", markup=False)
    screen.print(f"fingerprint  {fingerprint}", markup=False)
    screen.print("Spent and left are book-keeping; the budget is what is certified.")


def verify(path: str, *, head: str | None, checkpoints: Sequence[Path], as_json: bool) -> None:
    """Check the whole ledger; a damaged one leaves with its own exit code."""
    kept = [checkpoint.read_bytes() for checkpoint in checkpoints]
    with open_ledger(path, "verify") as ledger:
        verified = ledger.verify(head=head, checkpoints=kept)
    if as_json:
        print_json("ledger verify", verified_as_json(verified))
        return
    print_verified(verified)


def export(path: str, to: Path, *, as_json: bool) -> None:
    """Write the entries, the releases and the signed head as one JSON file."""
    with open_ledger(path, "export") as ledger:
        written, head = ledger.export(to), ledger.head
    if as_json:
        print_json("ledger export", {"path": written, "head": head})
        return
    screen = console()
    screen.print(f"Written to {to}", markup=False, soft_wrap=True)
    screen.print("It holds every entry and every release, and not the key.")
    screen.print("Anyone can check it: letalone verify FILE")


def open_ledger(path: str, command: str) -> Ledger:
    """The ledger in a file; where that is a table, the one that lies beside it is named."""
    beside = ledger_path(path)
    try:
        return Ledger.open(path, create=False)
    except (ParameterError, FormatError) as error:
        if Path(path) == beside or not beside.exists():
            raise
        words = f"{error} A ledger lies beside it. Try:{to_type('ledger', command, str(beside))}"
    raise ParameterError(words)


def print_verified(verified: Verified) -> None:
    """The words of a check that passed."""
    screen = console()
    screen.print(flowing(str(verified), WIDTH), markup=False)
    screen.print(f"head         {verified.head}", markup=False)
    screen.print(f"fingerprint  {verified.fingerprint}", markup=False)
    if verified.repriced:
        many = len(verified.repriced)
        words = f"{many} charges have other last digits when they are computed on this machine."
        screen.print(words, markup=False)
    if verified.set_back:
        screen.print(flowing(_set_back(verified.set_back), WIDTH), markup=False)


def _set_back(entries: Sequence[int]) -> str:
    first = f"Entry {entries[0]} has an earlier time than the entry before it"
    more = f", and so have {len(entries) - 1} more" if len(entries) > 1 else ""
    return f"{first}{more}: a clock was set back, or clocks of machines differ. Look at the clock."


def verified_as_json(verified: Verified) -> dict[str, object]:
    """The same for programs."""
    return {
        "holds": True,
        "entries": verified.entries,
        "head": verified.head,
        "fingerprint": verified.fingerprint,
        "data_sets": list(verified.data_sets),
        "compared": verified.compared,
        "repriced": list(verified.repriced),
        "set_back": list(verified.set_back),
    }


def _print(data_sets: list[DataSet], open_ends: dict[str, list[int]]) -> None:
    screen = console()
    if not data_sets:
        screen.print("No data set is registered yet.")
    for data_set in data_sets[:MAX_DATA_SETS]:
        screen.print(_title(data_set, open_ends[data_set.name]), markup=False)
        screen.print(
            f"  spent  {brief(data_set.spent)}  of  {brief(data_set.budget)}", markup=False
        )
        screen.print(f"  left   about {left_in_words(data_set.state)}", markup=False)
    if len(data_sets) > MAX_DATA_SETS:
        screen.print(f"and {len(data_sets) - MAX_DATA_SETS} more: --json lists all.")


def _title(data_set: DataSet, unsettled: list[int]) -> str:
    name = (
        data_set.name if len(data_set.name) <= LONG_NAME else f"{data_set.name[: LONG_NAME - 3]}..."
    )
    facts = [
        f"version {data_set.version}",
        f"{data_set.releases} release{'s' * (data_set.releases != 1)}",
    ]
    facts += [f"{len(unsettled)} not settled"] if unsettled else []
    facts += ["frozen"] if data_set.frozen else []
    return f"{name}: {', '.join(facts)}"


def _as_json(data_set: DataSet, unsettled: list[int]) -> dict[str, object]:
    return {
        "name": data_set.name,
        "version": data_set.version,
        "neighbours": neighbours_to_json(data_set.neighbours),
        "budget": budget_to_json(data_set.budget),
        "spent": budget_to_json(data_set.spent),
        "remaining": budget_to_json(data_set.remaining),
        "releases": data_set.releases,
        "frozen": data_set.frozen,
        "not_settled": unsettled,
    }


def checkpoint(path: str, to: Path, *, as_json: bool) -> None:
    """Sign the last entry and write the statement to a new file."""
    if to.exists():
        raise ParameterError(f"{to} is there already. Name a new file for the checkpoint.")
    with open_ledger(path, "checkpoint") as ledger:
        statement = ledger.checkpoint()
    to.write_text(json.dumps(statement) + "\n", encoding="utf-8")
    if as_json:
        print_json("ledger checkpoint", {"path": str(to), "checkpoint": statement})
        return
    screen = console()
    screen.print(f"Entry {statement['number']} is signed in {to}", markup=False, soft_wrap=True)
    screen.print("Keep it where the holder of the ledger cannot change it.")
    screen.print("Compare later: letalone ledger verify LEDGER --checkpoint FILE")


def backup(path: str, to: Path, *, as_json: bool) -> None:
    """Copy the ledger as it stands."""
    with open_ledger(path, "backup") as ledger:
        written, head = ledger.backup(to), ledger.head
    if as_json:
        print_json("ledger backup", {"path": written, "head": head})
        return
    screen = console()
    screen.print(f"Written to {to}", markup=False, soft_wrap=True)
    screen.print("It holds every answer and the key: guard it as you guard the ledger.")
    screen.print("Restored, it forgets what was spent since: verify it with a later checkpoint.")


def levels(path: str, *, as_json: bool) -> None:
    """Print each purpose with its analysts, what they have used and until when they may."""
    with open_ledger(path, "levels") as ledger:
        every_level = [
            level for data_set in ledger.data_sets() for level in ledger.levels(data_set.name)
        ]
    if as_json:
        print_json("ledger levels", {"levels": [_level_as_json(level) for level in every_level]})
        return
    screen = console()
    if not every_level:
        screen.print("No budget is rationed: whoever may ask at all may use all of it.")
        return
    for level in every_level[:MAX_LEVELS]:
        screen.print(_level_line(level), markup=False, soft_wrap=True)
    if len(every_level) > MAX_LEVELS:
        screen.print(f"and {len(every_level) - MAX_LEVELS} more: --json lists all.")
    screen.print("Levels ration. What is certified is the budget of the data set.")


def _level_line(level: Level) -> str:
    who = f"{level.name}, {level.purpose}" if level.analyst is None else f"  {level.analyst}"
    facts = [f"{brief(level.spent)} of {brief(level.budget)} used"]
    facts += [f"until {level.expires}"] if level.expires else []
    facts += ["expired"] if level.has_expired(now()) else []
    facts += ["withdrawn"] if level.withdrawn else []
    return f"{who}: {', '.join(facts)}"


def _level_as_json(level: Level) -> dict[str, object]:
    return {
        "data_set": level.name,
        "purpose": level.purpose,
        "analyst": level.analyst,
        "budget": budget_to_json(level.budget),
        "spent": budget_to_json(level.spent),
        "remaining": budget_to_json(level.remaining),
        "releases": level.releases,
        "expires": level.expires,
        "expired": level.has_expired(now()),
        "withdrawn": level.withdrawn,
    }


def why(path: str, name: str | None, *, as_json: bool) -> None:
    """Print what froze a data set, or all that are frozen, and what to look at."""
    with open_ledger(path, "why") as ledger:
        names = [freeze.name for freeze in ledger.data_sets()] if name is None else [name]
        freezes = [
            freeze for freeze in (freeze_of(ledger, each) for each in names) if freeze is not None
        ]
    if as_json:
        listed = [{**asdict(freeze), "look_at": freeze.look_at} for freeze in freezes]
        print_json("ledger why", {"frozen": listed})
        return
    if not freezes:
        console().print("Nothing is frozen." if name is None else f"{name} is not frozen.")
    for freeze in freezes[:MAX_FREEZES]:
        _print_freeze(path, freeze)
    if len(freezes) > MAX_FREEZES:
        console().print(f"and {len(freezes) - MAX_FREEZES} more: --json lists all.")


def thaw(path: str, name: str, *, why: str, as_json: bool) -> None:
    """Allow questions about a frozen data set again."""
    with open_ledger(path, "thaw") as ledger:
        if not ledger.data_set(name).frozen:
            raise ParameterError(f"{name!r} is not frozen: questions about it are answered.")
        ledger.thaw(name, why)
        entry = len(ledger)
    if as_json:
        print_json("ledger thaw", {"data_set": name, "frozen": False, "entry": entry})
        return
    console().print(f"{name} is thawed, by entry {entry}.", markup=False, soft_wrap=True)


def _print_freeze(path: str, freeze: Freeze) -> None:
    screen = console()
    screen.print(f"{freeze.name}: frozen by entry {freeze.entry}, {freeze.time}", markup=False)
    screen.print(flowing(f"Why: {freeze.why}.", WIDTH), markup=False)
    if freeze.digest is not None:
        screen.print(f"Question: charged by entry {freeze.reservation}, digest", markup=False)
        screen.print(f"  {freeze.digest}", markup=False)
    screen.print(flowing(freeze.look_at, WIDTH), markup=False)
    typed = to_type("ledger", "thaw", path, freeze.name, "--why", "…")
    screen.print(f"To allow questions again:{typed}", markup=False, soft_wrap=True)
