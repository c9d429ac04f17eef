"""Commands that would be answered, for whoever typed one that was refused.

A command is offered only after it has passed every check that the refused one was put to,
and fits into what is left of the budget.
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

from letalone.cli.ready import Missing, ready
from letalone.cli.request import USUAL_DELTA, Request, completed, repaired, usual_budget
from letalone.cli.source import Source, likely_unit, to_type
from letalone.errors import LetaloneError
from letalone.ledger import DataSet


def commands(
    error: LetaloneError, request: Request, source: Source, known: DataSet | None
) -> list[str]:
    """Commands that would be answered, to be typed instead."""
    whole = completed(request, source, known)
    offers: tuple[dict[str, Any], ...] = error.offers if isinstance(error, Missing) else ({},)
    mended = [_mended(replace(whole, **one), source, known) for one in offers]
    found = [one for one in mended if one is not None]
    count, wanted = repaired("", source.schema), repaired(request.sql, source.schema)
    if not source.has_types and all(one.sql == count != wanted for one in found):
        return [init_command(source)]  # what was asked can be, once columns have types
    return list(dict.fromkeys(one.command() for one in found))


def init_command(source: Source) -> str:
    """The command that writes a schema file."""
    return to_type("init", source.file, "--unit", likely_unit(source.schema))


def _mended(request: Request, source: Source, known: DataSet | None) -> Request | None:
    """The request with as few changes as will do."""
    passing = (one for one in _changed(request, source) if _passes(one, source, known))
    found = next(passing, None)
    for option in fields(Request):
        if found is None:
            return None
        less = replace(found, **{option.name: getattr(request, option.name)})
        found = less if _passes(less, source, known) else found
    return found


def _changed(request: Request, source: Source) -> Iterator[Request]:
    """One change at a time, then one after the other."""
    fixes: list[dict[str, Any]] = [
        {},
        {"sql": repaired(request.sql, source.schema)},
        {"private_bounds": True},
        {"delta": request.delta or USUAL_DELTA, "keys": ()},
        {"epsilon": 0.5},
        {"delta": None},
        {"confidence": 0.95, "max_rows": None},
        {"bounds": (), "private_bounds": True},
        {"unit": None},
        {"unit": likely_unit(source.schema)},
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


def _passes(request: Request, source: Source, known: DataSet | None) -> bool:
    try:
        asked = ready(request, source, known)
    except LetaloneError:
        return False
    return known is None or asked.fits(known.state)
