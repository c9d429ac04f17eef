"""Aggregates of SQL as aggregates of a question: COUNT, SUM, AVG, MEDIAN, CORR and their kin.

Proven:   by `AGGREGATES` and `NAMED`: a node that is in neither ends in a refusal
Tested:   tests/sql/test_question.py, test_page.py
Assumed:  sqlglot reads SQL as it is meant
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import cast

from sqlglot import exp

from letalone.plans.aggregates import requests as ask
from letalone.plans.aggregates.facts import AggregateRequest
from letalone.plans.expressions import Case, Clamp, ColumnRef, Concat, Expression, Literal
from letalone.plans.types import Type
from letalone.sql.names import only
from letalone.sql.refusals import refuse_node, sql_name
from letalone.sql.text import Unread, slip
from letalone.sql.values import ONE, Translator, number_of

AGGREGATED = (
    "Aggregates are COUNT, COUNT(DISTINCT …), SUM, AVG, MIN, MAX, MEDIAN, QUANTILE_CONT, VAR_POP,"
    " VAR_SAMP, STDDEV_POP, STDDEV_SAMP, COVAR_POP, COVAR_SAMP, CORR and REGR_SLOPE."
)
Ask = Callable[..., AggregateRequest]
Make = Callable[[exp.Expr, Translator], AggregateRequest]


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node stands for one number of many rows."""
    return type(node) in AGGREGATES or _name(node) in NAMED


def aggregate(node: exp.Expr, translate: Translator) -> AggregateRequest:
    """The aggregate that a node asks for, or a refusal."""
    make = AGGREGATES.get(type(node)) or NAMED.get(_name(node))
    if make is None:
        raise refuse_node(node, AGGREGATED)
    return make(node, translate)


def name_aggregate(node: exp.Expr, asked: AggregateRequest) -> str:
    """The name of an aggregate that nobody gave one: count, sum_cost, quantile_cost."""
    word = SPELLED.get(type(node)) or asked.facts.sql_word or asked.word
    operand = asked.of
    if asked.word == "count_distinct":
        return word
    if asked.word == "count" and not isinstance(operand, ColumnRef):
        return word if operand is None else "count_if"
    return f"{word}_{operand.name}" if isinstance(operand, ColumnRef) else word


def _name(node: exp.Expr) -> str:
    return str(node.this).upper() if type(node) is exp.Anonymous else ""


def _read_argument(node: exp.Expr, translate: Translator) -> Expression:
    """What is added up: not DISTINCT, not a constant."""
    if type(node) is exp.Distinct:
        instead = "Leave out DISTINCT; COUNT(DISTINCT ward) counts different values."
        raise Unread("DISTINCT is answered in COUNT only", instead, node=node, word="DISTINCT")
    if type(node) in (exp.Order, exp.Ordered, exp.Limit, exp.HavingMax):
        raise Unread("An aggregate in an order", "Leave out the order: it adds nothing.", node=node)
    if type(node) is exp.Star:
        raise Unread("* is answered in COUNT(*) only", "Name the column: SUM(cost).", node=node)
    argument = translate(node)
    if isinstance(argument, Literal):
        raise Unread("An aggregate of a constant", "Name a column: SUM(cost).", node=node)
    return argument


def _with_bounds(make: Ask, of: Expression) -> AggregateRequest:
    """SUM(CLAMP(cost, 0, 1000)) is the sum of cost within these bounds."""
    if isinstance(of, Clamp) and of.lower is not None and of.upper is not None:
        return make(of.of, lower=of.lower, upper=of.upper)
    return make(of)


def _of_one(make: Ask, node: exp.Expr, translate: Translator) -> AggregateRequest:
    only(node, "this")
    return _with_bounds(make, _read_argument(node.this, translate))


