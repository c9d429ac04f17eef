"""Opening a table: `la.open`. Nothing but metadata is read.

Tested:   tests/session/test_opening.py
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Self, cast

from letalone.engines.core.provenance import read_rows
from letalone.engines.core.sql_engine import Engine
from letalone.engines.frames.to_arrow import names_of
from letalone.engines.opening import open_engine
from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Spelled, problem
from letalone.errors.remedies import NameBudget, NameUnit
from letalone.exact.typed import expand_home, refusal
from letalone.ledger import DataSet, Ledger
from letalone.ledger.storage.store import NoLedgerYet, is_postgres
from letalone.plans.schema import Column, Schema, unknown_column
from letalone.plans.types import Type
from letalone.plans.unnamed import check_unlisted
from letalone.privacy import Budget, Neighbours, Shares
from letalone.privacy.neighbours import Relation, read_neighbours
from letalone.session import locating
from letalone.session.declared_types import known_types, remember_types, types_of
from letalone.session.locating import ROW, LocatedSource, OpeningCall, Unit
from letalone.session.open_table import OpenTable, Progress
from letalone.session.session import Session
from letalone.sources import recorded
from letalone.sources.files import HOLDER_KINDS

Place = str | PathLike[str]
VOUCHES_ACT = "vouches for the rows as they are"
UNIT_LIKE_NAME = re.compile(
    r"(^|_)(id|key|user|patient|person|customer|member|client|household)", re.I
)


def open(  # noqa: A001  (as people call it: la.open)
    source: object,
    *,
    unit: str | Unit | None = None,
    neighbours: Neighbours | str | None = None,
    budget: Budget | float | None = None,
    ledger: Place | Ledger | None = None,
    name: str | None = None,
    schema: Schema | Place | None = None,
    types: Mapping[str, str | Type] | None = None,
    table: str | None = None,
    side_table: str | None = None,
    rows: str | None = None,
    timeout_seconds: float | None = None,
    encoding: str | None = None,
    copy: bool = False,
    shares: Shares | None = None,
    progress: Progress | None = None,
) -> Session:
    """Opens a table to ask questions about: whose privacy, and how much may be spent.

    source: the path of a Parquet, CSV, JSON lines, Feather, Excel, DuckDB or SQLite file (`table`
    names its table or sheet), a pattern of paths, a folder or a list of paths (with a `name`), a
    pandas, Polars or Arrow frame, a stream or a data set of Arrow, the address of a table on a
    PostgreSQL server, postgresql://user@host/database/schema.table, that of a table on the Spark of
    this machine, spark:catalog.schema.table, a Spark DataFrame, or a Spark session and the name of
    a table, (spark, "catalog.schema.table"). Beside a file, NAME.letalone.toml is read (of a table
    of a database file also NAME.TABLE.letalone.toml); of a table on a server,
    DATABASE.TABLE.letalone.toml in the working folder, of one on Spark
    CATALOG.SCHEMA.TABLE.letalone.toml. Or a schema file that says where its data are.
    unit: the column that identifies a person, or la.ROW where each row is another person's.
    neighbours: la.ADD_REMOVE, unless the schema or this says la.REPLACE.
    budget: what all answers together may reveal; a ledger that knows the data set has it.
    ledger: a path or a la.Ledger; else NAME.letalone.db next to the file (of a table on a server,
    DATABASE.letalone.db, on Spark CATALOG.SCHEMA.letalone.db), where there is one.
    Without one the budget lives in this process only.
    name: the data set's name, which the budget belongs to: else the schema's, the file's, "data".
    schema, types: what is declared; the columns of a CSV file are text until types are. The first
    opening of a pandas frame declares its types, by its dtypes and `types`; the ledger keeps them,
    and every later frame of the name is read by them.
    side_table: not needed any more, and ignored: nothing is written on a server or on Spark.
    rows: "as they are" where how they were made cannot be seen, and you vouch that each is made
    from one person's rows; it is written into the ledger and onto every answer.
    timeout_seconds: on a server or on Spark, how long a statement may run: an hour, or less. A
    statement that reaches it freezes the data set, so it should be far above what questions take.
    encoding: of a CSV file that is not UTF-8, such as "cp1252" for one that Windows wrote; else
    the one that the schema file names.
    copy: that a file at https://, s3:// or gs:// may be copied to this machine, into a file that
    nobody else can read and that is removed when the table is closed.
    shares: how the budget's delta is divided, at the first registration.
    progress: is told how far long work is, from 0 to 1; for the owner of the data only.
    """
    budget = Budget(epsilon=budget) if isinstance(budget, int | float) else budget
    return _open_call(OpeningCall(**locals()))  # its fields are these parameters


def open_registered(source: object, *, schema: Schema, ledger: Ledger) -> Session:
    """Opens what its owner has registered under the schema's name; nothing is written down."""
    return _open_call(
        OpeningCall(source, ledger=ledger, name=schema.name, schema=schema, registered=True)
    )


