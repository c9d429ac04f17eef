"""What `letalone query --dry-run` shows: shares, noise, and bounds that are still to be bought."""

from collections.abc import Callable
from fractions import Fraction
from inspect import isabstract
from pathlib import Path
from typing import Any

from letalone.cli.tables.show_preview import NOISE_NAMES
from letalone.tables.parts.part import ChoicePart
from screens import check_screen

Letalone = Callable[..., Any]
CSV = "pid,ward,cost\n1,A,2.5\n"
SCHEMA = """format = 1
name = "my"
unit = "pid"
[columns.pid]
type = "integer"
[columns.ward]
type = "text"
[columns.cost]
type = "number"
"""
SQL = "SELECT ward, COUNT(*) n, MEDIAN(cost) m FROM my GROUP BY ward"
PRICE = ("--epsilon", "40", "--delta", "1e-6", "--budget", "50:1e-4")


def test_every_choice_has_a_name_in_the_table() -> None:
    # By name: of a class with slots there are two.
    choices = {part.__name__ for part in ChoicePart.__subclasses__() if not isabstract(part)}
    assert choices <= {named.__name__ for named in NOISE_NAMES}


def test_the_noise_of_each_part_is_named_and_bounds_to_be_bought_are_left_open(
    letalone: Letalone, my: Path
) -> None:
    asked = ("query", "my.csv", SQL, *PRICE, "--private-bounds", "--dry-run")
    shown = letalone(*asked)
    assert "Nothing was spent" in check_screen(shown)
    noise = {line.split("  ")[0]: line.split()[-1] for line in shown.out.splitlines() if line}
    expected = {"bounds of cost": "exponential", "keys": "geometric", "m": "exponential"}
    assert expected.items() <= noise.items()
    assert noise["n"] in ("geometric", "Laplace", "Gaussian")
    found = letalone(*asked, "--json").json()
    assert "quantile 0.5 of cost clamped to the bounds found, for each ward" in found["question"]
    names = [part["name"] for part in found["parts"]]
    assert names == ["row limit", "bounds of cost", "keys", "n", "m"]
    assert sum(Fraction(part["share"]) for part in found["parts"]) == 1
