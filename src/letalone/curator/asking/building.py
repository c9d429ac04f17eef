"""Writes a question that was built by choosing as the SQL that one would have typed.

Names are quoted and values are written as constants of their column's type: what is chosen can
mean nothing but what it says. The SQL is then read like any other.

Groups are read as people type them, one in each line, by the type of what is grouped: 2019 is a
number where years are grouped, and text where names are. JSON is taken as it is.

  Tested:   tests/curator/console/test_building.py, test_typed_keys.py
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from json import loads
from re import fullmatch
from typing import Any

from letalone.curator.console.forms import SubmittedForm, number_typed
from letalone.curator.http.problems import problem_error
from letalone.errors import LetaloneError, ParameterError
from letalone.plans.plan import expression_of
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.plans.typing import columns_of
from letalone.sql.question import read_question

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
MAX_LISTED_KEYS = 20  # keys that a hint names
NUMBER = r"-?[0-9]{1,30}(\.[0-9]{1,30})?"
TRUTHS = {"true": True, "yes": True, "false": False, "no": False}
NO_KEYS = 'keys: Write one group in each line, or JSON such as ["A", "B"].'
WANTED = {Type.INTEGER: "a whole number such as 2019", Type.BOOLEAN: "yes or no"}


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
    numeric = [column for column in columns if column.type.is_numeric]
    numbers = [column.name for column in numeric if None not in (column.lower, column.upper)]
    if numbers:
        whats += [(name, words) for name, (_, words) in OF_A_COLUMN.items()]
    keyed = [column for column in columns if column.keys is not None or column.type is Type.BOOLEAN]
    groups, names = ([column.name for column in some] for some in (keyed, columns))
    return Choices(whats, numbers, groups, names)


def build_sql(form: SubmittedForm, schema: Schema) -> str:
    """The SELECT that was chosen."""
    groups = [quote_name(schema.column(name).name) for name in form.all("by")]
    columns = [*groups, _aggregate(form, schema)]
    lines = [f"SELECT {', '.join(columns)}", f"FROM {quote_name(schema.name)}"]
    conditions = list(filter(None, (_condition(form, schema, number) for number in CONDITIONS)))
    if conditions:
        lines.append(f"WHERE {' AND '.join(conditions)}")
    if groups:
        lines.append(f"GROUP BY {', '.join(groups)}")
    return "\n".join(lines)


def quote_name(name: str) -> str:
    """A name as SQL has it; plain where it needs no quotes."""
    plain = fullmatch(r"[a-z_][a-z0-9_]*", name) and f" {name.upper()} " not in RESERVED
    return name if plain else '"' + name.replace('"', '""') + '"'


def write_call(what: str, column: str, schema: Schema) -> str:
    """What Choose has a name for, of a column where it is of one, as SQL has it."""
    if what == COUNT:
        return "COUNT(*)"
    if what == UNITS:
        return f"COUNT(DISTINCT {quote_name(str(schema.unit))})"
    return f"{OF_A_COLUMN[what][0]}({quote_name(column)})"


def write_constant(value: object) -> str:
    """A constant as SQL has it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case str():
            return "'" + value.replace("'", "''") + "'"
        case date():
            return f"DATE '{value}'"
        case _:
            return str(value)


def _aggregate(form: SubmittedForm, schema: Schema) -> str:
    what = form.text("what") or COUNT
    if what == COUNT or (what == UNITS and schema.unit is not None):
        return f"{write_call(what, '', schema)} AS number"
    if what not in OF_A_COLUMN:
        raise ParameterError("Choose what to compute: it is one of those in the list.")
    column = schema.column(form.text("of")).name
    return f"{write_call(what, column, schema)} AS {quote_name(f'{what}_{column}')}"


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
    lines: list[str] = []
    for number in CONDITIONS:
        name, value = form.text(f"where_{number}"), form.text(f"value_{number}")
        column = schema.column(name) if name else None
        keys = None if column is None or column.type is Type.BOOLEAN else column.keys
        if keys is None or (form.text(f"how_{number}") or "=") not in ("=", "<>"):
            continue
        if value not in (words := [str(key) for key in keys]):
            unlisted = len(words) - MAX_LISTED_KEYS
            more = f" and {unlisted} more" if unlisted > 0 else ""
            listed = ", ".join(words[:MAX_LISTED_KEYS])
            lines.append(f"{value[:80]!r} is none of the groups of {name}: {listed}{more}.")
    return lines


def _constant(column: Column, value: str) -> str:
    match column.type:
        case Type.INTEGER | Type.NUMBER:
            if fullmatch(NUMBER, typed := number_typed(value)):
                return typed
            wanted = "a number such as 18 or 0.5"
        case Type.BOOLEAN:
            if (truth := TRUTHS.get(value.casefold())) is not None:
                return write_constant(truth)
            wanted = "yes or no"
        case Type.DATE:
            if _is_day(value):
                return f"DATE '{value}'"
            wanted = "a day such as 2027-01-31"
        case _:
            return write_constant(value)
    raise ParameterError(f"{column.name!r} is compared with {wanted}, not with {value[:80]!r}.")


def _is_day(value: str) -> bool:
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def typed_keys(typed: str, sql: str, schema: Schema) -> Any:
    """The groups that were typed for a question; None where there are none."""
    if typed[:1] in ("[", "{"):
        try:
            return loads(typed)
        except (ValueError, RecursionError):
            raise problem_error("not-valid", NO_KEYS) from None
    lines = [line.strip() for line in typed.splitlines() if line.strip()]
    kind = _group_type(sql, schema) if lines else None
    return [_group(line, kind) for line in lines] or None


def _group_type(sql: str, schema: Schema) -> Type | None:
    """The type of the one group column; None where there is not one, or the SQL is refused."""
    try:
        groups = read_question(sql, schema).groups
        kinds = [columns_of(schema).type_of(expression_of(group)).type.of_keys for group in groups]
    except LetaloneError:  # said when the question is asked
        return None
    return kinds[0] if len(kinds) == 1 else None


def _group(text: str, kind: Type | None) -> str | int | bool:
    """A group; dates stay text, which is read as one."""
    if kind not in WANTED:
        return text
    key = TRUTHS.get(text.casefold()) if kind is Type.BOOLEAN else _whole(text)
    if key is None:
        raise ParameterError(f"Groups: {text[:80]!r} is not one. Write {WANTED[kind]}.")
    return key


def _whole(text: str) -> int | None:
    typed = number_typed(text)
    return int(typed) if fullmatch(r"[-+]?[0-9]{1,30}", typed) else None
