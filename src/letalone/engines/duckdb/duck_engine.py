"""The engine that runs on DuckDB: files and frames, exact sums, rows of units counted once.

  Tested:   tests/engines/test_engine_laws.py, which every engine has to pass
  Assumed:  DuckDB scans a table in one order, the same each time, when rows are put beside
            others by position (tests/engines/test_positions.py looks at many files)

Everything that DuckDB raises stops in failure.py.
"""

import weakref
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.by_row import build_filter, build_product, grids_with_products
from letalone.engines.core.failure import EngineFailed, FileChanged, Result, hide_engine_errors
from letalone.engines.core.measures import Exact, GridSum, Measure, RowScope
from letalone.engines.core.provenance import IN_MEMORY, vouched_for
from letalone.engines.core.rows import TableRef, Tables, lent_name, unit_of
from letalone.engines.core.sql_engine import Built, Engine, Progress, key_table
from letalone.engines.core.statements import KEYS, counts_rows
from letalone.engines.core.stored_types import check_columns, declared_schema
from letalone.engines.core.syntax import Sql
from letalone.engines.duckdb import duck_sources as sources
from letalone.engines.duckdb.beside_rows import BesideRows
from letalone.engines.duckdb.duck_dialect import DUCKDB
from letalone.engines.duckdb.hive_files import by_folders
from letalone.engines.duckdb.kept_counts import KeptKey, kept_key, read_kept, write_kept
from letalone.engines.duckdb.loaded_files import check_every_record, is_loaded, load_files
from letalone.engines.duckdb.lockdown import VECTOR_ROWS, LockedDuck
from letalone.engines.duckdb.parquet_files import copy_readable, reads_to_the_end, unsafe_columns
from letalone.engines.duckdb.row_counts import (
    Mask,
    RowCounts,
    Whole,
    count_rows,
    counts_beside,
    narrow_codes,
    weigh_rows,
)
from letalone.engines.frames import arrow
from letalone.engines.frames.counted import count_combinations
from letalone.engines.frames.lazy_plan import check_lazy
from letalone.engines.frames.to_arrow import FRAMES, as_private, family_of, is_frame, is_lazy
from letalone.engines.public_tables import check_public, copy_of_public
from letalone.errors import ParameterError
from letalone.plans.plan import PublicJoin
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.sources.files import UTF8, Files, PathList, find_files, is_list, stem_of

FRAME = "letalone_frame"
KEPT_ROWS = 10**6  # of a file, from which on its counts are kept: fewer are counted in no time
TEXT_TYPE = "VARCHAR"
FILTERED = " where "
MANY_ROWS = 1 << 18
Codes = tuple[Whole, Mask | None]


def open_duck(
    source: object,
    *,
    schema: Schema | None = None,
    types: Mapping[str, Type] | None = None,
    table: str | None = None,
    unit: str | None = None,
    vouched: bool = False,
    encoding: str = UTF8,
    threads: int | None = None,
    memory: int | None = None,
) -> "DuckEngine":
    """Opens a file, a pattern of files or a frame. Nothing but metadata is read of files; cells of
    frames that no engine can read are made missing, and nothing is decided or said by them.

    `schema` or `types` declare types; `table` names a table of a DuckDB file; `unit` the column of
    a frame that identifies a person; `encoding` that of files of text; `memory` is in bytes (half
    of the machine's if not given).
    """
    files = None if is_frame(source) else find_files(_path(source), encoding=encoding)
    kinds = types or {} if schema is None else {c.name: c.type for c in schema.columns}
    frame = as_private(source, kinds, unit=unit) if files is None else None
    files = None if files is None else by_folders(files, kinds)
    duck = LockedDuck(threads=threads, memory=memory)
    try:
        relation = _relation(duck, files, frame, table, list(kinds))
        name = relation.name or ("data" if files is None else stem_of(files.paths[0]))
        declared = declared_schema(relation.columns, schema, types or {}, name)
    except BaseException:
        duck.close()
        raise
    lazy = source if is_lazy(source) else None
    engine = DuckEngine(
        duck, relation, declared, files=files, frame=frame, lazy=lazy, vouched=vouched
    )
    engine.is_loose = family_of(source) == "pandas"
    return engine


