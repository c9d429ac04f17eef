"""A query as it was typed, and the command that would do what an error asks for."""

import re
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from letalone.cli.commands.query import QueryOptions
from letalone.cli.rewriting import rewritten
from letalone.cli.screen import number_text
from letalone.cli.source import Source, unit_to_try
from letalone.errors import LetaloneError
from letalone.exact.typed import as_typed
from letalone.ledger import DataSet
from letalone.plans.schema import Schema
from letalone.sql.question import read_question

USUAL_EPSILON = 0.5
USUAL_DELTA = 1e-6
USUAL_BUDGET = 2
CONFIDENCE = 0.95
SPOKEN = {
    "select", "from", "where", "group", "by", "order", "limit", "having", "and", "or", "not", "in",
    "is", "as", "like", "between", "null", "asc", "desc",
}  # fmt: skip
PART = r"""(?:"[^"]*"|'[^']*'|[\w./*-]*[\w/*-])"""
TABLE = re.compile(rf"(?i)(?<=\bfrom)\s+({PART}(?:\s*\.\s*{PART})*)")
WORD = re.compile(r"(?<![\w'\"])[A-Za-z_]\w*(?![\w'\"(])")


def completed(request: QueryOptions, source: Source, known: DataSet | None) -> QueryOptions:
    """The same request with examples for what is missing, so that it would be answered."""
    changes: dict[str, Any] = {}
    if request.epsilon is None:
        changes["epsilon"] = USUAL_EPSILON
    if request.unit is None and not source.declares_unit and known is None:
        changes["unit"] = unit_to_try(source.schema)
    if request.budget is None and known is None and not request.dry_run:
        changes["budget"] = usual_budget(request)
    return replace(request, **changes)


def usual_budget(request: QueryOptions) -> str:
    """An example of a budget: four questions like this one, with room for its delta."""
    epsilon = max(USUAL_BUDGET, 4 * (request.epsilon or 0))
    delta = f":{number_text(float(100 * as_typed(request.delta)))}" if request.delta else ""
    return number_text(epsilon) + delta


def repaired(sql: str, schema: Schema, *, dialect: str | None = None) -> str:
    """SQL that would be understood: the nearest to what was typed, else a count."""
    name = quoted(schema.name)
    renamed = TABLE.sub(lambda _: f" {name}", sql)
    respelled = _respelled(renamed, schema)
    again = (rewritten(one, dialect=dialect) for one in (renamed, respelled))
    for tried in (renamed, respelled, *again):
        try:
            read_question(tried, schema, dialect=dialect)
        except LetaloneError:
            continue
        return tried
    return f"SELECT COUNT(*) FROM {name}"


def table_in(sql: str) -> str | None:
    """The table that FROM names, where it does."""
    found = TABLE.search(sql)
    return None if found is None else re.sub("[\"']", "", found[1])


def about(sql: str, name: str) -> str:
    """The same question about the table of this name; left alone where FROM stands twice."""
    once = len(TABLE.findall(sql)) == 1
    return TABLE.sub(lambda _: f" {quoted(name)}", sql) if once else sql


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return name if name.isidentifier() else f'"{name}"'


def _respelled(sql: str, schema: Schema) -> str:
    names = {column.name.lower(): column.name for column in schema.columns}
    spoken = {*SPOKEN, schema.name}

    def near(found: re.Match[str]) -> str:
        word = found[0].lower()
        close = get_close_matches(word, names, n=1) if word not in spoken else []
        return names[close[0]] if close else found[0]

    return WORD.sub(near, sql)
