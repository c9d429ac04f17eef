"""A public table beside the private one: its columns and types, from metadata."""

from collections.abc import Mapping, Sequence
from typing import cast

from letalone.engines.duck import open_duck
from letalone.engines.frames import FRAMES, is_frame, table_digest
from letalone.errors import ParameterError
from letalone.exact.typed import refusal
from letalone.plans.query import PublicJoin
from letalone.plans.schema import Schema
from letalone.session.table import Table


def public_join(table: Table, frame: object, *, on: object, name: str) -> PublicJoin:
    """The join, known to the engine; the frame is public, so errors may say what is wrong."""
    if not is_frame(frame):
        kind = type(frame).__name__
        raise ParameterError(f"The public table is {kind}, but must be {FRAMES}. Read it first.")
    pairs = _pairs(on)
    public = _described(frame, name)
    for left, right in pairs:
        _check_pair(table.schema, public, left, right)
    keys = {right for _, right in pairs}
    added = tuple(column for column in public.columns if column.name not in keys)
    join = PublicJoin(name, pairs, added, table_digest(frame))
    table.know(join, frame)
    return join


def _described(frame: object, name: str) -> Schema:
    engine = open_duck(frame)
    try:
        return Schema(name, engine.schema().columns)
    finally:
        engine.close()


def _check_pair(private: Schema, public: Schema, left: str, right: str) -> None:
    mine, theirs = private.column(left).type, public.column(right).type
    if mine is not theirs:
        raise ParameterError(
            f"Column {left!r} is {mine.value} and {right!r} of the public table is"
            f" {theirs.value}, but columns to join on must have the same type. Convert one."
        )


def _pairs(on: object) -> tuple[tuple[str, str], ...]:
    match on:
        case str():
            return ((on, on),)
        case Mapping():
            pairs = tuple(cast("Mapping[str, str]", on).items())
        case list() | tuple():
            pairs = tuple((name, name) for name in cast("Sequence[str]", on))
        case _:
            pairs = ()
    if not pairs or not all(isinstance(name, str) for pair in pairs for name in pair):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise refusal(
            "on", cast("object", on), "a column, a list of columns, or {'mine': 'theirs'}"
        )
    return pairs
