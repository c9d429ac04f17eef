"""Another private table beside the first: joined on the unit, and charged the same.

Of the other table one row of each unit counts, so a question moves as far as it would without it:
neighbours differ in one unit's rows in both tables. Both budgets are charged the whole price.

Theorem.  The answer keeps its curve for neighbours that differ in one unit in either table, or in
both at once.
  Proven:   docs/explanation/proofs/tables.md, section 8
  Tested:   tests/session/test_partners.py, tests/engines/test_partners.py
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, cast

from letalone.errors import NeighboursDiffer, ParameterError
from letalone.exact.typed import refusal
from letalone.plans.expressions import column_names
from letalone.plans.plan import Plan, PrivateJoin
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.session.backend import Backend
from letalone.session.notes import expressions_in

if TYPE_CHECKING:
    from letalone.session.open_table import OpenTable


def private_join(
    table: Backend, other: Backend, *, on: object, columns: Sequence[str] | None
) -> PrivateJoin:
    """The join with another open table, checked by metadata alone."""
    other.check_open()
    _check_two(table, other)
    units = _unit(table), _unit(other)
    if _pair(on) != units:
        spelled = units[0] if units[0] == units[1] else units
        raise ParameterError(
            f"Two private tables are joined on their units, which are {units[0]!r} and"
            f" {units[1]!r}: give on={spelled!r}."
        )
    _check_alike(table, other)
    table.meet(other)
    return PrivateJoin(other.name, (units,), _columns(other.schema, columns), other.schema.version)


def partners_of(table: "OpenTable", plans: Sequence[Plan]) -> "list[OpenTable]":
    """The other tables of the questions, by name."""
    joins = {join.name: join for plan in plans for join in plan.partners}
    for join in (join for plan in plans for join in plan.partners):
        _check_as_joined(table.partner(join.name), join)
    return [table.partner(name) for name in sorted(joins)]


def read_from_text(table: Backend, plan: Plan) -> frozenset[str]:
    """The columns of all tables that are stored as text and declared to be something else."""
    names = set(table.from_text)
    for join in plan.partners:
        theirs = table.partner(join.name).from_text
        names |= {column.name for column in join.columns if column.name in theirs}
    return frozenset(names)


def columns_in_utc(table: "OpenTable", plan: Plan) -> frozenset[str]:
    """The columns of all tables that are stored with a time zone, and counted in UTC."""
    names = set(table.engine.counted_in_utc())
    for join in plan.partners:
        theirs = table.partner(join.name).engine.counted_in_utc()
        names |= {column.name for column in join.columns if column.name in theirs}
    return frozenset(names)


def taken_on_trust(table: "OpenTable", plan: Plan) -> tuple[str, ...]:
    """What is not seen of how the rows of the tables were made, each sentence once."""
    engines = [table.engine, *(table.partner(join.name).engine for join in plan.partners)]
    return tuple(
        dict.fromkeys(sentence for engine in engines for sentence in engine.taken_on_trust())
    )


@contextmanager
def lock_tables(tables: "Sequence[OpenTable]") -> Generator[None]:
    """All tables, locked in one order, so that nobody waits for somebody who waits."""
    with ExitStack() as stack:
        for table in sorted(tables, key=lambda table: (table.name, id(table))):
            stack.enter_context(table.lock)
        for table in tables:
            table.check_open()
        yield


def lend_columns(table: "OpenTable", plan: Plan) -> Mapping[str, object]:
    """What the other tables lend to the engine: private."""
    names = {name for expression in expressions_in(plan) for name in column_names(expression)}
    joins = (*plan.joins, *(() if plan.per_unit is None else plan.per_unit.joins))
    names |= {mine for join in joins for mine, _ in join.on}
    columns: dict[str, object] = {}
    for join in plan.partners:
        other = table.partner(join.name)
        columns[join.name] = other.engine.lend(other.schema, join, names)
    return columns


def _check_as_joined(other: Backend, join: PrivateJoin) -> None:
    """Before anything is charged: a column that is gone would make the engine fail."""
    other.check_open()
    gone = [column for column in join.columns if column not in other.schema.columns]
    if gone or join.on[0][1] != other.schema.unit:
        raise ParameterError(
            f"The data set {join.name!r} was opened again with other columns. Join it again."
        )


def _check_two(table: Backend, other: Backend) -> None:
    if not table.is_same_table(other):
        return
    if table.name.casefold() == other.name.casefold():
        raise ParameterError(
            f"Both tables are the data set {table.name!r}. A table is not joined with itself; if"
            " they are different data, open one under another name: la.open(…, name='patients')."
        )
    raise ParameterError(
        f"{table.name!r} and {other.name!r} are one table under two names. A table is not"
        " joined with itself: open the other one."
    )


def _unit(table: Backend) -> str:
    if table.schema.unit is None:
        raise ParameterError(
            "Two private tables are joined on the column that identifies a person, but the unit of"
            f" {table.name!r} is the row. Open it with unit='patient_id'."
        )
    return table.schema.unit


def _check_alike(table: Backend, other: Backend) -> None:
    if table.schema.neighbours != other.schema.neighbours:
        raise NeighboursDiffer(
            f"{table.name!r} protects '{table.schema.protects}' and {other.name!r}"
            f" '{other.schema.protects}'. Open both with the same neighbours=."
        )
    places = [each.place() for each in (table, other)]
    if places[0] != places[1]:
        raise ParameterError(
            f"{table.name!r} is in {places[0]} and {other.name!r} in {places[1]}. Private tables"
            " are joined where they are: open both from files, or from one database by one role."
        )
    kinds = [each.unit_kind(_unit(each)) for each in (table, other)]
    if kinds[0] != kinds[1]:
        raise ParameterError(
            f"The unit of {table.name!r} is stored as {kinds[0]} and that of {other.name!r} as"
            f" {kinds[1]}. Units are compared as they are stored, and never converted, so both must"
            " be stored alike. Convert one in the data."
        )


def _columns(schema: Schema, wanted: object) -> tuple[Column, ...]:
    known = [column for column in schema.columns if column.name != schema.unit]
    if wanted is None:
        return tuple(column for column in known if column.type is not Type.OTHER)
    if isinstance(wanted, str) or not isinstance(wanted, Sequence):
        raise refusal("columns", wanted, "a list of columns of the other table")
    return tuple(schema.column(name) for name in cast("Sequence[str]", wanted))


def _pair(on: object) -> tuple[object, ...]:
    if isinstance(on, str):
        return on, on
    if isinstance(on, Mapping):
        pairs = cast("Mapping[object, object]", on).items()
        return next(iter(pairs)) if len(pairs) == 1 else ()
    return tuple(cast("Sequence[object]", on)) if isinstance(on, Sequence) else ()
