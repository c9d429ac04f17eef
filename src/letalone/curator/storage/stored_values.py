"""Writes times, budgets and lists into the database, and reads them."""

from collections.abc import Callable, Iterable
from dataclasses import fields
from datetime import UTC, date, datetime, timedelta
from enum import EnumType
from functools import wraps
from hashlib import sha256
from json import dumps, loads
from secrets import token_hex
from typing import Any, ParamSpec, TypeVar, cast, get_args, get_origin

from sqlalchemy import Row

from letalone.curator.storage.database import DatabaseDamaged, damage_error
from letalone.errors import ParameterError
from letalone.exact.typed import read_rational
from letalone.ledger.data_sets import read_name
from letalone.privacy import Budget
from letalone.wire.json_values import BudgetField

Clock = Callable[[], datetime]
CLOCK_TOLERANCE = timedelta(minutes=10)  # so far apart clocks may be before one of them was wrong
DataRow = Row[tuple[Any, ...]]
P = ParamSpec("P")
T = TypeVar("T")


def reads_stored(read: Callable[P, T]) -> Callable[P, T]:
    """A reader of what was stored: DatabaseDamaged, without its words, where it cannot be read."""

    @wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return read(*args, **kwargs)
        except DatabaseDamaged:
            raise
        except (ValueError, LookupError, TypeError, AttributeError):
            raise damage_error() from None

    return reading


def utc_now() -> datetime:
    """The time in UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def write_time(when: datetime | None) -> str | None:
    """A time as text that sorts as times do."""
    return None if when is None else when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_optional_time(text: str | None) -> datetime | None:
    """Parses a stored UTC time, if there is one."""
    return None if text is None else read_time(text)


@reads_stored
def read_time(text: str) -> datetime:
    """Parses a stored UTC time."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def still_lasts(until: datetime, now: datetime, longest: timedelta) -> bool:
    """Whether what lasts so long at most is not over.

    An end that lies further ahead was written while a clock was wrong, and does not count.
    """
    return now < until <= now + longest + CLOCK_TOLERANCE


@reads_stored
def read_day(text: str | None) -> date | None:
    """The day that was written."""
    return None if text is None else date.fromisoformat(text)


def to_utc(name: str, when: datetime | None) -> datetime | None:
    """A time with a zone, to the second."""
    if when is None:
        return None
    if not isinstance(when, datetime) or when.tzinfo is None:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ParameterError(f"{name} must be a time with a time zone, such as 2027-01-31T00:00Z.")
    try:
        return when.astimezone(UTC).replace(microsecond=0)
    except OverflowError:
        raise ParameterError(f"{name} lies beyond the years that can be written.") from None


# How the columns of a record are read that are not stored as they are, by the types of its fields.
READERS: dict[Any, Callable[[Any], object]] = {
    datetime: read_time,
    datetime | None: read_optional_time,
    date | None: read_day,
}


def write_list(words: Iterable[str]) -> str:
    """A list of words as JSON."""
    return dumps(list(words), ensure_ascii=False)


@reads_stored
def read_list(text: str) -> list[str]:
    """The words of a list."""
    return cast("list[str]", loads(text))


def write_budget(budget: Budget) -> dict[str, str]:
    """Both columns of a budget, exactly."""
    return {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}


def is_name(words: str) -> bool:
    """Whether this can be a name at all: what cannot is not looked up, and not stored."""
    try:
        read_name(words)
    except ParameterError:
        return False
    return True


@reads_stored
def read_record(record: type[T], row: DataRow, **values: object) -> T:
    """A record from a row: each field is its column, read by the field's type, or a given value."""
    columns = [field for field in fields(cast("Any", record)) if field.name not in values]
    read = {field.name: _read_field(field.name, field.type, row) for field in columns}
    return record(**read, **values)


def _read_field(name: str, kind: Any, row: DataRow) -> object:
    if kind in (Budget, BudgetField):
        return Budget(read_rational(row.epsilon), read_rational(row.delta))
    stored = getattr(row, name)
    if get_origin(kind) in (frozenset, tuple):
        (word, *_), make = get_args(kind), get_origin(kind)
        return make(word(item) for item in read_list(stored))
    read = kind if isinstance(kind, EnumType) else READERS.get(kind)
    return stored if read is None else read(stored)


def new_id() -> str:
    """A name that nobody can guess, for a request, a proposal or a file."""
    return token_hex(16)


def digest_of_secret(secret: str) -> str:
    """SHA-256 of a text that is not kept itself."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