def _open_call(call: "OpeningCall") -> Session:
    look = look_at(call)
    try:
        look.session()
        return look.register()
    except BaseException:
        look.close()
        raise


def look_at(call: OpeningCall) -> "TableLook":
    """Opens the rows, and the ledger where there is one: metadata is read, nothing is written."""
    where = locating.locate(call)
    ledger, engine = _known_ledger(where.call.ledger), None
    try:
        unit = _unit_of_frame(where, ledger)
        types = _types(call, where, ledger, unit)
        engine = _engine(where, types, unit)
        _check_looked_up(where)
        schema = _with_name(engine.schema(), where)
        return TableLook(where, engine, ledger, schema, types)
    except BaseException:
        if engine is not None:
            engine.close()
        if ledger is not None and not isinstance(call.ledger, Ledger):
            ledger.close()
        raise


def _engine(where: LocatedSource, types: Mapping[str, Type], unit: str | None) -> Engine:
    call, vouched = where.call, read_rows(where.call.rows)
    return locating.contain_engine(
        where.source.words,
        lambda: open_engine(
            where.source.handle,
            schema=where.declared,
            types=types,
            table=call.table,
            unit=unit,
            vouched=vouched,
            timeout_seconds=call.timeout_seconds,
            encoding=call.encoding,
            copy=call.copy,
        ),
    )


class TableLook:
    """A table that was looked at and is not registered: its rows, its schema, its ledger if any.

    `session(unit)` gives a session whose questions can be priced; `register(budget)`, which comes
    last, writes into the ledger (and makes one), and lets them be answered.
    """

    def __init__(
        self,
        where: LocatedSource,
        engine: Engine,
        ledger: Ledger | None,
        schema: Schema,
        types: Mapping[str, Type],
    ) -> None:
        self._where, self._engine, self._types = where, engine, types
        self.ledger, self.schema = ledger, schema
        self.source, self.is_declared = where.source, where.declared is not None
        self._table: OpenTable | None = None

    @property
    def data_set(self) -> DataSet | None:
        """How it stands in the ledger; None where it is not in one."""
        return _known_data_set(self.ledger, self.schema.name)

    @property
    def unit(self) -> str | Unit | None:
        """Whose privacy is protected, as the call, the schema or the ledger says; else None."""
        call, schema = self._where.call, self.schema
        if call.unit is not None:
            return call.unit
        if self.is_declared and schema.unit_declared:
            return schema.unit or ROW
        return _known_unit(self.ledger, schema.name, [column.name for column in schema.columns])

    def session(self, unit: str | Unit | None = None) -> Session:
        """A session for questions at a price, once its unit is known; nothing is registered."""
        call, where, ledger = self._where.call, self._where, self.ledger
        schema = self._protect(unit)
        if call.name is None:
            recorded.check_same_table(ledger, schema.name, self.source, declared=self.is_declared)
        data_set = _known_data_set(ledger, schema.name)
        version = max(schema.version, 1 if data_set is None else data_set.version)
        schema = replace(schema, version=version)
        locating.contain_engine(where.source.words, lambda: self._engine.check(schema))
        near = "" if where.beside is None else f", with {where.beside.name} next to it"
        self._table = OpenTable(
            self._engine,
            schema,
            None if data_set is None else ledger,
            origin=where.source,
            near=near,
            own_ledger=not isinstance(call.ledger, Ledger),
            progress=call.progress,
            types_declared=where.is_frame and bool(self._types),
        )
        return Session(self._table)

    def register(self, budget: Budget | None = None) -> Session:
        """Writes down the budget, and which table it is for; the session's questions are answered.

        Everything that would refuse it has done so: a refused call makes no ledger.
        """
        assert self._table is not None, "session(unit) comes first"
        call, table = self._where.call, self._table
        budget = budget or call.budget
        if budget is None and (known := self.data_set) is not None:
            budget = known.budget
        if budget is None:
            raise _missing_budget(table.schema, call)
        ledger = self.ledger = self._make_ledger() if self.ledger is None else self.ledger
        data_set = ledger.register(
            table.name,
            budget,
            neighbours=table.schema.protects,
            version=table.schema.version,
            shares=call.shares,
        )
        self._remember(ledger)
        table.register(ledger, data_set.version)
        if ledger.path is not None and (file := Path(ledger.path)).is_file():
            table.engine.keep_counts_beside(file)
        if self._where.is_frame and not (self.is_declared or call.name) and ledger.durable:
            table.source += f", to be opened again with name={table.name!r}"
        return Session(table)

    def close(self) -> None:
        """Lets go of the rows, and of a ledger that was opened here."""
        if self._table is None:
            self._engine.close()
        else:
            self._table.close()
        if self.ledger is not None and not isinstance(self._where.call.ledger, Ledger):
            self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _protect(self, unit: str | Unit | None) -> Schema:
        call, schema = self._where.call, self.schema
        whose = call.unit if unit is None else unit
        if whose is None and not (self.is_declared and schema.unit_declared):
            whose = self.unit
        schema = _with_unit(schema, whose, call, declared=self.is_declared)
        if call.neighbours is None:
            return schema
        return replace(schema, neighbours=_relation(call.neighbours))

    def _make_ledger(self) -> Ledger:
        """A new ledger; what another process has meanwhile written into it holds here, too."""
        with ExitStack() as refused:
            ledger, name = _ledger(self._where.call.ledger), self.schema.name
            refused.callback(ledger.close)
            if self._where.call.name is None:
                recorded.check_same_table(ledger, name, self.source, declared=self.is_declared)
            known = known_types(ledger, name)
            if self._where.is_frame and known and known != self._types:
                raise ParameterError(
                    f"{name!r} was opened elsewhere at the same moment, with other types of"
                    " columns. Open it again."
                )
            refused.pop_all()
        return ledger

    def _remember(self, ledger: Ledger) -> None:
        """Writes down which table it is, how it is read, and the owner's word about its rows."""
        call, where, name = self._where.call, self._where, self.schema.name
        if not call.registered:
            given, declared = call.name is not None, self.is_declared
            recorded.remember_table(ledger, name, self.source, declared=declared, given=given)
            remember_types(ledger, name, self._types if where.is_frame else {})
        if call.rows is not None:
            _write_down_vouched(ledger, name, self._engine)


