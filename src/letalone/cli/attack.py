"""`letalone attack NAME`: what an attacker learns today, and from a private release.

`ATTACKS` is the table of them: a row is a name and the file that has the command, a function with
typer's options, called like the attack (a dash is an underscore there), whose words are one line,
a blank one and an example. It is loaded when it is named, and ends in
`report(name, result, plot=…, as_json=…)`.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from letalone.attacks.result import AttackResult
from letalone.cli.numbers import number, whole_number
from letalone.cli.places import drawable
from letalone.cli.screen import console, flowing, in_short, print_json, table
from letalone.cli.typed import AsJson as AsJson

ATTACKS = {
    "linkage": "letalone.cli.attack_tables",
    "pseudonyms": "letalone.cli.attack_tables",
    "histories": "letalone.cli.attack_tables",
    "homer": "letalone.cli.attack_tables",
    "heat-map": "letalone.cli.attack_tables",
    "differencing": "letalone.cli.attack_tables",
    "reconstruction": "letalone.cli.attack_secrets",
    "membership": "letalone.cli.attack_models",
    "inversion": "letalone.cli.attack_models",
    "canaries": "letalone.cli.attack_secrets",
}

Plot = Annotated[
    Path | None, typer.Option(help="Draw it to this file (.svg, .png, .pdf).", callback=drawable)
]
Epsilon = Annotated[
    float,
    typer.Option(help="Of the private release beside it.", parser=number, metavar="NUMBER"),
]
Seed = Annotated[
    int, typer.Option(help="Of the attacker's draws.", parser=whole_number, metavar="NUMBER")
]


def command(name: str) -> Any:
    """The command of an attack, or None where there is none of this name."""
    if name not in ATTACKS:
        return None
    function: Callable[..., None] = getattr(import_module(ATTACKS[name]), name.replace("-", "_"))
    words, *_, example = [line.strip() for line in (function.__doc__ or "").strip().splitlines()]
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    alone.command(name, help=words, epilog=example)(function)
    return get_command(alone)


def report(name: str, result: AttackResult, *, plot: Path | None, as_json: bool) -> None:
    """Print what was found in fewer than 25 lines, and draw it where that is asked."""
    if plot is not None:
        result.plot(plot)
    if as_json:
        drawn = {"plot": None if plot is None else str(plot)}
        print_json(f"attack {name}", result.to_json() | drawn)
        return
    screen = console()
    heads = ("", "published today", f"letalone, ε = {in_short(result.epsilon)}")
    rows = table(*heads, right=heads[1:])
    for line in result.lines():
        rows.add_row(*map(_harmless, line))
    screen.print(rows, markup=False)
    words = flowing(_harmless(result.words), screen.width)
    screen.print("\n" + words, markup=False, soft_wrap=True)
    if plot is not None:
        screen.print(f"Wrote {plot}.", markup=False)


def _harmless(text: str) -> str:
    """Values of a table may be in it: signs that could steer a terminal are shown as ?."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)
