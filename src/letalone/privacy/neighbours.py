"""Which data sets must look alike: the neighbours that a guarantee speaks of.

Two relations. Under *add or remove* one of two neighbours has one unit more; the size
of the table is private. Under *replace* both have the same size and one unit differs;
the size of the whole table is public. The unit is what is protected: a row, a patient
with all their rows, a household.

A replacement is a removal followed by an addition, so a guarantee under add/remove gives
one under replace at the price of a group of two. There is no way back: replace says
nothing about tables of different size.

  Proven:   docs/explanation/proofs/group.md, section 2
  Tested:   tests/privacy/test_groups.py
  Assumed:  whoever names the relation names the one that the sensitivity was taken under
"""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Self

from letalone.errors import NeighboursDiffer
from letalone.exact.typed import refusal


class Relation(Enum):
    """How two neighbouring data sets differ."""

    ADD_REMOVE = "add/remove"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A relation between data sets, and one of what they differ in (None: not named)."""

    relation: Relation
    unit: str | None = None

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "relation", Relation(self.relation))
        except ValueError:
            hint = "la.ADD_REMOVE and la.REPLACE are the two, ready made."
            raise refusal("relation", self.relation, "'add/remove' or 'replace'", hint) from None
        if self.unit is not None:
            _check_unit(self.unit)

    def of(self, unit: str) -> Self:
        """The same relation for a named unit, such as `ADD_REMOVE.of("patient")`."""
        _check_unit(unit)
        return replace(self, unit=unit)

    def __str__(self) -> str:
        return f"{relation_verb(self.relation)} one {self.unit or 'unit'}"


def relation_verb(relation: Relation) -> str:
    """What is done to one unit to come from a data set to its neighbour."""
    return "replace" if relation is Relation.REPLACE else "add or remove"


def read_neighbours(neighbours: object) -> Neighbours:
    """The neighbours that were given, or an error that says which there are."""
    if not isinstance(neighbours, Neighbours):
        hint = "Name a unit with .of: la.ADD_REMOVE.of('patient')."
        raise refusal("neighbours", neighbours, "la.ADD_REMOVE or la.REPLACE", hint)
    return neighbours


def read_label(neighbours: object) -> Neighbours | None:
    """The same where they may be unset."""
    return None if neighbours is None else read_neighbours(neighbours)


def is_replace(neighbours: object) -> bool:
    """Whether neighbours have the same size and one unit differs."""
    return read_neighbours(neighbours).relation is Relation.REPLACE


def unify(left: Neighbours | None, right: Neighbours | None) -> Neighbours | None:
    """The neighbours that two guarantees share; unset mixes with anything."""
    left, right = read_label(left), read_label(right)
    if left is None or right is None:
        return left or right
    if left.relation is not right.relation:
        raise NeighboursDiffer(
            f"One guarantee is for '{left}', the other for '{right}'. Guarantees combine only "
            "for the same neighbours. Convert the add/remove one with .under(REPLACE), "
            "which costs as much as a group of two; there is no way back."
        )
    if left.unit is not None and right.unit is not None and left.unit != right.unit:
        raise NeighboursDiffer(
            f"One guarantee protects one {left.unit}, the other one {right.unit}. Guarantees "
            f"combine only for the same unit. If one {left.unit} holds at most k of the other "
            "(or the other way round), convert the smaller unit's with .group(k)."
        )
    return left if left.unit is not None else right


def _check_unit(unit: object) -> None:
    if not isinstance(unit, str) or not unit.strip():
        raise refusal("unit", unit, "a word such as 'patient' or 'household'")


ADD_REMOVE = Neighbours(Relation.ADD_REMOVE)
REPLACE = Neighbours(Relation.REPLACE)
