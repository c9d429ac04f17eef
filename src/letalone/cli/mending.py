"""Commands that would be answered, for whoever typed one that was refused.

A command is offered only after it has passed every check that the refused one was put to,
and fits into what is left of the budget.
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

from letalone.cli.commands.query import QueryOptions
from letalone.cli.offered import to_type, to_type_again
from letalone.cli.ready import Missing, ready
from letalone.cli.request import USUAL_DELTA, completed, repaired, usual_budget
from letalone.cli.rewriting import mended_bounds, with_clamps
from letalone.cli.source import (
    TO_FILL_IN,
    Source,
    likely_unit,
    unit_example,
    unit_to_try,
)
from letalone.errors import BudgetExceeded, LetaloneError
from letalone.ledger import DataSet
from letalone.plans.schema import Schema
from letalone.sql.bounds import columns_within
from letalone.sql.question import read_question
from letalone.sql.text import DIALECTS

NOT_TYPED = " All columns of a CSV file are text until a schema file declares their types."


def advice(
    error: LetaloneError, request: QueryOptions, source: Source, known: DataSet | None
) -> str:
    """Commands that would be answered, with what they change that nobody asked for."""
    found = _offers(error, request, source, known)
    count, wanted = repaired("", source.schema), _repaired(request, source)
    if not source.has_types and all(one.sql == count != wanted for one in found):
        # What was asked can be, once columns have types.
        unit = unit_example(source.schema, known)
        return f"{NOT_TYPED} Try:{to_type('init', source.file, '--unit', unit)}"
    if not found:
        return ""
    lines = dict.fromkeys(_line(one, request, source) for one in found)
    unsaid, opening = _to_fill_in(error, request, found), _opening(error, request, found, count)
    return f"{unsaid}{opening}{''.join(lines)}"


def _to_fill_in(error: LetaloneError, request: QueryOptions, found: list[QueryOptions]) -> str:
    """What stands in the commands as an example and was not spoken of."""
    typed, words = {*request.keys, *request.bounds}, str(error)
    added = [one for offer in found for one in (*offer.keys, *offer.bounds) if one not in typed]
    examples = dict.fromkeys(one.partition("=")[2] for one in added)
    unsaid = [one for one in examples if one not in words]
    return f" Put what is publicly known in place of {' and '.join(unsaid)}." if unsaid else ""


def _opening(
    error: LetaloneError, request: QueryOptions, found: list[QueryOptions], count: str
) -> str:
    typed = request.epsilon
    less = typed is not None and typed > 0 and any((one.epsilon or 0) < typed for one in found)
    if less and not isinstance(error, BudgetExceeded):
        return f" With less ε, since {typed:g} does not fit into the budget:"
    if request.sql != count and all(one.sql == count for one in found):
        return " Another question, which would be answered:"
    return " Try:"


def _line(offer: QueryOptions, request: QueryOptions, source: Source) -> str:
    """The command; a unit that nobody named and no name suggests is left to fill in."""
    made_up = likely_unit(source.schema) is None and offer.unit not in (None, request.unit)
    return (
        to_type_again("query", offer, unit=TO_FILL_IN) if made_up else to_type_again("query", offer)
    )


def _offers(
    error: LetaloneError, request: QueryOptions, source: Source, known: DataSet | None
) -> list[QueryOptions]:
    whole = completed(request, source, known)
    offers: tuple[dict[str, Any], ...] = error.offers if isinstance(error, Missing) else ({},)
    mended = [_mended(replace(whole, **one), source, known) for one in offers]
    return [one for one in mended if one is not None]


def _mended(request: QueryOptions, source: Source, known: DataSet | None) -> QueryOptions | None:
    """The request with as few changes as will do."""
    request = _filled_in(request, source, known)
    passing = (one for one in _changed(request, source) if _passes(one, source, known))
    found = next(passing, None)
    for option in fields(QueryOptions):
        if found is None:
            return None
        less = replace(found, **{option.name: getattr(request, option.name)})
        found = less if _passes(less, source, known) else found
    return found


def _filled_in(request: QueryOptions, source: Source, known: DataSet | None) -> QueryOptions:
    """The request with examples for all that is missing: bounds, groups."""
    for _ in fields(QueryOptions):
        try:
            ready(request, source, known)
        except Missing as error:
            request = replace(request, **error.offers[0])
        except LetaloneError:
            break
        else:
            break
    return request


def _changed(request: QueryOptions, source: Source) -> Iterator[QueryOptions]:
    """One change at a time, then one after the other."""
    sql = _repaired(request, source)
    fixes: list[dict[str, Any]] = [
        {},
        {"dialect": None},
        {"sql": sql},
        {"sql": with_clamps(sql, dialect=request.dialect)},
        {"bounds": mended_bounds(request.bounds, _added(sql, request, source.schema))},
        {"private_bounds": True},
        {"delta": request.delta or USUAL_DELTA, "keys": ()},
        {"epsilon": 0.5},
        {"delta": None},
        {"confidence": 0.95, "max_rows": None, "max_groups": None},
        {"bounds": (), "private_bounds": True},
        {"unit": None},
        {"unit": unit_to_try(source.schema)},
        {"budget": None},
        {"budget": usual_budget(request)},
        {"budget": usual_budget(replace(request, delta=USUAL_DELTA))},
        {"keys": ()},
    ]
    for fix in fixes:
        yield replace(request, **fix)
    for fix in (*fixes, {"sql": repaired("", source.schema)}):
        request = replace(request, **fix)
        yield request


def _passes(request: QueryOptions, source: Source, known: DataSet | None) -> bool:
    try:
        asked = ready(request, source, known)
    except LetaloneError:
        return False
    return known is None or asked.fits(known.state)


def _dialect(request: QueryOptions) -> str | None:
    """The dialect that was named, where there is such a one."""
    return request.dialect if request.dialect in DIALECTS else None


def _repaired(request: QueryOptions, source: Source) -> str:
    return repaired(request.sql, source.schema, dialect=_dialect(request))


def _added(sql: str, request: QueryOptions, schema: Schema) -> list[str]:
    """The columns that are added up, once their names are put right."""
    asked = read_question(sql, schema, dialect=_dialect(request)).aggregates.values()
    return list(dict.fromkeys(name for one in asked for name in columns_within(one)))
