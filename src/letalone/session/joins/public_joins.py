"""A public table beside the private one: its columns and types, from metadata."""

from collections.abc import Mapping, Sequence
from typing import cast

from letalone.engines.core.stored_types import check_columns
from letalone.engines.frames.arrow import columns_of
from letalone.engines.frames.to_arrow import FRAMES, as_arrow, is_frame, read_public, table_digest
from letalone.errors import ParameterError
from letalone.exact.typed import refusal
from letalone.plans.plan import PublicJoin
from letalone.plans.schema import Column, Schema
from letalone.session.backend import Backend


def public_join(
    table: Backend, frame: object, *, rows: Schema, on: object, name: str, outer: bool = False
) -> PublicJoin:
    """The join, known to the engine; the frame is public, so errors may say what is wrong.

    `rows` are the columns of the rows that get a partner.
    """
    if isinstance(frame, str) or hasattr(frame, "__fspath__"):
        frame = read_public(frame)
    if not is_frame(frame):
        kind = type(frame).__name__
        raise ParameterError(f"The public table is {kind}, but must be {FRAMES}, or a file.")
    join = join_of(rows, frame, on=on, name=name, outer=outer)
    table.know(join, frame)
    return join


def join_of(
    rows: Schema, frame: object, *, on: object, name: str, outer: bool = False
) -> PublicJoin:
    """The join of a public frame to rows of this kind, from metadata."""
    pairs = _pairs(on)
    public = describe_public(frame, name)
    for mine, theirs in pairs:
        _check_pair(rows, public, mine, theirs)
    keys = {theirs for _, theirs in pairs}
    added = tuple(column for column in public.columns if column.name not in keys)
    return PublicJoin(name, pairs, added, table_digest(frame), outer)


def describe_public(frame: object, name: str) -> Schema:
    """The columns of a public frame, from metadata."""
    columns = columns_of(as_arrow(frame))
    check_columns([column for column, _ in columns], "The frame")
    return Schema(name, tuple(Column(column, kind) for column, kind in columns))


def _check_pair(private: Schema, public: Schema, left: str, right: str) -> None:
    mine, theirs = private.column(left).type, public.column(right).type
    if mine.of_keys is not theirs.of_keys:
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
