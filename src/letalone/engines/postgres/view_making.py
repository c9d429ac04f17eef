"""Reads from its definition how a view is made: by row, or by person, or refused.

A definition is taken if it is built of what is listed here and of nothing else: a SELECT of
expressions by row from one table, with a WHERE by row, or several of these under UNION ALL, each
perhaps from such a SELECT again. GROUP BY, DISTINCT ON and PARTITION BY are taken where the unit is
among their keys as a plain column. What is known to mix rows is refused; what is not known at all
(a function that is not listed, say) is hidden, and needs the owner's word.

  Theorem (rule 13 of docs/explanation/soundness.md).  A row of a definition that is taken is made
  from rows of one unit: of one row, or of those whose key is the row's unit.
  Proven:   by induction over the definition: WHERE, expressions and UNION ALL keep what is true of
            each row; groups, windows and DISTINCT ON by a key that is the unit's column have rows
            of one unit; DISTINCT compares rows with their units. A column that is not plain ends
            it: below it only what is by row is taken.
  Tested:   tests/engines/conformance/test_making.py
  Assumed:  the definition was printed by PostgreSQL with an empty search path, so that whatever has
            no schema is PostgreSQL's own or named by WITH; functions, operators and types of
            somebody's own are looked for in the catalogue (postgres_views.py)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, cast

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from letalone.engines.core.provenance import mixes_people
from letalone.engines.core.syntax import Sql

TAKEN = {"expressions", "from_", "where", "group", "having", "distinct", "order", "windows"}
UNITED = {"this", "expression", "order", "distinct"}
READ = {"this", "db", "alias", "only"}
CALLED = {
    "joins": "a join",
    "laterals": "a join",
    "limit": "a limit",
    "offset": "an offset",
    "sample": "a sample",
    "locks": "FOR UPDATE",
}
BY_ROW = (
    exp.Abs, exp.Add, exp.Alias, exp.And, exp.Any, exp.Array, exp.AtTimeZone, exp.Between,
    exp.BitwiseAnd, exp.BitwiseOr, exp.Boolean, exp.Bracket, exp.Case, exp.Cast, exp.Ceil,
    exp.Coalesce, exp.Collate, exp.Column, exp.Concat, exp.CurrentDate, exp.CurrentTimestamp,
    exp.CurrentUser, exp.DPipe, exp.DataType, exp.DataTypeParam, exp.Div, exp.EQ, exp.Exp,
    exp.Extract, exp.Floor, exp.GT, exp.GTE, exp.Greatest, exp.ILike, exp.Identifier, exp.If,
    exp.In, exp.Initcap, exp.Interval, exp.Is, exp.LT, exp.LTE, exp.Least, exp.Left, exp.Length,
    exp.Like, exp.Literal, exp.Ln, exp.Log, exp.Lower, exp.MD5, exp.Mod, exp.Mul, exp.NEQ, exp.Neg,
    exp.Not, exp.Null, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Nullif, exp.Or, exp.Order, exp.Ordered,
    exp.Pad, exp.Paren, exp.Pow, exp.RegexpLike, exp.Replace, exp.Right, exp.Round, exp.SessionUser,
    exp.Sign, exp.Slice, exp.SplitPart, exp.Sqrt, exp.StrPosition, exp.StrToDate, exp.StrToTime,
    exp.Sub, exp.Substring, exp.TimeToStr, exp.TimestampTrunc, exp.Trim, exp.Trunc, exp.Tuple,
    exp.Upper, exp.Var, exp.WidthBucket,
)  # fmt: skip
BY_NAME = {
    "age", "btrim", "char_length", "date_part", "make_date", "make_timestamp", "octet_length",
    "reverse", "to_number", "translate",
}  # fmt: skip
OF_GROUPS = (exp.AggFunc, exp.Filter, exp.RowNumber, exp.WithinGroup)
IN_GROUPS = (exp.Distinct, exp.Star, exp.WindowSpec)
PLACES = {"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"}  # where a row lies, and since when
CLAUSES = (exp.Group, exp.Having, exp.Where)
Table = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Named:
    """A query that WITH names: what its columns are called, and what it knows by name itself."""

    query: exp.Query
    columns: tuple[str, ...]
    known: "Mapping[str, _Named]"


Known = Mapping[str, _Named]


@dataclass(frozen=True, slots=True)
class Making:
    """What a definition reads, and what in it is not known.

    source: what the view is called; unit: its column that identifies a person, None for rows.
    """

    source: str
    unit: str | None
    tables: list[Table] = field(default_factory=list[Table])
    hidden: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class _Level:
    """What holds inside of one SELECT: the unit's column there, and windows that have a name."""

    key: str | None
    renamed: frozenset[str]
    windows: Mapping[str, Sequence[Sql]]
    grouped: bool

    def has_key(self, keys: Sequence[Sql]) -> bool:
        return any(self._is_key(key) for key in keys)

    def _is_key(self, key: Sql) -> bool:
        """A name that is also that of another output column could mean that one."""
        if type(key) is exp.Paren:
            return self._is_key(key.this)
        plain = type(key) is exp.Column and key.name == self.key
        return plain and (key.args.get("table") is not None or self.key not in self.renamed)


