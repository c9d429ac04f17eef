"""Functions of SQL that are other words for what is read elsewhere.

  POWER(x, 2)  x * x                 REGR_R2(y, x)  CORR(y, x) * CORR(y, x)
  name ~ '^A'  name LIKE 'A%'        MODE(ward)     GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 1
  SUM(1)       COUNT(*)              (a, b) IN ((1, 2))  a = 1 AND b = 2

Tested:   tests/session/test_sql_habits.py
"""

import re
from collections.abc import Callable
from typing import cast

from sqlglot import exp

from letalone.sql.rewriting.dates_elsewhere import CHANGED_DATES
from letalone.sql.text import Unread

MOST_FACTORS = 4
MONDAY, SUNDAY = 1, 7
WRITE_WEEK = "Write EXTRACT(ISOWEEK FROM day), or DATE_TRUNC for the first day of a week."
WEEKS_OF_THEIR_OWN = ("bigquery", "mysql", "tsql")  # whose EXTRACT(WEEK) is not ISO's
# On which day weeks begin for these functions, and the number of that day.
WEEKDAYS = {
    ("duckdb", "DAYOFWEEK"): (SUNDAY, 0),
    ("duckdb", "WEEKDAY"): (SUNDAY, 0),
    ("spark", "DAYOFWEEK"): (SUNDAY, 1),
    ("spark", "DOW"): (SUNDAY, 1),
    ("spark", "WEEKDAY"): (MONDAY, 0),
    ("mysql", "DAYOFWEEK"): (SUNDAY, 1),
    ("mysql", "WEEKDAY"): (MONDAY, 0),
    ("bigquery", "DAYOFWEEK"): (SUNDAY, 1),
}
REGULAR = re.compile(r"(\^?)((?:[\w \-/:,@#&']|\.\*)*)(\$?)")  # letters, ends, and anything between


def plain_words(query: exp.Select, *, named: str | None = None) -> exp.Select:
    """The query in the words that are read; where its dialect is `named`, also what each dialect
    means otherwise."""
    query = cast("exp.Select", _without_schemas(query).transform(_plain))
    if named is not None:
        query = cast("exp.Select", query.transform(_weekday, named))
    return _most_frequent(_without_distinct(_ordered_by_all(query)))


def _without_schemas(query: exp.Select) -> exp.Select:
    """public.visits.age of FROM public.visits is visits.age."""
    schemas = {table.db.casefold() for table in query.find_all(exp.Table) if table.db}
    if not schemas:
        return query
    query = query.copy()
    for column in query.find_all(exp.Column):
        if column.text("db").casefold() in schemas:
            column.set("db", None)
            column.set("catalog", None)
    return query


def _plain(node: exp.Expr) -> exp.Expr:
    change = CHANGES.get(type(node))
    return node if change is None else change(node)


def _power(node: exp.Expr) -> exp.Expr:
    exponent = node.args.get("expression")
    if type(exponent) is not exp.Literal or exponent.args.get("is_string"):
        return node
    if str(exponent.this) == "0.5":
        return exp.Sqrt(this=node.this)
    if not str(exponent.this).isdecimal() or not 2 <= int(exponent.this) <= MOST_FACTORS:
        return node
    factors = [exp.Paren(this=node.this.copy()) for _ in range(int(exponent.this))]
    product: exp.Expr = factors[0]
    for factor in factors[1:]:
        product = exp.Mul(this=product, expression=factor)
    return exp.Paren(this=product)


def _write_intercept(node: exp.Expr) -> exp.Expr:
    """AVG(y) − slope · AVG(x), of the rows that have both."""
    y, x = node.this, node.args["expression"]
    slope = exp.RegrSlope(this=y.copy(), expression=x.copy())
    means = _where_present(exp.Avg(this=y.copy()), x), _where_present(exp.Avg(this=x.copy()), y)
    return exp.Paren(
        this=exp.Sub(this=means[0], expression=exp.Mul(this=slope, expression=means[1]))
    )


def _where_present(mean: exp.Expr, other: exp.Expr) -> exp.Expr:
    there: exp.Expr = exp.Not(this=exp.Is(this=other.copy(), expression=exp.Null()))
    if type(mean) is exp.Filter:
        there = exp.And(this=mean.expression.this, expression=there)
        mean = mean.this
    return exp.Filter(this=mean, expression=exp.Where(this=there))


