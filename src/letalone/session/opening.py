"""Opening a table: `la.open`. Nothing but metadata is read.

Tested:   tests/session/test_opening.py
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import has_magic
from os import PathLike, fspath
from pathlib import Path
from typing import TypeVar, cast

from letalone.engines.addresses import check_address, in_words, is_address, stand_in, whole_name
from letalone.engines.failure import EngineFailed
from letalone.engines.frames import is_frame, names_of
from letalone.engines.measures import Engine
from letalone.engines.opening import open_engine
from letalone.engines.provenance import read_rows
from letalone.engines.spark_address import is_spark, is_spark_address, located, words_of
from letalone.errors import ParameterError
from letalone.errors.problem import Spelled, problem
from letalone.exact.typed import refusal
from letalone.ledger import DataSet, Ledger
from letalone.plans.schema import Column, Schema, ledger_path, schema_path, unknown_column
from letalone.plans.schema_file import read_side_table
from letalone.plans.types import Type
from letalone.plans.unnamed import check_unlisted
from letalone.privacy import Budget, Neighbours, Shares
from letalone.privacy.neighbours import Relation, read_neighbours
from letalone.session.beside import is_schema_file, schema_beside, source_of
from letalone.session.declared_types import NAME, known_types, remember_types, types_of
from letalone.session.same_table import check_named, check_same_table, remember_table, told_of
from letalone.session.session import Session
from letalone.session.table import Progress, Table
from letalone.session.unit import ROW, Unit

Place = str | PathLike[str]
Result = TypeVar("Result")
VOUCHED = "vouches for the rows as they are"
TELLING = re.compile(r"(^|_)(id|key|user|patient|person|customer|member|client|household)", re.I)


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
    shares: Shares | None = None,
    progress: Progress | None = None,
) -> Session:
    """Opens a table to ask questions about: whose privacy, and how much may be spent.

    source: the path of a Parquet, CSV or DuckDB file (`table` names its table), a pattern of
    paths, a pandas, Polars or Arrow frame, the address of a table on a PostgreSQL server,
    postgresql://user@host/database/schema.table, that of a table on the Spark of this machine,
    spark:catalog.schema.table, a Spark DataFrame, or a Spark session and the name of a table,
    (spark, "catalog.schema.table"). Beside a file, NAME.letalone.toml is read (of a DuckDB file's
    table also NAME.TABLE.letalone.toml); of a table on a server, DATABASE.TABLE.letalone.toml in
    the working folder, of one on Spark CATALOG.SCHEMA.TABLE.letalone.toml. Or a schema file that
    says where its data are.
    unit: the column that tells people apart, or la.ROW where each row is another person's.
    neighbours: la.ADD_REMOVE, unless the schema or this says la.REPLACE.
    budget: what all answers together may reveal; a ledger that knows the data set has it.
    ledger: a path or a la.Ledger; else NAME.letalone.db beside the file (of a table on a server,
    DATABASE.letalone.db, on Spark CATALOG.SCHEMA.letalone.db), where there is one.
    Without one the budget lives in this process only.
    name: the data set's name, which the budget belongs to: else the schema's, the file's, "data".
    schema, types: what is declared; the columns of a CSV file are text until types are. The first
    opening of a pandas frame declares its types, by its dtypes and `types`; the ledger keeps them,
    and every later frame of the name is read by them.
    side_table: on a server or on Spark, a table that may be written: a copy with ranks, which makes
    questions that bound a unit's rows about as fast as others. Without it nothing is written there,
    unless the schema file has side_table = "schema.name".
    rows: "as they are" where how they were made cannot be seen, and you vouch that each is made
    from one person's rows; it is written into the ledger and onto every answer.
    timeout_seconds: on a server or on Spark, how long a statement may run: an hour, or less. A
    statement that reaches it freezes the data set, so it should be far above what questions take.
    shares: how the budget's delta is divided, at the first registration.
    progress: is told how far long work is, from 0 to 1; for the owner of the data only.
    """
    asked = _Asked(
        source=source,
        unit=unit,
        neighbours=neighbours,
        budget=Budget(epsilon=budget) if isinstance(budget, int | float) else budget,
        ledger=ledger,
        name=name,
        schema=schema,
        types=types,
        table=table,
        side_table=side_table,
        rows=rows,
        timeout_seconds=timeout_seconds,
        shares=shares,
        progress=progress,
    )
    return _opened(asked)


def open_registered(source: object, *, schema: Schema, ledger: Ledger) -> Session:
    """Opens what its owner has registered under the schema's name; nothing is written down."""
    return _opened(_Asked(source, ledger=ledger, name=schema.name, schema=schema, registered=True))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A call as it was made."""

    source: object
    unit: str | Unit | None = None
    neighbours: Neighbours | str | None = None
    budget: Budget | None = None
    ledger: Place | Ledger | None = None
    name: str | None = None
    schema: Schema | Place | None = None
    types: Mapping[str, str | Type] | None = None
    table: str | None = None
    side_table: str | None = None
    rows: str | None = None
    timeout_seconds: float | None = None
    shares: Shares | None = None
    progress: Progress | None = None
    registered: bool = False

    def corrected(self, unit: str | Unit | None, *, budget: str = "la.Budget(epsilon=1)") -> str:
        """The call with what was missing."""
        path = isinstance(self.source, str | PathLike)
        given = [repr(fspath(cast("Place", self.source))) if path else "frame"]
        if unit is not None:
            given.append(f"unit={unit!r}")
        has = isinstance(self.budget, Budget)
        given.append(f"budget=la.{self.budget!r}" if has else f"budget={budget}")
        if isinstance(self.ledger, str | PathLike):
            given.append(f"ledger={fspath(self.ledger)!r}")
        if isinstance(self.name, str):
            given.append(f"name={self.name!r}")
        return f"la.open({', '.join(given)})"


def _opened(asked: _Asked) -> Session:
    source, schema, table = asked.source, asked.schema, asked.table
    file = source if is_schema_file(source) else None
    if file is not None and schema is None:
        source, schema = source_of(cast("Place", file)), Path(cast("Place", file)).expanduser()
    written, source = source, _located(source, table)
    beside = _beside(source if file is None else file) if asked.ledger is None else None
    whole = _opening(source, lambda: whole_name(source, table))
    ledger = asked.ledger if beside is None else beside
    call = replace(asked, source=written, ledger=ledger)
    declared = _declared(source, schema, table)
    if asked.name is None and declared is None:
        check_named(source)
    side_table = asked.side_table or _declared_side_table(source, schema, table)
    own = not isinstance(ledger, Ledger)
    book: Ledger | None = None
    engine: Engine | None = None
    try:
        if isinstance(ledger, Ledger) or _is_there(ledger):
            book = ledger if isinstance(ledger, Ledger) else _ledger(ledger)
        unit = _unit_of_frame(asked, source, declared, book)
        types = _types(asked, source, declared, book, unit)
        vouched = read_rows(asked.rows)
        engine = _opening(
            source,
            lambda: open_engine(
                source,
                schema=declared,
                types=types,
                table=table,
                side_table=side_table,
                unit=unit,
                vouched=vouched,
                timeout_seconds=asked.timeout_seconds,
            ),
        )
        found = _named(engine.schema(), asked.name, source=source, declared=declared is not None)
        whose = asked.unit
        if whose is None and not (declared is not None and declared.unit_declared):
            whose = _known_unit(book, found.name, [column.name for column in found.columns])
        found = _with_unit(found, whose, call, declared=declared is not None)
        if asked.neighbours is not None:
            found = replace(found, neighbours=_relation(asked.neighbours))
        told, given = _opening(source, lambda: told_of(source, table)), asked.name is not None
        if not given:
            check_same_table(book, found.name, told, declared=declared is not None)
        _check(engine, found, book, source)
        book = _ledger(ledger) if book is None else book
        known = _registered(book, found, call)
        if not asked.registered:
            remember_table(book, found.name, told, declared=declared is not None, given=given)
            remember_types(book, found.name, types if is_frame(source) else {})
        if asked.rows is not None:
            _write_down_vouched(book, found.name, engine)
    except BaseException:
        if engine is not None:
            engine.close()
        if own and book is not None:
            book.close()
        raise
    found = replace(found, version=known.version)
    words = _words(source) + ("" if beside is None else f", with {beside.name} beside it")
    if is_frame(source) and declared is None and not given and book.durable:
        words += f", to be opened again with name={found.name!r}"
    opened = Table(
        engine,
        found,
        book,
        source=words,
        own_ledger=own,
        progress=asked.progress,
        whole_name=whole,
        types_declared=is_frame(source) and bool(types),
    )
    return Session(opened)


def _declared(source: object, schema: object, table: str | None) -> Schema | None:
    """The schema that was given, or that lies beside the file."""
    if isinstance(schema, Schema):
        return schema
    if isinstance(schema, str | PathLike):
        return Schema.read(Path(cast("Place", schema)))
    if schema is not None:
        raise refusal("schema", schema, "a la.Schema or the path of a schema file")
    beside = _schema_file(source, table)
    return None if beside is None else Schema.read(beside)


def _declared_side_table(source: object, schema: object, table: str | None) -> str | None:
    """The copy that the schema file allows, where the data are on a server."""
    if not (is_address(source) or is_spark(source)) or isinstance(schema, Schema):
        return None
    given = Path(cast("Place", schema)) if isinstance(schema, str | PathLike) else None
    file = given or _schema_file(source, table)
    return None if file is None else read_side_table(file)


def _schema_file(source: object, table: str | None) -> Path | None:
    """The schema file beside the data, where there is one."""
    if is_spark(source):
        elsewhere = _opening(source, lambda: stand_in(source))
        beside = None if elsewhere is None else schema_path(*elsewhere)
    else:
        path = isinstance(source, str | PathLike)
        beside = schema_beside(cast("Place", source), table) if path else None
    return beside if beside is not None and beside.is_file() else None


def _located(source: object, table: str | None) -> object:
    """An address of Spark as a session and a whole name; all else as it is."""
    if not isinstance(source, str) or not is_spark_address(source):
        return source
    check_address(source, table)
    return _opening(source, lambda: located(source))


def _write_down_vouched(ledger: Ledger, name: str, engine: Engine) -> None:
    """The owner's word about rows, where it is needed and not yet in the ledger."""
    of = list(engine.taken_on_trust())
    known = ledger.last_act(name, VOUCHED)
    if of and (known is None or known.body["body"] != {"of": of}):
        ledger.administer(name, VOUCHED, {"of": of})


