"""The first row of each person, in the words that `people` reads: ROW_NUMBER() … WHERE place = 1.

  FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id …) = 1)
  FROM (SELECT DISTINCT ON (patient_id) * FROM visits ORDER BY patient_id, day)
  FROM (SELECT * FROM (SELECT *, ROW_NUMBER() … AS place FROM visits) WHERE place = 1)

Tested:   tests/session/test_sql_models.py
"""

from typing import cast

from sqlglot import exp

PLACE = "place of the row"


def with_places(query: exp.Select) -> exp.Select:
    """The query with the place of a row as a column of its FROM, and a condition on it."""
    source = query.args.get("from_")
    inner = None if source is None else source.this
    if type(inner) is not exp.Subquery or type(inner.this) is not exp.Select:
        return query
    if query.args.get("joins"):
        return query
    query = query.copy()
    inner = cast("exp.Subquery", query.args["from_"].this)
    for change in (_passed_rows, _of_qualify, _of_distinct):
        select = cast("exp.Select", inner.this)
        changed = change(select)
        if changed is not None:
            below, condition = changed
            inner.set("this", below)
            _add_condition(query, condition)
    return query


def _add_condition(query: exp.Select, condition: exp.Expr) -> None:
    where = query.args.get("where")
    own = [] if where is None else [where.this]
    query.set("where", exp.Where(this=exp.and_(condition, *own, copy=True)))


def _only(query: exp.Select, *names: str) -> bool:
    return {name for name, value in query.args.items() if value} <= {*names}


def _is_star(query: exp.Select) -> bool:
    return [type(column) for column in query.expressions] == [exp.Star]


def _passed_rows(select: exp.Select) -> tuple[exp.Select, exp.Expr] | None:
    """(SELECT * FROM (…) WHERE …): the inner query, and the condition for the outer one."""
    if not _is_star(select) or not _only(select, "expressions", "from_", "where"):
        return None
    below, where = select.args["from_"].this, select.args.get("where")
    if type(below) is not exp.Subquery or type(below.this) is not exp.Select or where is None:
        return None
    if not any(type(column.unalias()) is exp.Window for column in below.this.expressions):
        return None
    return below.this.copy(), _unnamed(where.this)


def _of_qualify(select: exp.Select) -> tuple[exp.Select, exp.Expr] | None:
    """QUALIFY of one ROW_NUMBER() in a query of rows."""
    qualify = select.args.get("qualify")
    if qualify is None or not _only(select, "expressions", "from_", "where", "qualify"):
        return None
    windows = list(qualify.find_all(exp.Window))
    if len(windows) != 1 or type(windows[0].this) is not exp.RowNumber:
        return None
    inside = {id(part) for part in windows[0].walk()}
    names = {c.name.casefold() for c in qualify.find_all(exp.Column) if id(c) not in inside}
    if names & {column.alias.casefold() for column in select.expressions if column.alias}:
        return None  # is it the column, or what is called so here?
    below, condition = select.copy(), exp.Paren(this=qualify.this.copy())
    below.set("qualify", None)
    window = cast("exp.Window", condition.find(exp.Window))
    below.append("expressions", exp.alias_(window.copy(), PLACE, quoted=True))
    window.replace(exp.column(PLACE, quoted=True))
    return below, condition.this


def _of_distinct(select: exp.Select) -> tuple[exp.Select, exp.Expr] | None:
    """DISTINCT ON (patient_id) … ORDER BY patient_id, day."""
    distinct, order = select.args.get("distinct"), select.args.get("order")
    on = None if distinct is None else distinct.args.get("on")
    keys = cast("list[exp.Expr]", on.expressions if type(on) is exp.Tuple else [])
    listed = cast("list[exp.Expr]", [] if order is None else order.expressions)
    if len(keys) != 1 or len(listed) < 2 or listed[0].this != keys[0]:
        return None
    if not _only(select, "expressions", "from_", "where", "distinct", "order"):
        return None
    below = select.copy()
    below.set("distinct", None)
    below.set("order", None)
    window = exp.Window(
        this=exp.RowNumber(),
        partition_by=[keys[0].copy()],
        order=exp.Order(expressions=[ordered.copy() for ordered in listed[1:]]),
        over="OVER",
    )
    below.append("expressions", exp.alias_(window, PLACE, quoted=True))
    first = exp.EQ(this=exp.column(PLACE, quoted=True), expression=exp.Literal.number(1))
    return below, first


def _unnamed(node: exp.Expr) -> exp.Expr:
    node = node.copy()
    for column in node.find_all(exp.Column):
        column.set("table", None)
    return node