class DuckEngine(Engine):
    """A table on DuckDB."""

    def __init__(
        self,
        duck: LockedDuck,
        relation: TableRef,
        schema: Schema,
        *,
        files: Files | None,
        frame: arrow.ArrowTable | None,
        lazy: object | None,
        vouched: bool,
    ) -> None:
        super().__init__(relation, schema)
        self._duck, self._files, self._frame = duck, files, frame
        self._lazy, self._vouched = lazy, vouched
        self.is_loose = False  # a frame whose dtypes follow its cells
        self._trusted = () if frame is None else (vouched_for(IN_MEMORY),)
        self._codes: dict[str, Codes] = {}
        self._read_under: dict[str, KeptKey | None] = {}  # how the files looked before codes
        self._counts: dict[str, RowCounts] = {}  # by unit and filter
        self._beside = BesideRows(duck)
        self._kept_beside: Path | None = None
        self._kept: KeptKey | None = None  # of counts that are in use and were kept
        self._loaded = False
        self._scanned: set[str] = set()
        # Texts that a statement reads without a look: it stops at what is none, and is run again.
        self._not_looked_at: set[str] | None = None
        self._public: dict[str, TableRef] = {}
        self._finalizer = weakref.finalize(self, duck.close)
        self._also = self._finalizer

    def check(self, schema: Schema) -> None:
        """Refuses rows of several people, where it can be seen how they were made."""
        if self._lazy is not None:
            hidden = check_lazy(self._lazy, schema.unit, vouched=self._vouched)
            self._trusted = (vouched_for(", ".join(hidden)),) if hidden else ()

    def counted_in_utc(self) -> frozenset[str]:
        """Also all times of a pandas frame: whether these have a zone follows from the cells."""
        loose = [c.name for c in self._schema.columns if c.type is Type.TIMESTAMP and self.is_loose]
        return super().counted_in_utc() | frozenset(loose)

    @property
    def has_loose_times(self) -> bool:
        return self.is_loose

    def keep_counts_beside(self, ledger: Path) -> None:
        self._kept_beside = ledger

    def reach(self) -> None:
        """FileChanged where the files are not those that were opened; no row is read."""
        self._check_unchanged()

    def prepare(self, scope: RowScope, *, progress: Progress | None = None) -> None:
        """Weighs the rows that the filter keeps, if their number matters.

        Where tables are joined, statements do it.
        """
        self._load()
        name, tell = self._weights_name(scope), progress or _tell_nobody
        with self._lock:
            if name is not None and not self._beside.has(name):
                counts = self._counts_of(scope, tell)
                weights = weigh_rows(counts, most=scope.bounding.max_rows or 0, scale=scope.lattice)
                self._beside.put(name, weights, self._batch_sizes())
                tell(1.0)

    def measure(self, scope: RowScope, measures: Sequence[Measure]) -> list[Exact]:
        with self._lock:
            self.prepare(scope)
            self._keep_products(scope, grids_with_products(scope, measures))
            self._not_looked_at = set()
            try:
                return super().measure(scope, measures)
            except FileChanged:
                raise
            except EngineFailed:
                if not self._not_looked_at:
                    raise
            finally:
                self._not_looked_at = None
            return super().measure(scope, measures)

    def add_public(self, join: PublicJoin, table: object) -> None:
        with self._lock:
            relation = self._public.get(join.table_digest)
            if relation is None:
                duck, name = self._duck, self._name_of_copy()
                relation = hide_engine_errors(lambda: copy_of_public(duck, join, table, name=name))
                self._public[join.table_digest] = relation
            check_public(self._duck, relation, join)

    def forget_public(self, digest: str) -> None:
        with self._lock:
            relation = self._public.pop(digest, None)
            if relation is not None:
                table = relation.sql  # sqlglot reads it from one of the two, by its version
                dropped = exp.Drop(this=table.copy(), tables=[table.copy()], kind="TABLE")
                hide_engine_errors(lambda: self._duck.run(dropped))

    def place(self) -> str:
        return "this process"

    @contextmanager
    def borrowing(self, lent: Mapping[str, object]) -> Generator[None]:
        with self._lock:
            duck, tables = self._duck.connection, {lent_name(n): t for n, t in lent.items()}
            for name, table in tables.items():
                hide_engine_errors(lambda n=name, t=table: duck.register(n, t))
            try:
                yield
            finally:
                for name in tables:
                    duck.unregister(name)

    def counted(self, names: Sequence[str]) -> arrow.ArrowTable:
        """Every combination of these columns' values, with its rows. Private: for the owner.

        A file with lines that are no text is refused: each row counts here.
        """
        if self._files is not None:
            check_every_record(self._files)
        files = self._files
        called = self._relation.name or ("the table" if files is None else files.paths[0].name)
        query = self._sound(lambda: count_combinations(self._relation, names, called=called))
        with self._lock:
            return self._all_rows(query)

    def close(self) -> None:
        with self._lock:
            self._finalizer()
            self._also()

    def close_with(self, run: Callable[[], None]) -> None:
        """Runs this, too, when the engine is closed or forgotten."""
        self._also = weakref.finalize(self, run)

    def _load(self) -> None:
        """Copies files that DuckDB does not read into a table, once: statements see one state."""
        with self._lock:
            if self._files is None or not is_loaded(self._files) or self._loaded:
                return
            files = self._files
            self._reading(lambda: load_files(self._duck, files, self._relation))
            self._loaded = True

    @contextmanager
    def _built(self, scope: RowScope, build: Callable[[Tables], Built]) -> Generator[Built]:
        with self._lock:
            self.prepare(scope)
            products = self._beside.products(self._weights_name(scope), scope)
            yield self._sound(lambda: build(replace(self._tables(scope), products=products)))

    def _lend(self, scope: RowScope, build: Callable[[Tables], exp.Select]) -> arrow.ArrowTable:
        with self._built(scope, build) as query:
            return self._all_rows(query)

    def _sound(self, build: Callable[[], Built]) -> Built:
        """The statements; built again, if the rows had to be copied for them."""
        self._load()
        made = build()
        queries = [made] if isinstance(made, exp.Select) else [statement.sql for statement in made]
        return build() if self._made_sound(queries) else made

    def _made_sound(self, statements: Iterable[Sql]) -> bool:
        """Whether the rows had to be copied, because one of the columns cannot be scanned."""
        if self._files is None or self._files.kind != "parquet" or self._loaded:
            return False
        with self._lock:
            names = {column.name for query in statements for column in query.find_all(exp.Column)}
            paths, relation = self._files.paths, self._relation
            unknown = [n for n in unsafe_columns(relation, names) if n not in self._scanned]
            if self._not_looked_at is not None:
                self._not_looked_at |= {
                    n for n in unknown if relation.columns[n].stored == TEXT_TYPE
                }
                unknown = [n for n in unknown if n not in self._not_looked_at]
            self._check_unchanged()
            if all(reads_to_the_end(self._duck, paths, relation.columns[n]) for n in unknown):
                self._scanned.update(unknown)
                return False
            self._relation = self._reading(lambda: copy_readable(self._duck, paths, relation))
            self._loaded = True
            return True

    def _tables(self, scope: RowScope) -> Tables:
        return Tables(self._relation, self._weights_name(scope), self._public, DUCKDB)

    def _weights_name(self, scope: RowScope) -> str | None:
        """The table of a scope's weights; None where it needs none, or statements weigh."""
        if not counts_rows(scope) or scope.joins:
            return None
        about = f"{_about(scope)} {scope.bounding.max_rows} {scope.weight_bits}"
        return f"letalone_weights_{sha256(about.encode(errors='surrogatepass')).hexdigest()[:16]}"

    def _counts_of(self, scope: RowScope, progress: Progress) -> RowCounts:
        """How many rows that count each row's unit has; kept for all rows, and the last filter."""
        about = _about(scope)
        if about not in self._counts:
            counts = self._count_rows(scope, progress)
            if scope.where is not None:
                for filtered in [known for known in self._counts if FILTERED in known]:
                    del self._counts[filtered]
            self._counts[about] = counts
        return self._counts[about]

    def _count_rows(self, scope: RowScope, progress: Progress) -> RowCounts:
        unit = scope.schema.column(scope.schema.unit or "")
        key = self._kept_key(unit) if scope.where is None else None
        known = None if key is None else read_kept(cast("Path", self._kept_beside), key)
        if known is not None:
            self._kept = key
            return counts_beside(known)
        codes, missing = self._codes_of(unit)
        progress(0.4)
        passes = None if scope.where is None else self._passing(scope)
        progress(0.6)
        counts = hide_engine_errors(lambda: count_rows(codes, missing, passes=passes))
        if key is not None and key == self._read_under.get(unit.name):
            write_kept(cast("Path", self._kept_beside), key, counts.beside_rows())
        return counts

    def _passing(self, scope: RowScope) -> NDArray[np.bool_]:
        """Which rows the filter keeps."""
        query = self._sound(lambda: build_filter(scope, self._tables(scope)))
        return self._reading(lambda: self._duck.read(query, arrow.flags_of, rows=VECTOR_ROWS))

    def _kept_key(self, unit: Column) -> KeptKey | None:
        """What counts that are kept belong to; None where it is not worth it, or not sure."""
        if self._files is None or self._files.kind != "parquet" or self._kept_beside is None:
            return None
        sizes, stored = sources.batch_sizes(self._files), self._relation.columns[unit.name]
        if sum(sizes) < KEPT_ROWS:
            return None
        return kept_key(
            self._files.paths,
            self._files.kind,
            unit=(unit.name, f"{stored.stored} {stored.collated}"),
            rows=sum(sizes),
            batches=sizes,
            reader=f"DuckDB {duckdb.__version__}",
        )

    def _codes_of(self, unit: Column) -> Codes:
        """A number for the unit of each row, kept for the next filter."""
        if unit.name not in self._codes:
            self._made_sound([unit_of(self._relation, unit, "#source", DUCKDB)])
            self._read_under[unit.name] = self._kept_key(unit)
            self._codes[unit.name] = self._reading(lambda: self._read_codes(unit))
        return self._codes[unit.name]

    def _read_codes(self, unit: Column) -> Codes:
        column = syntax.alias(unit_of(self._relation, unit, "#source", DUCKDB), "unit")
        query = syntax.select([column], syntax.rename(self._relation.sql, "#source"))
        stored = self._relation.columns[unit.name]
        rows = VECTOR_ROWS if stored.type is Type.TEXT else MANY_ROWS  # texts may be long
        expected = sum(self._batch_sizes())
        codes, missing = self._duck.read(
            query, lambda reader: arrow.codes_of(reader, expected), rows=rows
        )
        return narrow_codes(codes), missing

    def _keep_products(self, scope: RowScope, grids: Sequence[GridSum]) -> None:
        """Multiplies offsets with weights, once for all statements, where it is worth it."""
        name = self._weights_name(scope)
        if name is None:
            return
        for product, grid in self._beside.to_multiply(name, scope, grids).items():
            column = self._read_product(scope, grid)
            hide_engine_errors(lambda p=product, c=column: self._beside.put_product(name, p, c))

    def _read_product(self, scope: RowScope, grid: GridSum) -> object:
        query = self._sound(lambda: build_product(scope, grid, self._tables(scope)))
        rows = sum(self._batch_sizes())
        return self._reading(lambda: self._duck.read(query, lambda r: arrow.whole_numbers(r, rows)))

    def _batch_sizes(self) -> list[int]:
        if self._files is not None:
            return [] if self._loaded else sources.batch_sizes(self._files)
        return arrow.batch_sizes(cast("arrow.ArrowTable", self._frame))

    def _run(self, query: Sql, scope: RowScope) -> list[tuple[Any, ...]]:
        with self._lock:
            keys = key_table(scope)
            return self._reading(lambda: self._with_keys(query, keys))

    def _with_keys(self, query: Sql, keys: arrow.ArrowTable | None) -> list[tuple[Any, ...]]:
        if keys is not None:
            self._duck.connection.register(KEYS, keys)
        try:
            return self._duck.run(query)
        finally:
            if keys is not None:
                self._duck.connection.unregister(KEYS)

    def _all_rows(self, query: exp.Select, *_: object) -> arrow.ArrowTable:
        return self._reading(lambda: self._duck.read(query, arrow.read_all))

    def _reading(self, run: Callable[[], Result]) -> Result:
        """What `run` returns; FileChanged where the files change meanwhile, or did before."""
        self._check_unchanged()
        try:
            result = hide_engine_errors(run)
        except EngineFailed:
            self._check_unchanged()  # a file that was cut short cannot be read
            raise
        self._check_unchanged()
        return result

    def _check_unchanged(self) -> None:
        if self._files is not None and not self._files.is_unchanged():
            raise FileChanged
        if self._kept is not None and not self._kept.is_current():
            raise FileChanged


