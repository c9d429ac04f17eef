"""A small SQL of counts, sums and averages, read into the parts of a plan.

    SELECT ward, COUNT(*) AS n, COUNT(DISTINCT patient_id), SUM(cost), AVG(cost)
    FROM visits WHERE age >= 65 AND ward IN ('A', 'B') GROUP BY ward

The text is parsed, translated node by node and thrown away: nothing of it ever reaches an
engine. Whatever has no translation is refused, also what sqlglot attaches to a node that has
one: each node may carry the parts that are named here, and no other.

  Proven:   by the tables below: a node that is not in them ends in a refusal
  Tested:   tests/tables/test_sql_reader.py
  Assumed:  sqlglot reads SQL as it is meant
"""

from typing import NamedTuple, cast

from sqlglot import exp, parse_one, tokenize
from sqlglot.errors import SqlglotError

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.plans.aggregates import Asked, count, count_distinct, mean
from letalone.plans.aggregates import sum as total
from letalone.plans.expressions import Expression
from letalone.plans.schema import Schema
from letalone.tables.sql_conditions import ALLOWED, Names, condition, only

LONGEST = 10_000
CLAUSES = {
    "joins": "JOIN (or a second table)",
    "having": "HAVING",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "with_": "WITH",
    "distinct": "SELECT DISTINCT",
    "laterals": "LATERAL",
    "windows": "WINDOW",
    "qualify": "QUALIFY",
    "sample": "A sample",
    "pivots": "PIVOT",
}


class Parts(NamedTuple):
    """What was asked: aggregates by name, which rows, by which columns."""

    aggregates: dict[str, Asked]
    where: Expression | None
    groups: tuple[str, ...]


def plan_parts(sql: str, schema: Schema) -> Parts:
    """The aggregates, the condition and the group columns of a SELECT over this table."""
    try:
        return _parts(_parsed(sql), schema)
    except RecursionError:
        pass  # raised below, without a thousand frames of context
    raise ParameterError("The SQL is nested too deeply. Write a shorter condition.")


def _parts(query: exp.Select, schema: Schema) -> Parts:
    only(query, "expressions", "from_", "where", "group", words=CLAUSES)
    names = Names(schema, _table(query, schema))
    groups = _groups(query, names)
    aggregates = _aggregates(query, names, groups)
    where = query.args.get("where")
    return Parts(aggregates, None if where is None else condition(where.this, names), groups)


def _parsed(sql: str) -> exp.Select:
    if len(sql) > LONGEST:
        raise ParameterError(f"The SQL has more than {LONGEST:,} characters. Shorten it.")
    try:
        words = [token.text.upper() for token in tokenize(sql, read="duckdb")]
        _check_one_select(words)  # sqlglot logs what other statements say
        query = parse_one(sql, read="duckdb")
    except SqlglotError as error:
        raise ParameterError(_near(error)) from None
    if type(query) is not exp.Select:
        raise UnsupportedQuery(f"This SQL is not a plain SELECT. {ALLOWED}")
    return query


def _check_one_select(words: list[str]) -> None:
    if not words:
        raise ParameterError(f"The SQL is empty. {ALLOWED}")
    if ";" in words[:-1]:
        raise UnsupportedQuery("The SQL has several statements. Ask one question at a time.")
    if words[0] not in ("SELECT", "WITH", "(", "FROM"):
        raise UnsupportedQuery(f"The SQL begins with {words[0][:20]!r}. {ALLOWED}")


def _near(error: SqlglotError) -> str:
    found = cast("list[dict[str, str]]", getattr(error, "errors", None) or [{}])
    where = found[0].get("highlight")
    place = f" near {where[:40]!r}" if where else ""
    return f"The SQL is not understood{place}: look for a bracket, a quote or a comma. {ALLOWED}"


