"""Reads stored plans, format 1: what the ledger hashes and receipts carry (`plans.records`).

Tested:   tests/plans/test_stored.py: the round trip, damaged and newer files, a sample of
          every past format
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from json import loads
from typing import cast

from letalone.errors import FormatError, LetaloneError
from letalone.errors.spelling import check_format
from letalone.plans.expressions import DEEPEST
from letalone.plans.plan import FORMAT, KIND, Plan
from letalone.plans.records import LATER, Json, read_fields

DAMAGE = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)
# Deeper than any admitted plan: lists and records alternate around nested expressions.
MAX_DEPTH = 4 * DEEPEST


def plan_from_json(stored: Mapping[str, object] | str) -> Plan:
    """The plan that `to_json` stored; refuses what is damaged or newer than this letalone."""
    document = _read_document(stored)
    without = "This is not a stored plan: it has no 'format' number."
    check_format("This plan", document, FORMAT, otherwise=without)
    if document.get("kind") != KIND:
        raise FormatError("This is not a stored plan: its kind is another.")
    try:
        return _read_plan(document)
    except FormatError:
        raise
    except LetaloneError as error:
        raise FormatError(f"This plan is damaged: {error}") from None
    except DAMAGE:
        raise FormatError(
            "This plan is damaged: a field is not what to_json writes there."
        ) from None


def _read_document(stored: Mapping[str, object] | str) -> Json:
    try:
        text = isinstance(stored, str | bytes)
        document: object = loads(stored, object_pairs_hook=_once_each) if text else stored
    except (ValueError, RecursionError):
        raise FormatError("This text is not JSON. Give the whole of what was stored.") from None
    if not isinstance(document, Mapping):
        raise FormatError("This is not a stored plan: it must be a JSON object.")
    return dict(cast("Mapping[str, object]", document))


def _once_each(pairs: list[tuple[str, object]]) -> Json:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name comes twice")
    return dict(pairs)


def _read_plan(document: Json) -> Plan:
    make = cast("Callable[..., Plan]", Plan)
    names = [part.name for part in fields(Plan) if part.name in document or part.name not in LATER]
    plan = make(**read_fields(Plan, document, names, depth=MAX_DEPTH))
    if plan.to_json() != document:  # an unknown field, or a second spelling of the same plan
        raise FormatError("This plan is damaged: it is not spelled as to_json spells it.")
    return plan