def _squared_correlation(node: exp.Expr) -> exp.Expr:
    sides = {"this": node.this, "expression": node.args["expression"]}
    both = [exp.Corr(**{name: part.copy() for name, part in sides.items()}) for _ in range(2)]
    return exp.Paren(this=exp.Mul(this=both[0], expression=both[1]))


def _pattern(node: exp.Expr) -> exp.Expr:
    """A regular expression of letters alone, its ends, and .* is a pattern of LIKE."""
    given = node.args.get("expression")
    if type(given) is not exp.Literal or set(node.args) - {"this", "expression"}:
        return node
    match = REGULAR.fullmatch(str(given.this))
    if match is None or "_" in match[2]:
        return node
    start, letters, end = match.groups()
    like = f"{'' if start else '%'}{letters.replace('.*', '%')}{'' if end else '%'}"
    kind = exp.ILike if type(node) is exp.RegexpILike else exp.Like
    return kind(this=node.this, expression=exp.Literal.string(re.sub("%+", "%", like)))


def _one_quantile(node: exp.Expr) -> exp.Expr:
    """APPROX_QUANTILES(cost, 100)[OFFSET(50)]: one of them."""
    of, place = node.this, [str(one.name) for one in node.expressions]
    if type(of) is not exp.ApproxQuantiles or not (place and place[0].isdecimal()):
        return node
    parts = of.args.get("expression")
    number = int(place[0])
    if parts is None or not str(parts.name).isdecimal() or not 0 < number < int(parts.name):
        return node
    share = f"{number / int(parts.name):.6f}"
    return exp.PercentileCont(this=of.this, expression=exp.Literal.number(share))


def _truncate(node: exp.Expr) -> exp.Expr:
    """TO_DATE(at) of a time: its day."""
    inner = node.this
    is_plain = type(inner) is exp.Column and node.args.get("safe")
    return exp.Date(this=inner) if is_plain else node


def _most_frequent(query: exp.Select) -> exp.Select:
    """SELECT MODE(ward): the group that is largest, APPROX_TOP_COUNT(ward, 3), HISTOGRAM(ward)."""
    only = query.expressions[0].unalias() if len(query.expressions) == 1 else None
    if type(only) is exp.Anonymous and str(only.this).upper() == "HISTOGRAM":
        return _histogram(query, only)
    if query.args.get("group") or only is None:
        return query
    if type(only) is exp.WithinGroup and type(only.this) is exp.Mode:
        only = exp.Mode(this=cast("exp.Order", only.expression).expressions[0].this)
    if type(only) not in (exp.Mode, exp.ApproxTopK) or only.this is None:
        return query
    if {name for name, value in only.args.items() if value} - {"this", "expression"}:
        return query
    top = only.args.get("expression") if type(only) is exp.ApproxTopK else None
    query = query.copy()
    query.set("expressions", [only.this.copy(), exp.Count(this=exp.Star())])
    query.set("group", exp.Group(expressions=[only.this.copy()]))
    largest = exp.Ordered(this=exp.Count(this=exp.Star()), desc=True, nulls_first=False)
    query.set("order", exp.Order(expressions=[largest]))
    query.set("limit", exp.Limit(expression=top or exp.Literal.number(1)))
    return query


def _histogram(query: exp.Select, of: exp.Expr) -> exp.Select:
    """The values with the rows of each."""
    if query.args.get("group") or len(of.expressions) != 1:
        return query
    query, key = query.copy(), of.expressions[0]
    query.set("expressions", [key.copy(), exp.Count(this=exp.Star())])
    query.set("group", exp.Group(expressions=[key.copy()]))
    return query


def _ordered_by_all(query: exp.Select) -> exp.Select:
    """ORDER BY ALL is by each column of SELECT, from left to right."""
    for order in query.find_all(exp.Order):
        only = order.expressions[0] if len(order.expressions) == 1 else None
        select = order.parent
        if type(only) is not exp.Ordered or type(select) is not exp.Select:
            continue
        if type(only.this) is exp.Var and only.this.name.upper() == "ALL":
            how = {name: value for name, value in only.args.items() if name != "this"}
            places = range(1, len(select.expressions) + 1)
            by = [exp.Ordered(this=exp.Literal.number(place), **how) for place in places]
            order.set("expressions", by)
    return query


