"""The schema file, NAME.letalone.toml: what its owner declares, with room for comments.

    format = 1
    name = "visits"
    unit = "patient_id"

    [columns.cost]
    type = "number"
    lower = 0
    upper = 1000

A number means the decimal that is written; a bound may also be text, such as "1/3". TOML
has no word for a missing value, so `missing_is_a_key = true` makes it the last key.

`source = "postgresql://host/database/table"`, or "spark:catalog.schema.table", says where the data
are: then the file itself can be opened. A password is never in it. `encoding = "cp1252"` says how
a CSV file is written, if not in UTF-8. `side_table = "schema.name"`
allows a copy with ranks there.

  Proven:   bounds are read from their digits, so nothing is rounded
  Tested:   tests/plans/test_schema.py: the round trip, damaged and newer files
"""

import tomllib
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from json import dumps
from pathlib import Path
from re import fullmatch
from typing import TYPE_CHECKING, TypeVar, cast

from letalone.errors import FormatError, LetaloneError
from letalone.errors.spelling import check_format, did_you_mean
from letalone.plans.constants import as_bound, format_constant
from letalone.plans.types import Key, Type
from letalone.privacy.neighbours import Neighbours, Relation

if TYPE_CHECKING:
    from letalone.plans.schema import Column, Schema

FORMAT = 1
FIELDS = (
    "format", "name", "source", "encoding", "side_table", "version", "neighbours", "unit",
    "unit_is_row", "columns",
)  # fmt: skip
COLUMN_FIELDS = ("type", "lower", "upper", "keys", "missing_is_a_key")
PEOPLE = {
    "client", "customer", "employee", "household", "id", "member", "patient", "person", "pid",
    "student", "subscriber", "uid", "user",
}  # fmt: skip
HEAD = """\
# What letalone knows about this table. All of it is public, and none of it is read from the
# data: fill in what you know without looking at them.
# A cell that is not of its column's type is left out: numbers are written 1234.5 (not 1,234.5),
# dates 2024-01-31. Columns with other spellings are text.
"""
TO_FILL_IN = "…"  # no column is called that, so it is refused until somebody has filled it in
Table = Mapping[str, object]
Kind = TypeVar("Kind")
Made = TypeVar("Made")
Make = Callable[..., object]


def write_schema(schema: "Schema", remarks: Mapping[str, str], likely: str | None = None) -> str:
    """The file for a schema, with what is not declared as a comment to fill in.

    `likely` is a column whose name sounds like a person's: the example of a unit.
    """
    lines = [
        HEAD,
        f"format = {FORMAT}",
        f"name = {_text(schema.name)}",
        f"version = {schema.version}  # raise it when the data have changed",
        f"neighbours = {_text(schema.neighbours.relation.value)}  # or {_text(_other(schema))}",
        "",
        "# Whose privacy is protected: the people that a column identifies, or each row.",
        *_unit_lines(schema, likely),
    ]
    for column in schema.columns:
        remark = f"  # {remarks[column.name]}" if column.name in remarks else ""
        lines += ["", f"[columns.{key_in_file(column.name)}]"]
        lines += [f"type = {_text(column.type.value)}{remark}"]
        lines += [*_bound_lines(column, schema.unit), *_key_lines(column, schema.unit)]
    return "\n".join(lines) + "\n"


def parse_schema(text: str, make_schema: Callable[..., Made], make_column: Make) -> Made:
    """The schema of a file's text; it and its columns are made by these classes."""
    try:
        table: Table = tomllib.loads(text, parse_float=Decimal)
    except RecursionError:
        raise FormatError("This schema file is nested too deeply to be one.") from None
    except (tomllib.TOMLDecodeError, ArithmeticError, ValueError, TypeError) as error:
        raise FormatError(f"This schema file is not TOML: {error}.") from None
    without = "This is not a schema file: it has no line `format = 1`."
    check_format("This schema file", table, FORMAT, otherwise=without)
    _check_fields(table, FIELDS, "schema file")
    try:
        return make_schema(**_read_schema(table, make_column))
    except FormatError:
        raise
    except LetaloneError as error:
        raise FormatError(f"This schema file declares what cannot be: {error}") from None


def read_field(path: Path, name: str) -> str | None:
    """A field of a file that was read before."""
    table = cast("Table", tomllib.loads(read_schema_text(path), parse_float=Decimal))
    return cast("str | None", table.get(name))


def encoding_in(path: Path | None) -> str | None:
    """The encoding of the data that a schema file names, if it is there and names one."""
    return None if path is None or not path.is_file() else read_field(path, "encoding")


def write_encoding(text: str, encoding: str) -> str:
    """The text of a schema file, with the encoding of its data."""
    version = "\nversion = "
    return text.replace(version, f"\nencoding = {_text(encoding)}{version}", 1)