def _relation(
    duck: LockedDuck,
    files: Files | None,
    frame: arrow.ArrowTable | None,
    table: str | None,
    declared: Sequence[str],
) -> TableRef:
    if files is not None:
        return hide_engine_errors(
            lambda: sources.relation_of_files(duck, files, table=table, declared=declared)
        )
    if table is not None:
        raise ParameterError(f"table is {table!r}, but a frame holds one table only.")
    frame = cast("arrow.ArrowTable", frame)
    check_columns(frame.column_names, "The frame")
    duck.lock([])
    duck.connection.register(FRAME, frame)
    return hide_engine_errors(lambda: sources.relation_of_view(duck, FRAME))


def _path(source: object) -> str | PathLike[str] | PathList:
    if isinstance(source, str | PathLike):
        return cast("str | PathLike[str]", source)
    if is_list(source):
        return source
    kind = type(source).__name__
    raise ParameterError(f"The source is {kind}, but must be the path of a file or {FRAMES}.")


def _tell_nobody(_: float) -> None:
    pass


def _about(scope: RowScope) -> str:
    """What the number of a unit's rows depends on."""
    unit = repr(scope.schema.unit)
    if scope.where is None:
        return unit
    return f"{unit}{FILTERED}{(scope.schema.columns, scope.derived, scope.where)!r}"
