"""From the text of a query to a question: translated node by node, or refused; never re-emitted.

    SELECT ward, COUNT(*) AS n, AVG(cost) FROM visits WHERE age >= 65 GROUP BY ward ORDER BY n

The text is read in the dialects that people type, one after the other: DuckDB, PostgreSQL, Spark,
BigQuery; the first that can be parsed and translated counts. Whatever has no translation is
refused with its place and the nearest thing that works, also what sqlglot attaches to a node
that has one: each node may carry the parts that are named, and no other.

Theorem.  A refusal depends on the text and on the schemas alone, and no part of the text reaches
an engine but as constants and names of a plan.
  Proven:   nothing in this package has a table or an engine; the plan is emitted by `engines`
  Tested:   tests/sql; bench/fuzz_sql.py asks random queries, hostile ones among them
  Assumed:  sqlglot reads SQL as it is meant
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast
from unicodedata import normalize

from sqlglot import exp

from letalone.answers.arranged import Arrangement
from letalone.errors import LetaloneError, ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Argument, Problem, Remedy
from letalone.errors.remedies import AskInstead, LeaveOut
from letalone.plans.aggregates import requests as ask
from letalone.plans.aggregates.formula_trees import Computable
from letalone.plans.expressions import Expression, Literal, same
from letalone.plans.plan import Group
from letalone.plans.schema import Schema
from letalone.plans.wording import in_words
from letalone.sql.arranging import Arranging
from letalone.sql.edits import Span, mend, read_tokens, span_of
from letalone.sql.from_clause import KnownTables, names_of
from letalone.sql.groups import GroupClause, Selected, is_grouping, key_of, read_group_by
from letalone.sql.names import Joined, Names, looks_like, only, quote_name
from letalone.sql.refusals import CLAUSES, DISTINCT, WINDOW
from letalone.sql.sql_formulas import Formulas, default_name, free_name
from letalone.sql.subqueries import SUMMARY, unfold
from letalone.sql.text import (
    DIALECTS,
    SHAPE,
    Text,
    Unread,
    not_understood,
    parse_select,
    read_text,
    slip,
    too_deep,
)
from letalone.sql.unit_queries import UnitRows, read_units
from letalone.sql.values import Translator
from letalone.sql.windows import WindowReader, has_window, name_window, read_qualify

ODD = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
READ = (
    "expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset",
    "qualify", "distinct",
)  # fmt: skip
NO_KEYS = (exp.Window, exp.Literal, exp.Subquery)


@dataclass(frozen=True, slots=True)
class ReadSql:
    """What was asked: aggregates by name, which rows, by which groups, how the answer is shown."""

    aggregates: Mapping[str, Computable]
    where: Expression | None
    groups: tuple[Group, ...]
    group_names: tuple[str, ...]
    joins: tuple[Joined, ...]
    arrangement: Arrangement
    explain: bool
    dialect: str
    units: UnitRows | None = None  # rows are units, made so
    # Where expressions stand that are added up, by their words; looked for when it is asked.
    places: Callable[[], Mapping[str, Span]] = field(compare=False, repr=False, default=dict)


def read_question(
    sql: object,
    schema: Schema,
    *,
    tables: Mapping[str, Schema] | None = None,
    dialect: str | None = None,
    whole_name: Sequence[str] = (),
) -> ReadSql:
    """The question that a SELECT asks of this table; `tables` are the public ones, by name.

    `whole_name` is what a table on a server is called there: FROM may name it so, from any part on.
    """
    text, known = read_text(sql), KnownTables(schema, tables or {}, whole_name)
    first: Unread | LetaloneError | None = None
    spoken = DIALECTS[0]
    for spelling in _dialects(dialect):
        result = _try_dialect(text, spelling, known)
        if isinstance(result, ReadSql):
            return result
        # The first refusal, unless a later dialect got further: it could parse the text.
        if first is None or (_puzzling(first) and not _puzzling(result)):
            first, spoken = result, spelling
        if isinstance(result, Unread) and result.final:
            break
    if not isinstance(first, Unread):
        raise cast("LetaloneError", first)
    raise text.error(first, *_remedies(text, first, spoken, known, named=dialect))


def _remedies(
    text: Text, unread: Unread, dialect: str, known: KnownTables, *, named: str | None
) -> Iterator[Remedy]:
    """What would be read instead: in another dialect, after an edit, or a count of rows."""
    others = [spelling for spelling in DIALECTS if spelling != named] if named is not None else []
    if any(isinstance(_try_dialect(text, spelling, known), ReadSql) for spelling in others):
        yield LeaveOut(Argument("dialect"))
    edit = mend(text, unread, dialect, lambda again: _try_dialect(again, dialect, known))
    if edit is not None:
        yield edit
    yield AskInstead(f"SELECT COUNT(*) FROM {quote_name(known.schema.name)}")


def _try_dialect(text: Text, dialect: str, known: KnownTables) -> ReadSql | Unread | LetaloneError:
    try:
        return _question(text, parse_select(text, dialect), dialect, known)
    except (Unread, LetaloneError) as error:
        return error.with_traceback(None)
    except RecursionError:
        return too_deep()
    except ODD:  # a function with fewer arguments than sqlglot, or we, count on
        return not_understood()


def _puzzling(error: Unread | LetaloneError) -> bool:
    return isinstance(error, Unread) and error.puzzling


def _dialects(dialect: object) -> Sequence[str]:
    if dialect is None:
        return DIALECTS
    if dialect not in DIALECTS:
        known = ", ".join(DIALECTS)
        words = (
            f"dialect is {str(dialect)[:40]!r}, but must be one of: {known}; or leave it out, and"
            " the first that fits is taken."
        )
        facts = {"what": Argument("dialect"), "name": str(dialect)[:40], "known": DIALECTS}
        leaving = (LeaveOut(Argument("dialect")),)
        raise ParameterError(Problem(Code.UNKNOWN_WORD, facts, leaving, words=words, advised=True))
    return (cast("str", dialect),)


def _question(text: Text, query: exp.Select, dialect: str, known: KnownTables) -> ReadSql:
    query, inner, checked = unfold(query, known.schema)
    units = None
    if inner is not None:
        units, schema = read_units(inner, known)
        known = KnownTables(replace(schema, name=query.args["from_"].this.name), known.public)
    _check_clauses(query)
    names = names_of(query, known)
    translate = Translator(names)
    selected = [_read_selected(node, names) for node in query.expressions]
    groups = _groups(query, selected, names)
    plain = [column for column in selected if not has_window(column[1])]
    aggregates, order = _read_aggregates(plain, groups, translate)
    for node in checked:
        translate(node)  # or is refused, although nobody uses it
    where = query.args.get("where")
    condition = None if where is None else translate(where.this)
    arranging = Arranging(translate, groups, aggregates, order, {})
    arrangement = _arrange(query, selected, arranging)
    return ReadSql(
        aggregates={**aggregates, **arranging.hidden},
        where=condition,
        groups=tuple(group.group for group in groups),
        group_names=tuple(group.name for group in groups),
        joins=tuple(names.joined.values()),
        arrangement=arrangement,
        explain=text.explain,
        dialect=dialect,
        units=units,
        places=partial(_places, text, query, dialect, translate),
    )


def _arrange(query: exp.Select, selected: Selected, arranging: Arranging) -> Arrangement:
    """How the answer is shown; aggregates that only stand in clauses are shown if no others are."""
    windows = dict(_name_windows(selected, arranging))
    arranging.computed = list(windows)
    computed = {name: WindowReader(arranging).read(node) for name, node in windows.items()}
    if windows and not (arranging.groups or arranging.asked or arranging.hidden):
        raise WINDOW.at(next(iter(windows.values())))  # of rows, not of groups
    arranging.selected = _in_order(selected, arranging.selected, list(computed))
    arrangement = arranging.read(query)
    keep, kept_by = read_qualify(query.args.get("qualify"), arranging)
    hidden = [*arranging.hidden, *kept_by]
    if not arranging.asked and not computed:
        hidden = list(kept_by)
        if not arranging.hidden:
            arranging.hidden.update(_count_groups(selected, arranging.groups))
    if query.meta.get(SUMMARY):
        hidden += [*(group.name for group in arranging.groups), *arranging.asked]
    more = tuple({**computed, **kept_by}.items())
    return replace(arrangement, hidden=tuple(hidden), computed=more, keep=keep)


def _name_windows(selected: Selected, arranging: Arranging) -> Iterator[tuple[str, exp.Expr]]:
    """The columns with windows; who gave no name gets that of the function, and a number."""
    ends = [f"{name}{end}" for name in arranging.asked for end in ("_low", "_high")]
    used = {name.casefold() for name in (*arranging.selected, *ends)}
    taken = {*used, *(name for name, _ in selected if name)}
    for name, node in selected:
        if not has_window(node):
            continue
        shown = name or free_name(name_window(node), None, taken=taken)
        if shown.casefold() in used:
            raise slip(f"Two columns are called {shown!r}", "Name one otherwise.", node=node)
        used.add(shown.casefold())
        taken.add(shown)
        yield shown, node


def _in_order(selected: Selected, plain: Sequence[str], computed: Sequence[str]) -> list[str]:
    """The names of all columns of SELECT in their order."""
    names = iter(plain), iter(computed)
    return [next(names[has_window(node)]) for _, node in selected]


def _count_groups(selected: Selected, groups: Sequence[GroupClause]) -> dict[str, Computable]:
    """SELECT ward … GROUP BY ward: which groups there are is told with the rows of each."""
    if not groups:
        what = "The SQL asks for no COUNT, SUM or other aggregate"
        raise Unread(what, SHAPE, node=selected[0][1] if selected else None)
    count = ask.count()
    return {free_name("count", count, taken={group.name for group in groups}): count}


def _places(text: Text, query: exp.Select, dialect: str, translate: Translator) -> dict[str, Span]:
    """Where expressions stand that are added up or searched: not plain columns."""
    nodes = [node.args.get("this") for node in query.walk() if isinstance(node, exp.AggFunc)]
    expressions = [node for node in nodes if isinstance(node, exp.Binary | exp.Paren | exp.Func)]
    if not expressions:
        return {}
    tokens = read_tokens(text, dialect)
    spans = [(in_words(translate(node)), span_of(node, tokens)) for node in expressions]
    return {words: span for words, span in spans if span is not None}


def _check_clauses(query: exp.Select) -> None:
    for name, refused in CLAUSES.items():
        value = query.args.get(name)
        if value not in (None, False, []):
            inner = cast("exp.Expr", value[0] if isinstance(value, list) else value)
            word = refused.what.split()[-1] if refused.what.isupper() else None
            raise refused.at(inner, word)
    only(query, *READ)


def _read_selected(node: exp.Expr, names: Names) -> tuple[str | None, exp.Expr]:
    """A column of SELECT: its name, if it was given one, and what it is."""
    if type(node) is exp.Star or (type(node) is exp.Column and type(node.this) is exp.Star):
        instead = "Count or add up: SELECT COUNT(*), AVG(cost)."
        raise Unread("SELECT * would show rows", instead, node=node, edit="COUNT(*)")
    if type(node) is not exp.Alias:
        return None, node
    only(node, "this", "alias")
    if type(node.args.get("alias")) is not exp.Identifier:
        raise Unread("This name is not read", "Write COUNT(*) AS n.", node=node)
    _check_alias(node.alias, names, node)
    return node.alias, node.this


def _check_alias(name: str, names: Names, node: exp.Expr) -> None:
    twin = looks_like(name, names.all_names)
    if twin is not None or normalize("NFKC", name) != name:
        what = f"The name {name!r} could be taken for another"
        raise slip(what, "Give it a name in plain letters.", node=node.args.get("alias"))


def _groups(query: exp.Select, selected: Selected, names: Names) -> list[GroupClause]:
    group, distinct = query.args.get("group"), query.args.get("distinct")
    keys = [node for _, node in selected if is_grouping(node) and type(node) not in NO_KEYS]
    if distinct is not None:
        return read_group_by(_check_distinct(distinct, group, selected, keys), selected, names)
    if group is None:
        return []
    words = {"rollup": "ROLLUP", "cube": "CUBE", "grouping_sets": "GROUPING SETS"}
    only(group, "expressions", "all", words=words)
    if group.args.get("all"):
        return read_group_by(keys, selected, names)
    if not group.expressions:
        raise Unread("GROUP BY has no columns", SHAPE, node=group, word="GROUP")
    return read_group_by(group.expressions, selected, names)


def _check_distinct(
    distinct: exp.Expr, group: exp.Expr | None, selected: Selected, keys: list[exp.Expr]
) -> list[exp.Expr]:
    """SELECT DISTINCT ward is GROUP BY ward: the columns of SELECT are the groups."""
    only(distinct, words={"on": "DISTINCT ON"})
    if group is not None or len(keys) < len(selected):
        raise DISTINCT.at(distinct, "DISTINCT")
    return keys


def _read_aggregates(
    selected: Selected, groups: Sequence[GroupClause], translate: Translator
) -> tuple[dict[str, Computable], list[str]]:
    """The aggregates by name, and the names of all columns of SELECT in their order."""
    aggregates: dict[str, Computable] = {}
    order: list[str] = []
    given = {name for name, _ in selected if name} | {group.name for group in groups}
    for name, node in selected:
        key = _key(node, groups, translate)
        if key is not None:
            _check_once(key, name, order, node)
            order.append(key)
            continue
        request = Formulas(translate, {})(node)
        usual = name or default_name(node, request)
        twice = name is not None or aggregates.get(usual) == request
        shown = usual if twice else free_name(usual, request, taken={*given, *aggregates})
        if shown in aggregates:
            what = f"Two columns are called {shown!r}"
            raise slip(what, "Name one: SUM(cost) AS costs.", node=node)
        aggregates[shown] = request
        order.append(shown)
    return aggregates, order


def _check_once(key: str, name: str | None, order: Sequence[str], node: exp.Expr) -> None:
    """A group column has one name in the answer: the one that SELECT gives it."""
    if key in order:
        what = f"The group column {key!r} is selected twice"
        raise slip(what, "Select it once, under one name.", node=node)
    if name not in (None, key):
        raise slip(f"Two columns are called {name!r}", "Give one another name.", node=node)


def _key(node: exp.Expr, groups: Sequence[GroupClause], translate: Translator) -> str | None:
    """The group column that a selected expression is; None where it holds an aggregate."""
    if not is_grouping(node):
        return None
    if type(node) in NO_KEYS:
        return None  # refused as a formula, in better words
    of = key_of(node, translate)
    for group in groups:
        if same(group.of, of):
            return group.name
    if isinstance(of, Literal):
        return None
    what = "This is selected as it is, which would show rows"
    raise Unread(what, "Count it, add it up, or put it into GROUP BY.", node=node)
