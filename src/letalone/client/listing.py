"""What a service says of data sets and past answers, and lists of records that show themselves.

Tested:   tests/client/test_client.py
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar, cast

from pydantic import BeforeValidator, InstanceOf

from letalone.answers import views
from letalone.client.problems import printable
from letalone.errors import FormatError, LetaloneError
from letalone.errors.problem import without_context
from letalone.privacy.budget import Budget, brief
from letalone.session.release import Release
from letalone.wire.records import DataSetStanding, PastReleaseRecord, read_answer

DAMAGE = (LetaloneError, TypeError, ValueError, LookupError, ArithmeticError, AttributeError)
Record = TypeVar("Record")


class Listing(list[Record]):
    """A list that shows each of its records on a line."""

    def __repr__(self) -> str:
        return "\n".join(printable(str(item)) for item in self) or "nothing"

    def _repr_html_(self) -> str:
        return views.lines_as_html(repr(self))


def _read_names(said: list[dict[str, Any]]) -> tuple[str, ...]:
    """The names of what has more to it."""
    return tuple(str(item["name"]) for item in said)


@dataclass(frozen=True, slots=True)
class RemoteDataSet(DataSetStanding):
    """What is public about a data set, and how its whole budget stands; purposes by their names."""

    purposes: Annotated[  # pyright: ignore[reportIncompatibleVariableOverride]
        tuple[str, ...], BeforeValidator(_read_names)
    ]

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", replace(self.schema, version=self.version))

    def __str__(self) -> str:
        gone = "; retired" if self.retired else "; frozen" if self.frozen else ""
        columns = ", ".join(column.name for column in self.schema.columns)
        return (
            f"{self.name}, version {self.version}{gone}: {self.description or 'not described'}\n"
            f"  columns {columns}; protects {self.schema.unit or 'row'}; for the purposes"
            f" {', '.join(self.purposes)}; ({brief(self.spent)}) of ({self.budget}) spent"
        )


@dataclass(frozen=True, slots=True)
class PastRelease(PastReleaseRecord):
    """One of the own answers; `client.receipt(past)` has its signed receipt."""

    release: InstanceOf[Release]  # pyright: ignore[reportIncompatibleVariableOverride]

    def __str__(self) -> str:
        price = Budget(self.release.asked.epsilon, self.release.asked.delta)
        return f"{self.time:%Y-%m-%d %H:%M} {self.data_set}: {self.question} ({price})"


def read_one(kind: type[Record], said: object) -> Record:
    """A record, or an error that says that service and client do not fit."""
    return without_context(
        lambda: read_answer(kind, said),
        *DAMAGE,
        error=FormatError(
            "The service answers in a form that this letalone does not know. Update the older of"
            " both."
        ),
    )


def read_all(kind: type[Record], said: object) -> Listing[Record]:
    """All records of a list."""
    if not isinstance(said, Sequence):
        raise FormatError("The service answers in a form that this letalone does not know.")
    return Listing(read_one(kind, item) for item in cast("Sequence[object]", said))