def _check(engine: Engine, schema: Schema, ledger: Ledger | None, source: object) -> None:
    """Whether all fits together, before anything is registered or charged."""
    version = max(schema.version, _known_version(ledger, schema.name))
    _opening(source, lambda: engine.check(replace(schema, version=version)))


def _opening(source: object, run: Callable[[], Result]) -> Result:
    """What `run` returns; an engine that gives up is a source that cannot be opened."""
    try:
        return run()
    except EngineFailed:
        pass  # raised below, without what the engine said
    raise ParameterError(
        f"{_words(source)} cannot be opened: it is damaged, in use, or not what its name says."
    )


def _unit_of_frame(
    asked: _Asked, source: object, declared: Schema | None, book: Ledger | None
) -> str | None:
    """The column that will be the unit of a frame, before anything of it is read."""
    if not is_frame(source):
        return None
    whose = asked.unit or (None if declared is None else declared.unit)
    if whose is None:
        name = asked.name or (NAME if declared is None else declared.name)
        whose = _known_unit(book, name, names_of(source))
    return whose if isinstance(whose, str) else None


def _types(
    asked: _Asked, source: object, declared: Schema | None, book: Ledger | None, unit: str | None
) -> dict[str, Type]:
    """The types that are declared: by the call, and of a frame also by its first opening."""
    if declared is not None and asked.types is not None:
        raise ParameterError(
            f"Both a schema{_schema_words(asked, source)} and types are given. The schema has the"
            " types: leave types out, or change them there."
        )
    given = _read_types(asked.types)
    if declared is not None or not is_frame(source):
        return given
    return types_of(source, given, known_types(book, asked.name or NAME), unit)