def _extreme(make: Ask, node: exp.Expr, translate: Translator) -> AggregateRequest:
    """MIN and MAX, of numbers: those of dates are asked by the year."""
    only(node, "this")
    of = _read_argument(node.this, translate)
    if translate.names.type_of(of) not in (Type.DATE, Type.TIMESTAMP):
        return _with_bounds(make, of)
    instead = (
        "Write MIN(CLAMP(YEAR(day), 1900, 2100)), or ask for the rows of each month: SELECT"
        " DATE_TRUNC('month', day), COUNT(*) FROM … GROUP BY 1."
    )
    edit = f"CLAMP(YEAR({node.this.sql('duckdb')}), 1900, 2100)"
    what = f"{sql_name(node)} of dates is not answered"
    raise Unread(what, instead, node=node.this, edit=edit)


def _named_one(make: Ask, node: exp.Expr, translate: Translator) -> AggregateRequest:
    if len(node.expressions) != 1:
        raise slip(f"{sql_name(node)} takes one column", AGGREGATED, node=node)
    return _with_bounds(make, _read_argument(node.expressions[0], translate))


def _count(node: exp.Expr, translate: Translator) -> AggregateRequest:
    only(node, "this", "big_int", words={"expressions": "COUNT of several columns"})
    inner = node.this
    if inner is None:
        raise slip("COUNT() counts nothing", "Write COUNT(*) or COUNT(column).", node=node)
    if type(inner) is exp.Star:
        only(inner)
        return ask.count()
    if type(inner) is exp.Distinct:
        return _distinct(inner, translate)
    counted = translate(inner)
    return ask.count() if isinstance(counted, Literal) else ask.count(counted)


def _distinct(node: exp.Expr, translate: Translator) -> AggregateRequest:
    only(node, "expressions", words={"on": "DISTINCT ON"})
    columns = [node for part in node.expressions for node in _list_columns(part.unnest())]
    return _count_different(columns, translate)


def _list_columns(node: exp.Expr) -> list[exp.Expr]:
    """The columns of (ward, sex)."""
    return node.expressions if type(node) is exp.Tuple else [node]


def _count_different(columns: Sequence[exp.Expr], translate: Translator) -> AggregateRequest:
    """Different values of a column or an expression; of several columns, different rows of them."""
    values = [translate(column) for column in columns]
    if len(values) == 1:
        of = values[0]
        return ask.count_distinct(of.name if isinstance(of, ColumnRef) else of)
    parts = [part for value in values for part in (value.length(), Literal("/"), value)]
    if any(translate.names.type_of(value) is not Type.TEXT for value in values):
        instead = "Columns of text can be counted together; or count one: COUNT(DISTINCT ward)."
        raise Unread("COUNT(DISTINCT …) of several columns", instead, node=columns[0])
    return ask.count_distinct(Concat(tuple(parts)))


def _about_distinct(node: exp.Expr, translate: Translator) -> AggregateRequest:
    only(node, "this")
    return _count_different([node.this], translate)


def _count_if(node: exp.Expr, translate: Translator) -> AggregateRequest:
    only(node, "this")
    return ask.count(_where(translate(node.this), ONE))


def _where(condition: Expression, of: Expression) -> Expression:
    return Case(((condition, of),), Literal(None))


def _read_filter(node: exp.Expr, translate: Translator) -> AggregateRequest:
    """COUNT(*) FILTER (WHERE …): rows for which it is not true count as missing."""
    only(node, "this", "expression")
    request = aggregate(node.this, translate)
    condition = translate(cast("exp.Filter", node).expression.this)
    return replace(request, of=_where(condition, ONE if request.of is None else request.of))


def _quantiles(of: exp.Expr, at: exp.Expr, translate: Translator) -> AggregateRequest:
    listed = at.expressions if type(at) is exp.Array else [at]
    ranks = [number_of(rank, translate, "The quantile") for rank in listed]
    return _with_bounds(partial(ask.quantile, at=ranks), _read_argument(of, translate))


def _percentile(node: exp.Expr, translate: Translator) -> AggregateRequest:
    """QUANTILE_CONT(cost, 0.5), which sqlglot calls so."""
    only(node, "this", "expression", "quantile")
    at = node.args.get("expression") or node.args.get("quantile")
    if at is None:
        instead = "Write QUANTILE_CONT(cost, 0.5), or … WITHIN GROUP (ORDER BY cost)."
        raise slip("The quantile has no column", instead, node=node)
    return _quantiles(node.this, at, translate)


