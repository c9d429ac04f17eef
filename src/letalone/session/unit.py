"""Whose privacy is protected, where it is not a column that says so."""

from enum import Enum


class Unit(Enum):
    """Each row is another person's: `la.open("answers.csv", unit=la.ROW)`."""

    ROW = "row"

    def __repr__(self) -> str:
        return "la.ROW"


ROW = Unit.ROW