def _without_distinct(query: exp.Select) -> exp.Select:
    """SELECT DISTINCT ward … GROUP BY ward: the groups are different anyway."""
    group, distinct = query.args.get("group"), query.args.get("distinct")
    if group is None or distinct is None or distinct.args.get("on"):
        return query
    keys = {key.sql() for key in group.expressions}
    if keys and keys <= {column.unalias().sql() for column in query.expressions}:
        query = query.copy()
        query.set("distinct", None)
    return query


def _weekday(node: exp.Expr, dialect: str) -> exp.Expr:
    """DAYOFWEEK(day) and WEEKDAY(day), which begin on another day in every dialect."""
    word, of = "", node.this
    if type(node) is exp.DayOfWeek:
        word = "DAYOFWEEK"
    elif type(node) is exp.Anonymous and len(node.expressions) == 1:
        word, of = str(node.this).upper(), node.expressions[0]
    elif type(node) is exp.Extract:
        word, of = str(node.this.name).upper(), node.expression
    word = "WEEK" if type(node) is exp.Week else word
    if word == "WEEK" and dialect in WEEKS_OF_THEIR_OWN:
        raise Unread("This dialect counts weeks in its own way", WRITE_WEEK, node=node)
    first = WEEKDAYS.get((dialect, word))
    if first is None:
        return node
    day, number = first
    part = exp.Extract(this=exp.var("ISODOW"), expression=of)
    numbers = [(iso, (iso - day) % 7 + number) for iso in range(1, 8)]
    branches = [
        exp.If(
            this=exp.EQ(this=part.copy(), expression=exp.Literal.number(iso)),
            true=exp.Literal.number(shown),
        )
        for iso, shown in numbers
    ]
    return exp.Paren(this=exp.Case(ifs=branches))


def _of_pairs(node: exp.Expr) -> exp.Expr:
    """(sex, ward) IN (('f', 'A'), ('m', 'B')): each pair by itself."""
    if type(node.this) is not exp.Tuple or node.args.get("query") or not node.expressions:
        return node
    columns = node.this.expressions
    rows = [row.expressions if type(row) is exp.Tuple else [] for row in node.expressions]
    if any(len(row) != len(columns) for row in rows):
        return node
    pairs = [
        exp.and_(
            *(exp.EQ(this=c.copy(), expression=v.copy()) for c, v in zip(columns, row, strict=True))
        )
        for row in rows
    ]
    return exp.Paren(this=exp.or_(*pairs))


def _sum_of_ones(node: exp.Expr) -> exp.Expr:
    """SUM(1) counts rows."""
    ones = type(node.this) is exp.Literal and not node.this.args.get("is_string")
    return exp.Count(this=exp.Star()) if ones and str(node.this.this) == "1" else node


def _of_pairs_of_numbers(node: exp.Expr) -> exp.Expr:
    """REGR_COUNT, REGR_AVGX and REGR_AVGY: of the rows that have both numbers."""
    y, x = node.this, node.args["expression"]
    if type(node) is exp.RegrCount:
        return _where_present(_where_present(exp.Count(this=exp.Star()), x), y)
    return (
        _where_present(exp.Avg(this=x.copy()), y)
        if type(node) is exp.RegrAvgx
        else (_where_present(exp.Avg(this=y.copy()), x))
    )


def _between(node: exp.Expr) -> exp.Expr:
    """TIMESTAMPDIFF(HOUR, a, b) BETWEEN 1 AND 2, as two comparisons."""
    if type(node.this.unnest()) is not exp.TimestampDiff or node.args.get("symmetric"):
        return node
    low, high = node.args["low"], node.args["high"]
    first = exp.GTE(this=node.this.copy(), expression=low.copy())
    last = exp.LTE(this=node.this.copy(), expression=high.copy())
    return exp.Paren(this=exp.And(this=first, expression=last))


CHANGES: dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.Pow: _power,
    exp.RegrIntercept: _write_intercept,
    exp.RegrR2: _squared_correlation,
    exp.RegexpLike: _pattern,
    exp.RegexpILike: _pattern,
    exp.Bracket: _one_quantile,
    exp.TsOrDsToDate: _truncate,
    exp.In: _of_pairs,
    exp.Sum: _sum_of_ones,
    exp.RegrCount: _of_pairs_of_numbers,
    exp.RegrAvgx: _of_pairs_of_numbers,
    exp.RegrAvgy: _of_pairs_of_numbers,
    exp.Between: _between,
    **CHANGED_DATES,
}