def _named_percentile(node: exp.Expr, translate: Translator) -> AggregateRequest:
    if len(node.expressions) != 2:
        instead = "Write QUANTILE_CONT(cost, 0.5)."
        raise slip(f"{sql_name(node)} takes a column and a quantile", instead, node=node)
    column, at = node.expressions
    return _quantiles(column, at, translate)


def _within_group(node: exp.Expr, translate: Translator) -> AggregateRequest:
    only(node, "this", "expression")
    inner, order = node.this, cast("exp.WithinGroup", node).expression
    if type(inner) not in (exp.PercentileCont, exp.PercentileDisc) or inner.args.get("expression"):
        raise refuse_node(inner, AGGREGATED)
    (ordered,) = order.expressions if len(order.expressions) == 1 else (None,)
    if ordered is None or ordered.args.get("desc"):
        instead = "Order by one column, upwards: WITHIN GROUP (ORDER BY cost)."
        raise Unread("This order is not read", instead, node=order)
    return _quantiles(ordered.this, inner.this, translate)


def _of_two(make: Ask, node: exp.Expr, translate: Translator) -> AggregateRequest:
    """Two columns; their bounds are declared, or written as CLAMP."""
    only(node, "this", "expression")
    pair = cast("exp.Binary", node)
    arguments = [_read_argument(argument, translate) for argument in (pair.this, pair.expression)]
    bounds: dict[str, tuple[Fraction, Fraction]] = {}
    for place, argument in enumerate(arguments):
        match argument:
            case Clamp(ColumnRef(name), Fraction() as lower, Fraction() as upper):
                bounds[name], arguments[place] = (lower, upper), argument.of
            case _:
                pass
    return make(*arguments, bounds=bounds or None)


SPELLED: dict[type[exp.Expr], str] = {
    exp.Variance: "var_samp",
    exp.Stddev: "stddev",
    exp.StddevSamp: "stddev_samp",
    exp.CovarSamp: "covar_samp",
    exp.Median: "median",
}
AGGREGATES: dict[type[exp.Expr], Make] = {
    exp.Count: _count,
    exp.CountIf: _count_if,
    exp.ApproxDistinct: _about_distinct,
    exp.Sum: partial(_of_one, ask.sum),
    exp.Avg: partial(_of_one, ask.mean),
    exp.Min: partial(_extreme, ask.min),
    exp.Max: partial(_extreme, ask.max),
    exp.VariancePop: partial(_of_one, ask.variance),
    exp.Variance: partial(_of_one, partial(ask.variance, sample=True)),
    exp.StddevPop: partial(_of_one, ask.std),
    exp.Stddev: partial(_of_one, partial(ask.std, sample=True)),
    exp.StddevSamp: partial(_of_one, partial(ask.std, sample=True)),
    exp.CovarPop: partial(_of_two, ask.covariance),
    exp.CovarSamp: partial(_of_two, partial(ask.covariance, sample=True)),
    exp.Corr: partial(_of_two, ask.correlation),
    exp.RegrSlope: partial(_of_two, ask.regression_slope),
    exp.Median: partial(_of_one, ask.median),
    exp.PercentileCont: _percentile,
    exp.PercentileDisc: _percentile,
    exp.ApproxQuantile: _percentile,
    exp.Quantile: _percentile,
    exp.WithinGroup: _within_group,
    exp.Filter: _read_filter,
}
NAMED: dict[str, Make] = {
    "MEAN": partial(_named_one, ask.mean),
    "QUANTILE_CONT": _named_percentile,
    "QUANTILE_DISC": _named_percentile,
    "APPROX_PERCENTILE": _named_percentile,
    "PERCENTILE": _named_percentile,
    "TOTAL": partial(_named_one, ask.sum),
    "FSUM": partial(_named_one, ask.sum),
    "STD": partial(_named_one, ask.std),
    "STDEVP": partial(_named_one, ask.std),
    "VAR": partial(_named_one, partial(ask.variance, sample=True)),
    "VARP": partial(_named_one, ask.variance),
}
