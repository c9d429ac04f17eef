"""`letalone describe FILE`: what is public about a table, and what is left of its budget.

Nothing here is read from the data: no rows are counted, no value is looked at.
"""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from rich.table import Table

from letalone.cli.offered import to_type
from letalone.cli.places import in_short_form, ledger_path
from letalone.cli.screen import print_json, protection_text, put, table
from letalone.cli.tables import table_option
from letalone.cli.trust.ledger_commands import standing_as_json
from letalone.engines.catalogue import ENGINES
from letalone.engines.opening import open_engine
from letalone.ledger import DataSet
from letalone.plans.constants import format_constant
from letalone.plans.schema import Column, Schema
from letalone.plans.wording import value_in_words
from letalone.privacy.bounds import six
from letalone.privacy.budget import brief
from letalone.privacy.filters import left_in_words
from letalone.session.steps.row_limit import RowLimit
from letalone.sources.places import encoding_for
from letalone.sources.resolve import read_source

LISTED = 10
WIDEST_KEYS = 36


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file with its metadata; `schema_file` is None where its owner has written none."""

    file: str
    table: str | None
    schema: Schema
    schema_file: Path | None

    @property
    def declares_unit(self) -> bool:
        """Whether the schema file says whose privacy is protected."""
        return self.schema_file is not None and self.schema.unit_declared


def describe(
    file: str, *, table_name: str | None, ledger: Path | None, copy: bool, as_json: bool
) -> None:
    """Print the schema, whose privacy is protected, and how the budget stands."""
    kept = [] if ledger is None else ["--ledger", str(ledger)]
    source = table_option.with_one_table(
        lambda: _read_source(file, table_name, copy=copy),
        file,
        lambda choice: to_type("describe", choice.file, *choice.option, *kept),
    )
    path = ledger_path(file, ledger)
    known = table_option.known_data_set(path, source.schema.name)
    limit = table_option.known_row_limit(path, known, source.schema.version)
    fingerprint = table_option.fingerprint_of(path)
    if as_json:
        print_json("describe", _as_json(source, path, known, fingerprint) | _limit_as_json(limit))
        return
    put(*_head(source, known), *_limit(limit), _columns(source))
    put(*_foot(source, path, known, fingerprint))


def _read_source(file: str, table_name: str | None, *, copy: bool) -> TableFile:
    """The file's columns and types: as its schema file declares them, else from its metadata."""
    table_option.check_one_file(file)
    table_option.wait_for_spark(file, table_name)
    source = read_source(file, table_name, look=ENGINES)
    beside = in_short_form(cast("Path", source.schema_file))
    declared = Schema.read(beside) if beside.exists() else None
    encoding = encoding_for(source, beside)
    opened = open_engine(
        source.handle, schema=declared, table=table_name, encoding=encoding, copy=copy
    )
    with closing(opened) as engine:
        schema = engine.schema()
    return TableFile(file, table_name, schema, beside if declared is not None else None)


def _head(source: TableFile, known: DataSet | None) -> list[str]:
    schema = source.schema
    protects = "nobody yet: no unit is declared"
    if known is not None or source.declares_unit:
        protects = protection_text(schema.protects if known is None else known.neighbours)
    lines = [f"{source.file}: table {schema.name!r}, version {schema.version}"]
    return [*lines, f"protects     {protects}"]


def _limit(limit: RowLimit | None) -> list[str]:
    if limit is None:
        return []
    words = f"{limit.rows:,} rows count whole (found privately for ε = {six(limit.epsilon)})"
    return [f"row limit    {words}"]


def _limit_as_json(limit: RowLimit | None) -> dict[str, object]:
    content = None if limit is None else {"rows": limit.rows, "found_for": float(limit.epsilon)}
    return {"row_limit": content}


def _columns(source: TableFile) -> Table:
    columns = source.schema.columns
    rows = [(c.name, c.type.value, _bounds(c), _keys(c)) for c in columns[:LISTED]]
    if (more := len(columns) - LISTED) > 0:
        rows.append((f"and {more} more", "--json lists all", "", ""))
    return table("column", "type", "bounds", "keys", rows=rows)


def _bounds(column: Column) -> str:
    if column.lower is None and column.upper is None:
        return ""
    ends = ["…" if end is None else format_constant(end) for end in (column.lower, column.upper)]
    return " to ".join(ends)


def _keys(column: Column) -> str:
    if column.keys is None:
        return ""
    listed = ", ".join(value_in_words(key) for key in column.keys)
    return listed if len(listed) <= WIDEST_KEYS else f"{len(column.keys):,} keys"


def _foot(
    source: TableFile, path: Path, known: DataSet | None, fingerprint: str | None
) -> list[str]:
    lines = [f"schema       {source.schema_file or 'none: types come from the file alone'}"]
    if known is None:
        lines.append("budget       none yet: the first query names it with --budget")
    else:
        many = f"{known.releases} release{'s' * (known.releases != 1)}"
        lines.append(f"budget       {known.budget}")
        lines.append(f"spent        about {brief(known.spent)} on {many}")
        lines.append(f"left         about {left_in_words(known.state)}")
        lines += ["frozen       nothing is answered until the owner acts"] * known.frozen
    if fingerprint is not None:
        lines += [f"ledger       {path}", f"fingerprint  {fingerprint}"]
    if source.schema_file is None:
        which = [] if source.table is None else ["--table", source.table]
        unit = table_option.unit_example(source.schema, known)
        init = to_type("init", source.file, *which, "--unit", unit)
        return [*lines, f"Write down what is known:{init}"]
    if known is None and not source.declares_unit:
        unit = table_option.unit_example(source.schema)
        lines.append(f'Say who is protected: write unit = "{unit}" into {source.schema_file}.')
    return lines


def _as_json(
    source: TableFile, path: Path, known: DataSet | None, fingerprint: str | None
) -> dict[str, object]:
    schema = source.schema
    return {
        "file": source.file,
        "name": schema.name,
        "version": schema.version,
        "unit": schema.unit,
        "unit_declared": source.declares_unit,
        "neighbours": schema.neighbours.relation.value,
        "schema_file": source.schema_file,
        "columns": [_column_as_json(column) for column in schema.columns],
        "ledger": None if fingerprint is None else path,
        "fingerprint": fingerprint,
        "data_set": None if known is None else standing_as_json(known),
    }


def _column_as_json(column: Column) -> dict[str, object]:
    shape = {"lower": column.lower, "upper": column.upper, "keys": column.keys}
    return {"name": column.name, "type": column.type.value, **shape}
