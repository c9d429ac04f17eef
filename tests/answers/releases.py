"""A release made by hand, for the tests of what a release is."""

from datetime import date
from fractions import Fraction
from typing import Any

import letalone as la
from letalone.answers.columns import CellKind, KeyColumn, Output
from letalone.answers.release import SplitPart, Terms

ASKED: dict[str, Any] = {
    "data_set": "visits",
    "version": 1,
    "question": "count and mean of cost",
    "plan": {"format": 1, "kind": "plan"},
    "digest": "0" * 64,
    "epsilon": Fraction(1, 2),
    "delta": Fraction(0),
    "confidence": Fraction(19, 20),
    "privacy": la.PureDP(0.5).with_neighbours(la.ADD_REMOVE.of("patient")),
    "split": (SplitPart("n, cost", Fraction(1), "geometric noise", "no groups"),),
    "sql": "SELECT 1",
    "notes": ("each patient counts with at most 10 rows",),
}
KEYS = (
    KeyColumn("ward", CellKind.TEXT, ("A", None, "Ж")),
    KeyColumn("day", CellKind.DATE, (date(2024, 1, 31), None, date(1999, 12, 31))),
    KeyColumn("old", CellKind.BOOLEAN, (True, False, None)),
    KeyColumn("level", CellKind.INTEGER, (2**60 + 1, -3, None)),
)
OUTPUTS = (
    Output("n", "n", "", CellKind.INTEGER, (2**55 + 1, -5, 12), (0, 0, 10), (2**56, 3, 14)),
    Output(
        "cost", "cost", "", CellKind.NUMBER, (12.34, 0.1, 3.0), (11.8, 0.0, 0.0), (12.9, 9.0, 4.0)
    ),
    Output("top", "top", "", CellKind.TEXT, ("x", None, "y")),
)  # fmt: skip


def made(**changed: Any) -> la.Release:
    """A release with some of its parts changed."""
    parts: dict[str, Any] = {"keys": KEYS, "outputs": OUTPUTS}
    asked = Terms(**{k: changed.pop(k, v) for k, v in ASKED.items()})
    return la.Release(asked, **(parts | changed))