def _write_down_vouched(ledger: Ledger, name: str, engine: Engine) -> None:
    """The owner's word about rows, where it is needed and not yet in the ledger."""
    facts = list(engine.taken_on_trust())
    known = ledger.last_act(name, VOUCHES_ACT)
    if facts and (known is None or known.body["body"] != {"of": facts}):
        ledger.administer(name, VOUCHES_ACT, {"of": facts})


def _unit_of_frame(where: LocatedSource, book: Ledger | None) -> str | None:
    """The column that will be the unit of a frame, before anything of it is read."""
    call, declared = where.call, where.declared
    if not where.is_frame:
        return None
    whose = call.unit or (None if declared is None else declared.unit)
    if whose is None:
        name = call.name or (where.source.name if declared is None else declared.name)
        whose = _known_unit(book, name, names_of(where.source.handle))
    return whose if isinstance(whose, str) else None


def _types(
    call: OpeningCall, where: LocatedSource, book: Ledger | None, unit: str | None
) -> dict[str, Type]:
    """The types that are declared: by the call, and of a frame also by its first opening."""
    source, declared = where.source.handle, where.declared
    if declared is not None and call.types is not None:
        file = where.source.schema_file if call.schema is None else None
        which = "" if file is None else f" ({file.name})"
        raise ParameterError(
            f"Both a schema{which} and types are given. The schema has the types: leave types out,"
            " or change them there."
        )
    given = _read_types(call.types)
    if declared is not None or not where.is_frame:
        return given
    return types_of(
        source,
        given,
        known_types(book, call.name or where.source.name),
        unit,
    )


def _read_types(types: object) -> dict[str, Type]:
    if types is None:
        return {}
    if not isinstance(types, Mapping):
        raise refusal("types", types, "a mapping, such as {'age': 'integer'}")
    given = cast("Mapping[str, Type]", types)
    return {name: Column(name, kind).type for name, kind in given.items()}


def _check_looked_up(where: LocatedSource) -> None:
    """Refuses a table that could be opened, but not looked up a moment before: it would be called
    by its file, and have a second budget."""
    source = where.source
    if source.kind in HOLDER_KINDS and len(source.identity) == len(("file", "path")):
        raise ParameterError(f"{source.words} was in use when it was looked at. Open it again.")


def _with_name(schema: Schema, where: LocatedSource) -> Schema:
    """By the name that was given, else the schema's, else the source's."""
    if where.call.name is not None:
        return replace(schema, name=where.call.name)
    is_named = where.declared is not None or not where.source.name
    return schema if is_named else replace(schema, name=where.source.name)


