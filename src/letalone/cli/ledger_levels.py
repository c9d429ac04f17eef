"""`letalone ledger levels`: who may use how much of each budget, and what for."""

from letalone.cli.ledger import opened
from letalone.cli.screen import console, print_json
from letalone.ledger import Level
from letalone.ledger.data_sets import budget_to_json
from letalone.ledger.entries import now
from letalone.privacy.filters import brief

MOST = 20


def levels(path: str, *, as_json: bool) -> None:
    """Print each purpose with its analysts, what they have used and until when they may."""
    with opened(path, "levels") as ledger:
        found = [level for one in ledger.data_sets() for level in ledger.levels(one.name)]
    if as_json:
        print_json("ledger levels", {"levels": [_as_json(level) for level in found]})
        return
    screen = console()
    if not found:
        screen.print("No budget is rationed: whoever may ask at all may use all of it.")
        return
    for level in found[:MOST]:
        screen.print(_line(level), markup=False, soft_wrap=True)
    if len(found) > MOST:
        screen.print(f"and {len(found) - MOST} more: --json lists all.")
    screen.print("Levels ration. What is certified is the budget of the data set.")


def _line(level: Level) -> str:
    who = f"{level.name}, {level.purpose}" if level.analyst is None else f"  {level.analyst}"
    facts = [f"{brief(level.spent)} of {brief(level.budget)} used"]
    facts += [f"until {level.expires}"] if level.expires else []
    facts += ["expired"] if level.has_expired(now()) else []
    facts += ["withdrawn"] if level.withdrawn else []
    return f"{who}: {', '.join(facts)}"


def _as_json(level: Level) -> dict[str, object]:
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