def _schema_words(asked: _Asked, source: object) -> str:
    """Which file the schema is from, where the call does not name one."""
    if asked.schema is not None:
        return ""
    own = cast("Place", asked.source) if is_schema_file(asked.source) else None
    file = own or _schema_file(source, asked.table)
    return "" if file is None else f" ({Path(file).name})"


def _read_types(types: object) -> dict[str, Type]:
    if types is None:
        return {}
    if not isinstance(types, Mapping):
        raise refusal("types", types, "a mapping, such as {'age': 'integer'}")
    given = cast("Mapping[str, Type]", types)
    return {name: Column(name, kind).type for name, kind in given.items()}


def _named(schema: Schema, name: str | None, *, source: object, declared: bool) -> Schema:
    """By the name that was given, else the schema's, else that of the file or the pattern."""
    if name is not None:
        return replace(schema, name=name)
    if declared or not _is_path(source):
        return schema
    written = fspath(cast("Place", source))
    if not has_magic(written) or Path(written).exists():
        return schema
    # Which files match may change, and the budget must not begin anew then.
    fixed = [re.sub(r"[\W_]+", "_", re.sub(r"\[.*?\]", "*", p)).strip("_") for p in _parts(written)]
    return replace(schema, name=next((part for part in fixed if part), "data"))


def _parts(pattern: str) -> list[str]:
    """The last name of a pattern without its ending, then the folders above it."""
    path = Path(pattern)
    return [path.stem, *(parent.name for parent in path.parents)]