def read_making(text: str, source: str, *, unit: str | None, place: int | None) -> Making:
    """How the rows of a view are made; `place`: which of its columns is the unit, from 0."""
    making = Making(source, unit)
    try:
        query = parse_one(text, dialect="postgres")
    except SqlglotError:
        making.hidden.append("a definition that cannot be read")
        return making
    _read(making, query, place, {})
    return making


def _read(making: Making, query: Any, place: int | None, known: Known) -> None:
    """A query, of whose columns the one at `place` is the unit, where it is known which."""
    if type(query) is exp.Subquery and not _more(query, {"this", "alias"}):
        return _read(making, query.this, place, known)
    if type(query) is exp.Union and query.args.get("distinct") is False:
        return _read_union(making, query, place, known)
    if type(query) is exp.Select:
        return _read_select(making, query, place, known)
    if isinstance(query, exp.SetOperation):
        _refuse(making, "a set operation other than UNION ALL")
    making.hidden.append("something else than a SELECT")
    return None


def _read_union(making: Making, query: exp.Union, place: int | None, known: Known) -> None:
    if making.unit is None:
        _refuse(making, "a UNION, in which one row may be there twice")
    known = _with_names(making, query, known)
    for name in _more(query, UNITED | {"with_"}):
        _refuse(making, CALLED.get(name, name))
    _read(making, query.this, place, known)
    _read(making, query.expression, place, known)


def _read_select(making: Making, query: exp.Select, place: int | None, known: Known) -> None:
    known = _with_names(making, query, known)
    for name in _more(query, TAKEN | {"with_"}):
        _refuse(making, CALLED.get(name, name))
    level = _level_of(query, place)
    _check_groups(making, query, level, place)
    for name in TAKEN - {"from_", "distinct"}:
        for part in _part(query, name):
            _look(making, part, level)
    source = query.args.get("from_")
    if source is not None:
        _read_source(making, source.this, level.key, known)


def _level_of(query: exp.Select, place: int | None) -> _Level:
    chosen = query.expressions
    unit = None if place is None or place >= len(chosen) else chosen[place].unalias()
    key = unit.name if type(unit) is exp.Column else None
    others = [column for column in chosen if type(column) is exp.Alias and column.this != unit]
    windows: dict[str, Sequence[Sql]] = {}
    for window in _part(query, "windows"):  # each may rest on one before it
        keys = _part(window, "partition_by") or windows.get(window.alias, [])
        windows[window.this.name] = keys
    grouped = query.args.get("group") is not None
    return _Level(key, frozenset(column.alias for column in others), windows, grouped)


def _check_groups(making: Making, query: exp.Select, level: _Level, place: int | None) -> None:
    group, distinct = query.args.get("group"), query.args.get("distinct")
    if group is None and query.args.get("having") is not None:
        _refuse(making, "an aggregate across rows")
    if group is not None:
        plain = all(type(key) in BY_ROW for key in group.expressions)
        if not plain or _more(group, {"expressions"}) or not level.has_key(group.expressions):
            _refuse_keys(making, "a GROUP BY")
    if distinct is None:
        return
    on = distinct.args.get("on")
    if place is None if on is None else not level.has_key(on.expressions):
        _refuse_keys(making, "a DISTINCT")
    for key in _part(distinct, "on"):
        _look(making, key, level)


