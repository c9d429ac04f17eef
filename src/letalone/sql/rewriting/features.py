"""What a query that is grouped by the unit makes of each person, in the words that are read.

    SELECT patient_id AS person, COUNT(cost) AS bills, MAX(cost) - MIN(cost) AS spread,
           MAX(cost) FILTER (WHERE icu) AS worst, FIRST(ward ORDER BY day) AS ward
    FROM visits GROUP BY patient_id

Formulas are taken apart: what they are made of is asked of each person, and the outer query
computes with it. People are counted by their rows: COUNT(DISTINCT person) is COUNT(*) there.

  Tested:   tests/session/test_sql_models.py
"""

from collections.abc import Callable, Collection, Iterator
from functools import partial, reduce
from typing import cast

from sqlglot import exp

from letalone.plans.schema import Schema
from letalone.sql.aggregates import is_aggregate
from letalone.sql.names import matching
from letalone.sql.rewriting.inner_columns import called_of

OF_PEOPLE = (exp.LogicalOr, exp.LogicalAnd, exp.ArgMin, exp.ArgMax, exp.First, exp.Last)
MOST_KEYS = 40  # of a column whose values are counted of each person
OF_CASES = (exp.Sum, exp.Avg, exp.Min, exp.Max, exp.LogicalOr)


def is_unit(node: exp.Expr, unit: str, called: str) -> bool:
    """Whether a node is the column that identifies people, of the table that is called so."""
    if type(node) is not exp.Column or type(node.this) is not exp.Identifier:
        return False
    if node.text("table").casefold() not in ("", called.casefold()):
        return False
    return matching(node.this, [unit]) is not None


def split_formulas(inner: exp.Select, unit: str) -> tuple[exp.Select, dict[str, exp.Expr]]:
    """The inner query with features alone, and what its formulas are of these, by name."""
    inner, formulas = inner.copy(), dict[str, exp.Expr]()
    is_person = partial(is_unit, unit=unit, called=called_of(inner))
    columns: list[exp.Expr] = []
    taken = {column.alias_or_name.casefold() for column in inner.expressions}
    for column in [_named(column, taken, is_person) for column in inner.expressions]:
        of = column.unalias().unnest()
        parts = [] if _is_feature(of) else list(features_in(of))
        if not column.alias or not parts:
            columns.append(column)
            continue
        holder = exp.Paren(this=of.copy())
        for part in list(features_in(holder)):
            name = f"{column.alias}_{len(taken)}"
            taken.add(name.casefold())
            columns.append(exp.alias_(plain_feature(part.copy()), name, quoted=True))
            part.replace(exp.column(name, quoted=True))
        formulas[column.alias] = holder.this
    plain = [_plain_column(column) for column in columns]
    inner.set("expressions", [c for c in plain if not is_person(c.unalias())])
    if not inner.expressions:
        inner.set("expressions", [exp.column(unit, quoted=True)])
    return inner, formulas


def _named(column: exp.Expr, taken: set[str], is_person: Callable[[exp.Expr], bool]) -> exp.Expr:
    """A column with a name, also where nobody can ask for it."""
    if column.alias or is_person(column) or not _is_feature(column.unnest()):
        return column
    name = f"feature_{len(taken) + 1}"
    taken.add(name)
    return exp.alias_(column.copy(), name, quoted=True)


def _plain_column(column: exp.Expr) -> exp.Expr:
    if type(column) is not exp.Alias:
        return column
    column = column.copy()
    column.set("this", plain_feature(column.this.unnest()))
    return column


def _is_feature(node: exp.Expr) -> bool:
    return is_aggregate(node) or type(node) in OF_PEOPLE


def features_in(node: exp.Expr) -> Iterator[exp.Expr]:
    """The aggregates that stand in no other."""
    if _is_feature(node):
        yield node
        return
    for part in node.iter_expressions():
        yield from features_in(part)


