"""The clauses of a question beside its aggregates: group columns, bounding, joined tables.

Tested:   tests/plans/test_query.py
"""

from letalone.exact.typed import Constraint, read_flag
from letalone.plans.expressions import Bin, Expression
from letalone.plans.records import StructuralEquality, stored_as
from letalone.plans.schema import Column
from letalone.plans.types import Key, Type

CONTRIBUTION = Constraint(
    "a whole number from 1 to 2^31",
    lambda x: x.denominator == 1 and 1 <= x <= 1 << 31,
    "It is how much one unit may count for; 10 is usual.",
    (0, -1, 1.5, 1 << 32, float("nan"), float("inf")),
)


@stored_as("GroupColumn")
class GroupColumn(StructuralEquality):
    """One column of the answer's keys: a name, what it is in each row, its type."""

    name: str
    of: Expression
    type: Type

    def shown(self, key: Key) -> Key:
        """The key as the answer shows it: a range such as '[0, 10)' for its number."""
        return self.of.label(key) if isinstance(self.of, Bin) and isinstance(key, int) else key


@stored_as("Bounding")
class Bounding:
    """How much one unit may count for.

    max_rows alone: with at most so many rows in all. max_groups: in at most so many groups,
    and there with at most max_rows rows, or with its own total clipped to one row's range
    and counted as one row (clip). key_groups: in how many groups a unit counts while keys are
    found, where that is fewer. All None: the unit is the row, or only units are counted.
    """

    max_rows: int | None = None
    max_groups: int | None = None
    clip: bool = False
    key_groups: int | None = None

    def __post_init__(self) -> None:
        for name in ("max_rows", "max_groups", "key_groups"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, int(CONTRIBUTION.typed(name, value)))
        read_flag("clip", self.clip)


@stored_as("PublicJoin")
class PublicJoin:
    """A public table joined to each row on equal keys; a row without a partner is dropped, or
    kept where it is an `outer` join, with nothing in the columns.

    `on` pairs a column of the private table, or of one joined before, with one of the public table,
    which is unique on them; `columns` are what it adds.
    """

    name: str
    on: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]
    table_digest: str
    outer: bool = False


@stored_as("PrivateJoin")
class PrivateJoin:
    """Another private table of the same units: of each unit one row, joined to all of its rows.

    `name` is its data set, which is charged, too; `on` pairs the two unit columns; `columns` are
    what it adds. A row whose unit it does not have is dropped.
    """

    name: str
    on: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]
    version: int


Join = PublicJoin | PrivateJoin