def _look(making: Making, node: Sql, level: _Level) -> None:
    """An expression of a row; aggregates where rows are grouped by the unit."""
    if isinstance(node, exp.Query | exp.Exists):
        _refuse(making, "a sub-query")
    if type(node) is exp.Column and node.name in PLACES:
        _refuse(making, "the places of rows")
    if type(node) is exp.Window:
        named = level.windows.get(node.alias, [])
        if not level.has_key(_part(node, "partition_by") or named):
            _refuse_keys(making, "a window")
        level = replace(level, grouped=True)
    elif isinstance(node, OF_GROUPS) and not level.grouped:
        _refuse(making, "an aggregate across rows")
    elif not _is_known(node, level):
        making.hidden.append(f"{node.name or node.key}, which is not known here")
    for part in node.iter_expressions():
        _look(making, part, level)


def _is_known(node: Sql, level: _Level) -> bool:
    """Whether a part of an expression looks at nothing but its own row, or its unit's group."""
    if type(node) is exp.DataType:
        return node.this is not exp.DataType.Type.USERDEFINED
    if type(node) is exp.Anonymous:
        return node.name.lower() in BY_NAME
    grouped = level.grouped and (isinstance(node, OF_GROUPS) or type(node) in IN_GROUPS)
    return grouped or type(node) in BY_ROW or type(node) in CLAUSES


def _read_source(making: Making, source: Any, key: str | None, known: Known) -> None:
    """What a SELECT reads: a table, a query of its own, or one that WITH names."""
    for name in _more(source, READ):
        _refuse(making, CALLED.get(name, name))
    inner = source.this
    if type(source) is exp.Subquery and type(inner) is exp.Table:
        return _read_source(making, inner, key, known)
    columns: tuple[str, ...] = ()
    if type(source) is exp.Table and source.db:
        making.tables.append((source.db, source.name))
        return None
    if type(source) is exp.Table and type(inner) is exp.Identifier and inner.name in known:
        named = known[inner.name]
        inner, columns, known = named.query, named.columns, named.known
    if not isinstance(inner, exp.Query):
        making.hidden.append(f"{source.name or source.key}, which is not a table")
        return None
    alias = source.args.get("alias")
    given = () if alias is None else _columns(alias)
    names = _rename_first(given, _rename_first(columns, inner.named_selects))
    place = names.index(key) if key is not None and names.count(key) == 1 else None
    return _read(making, inner, place, known)


def _rename_first(given: Sequence[str], names: Sequence[str]) -> list[str]:
    """The columns of a query that has other names for the first ones."""
    return [*given, *names[len(given) :]]


def _with_names(making: Making, query: exp.Query, known: Known) -> Known:
    """What is known by name inside of a query; each name knows those before it."""
    clause = query.args.get("with_")
    if clause is None:
        return known
    if clause.args.get("recursive"):
        _refuse(making, "a recursive query")
    for table in clause.expressions:
        columns = _columns(table.args["alias"])
        known = {**known, table.alias: _Named(table.this, columns, known)}
    return known


def _columns(alias: Sql) -> tuple[str, ...]:
    return tuple(column.name for column in _part(alias, "columns"))


def _more(node: Sql, taken: set[str]) -> list[str]:
    return sorted(name for name, value in node.args.items() if value and name not in taken)


def _part(of: Sql, name: str) -> list[Sql]:
    """What a node has under a name, which may be one node, several or none."""
    part: Any = of.args.get(name)
    return cast("list[Sql]", part if isinstance(part, list) else [part] if part else [])


def _refuse_keys(making: Making, what: str) -> NoReturn:
    _refuse(making, what if making.unit is None else f"{what} without {making.unit} in its keys")


def _refuse(making: Making, what: str) -> NoReturn:
    raise mixes_people(making.source, what, making.unit)