def _with_unit(schema: Schema, unit: str | Unit | None, call: _Asked, *, declared: bool) -> Schema:
    """The schema with its unit, which somebody must have said."""
    if unit is None:
        if not declared or not schema.unit_declared:
            raise ParameterError(_no_unit(schema, call))
        _check_unit(schema)
        return schema
    if unit is not ROW and not isinstance(unit, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise refusal("unit", unit, "the name of a column, or la.ROW")
    if declared and schema.unit is not None and unit != schema.unit:
        raise ParameterError(
            f"unit is {unit!r}, but the schema says that the unit is {schema.unit!r}. Leave unit"
            " out, or change the schema."
        )
    if unit is not ROW and unit not in [column.name for column in schema.columns]:
        error = unknown_column(unit, [column.name for column in schema.columns], table=schema.name)
        if unit != "row":
            raise error
        told = f"{error} If each row is another person's,"
        sentence = Spelled(f"{told} give unit=la.ROW.", http=f"{told} leave unit out.")
        raise ParameterError(problem(error.code, sentence=sentence))
    found = schema.protecting(None if unit is ROW else unit)
    _check_unit(found)
    return found


def _check_unit(schema: Schema) -> None:
    if schema.unit is not None:
        check_unlisted(schema.column(schema.unit))
    if schema.unit is not None and schema.column(schema.unit).type is Type.OTHER:
        raise ParameterError(
            f"The unit {schema.unit!r} is a column whose values cannot be told apart. Choose a"
            " column of text or whole numbers."
        )


def _no_unit(schema: Schema, call: _Asked) -> str:
    names = [column.name for column in schema.columns]
    likely = next((name for name in names if TELLING.search(name)), names[0])
    listed = ", ".join(f"{column.name} ({column.type.value})" for column in schema.columns[:30])
    more = f" and {len(names) - 30} more" if len(names) > 30 else ""
    return (
        "unit is missing: say whose privacy is protected, by the column that tells people apart,"
        f" or la.ROW if each row is another person's. The columns are: {listed}{more}. For"
        f" example: {call.corrected(likely)}"
    )


def _ledger(ledger: object) -> Ledger:
    if ledger is None:
        return Ledger.in_memory()
    if isinstance(ledger, str | PathLike):
        return Ledger.open(cast("Place", ledger))
    raise refusal("ledger", ledger, "the path of a file, or a la.Ledger")


def _registered(ledger: Ledger, schema: Schema, call: _Asked) -> DataSet:
    """The data set in the ledger: a new one, or the one that goes on under this name."""
    budget = call.budget or _known_budget(ledger, schema.name)
    if budget is None:
        raise ParameterError(
            f"budget is missing: the ledger has no data set {schema.name!r} yet. Say how much all"
            f" answers together may reveal, for example: {call.corrected(schema.unit or ROW)}"
        )
    return ledger.register(
        schema.name, budget, neighbours=schema.protects, version=schema.version, shares=call.shares
    )


def _is_there(ledger: object) -> bool:
    """Whether a ledger can be looked at: a refused call must not make one."""
    return isinstance(ledger, str | PathLike) and Path(cast("Place", ledger)).is_file()


def _known_unit(ledger: Ledger | None, name: str, names: Sequence[str]) -> str | Unit | None:
    """The unit that the ledger protects under this name, where it is in it and in the table."""
    try:
        unit = None if ledger is None else ledger.data_set(name).neighbours.unit
    except ParameterError:
        return None
    return unit if unit in names else ROW if unit == "row" else None


def _known_version(ledger: Ledger | None, name: str) -> int:
    try:
        return 1 if ledger is None else ledger.data_set(name).version
    except ParameterError:
        return 1


def _known_budget(ledger: Ledger, name: str) -> Budget | None:
    try:
        return ledger.data_set(name).budget
    except ParameterError:
        return None


def _relation(neighbours: object) -> Neighbours:
    """The neighbours, or those that a schema file's word for them names."""
    words = {relation.value: Neighbours(relation) for relation in Relation}
    return read_neighbours(
        words.get(neighbours, neighbours) if isinstance(neighbours, str) else neighbours
    )


def _beside(source: object) -> Path | None:
    """The ledger that the command line keeps beside a file, where there is one."""
    if is_address(source) or is_spark(source):
        elsewhere = _opening(source, lambda: stand_in(source))
        path = None if elsewhere is None else elsewhere[0]
    else:
        is_path = isinstance(source, str | PathLike)
        path = Path(fspath(cast("Place", source))).expanduser() if is_path else None
    if path is None:
        return None
    found = ledger_path(path)
    return found if found.is_file() else None


def _is_path(source: object) -> bool:
    return not is_address(source) and isinstance(source, str | PathLike)


def _words(source: object) -> str:
    if is_spark(source):
        return words_of(source)
    if is_frame(source):
        return f"a {type(source).__module__.split('.')[0]} frame"
    if isinstance(source, str) and is_address(source):
        return in_words(source)
    if isinstance(source, str | PathLike):
        return Path(cast("Place", source)).name
    return type(source).__name__
