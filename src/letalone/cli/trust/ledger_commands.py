"""The commands of `letalone ledger`: what was spent, whether the record holds, copies, freezes.

They show prices and counts, never an answer and never data.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import typer

from letalone.cli.offered import to_type
from letalone.cli.places import ledger_path
from letalone.cli.screen import is_terminal, print_json, put, say
from letalone.cli.tables.option_values import read_budget
from letalone.errors import FormatError, ParameterError
from letalone.errors.problem import without_context
from letalone.ledger import DataSet, Ledger, Level, Verified
from letalone.ledger.chain.entries import now
from letalone.ledger.data_sets import budget_to_json, neighbours_to_json
from letalone.ledger.freezes import Freeze, freeze_of
from letalone.privacy.budget import Budget, brief
from letalone.privacy.filters import left_in_words

MAX_DATA_SETS = 5  # of three lines each, which leaves room for the rest on one screen
MAX_LEVELS = 20
MAX_FREEZES = 3  # of six lines each, on one screen
LONG_NAME = 30


def show(path: str, *, as_json: bool) -> None:
    """Print how each data set stands, the head and the fingerprint of the key."""
    with open_ledger(path, "show") as ledger:
        listed = [(data_set, ledger.unsettled(data_set.name)) for data_set in ledger.data_sets()]
        facts = {"head": ledger.head, "entries": len(ledger), "fingerprint": ledger.fingerprint}
    lines = [line for each in listed[:MAX_DATA_SETS] for line in _lines(*each)]
    lines += _rest(listed, MAX_DATA_SETS) if listed else ["No data set is registered yet."]
    lines += [f"{name:<12} {facts[name]}" for name in ("entries", "head", "fingerprint")]
    last = "Spent and left are estimates; the guarantee is the budget."
    data_sets = [
        {"name": data_set.name, **standing_as_json(data_set), "not_settled": unsettled}
        for data_set, unsettled in listed
    ]
    _tell("show", {**facts, "data_sets": data_sets}, *lines, last, as_json=as_json)


def _tell(command: str, content: Mapping[str, object], *lines: str, as_json: bool) -> None:
    """What a command did: for programs, or in lines that can be copied."""
    if as_json:
        print_json(f"ledger {command}", content)
    else:
        put(*lines)


def _rest(listed: Sequence[object], most: int) -> list[str]:
    return [f"and {len(listed) - most} more: --json lists all."] if len(listed) > most else []


def verify(path: str, *, head: str | None, checkpoints: Sequence[Path], as_json: bool) -> None:
    """Check the whole ledger; a damaged one leaves with its own exit code."""
    kept = [checkpoint.read_bytes() for checkpoint in checkpoints]
    with open_ledger(path, "verify") as ledger:
        verified = ledger.verify(head=head, checkpoints=kept)
    tell_verified("ledger verify", verified, as_json=as_json)


def export(path: str, to: Path, *, as_json: bool) -> None:
    """Write the entries, the releases and the signed head as one JSON file."""
    holds = "It holds every entry and every release, and not the key."
    _copy("export", path, to, holds, "Anyone can check it: letalone verify FILE", as_json=as_json)


def backup(path: str, to: Path, *, as_json: bool) -> None:
    """Copy the ledger as it stands."""
    holds = "It holds every answer and the key: guard it as you guard the ledger."
    later = "Restored, it forgets what was spent since: verify it with a later checkpoint."
    _copy("backup", path, to, holds, later, as_json=as_json)


def _copy(command: str, path: str, to: Path, *words: str, as_json: bool) -> None:
    with open_ledger(path, command) as ledger:
        written, head = getattr(ledger, command)(to), ledger.head
    content = {"path": written, "head": head}
    _tell(command, content, f"Written to {to}", *words, as_json=as_json)


def open_ledger(path: str, command: str) -> Ledger:
    """The ledger in a file; where that is a table, the one that lies beside it is named."""
    beside = ledger_path(path)

    def refuse(error: Exception) -> Exception:
        if Path(path) == beside or not beside.exists():
            return error
        offer = to_type("ledger", command, str(beside))
        return ParameterError(f"{error} There is a ledger next to it. Try:{offer}")

    return without_context(
        lambda: Ledger.open(path, create=False), ParameterError, FormatError, error=refuse
    )


def tell_verified(command: str, verified: Verified, *, as_json: bool, **more: str) -> None:
    """That a check has passed, and what it found; `more` is for programs."""
    if as_json:
        print_json(command, {**more, "holds": True, **asdict(verified)})
        return
    say(str(verified))
    put(f"head         {verified.head}", f"fingerprint  {verified.fingerprint}")
    if verified.repriced:
        many = len(verified.repriced)
        say(f"{many} charges have other last digits when they are computed on this machine.")
    if verified.set_back:
        say(_set_back(verified.set_back))


def _set_back(entries: Sequence[int]) -> str:
    first = f"Entry {entries[0]} has an earlier time than the entry before it"
    more = f", and so have {len(entries) - 1} more" if len(entries) > 1 else ""
    return f"{first}{more}: a clock was set back, or clocks of machines differ. Look at the clock."


def _lines(data_set: DataSet, unsettled: list[int]) -> Iterator[str]:
    name = data_set.name
    short = name if len(name) <= LONG_NAME else f"{name[: LONG_NAME - 3]}..."
    many = data_set.releases
    facts = [f"version {data_set.version}", f"{many} release{'s' * (many != 1)}"]
    facts += [f"{len(unsettled)} not settled"] if unsettled else []
    facts += ["frozen"] if data_set.frozen else []
    yield f"{short}: {', '.join(facts)}"
    yield f"  spent  {brief(data_set.spent)}  of  {brief(data_set.budget)}"
    yield f"  left   about {left_in_words(data_set.state)}"


def standing_as_json(data_set: DataSet) -> dict[str, object]:
    """How a data set stands, without its name."""
    return {
        "version": data_set.version,
        "neighbours": neighbours_to_json(data_set.neighbours),
        **_amounts(data_set),
        "releases": data_set.releases,
        "frozen": data_set.frozen,
    }


def checkpoint(path: str, to: Path, *, as_json: bool) -> None:
    """Sign the last entry and write the statement to a new file."""
    if to.exists():
        raise ParameterError(f"{to} is there already. Name a new file for the checkpoint.")
    with open_ledger(path, "checkpoint") as ledger:
        statement = ledger.checkpoint()
    to.write_text(json.dumps(statement) + "\n", encoding="utf-8")
    words = (
        f"Entry {statement['number']} is signed in {to}",
        "Keep it where the holder of the ledger cannot change it.",
        "Compare later: letalone ledger verify LEDGER --checkpoint FILE",
    )
    _tell("checkpoint", {"path": to, "checkpoint": statement}, *words, as_json=as_json)


def levels(path: str, *, as_json: bool) -> None:
    """Print each purpose with its analysts, what they have used and until when they may."""
    with open_ledger(path, "levels") as ledger:
        every = [level for known in ledger.data_sets() for level in ledger.levels(known.name)]
    lines = [
        *map(_level_line, every[:MAX_LEVELS]),
        *_rest(every, MAX_LEVELS),
        "Limits divide the budget. The guarantee is the budget of the data set.",
    ]
    none = "No limits are set: everyone with access can spend the whole budget."
    content = {"levels": [_level_as_json(level) for level in every]}
    _tell("levels", content, *(lines if every else [none]), as_json=as_json)


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
        **_amounts(level),
        "releases": level.releases,
        "expires": level.expires,
        "expired": level.has_expired(now()),
        "withdrawn": level.withdrawn,
    }


def _amounts(whose: DataSet | Level) -> dict[str, object]:
    amounts = {"budget": whose.budget, "spent": whose.spent, "remaining": whose.remaining}
    return {name: budget_to_json(amount) for name, amount in amounts.items()}


def why(path: str, name: str | None, *, as_json: bool) -> None:
    """Print what froze a data set, or all that are frozen, and what to look at."""
    with open_ledger(path, "why") as ledger:
        names = [data_set.name for data_set in ledger.data_sets()] if name is None else [name]
        freezes_or_none = (freeze_of(ledger, each) for each in names)
        freezes = [freeze for freeze in freezes_or_none if freeze is not None]
    if as_json:
        listed = [{**asdict(freeze), "look_at": freeze.look_at} for freeze in freezes]
        print_json("ledger why", {"frozen": listed})
        return
    if not freezes:
        put("Nothing is frozen." if name is None else f"{name} is not frozen.")
    for freeze in freezes[:MAX_FREEZES]:
        _print_freeze(path, freeze)
    put(*_rest(freezes, MAX_FREEZES))


def thaw(path: str, name: str, *, why: str, as_json: bool) -> None:
    """Allow questions about a frozen data set again."""
    with open_ledger(path, "thaw") as ledger:
        if not ledger.data_set(name).frozen:
            raise ParameterError(f"{name!r} is not frozen: questions about it are answered.")
        ledger.thaw(name, why)
        entry = len(ledger)
    content = {"data_set": name, "frozen": False, "entry": entry}
    _tell("thaw", content, f"{name} is thawed, by entry {entry}.", as_json=as_json)


def raise_budget(path: str, name: str, budget: str, *, yes: bool, as_json: bool) -> None:
    """Allow more for a data set; a budget is never lowered."""
    larger = read_budget(budget)
    with open_ledger(path, "raise") as ledger:
        before = ledger.data_set(name).budget
        if larger == before:
            raise ParameterError(f"The budget of {name!r} is ({before}) already.")
        if larger.epsilon < before.epsilon or larger.delta < before.delta:
            raise ParameterError(
                f"The budget of {name!r} is ({before}), and ({larger}) would be less in part. A"
                " budget can only be raised: give at least as much of ε and of δ."
            )
        if not yes:
            _confirm_raise(
                name, before, larger, to_type("ledger", "raise", path, name, budget, "--yes")
            )
        after = ledger.raise_budget(name, larger)
        entry = len(ledger)
    content = {"data_set": name, "entry": entry, **_amounts(after)}
    words = (
        f"The budget of {name} is now {brief(after.budget)}, by entry {entry}.",
        f"Left: about {left_in_words(after.state)}.",
    )
    _tell("raise", content, *words, as_json=as_json)


def _confirm_raise(name: str, before: Budget, larger: Budget, command: str) -> None:
    """Asks the owner, or says how to confirm where nobody can be asked."""
    words = (
        f"This raises the budget of {name!r} from ({before}) to ({larger}), permanently and on"
        " record. All answers together, earlier ones too, then keep the larger budget only. Decide"
        " before you look at answers."
    )
    if not (sys.stdin.isatty() and is_terminal()):
        raise ParameterError(f"{words} To confirm, type:{command}")
    say(words)
    typer.confirm("Raise it?", abort=True)


def _print_freeze(path: str, freeze: Freeze) -> None:
    put(f"{freeze.name}: frozen by entry {freeze.entry}, {freeze.time}")
    say(f"Why: {freeze.why}.")
    if freeze.digest is not None:
        put(f"Question: charged by entry {freeze.reservation}, digest", f"  {freeze.digest}")
    say(freeze.look_at)
    put("To allow questions again:" + to_type("ledger", "thaw", path, freeze.name, "--why", "…"))