def _table(query: exp.Select, schema: Schema) -> set[str]:
    """The names by which the SQL may call the table."""
    source = query.args.get("from_")
    if source is None:
        raise ParameterError(f"The SQL has no FROM. The table is called {_quoted(schema.name)}.")
    table = source.this
    if type(table) is not exp.Table or type(table.this) is not exp.Identifier:
        raise UnsupportedQuery(f"FROM must name the table {_quoted(schema.name)}. {ALLOWED}")
    called = ".".join(part.name for part in table.parts)
    if len(table.parts) > 1 or not _is(table.this, schema.name):
        raise ParameterError(
            f"There is no table {called!r}: this one is called {_quoted(schema.name)}."
        )
    only(table, "this", "alias", words=CLAUSES)
    alias = table.args.get("alias")
    if alias is None:
        return {schema.name.casefold()}
    only(alias, "this", words=CLAUSES)
    return {cast("str", alias.name).casefold()}


def _groups(query: exp.Select, names: Names) -> tuple[str, ...]:
    group = query.args.get("group")
    if group is None:
        return ()
    only(group, "expressions", words={"all": "GROUP BY ALL"})
    return tuple(_group(one, names) for one in group.expressions)


def _group(node: exp.Expr, names: Names) -> str:
    if type(node) is not exp.Column:
        raise UnsupportedQuery(f"GROUP BY takes columns by their names. {ALLOWED}")
    return names.column(node)


def _aggregates(query: exp.Select, names: Names, groups: tuple[str, ...]) -> dict[str, Asked]:
    found: dict[str, Asked] = {}
    for node in query.expressions:
        if type(node) is exp.Column:
            _check_key(names.column(node), groups)
            continue
        name, asked = _aggregate(node, names)
        if name in found:
            raise ParameterError(f"Two columns are called {name!r}. Name one: SUM(cost) AS costs.")
        found[name] = asked
    if not found:
        raise UnsupportedQuery(f"The SQL asks for no COUNT, SUM or AVG. {ALLOWED}")
    return found


def _check_key(name: str, groups: tuple[str, ...]) -> None:
    if name not in groups:
        raise UnsupportedQuery(
            f"{name!r} is selected as it is, which would show rows. Count it, add it up, or put it"
            " into GROUP BY."
        )


def _aggregate(node: exp.Expr, names: Names) -> tuple[str, Asked]:
    """The name and the aggregate of one column of the answer."""
    if type(node) is not exp.Alias:
        return _asked(node, names)
    only(node, "this", "alias", words={})
    if type(node.this) is exp.Column:
        raise UnsupportedQuery("A group column keeps its name here: leave out its AS.")
    return node.alias, _asked(node.this, names)[1]


def _asked(node: exp.Expr, names: Names) -> tuple[str, Asked]:
    """The aggregate under the name that it has when nobody gives it one."""
    if type(node) is exp.Star:
        raise UnsupportedQuery(f"SELECT * would show rows, and only counts and sums are. {ALLOWED}")
    if type(node) not in (exp.Count, exp.Sum, exp.Avg):
        raise UnsupportedQuery(f"{names.shown(node)} is not among what can be asked. {ALLOWED}")
    only(node, "this", "big_int", words={"expressions": "COUNT of several columns"})
    if type(node) is exp.Count:
        return _counted(node.this, names)
    name = _argument(node, names)
    return (f"sum_{name}", total(name)) if type(node) is exp.Sum else (f"avg_{name}", mean(name))


def _counted(of: exp.Expr, names: Names) -> tuple[str, Asked]:
    if type(of) is exp.Star:
        only(of, words={"except_": "EXCEPT", "replace": "REPLACE"})
        return "count", count()
    if type(of) is not exp.Distinct:
        raise UnsupportedQuery(
            "COUNT of a column is not read here: write COUNT(*) with WHERE … IS NOT NULL, which"
            " counts the same rows."
        )
    only(of, "expressions", words={"on": "DISTINCT ON"})
    if len(of.expressions) != 1 or type(of.expressions[0]) is not exp.Column:
        raise UnsupportedQuery("COUNT(DISTINCT …) takes the unit column only.")
    return "count_distinct", count_distinct(names.column(of.expressions[0]))


def _argument(node: exp.Expr, names: Names) -> str:
    if type(node.this) is not exp.Column:
        raise UnsupportedQuery(f"{names.shown(node)} must be of one column. {ALLOWED}")
    return names.column(node.this)


def _is(identifier: exp.Identifier, name: str) -> bool:
    exact = identifier.name == name
    return exact or (not identifier.quoted and identifier.name.casefold() == name.casefold())


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f'"{name}"'