def read_schema_text(path: Path) -> str:
    """The text of a schema file."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FormatError(
            f"There is no schema file {str(path)!r}. `letalone init` writes one."
        ) from None
    except UnicodeDecodeError:
        raise FormatError(f"The schema file {str(path)!r} is not UTF-8 text.") from None
    except OSError as error:
        reason = error.strerror or "unknown"
        raise FormatError(f"The schema file {str(path)!r} cannot be read: {reason}.") from None


def _other(schema: "Schema") -> str:
    return next(r.value for r in Relation if r is not schema.neighbours.relation)


def _unit_lines(schema: "Schema", likely: str | None) -> list[str]:
    column = f"unit = {_text(schema.unit or likely or TO_FILL_IN)}"
    row = "unit_is_row = true"
    if not schema.unit_declared:
        return [f"# {column}", f"# {row}"]
    return [f"# {column}", row] if schema.unit is None else [column, f"# {row}"]


def _bound_lines(column: "Column", unit: str | None) -> list[str]:
    if not column.type.is_numeric or column.name == unit:
        return []
    return [
        _or_comment("lower", column.lower, "0", "smaller values count as this"),
        _or_comment("upper", column.upper, "100", "larger values count as this"),
    ]


def _or_comment(name: str, bound: Fraction | None, example: str, meaning: str) -> str:
    if bound is None:
        return f"# {name} = {example}  # {meaning}"
    digits = format_constant(bound)
    return f"{name} = {_text(digits) if '/' in digits else digits}"


def _key_lines(column: "Column", unit: str | None) -> list[str]:
    if column.keys is None:
        wanted = column.type is Type.TEXT and column.name != unit
        return ['# keys = ["A", "B"]  # the groups it can be counted by'] if wanted else []
    keys = [_key(key) for key in column.keys if key is not None]
    return [f"keys = [{', '.join(keys)}]", *["missing_is_a_key = true"] * (None in column.keys)]


def _key(key: Key) -> str:
    match key:
        case bool():
            return str(key).lower()
        case str():
            return _text(key)
        case _:
            return str(key)


def _text(text: str) -> str:
    """A TOML string: JSON's escapes are TOML's, but for DEL."""
    return dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def key_in_file(name: str) -> str:
    """A column's name as the file writes it: in quotes where it has other letters."""
    return name if fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _check_fields(found: Table, known: tuple[str, ...], what: str) -> None:
    for name in found:
        if name not in known:
            raise FormatError(
                f"A {what} has no field {name!r}. Its fields are: {', '.join(known)}."
                + did_you_mean(name, known)
            )


def _read_schema(found: Table, make_column: Make) -> dict[str, object]:
    _of_type(found, "source", str, "an address or a path in quotes")
    _of_type(found, "encoding", str, "the name of an encoding in quotes")
    _of_type(found, "side_table", str, "the name of a table in quotes")
    row = _of_type(found, "unit_is_row", bool, "true or false") or False
    unit = _of_type(found, "unit", str, "the name of a column")
    if row and unit is not None:
        raise FormatError("The schema file has both unit and unit_is_row = true. Keep one.")
    columns = cast("Table", _of_type(found, "columns", dict, "tables such as [columns.age]") or {})
    version = _of_type(found, "version", int, "a whole number")
    return {
        "name": _of_type(found, "name", str, "text in quotes") or "",
        "columns": tuple(make_column(**_read_column(*item)) for item in columns.items()),
        "unit": unit,
        "version": 1 if version is None else version,
        "neighbours": Neighbours(cast("Relation", found.get("neighbours", "add/remove"))),
        "unit_declared": row or unit is not None,
    }


def _read_column(name: str, fields: object) -> dict[str, object]:
    if not isinstance(fields, dict):
        raise FormatError(f"Column {name!r} must be a table: [columns.{key_in_file(name)}].")
    table = cast("Table", fields)
    _check_fields(table, COLUMN_FIELDS, f"column such as {name!r}")
    if "type" not in table:
        raise FormatError(f'Column {name!r} has no type. Write a line such as type = "number".')
    return {
        "name": name,
        "type": table["type"],
        "lower": _bound(name, table, "lower"),
        "upper": _bound(name, table, "upper"),
        "keys": _keys(name, table),
    }


def _bound(column: str, found: Table, side: str) -> Fraction | None:
    value = found.get(side)
    if value is None:
        return None
    name = f"{side} of column {column!r}"
    if not isinstance(value, str):
        return as_bound(name, value)
    top, _, bottom = value.partition("/")
    try:
        return as_bound(name, Decimal(top)) / as_bound(name, Decimal(bottom or "1"))
    except ArithmeticError:
        raise FormatError(f"{name} is {value[:40]!r}, but must be a number such as 0.5.") from None


def _keys(column: str, found: Table) -> tuple[Key, ...] | None:
    listed = cast("list[object] | None", _of_type(found, "keys", list, f"a list in {column!r}"))
    missing = _of_type(found, "missing_is_a_key", bool, f"true or false in {column!r}")
    if listed is None and not missing:
        return None
    keys = listed or []
    if any(isinstance(key, datetime) or not isinstance(key, str | int | date) for key in keys):
        raise FormatError(f"The keys of column {column!r} must be text, whole numbers or dates.")
    return (*cast("list[Key]", keys), *([None] if missing else []))


def _of_type(found: Table, name: str, kind: type[Kind], allowed: str) -> Kind | None:
    value = found.get(name)
    if value is None:
        return None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise FormatError(f"The field {name} of a schema file must be {allowed}.")
    return value
