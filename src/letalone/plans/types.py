"""The types that a column can have: few, and the same on every engine."""

from datetime import date, datetime
from enum import Enum
from fractions import Fraction

Key = str | int | bool | date | None
"""One value of a group column. A `datetime` is a `date` to Python but never a key."""


class Type(Enum):
    """What a column holds; the value is the word for it in files and messages."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"
    OTHER = "other"

    @property
    def is_numeric(self) -> bool:
        """Whether arithmetic and bounds make sense."""
        return self in (Type.INTEGER, Type.NUMBER)

    @property
    def is_groupable(self) -> bool:
        """Whether a value of it can be a key: it has one spelling on every engine."""
        return self not in (Type.TIMESTAMP, Type.OTHER)

    @property
    def of_keys(self) -> "Type":
        """The type of its keys. Those of numbers are whole: 3.0 has the key 3, and 3.5 has none."""
        return Type.INTEGER if self is Type.NUMBER else self


def type_of_value(value: bool | int | Fraction | str | date | datetime) -> Type:
    """The type of a constant."""
    match value:
        case bool():
            return Type.BOOLEAN
        case int():
            return Type.INTEGER
        case Fraction():
            return Type.NUMBER
        case str():
            return Type.TEXT
        case datetime():  # before date: a datetime is a date to Python
            return Type.TIMESTAMP
        case date():
            return Type.DATE