def _with_unit(
    schema: Schema, unit: str | Unit | None, call: OpeningCall, *, declared: bool
) -> Schema:
    """The schema with its unit, which somebody must have said."""
    if unit is None:
        if not declared or not schema.unit_declared:
            raise _missing_unit(schema, call)
        _check_unit(schema)
        return schema
    if unit is not ROW and not isinstance(unit, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise refusal("unit", unit, "the name of a column, or la.ROW")
    if declared and schema.unit is not None and unit != schema.unit:
        raise ParameterError(
            f"unit is {unit!r}, but the schema says that the unit is {schema.unit!r}. Leave unit"
            " out, or change the schema."
        )
    names = [column.name for column in schema.columns]
    if unit is not ROW and unit not in names:
        error = unknown_column(unit, names, table=schema.name)
        if unit != "row":
            raise error
        start = f"{error} If each row is another person's,"
        words = Spelled(f"{start} give unit=la.ROW.", http=f"{start} leave unit out.")
        raise ParameterError(problem(error.code, words=words))
    protected = schema.protecting(None if unit is ROW else unit)
    _check_unit(protected)
    return protected


def _check_unit(schema: Schema) -> None:
    if schema.unit is None:
        return
    column = schema.column(schema.unit)
    check_unlisted(column)
    if column.type is Type.OTHER:
        raise ParameterError(
            f"The unit {schema.unit!r} is a column whose values cannot be distinguished. Choose a"
            " column of text or whole numbers."
        )


def _missing_unit(schema: Schema, call: OpeningCall) -> ParameterError:
    names = tuple(column.name for column in schema.columns)
    likely = next((name for name in names if UNIT_LIKE_NAME.search(name)), names[0])
    listed = ", ".join(f"{column.name} ({column.type.value})" for column in schema.columns[:30])
    more = f" and {len(names) - 30} more" if len(names) > 30 else ""
    words = (
        "unit is missing: say whose privacy is protected, by the column that identifies a person,"
        f" or la.ROW if each row is another person's. The columns are: {listed}{more}. For"
        f" example: {call.corrected(likely)}"
    )
    options = Code.MISSING_UNIT.template.format(columns=", ".join(names))
    missing = problem(
        Code.MISSING_UNIT, NameUnit(likely, names), words=Spelled(words, options), columns=names
    )
    return ParameterError(replace(missing, advised=True))


def _ledger(ledger: object) -> Ledger:
    if ledger is None:
        return Ledger.in_memory()
    if isinstance(ledger, str | PathLike):
        return Ledger.open(cast("Place", ledger))
    raise refusal("ledger", ledger, "the path of a file, or a la.Ledger")


def _missing_budget(schema: Schema, call: OpeningCall) -> ParameterError:
    words = (
        f"budget is missing: the ledger has no data set {schema.name!r} yet. Say how much all"
        f" answers together may reveal, for example: {call.corrected(schema.unit or ROW)}"
    )
    spelled = Spelled(words, Code.MISSING_BUDGET.template)
    missing = problem(Code.MISSING_BUDGET, NameBudget(1), words=spelled, name=schema.name)
    return ParameterError(replace(missing, advised=True))


def _known_ledger(ledger: object) -> Ledger | None:
    """The ledger that was given, or that is there: one that is not is made when it is needed."""
    if isinstance(ledger, Ledger):
        return ledger
    if not isinstance(ledger, str | PathLike):
        return None
    place = cast("Place", ledger)
    if not is_postgres(place):
        return _ledger(place) if expand_home(place).is_file() else None
    try:
        return Ledger.open(place, create=False)
    except NoLedgerYet:
        return None


def _known_data_set(ledger: Ledger | None, name: str) -> DataSet | None:
    try:
        return None if ledger is None else ledger.data_set(name)
    except ParameterError:
        return None


def _known_unit(ledger: Ledger | None, name: str, names: Sequence[str]) -> str | Unit | None:
    """The unit that the ledger protects under this name, where it is in it and in the table."""
    data_set = _known_data_set(ledger, name)
    unit = None if data_set is None else data_set.neighbours.unit
    return unit if unit in names else ROW if unit == "row" else None


def _relation(neighbours: object) -> Neighbours:
    """The neighbours, or those that a schema file's word for them names."""
    words = {relation.value: Neighbours(relation) for relation in Relation}
    return read_neighbours(
        words.get(neighbours, neighbours) if isinstance(neighbours, str) else neighbours
    )