def plain_feature(node: exp.Expr) -> exp.Expr:
    """A feature in the words that are read: FILTER as CASE, FIRST … ORDER BY as ARG_MIN."""
    match node:
        case exp.Filter() if type(node.this) in OF_CASES:
            case = exp.Case(ifs=[exp.If(this=node.expression.this, true=node.this.this)])
            return type(node.this)(this=case)
        case exp.Filter() if type(node.this) is exp.Count and not _is_plain_count(node.this):
            present = exp.Not(this=exp.Is(this=node.this.this.copy(), expression=exp.Null()))
            return exp.CountIf(this=exp.and_(node.expression.this, present, copy=True))
        case exp.Count() if not _is_plain_count(node) and type(node.this) is not exp.Distinct:
            return exp.CountIf(this=exp.Not(this=exp.Is(this=node.this, expression=exp.Null())))
        case exp.First() | exp.Last() if type(node.this) is exp.Order:
            return _first(node)
        case exp.Max() | exp.Min() if type(node.this) in CONDITIONS:
            return exp.LogicalOr(this=node.this) if type(node) is exp.Max else node
        case _:
            return node


CONDITIONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.And, exp.Or, exp.Not, exp.In)


def _is_plain_count(node: exp.Expr) -> bool:
    return node.this is None or type(node.this) in (exp.Star, exp.Literal)


def _first(node: exp.Expr) -> exp.Expr:
    order = cast("exp.Order", node.this)
    if len(order.expressions) != 1:
        return node
    by = order.expressions[0]
    if by.args.get("nulls_first"):
        return node
    is_last = (type(node) is exp.Last) != bool(by.args.get("desc"))
    kind = exp.ArgMax if is_last else exp.ArgMin
    return kind(this=order.this, expression=by.this)


def with_listed_values(inner: exp.Select, schema: Schema) -> exp.Select:
    """COUNT(DISTINCT ward) of a column whose keys are declared: how many of them a person has."""
    inner = inner.copy()
    for count in list(inner.find_all(exp.Count)):
        of = count.this.expressions if type(count.this) is exp.Distinct else []
        keys = _keys_of(of[0], schema, called_of(inner)) if len(of) == 1 else None
        if keys is not None:
            has = [exp.LogicalOr(this=exp.EQ(this=of[0].copy(), expression=key)) for key in keys]
            one_each = [_one_if(condition) for condition in has]
            count.replace(exp.Paren(this=reduce(_plus, one_each)))
    return inner


def _keys_of(node: exp.Expr, schema: Schema, called: str) -> list[exp.Expr] | None:
    """The declared keys of a column, as SQL writes them; None of many, or of another node."""
    if type(node) is not exp.Column or type(node.this) is not exp.Identifier:
        return None
    if node.text("table").casefold() not in ("", called.casefold()):
        return None
    known = {column.name: column.keys or () for column in schema.columns}
    keys = known.get(matching(node.this, known) or "", ())
    present = [key for key in keys if key is not None]
    if not 0 < len(present) <= MOST_KEYS or not all(type(key) in (str, int) for key in present):
        return None
    return [
        exp.Literal.string(key) if isinstance(key, str) else exp.Literal.number(cast("int", key))
        for key in present
    ]


def _one_if(condition: exp.Expr) -> exp.Expr:
    one, zero = exp.Literal.number(1), exp.Literal.number(0)
    return exp.Case(ifs=[exp.If(this=condition, true=one)], default=zero)


def _plus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Add(this=left, expression=right)


def unit_names(inner: exp.Select, unit: str) -> set[str]:
    """What the inner query calls the column that identifies people."""
    return {
        column.alias_or_name.casefold()
        for column in inner.expressions
        if is_unit(column.unalias(), unit, called_of(inner))
    }


def count_people(query: exp.Select, names: Collection[str]) -> exp.Select:
    """COUNT(DISTINCT patient_id) of a query with a row for each person is COUNT(*)."""
    query = query.copy()
    for count in list(query.find_all(exp.Count, exp.ApproxDistinct)):
        of = count.this
        if type(of) is exp.Distinct and len(of.expressions) == 1:
            of = of.expressions[0]
        if _is_person(of, names):
            count.replace(exp.Count(this=exp.Star()))
        elif type(of) is exp.Case and len(of.args["ifs"]) == 1 and not of.args.get("default"):
            (only,) = of.args["ifs"]
            if of.this is None and _is_person(only.args["true"], names):
                count.replace(exp.CountIf(this=only.this.copy()))
    return query


def _is_person(node: exp.Expr | None, names: Collection[str]) -> bool:
    return type(node) is exp.Column and node.name.casefold() in names
