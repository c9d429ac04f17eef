"""A question built by choosing, as the SQL that one would have typed.

Names are quoted and values are written as constants of their column's type: what is chosen can
mean nothing but what it says. The SQL is then read like any other.

  Tested:   tests/curator/console/test_building.py
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from re import fullmatch

from letalone.curator.console.forms import SubmittedForm, number_typed
from letalone.curator.console.typed_keys import TRUTHS
from letalone.errors import ParameterError
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type

COUNT, UNITS = "count", "units"
OF_A_COLUMN = {
    "sum": ("SUM", "sum"),
    "mean": ("AVG", "mean"),
    "median": ("MEDIAN", "median"),
    "deviation": ("STDDEV_POP", "standard deviation"),
    "smallest": ("MIN", "about the smallest"),
    "largest": ("MAX", "about the largest"),
}
COMPARED = ("=", "<>", "<", "<=", ">", ">=")
CONDITIONS = (1, 2)
RESERVED = (  # what would not be read as a name without quotes
    " ALL AND AS ASC BETWEEN BY CASE CAST DATE DESC DISTINCT ELSE END FALSE FROM GROUP HAVING IN"
    " INTERVAL IS JOIN LEFT LIKE LIMIT NOT NULL OFFSET ON OR ORDER RIGHT SELECT TABLE THEN TIME"
    " TIMESTAMP TO TRUE UNION USER USING VALUES WHEN WHERE WITH "
)
LISTED = 20  # keys that a hint names
NUMBER = r"-?[0-9]{1,30}(\.[0-9]{1,30})?"


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be chosen of a data set under a grant."""

    whats: list[tuple[str, str]]
    numbers: list[str]
    groups: list[str]
    columns: list[str]


def choices(schema: Schema, granted: Iterable[str]) -> Choices:
    """What a grant leaves to choose: sums need bounds, and groups need keys."""
    allowed = set(granted)
    columns = [column for column in schema.columns if column.name in allowed]
    whats = [(COUNT, "number of rows")]
    if schema.unit is not None:
        whats.append((UNITS, f"number of different {schema.unit}"))
    numbers = [column.name for column in columns if _is_bounded(column)]
    if numbers:
        whats += [(name, words) for name, (_, words) in OF_A_COLUMN.items()]
    groups = [column.name for column in columns if _has_keys(column)]
    return Choices(whats, numbers, groups, [column.name for column in columns])


def built(form: SubmittedForm, schema: Schema) -> str:
    """The SELECT that was chosen."""
    groups = [quote_name(schema.column(name).name) for name in form.all("by")]
    columns = [*groups, _aggregate(form, schema)]
    lines = [f"SELECT {', '.join(columns)}", f"FROM {quote_name(schema.name)}"]
    conditions = [
        condition for number in CONDITIONS if (condition := _condition(form, schema, number))
    ]
    if conditions:
        lines.append(f"WHERE {' AND '.join(conditions)}")
    if groups:
        lines.append(f"GROUP BY {', '.join(groups)}")
    return "\n".join(lines)


def quote_name(name: str) -> str:
    """A name as SQL has it; plain where it needs no quotes."""
    plain = fullmatch(r"[a-z_][a-z0-9_]*", name) and f" {name.upper()} " not in RESERVED
    return name if plain else '"' + name.replace('"', '""') + '"'


def _aggregate(form: SubmittedForm, schema: Schema) -> str:
    what = form.text("what") or COUNT
    if what == COUNT:
        return "COUNT(*) AS number"
    if what == UNITS and schema.unit is not None:
        return f"COUNT(DISTINCT {quote_name(schema.unit)}) AS number"
    if what not in OF_A_COLUMN:
        raise ParameterError("Choose what to compute: it is one of those in the list.")
    column = schema.column(form.text("of")).name
    name = quote_name(f"{what}_{column}")
    return f"{OF_A_COLUMN[what][0]}({quote_name(column)}) AS {name}"


def _condition(form: SubmittedForm, schema: Schema, number: int) -> str:
    name, how = form.text(f"where_{number}"), form.text(f"how_{number}") or "="
    value = form.text(f"value_{number}")
    if not name and not value:
        return ""
    if not name:
        raise ParameterError(
            f"Only rows with: the value {value[:80]!r} has no column."
            " Choose one, or empty the value."
        )
    if not value:
        raise ParameterError(
            f"Only rows with: {name[:80]!r} is compared with nothing."
            " Type a value, or choose (any)."
        )
    if how not in COMPARED:
        raise ParameterError(f"A comparison is one of {' '.join(COMPARED)}.")
    column = schema.column(name)
    return f"{quote_name(column.name)} {how} {_constant(column, value)}"


def hints(form: SubmittedForm, schema: Schema) -> list[str]:
    """Where a value is compared that is none of the declared keys: which there are."""
    hints_found: list[str] = []
    for number in CONDITIONS:
        name, value = form.text(f"where_{number}"), form.text(f"value_{number}")
        column = schema.column(name) if name else None
        keys = None if column is None or column.type is Type.BOOLEAN else column.keys
        if keys is None or (form.text(f"how_{number}") or "=") not in ("=", "<>"):
            continue
        if value not in (words := [str(key) for key in keys]):
            more = f" and {len(words) - LISTED} more" if len(words) > LISTED else ""
            listed = ", ".join(words[:LISTED])
            hints_found.append(f"{value[:80]!r} is none of the groups of {name}: {listed}{more}.")
    return hints_found


def _constant(column: Column, value: str) -> str:
    """A value as a constant of the column's type."""
    match column.type:
        case Type.INTEGER | Type.NUMBER:
            if fullmatch(NUMBER, typed := number_typed(value)):
                return typed
            wanted = "a number such as 18 or 0.5"
        case Type.BOOLEAN:
            if (truth := TRUTHS.get(value.casefold())) is not None:
                return str(truth).upper()
            wanted = "yes or no"
        case Type.DATE:
            if _is_day(value):
                return f"DATE '{value}'"
            wanted = "a day such as 2027-01-31"
        case _:
            return "'" + value.replace("'", "''") + "'"
    raise ParameterError(f"{column.name!r} is compared with {wanted}, not with {value[:80]!r}.")


def _is_day(value: str) -> bool:
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _is_bounded(column: Column) -> bool:
    return column.type.is_numeric and column.lower is not None and column.upper is not None


def _has_keys(column: Column) -> bool:
    return column.keys is not None or column.type is Type.BOOLEAN
