"""From the text of a query to a question: translated node by node, or refused; never re-emitted.

    SELECT ward, COUNT(*) AS n, AVG(cost) FROM visits WHERE age >= 65 GROUP BY ward ORDER BY n

The text is read in the dialects that people type, one after the other: DuckDB, PostgreSQL, Spark,
BigQuery, SQL Server, MySQL, SQLite; the first that can be parsed and translated counts. Other ways
to write the same are put into one first (`rewriting`). Whatever has no translation is refused with
its place and the nearest thing that works, also what sqlglot attaches to a node that has one: each
node may carry the parts that are named, and no other.

Theorem.  A refusal depends on the text, on the schemas and on public tables alone, and no part of
the text reaches an engine but as constants and names of a plan.
  Proven:   nothing in this package has a table or an engine; the plan is emitted by `engines`
  Tested:   tests/sql; bench/fuzz_sql.py asks random queries, hostile ones among them
  Assumed:  sqlglot reads SQL as it is meant
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import cast
from unicodedata import normalize

from sqlglot import exp

from letalone.answers.arranged import Arrangement, Condition, HavingTest, OutputRef
from letalone.answers.row_formulas import KeyLookUp
from letalone.errors import LetaloneError, ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Argument, Problem, Remedy
from letalone.errors.remedies import AskFirst, LeaveOut
from letalone.plans.aggregates import requests as ask
from letalone.plans.aggregates.formula_trees import Computable
from letalone.plans.expressions import ColumnRef, Expression, Literal, same
from letalone.plans.plan import Group
from letalone.plans.schema import Schema
from letalone.plans.wording import in_words
from letalone.sql.aggregates import is_aggregate
from letalone.sql.answer_formulas import OF_CELLS, WITHOUT_RANGE
from letalone.sql.arranging import Arranging
from letalone.sql.edits import Span, mend, read_tokens, span_of
from letalone.sql.from_clause import KnownTables, names_of
from letalone.sql.groups import GroupClause, Selected, is_grouping, key_of, read_group_by
from letalone.sql.names import Ends, Joined, LookUp, Names, looks_like, only
from letalone.sql.public_queries import as_cell, follows_from, looked_up
from letalone.sql.refusals import CLAUSES, DISTINCT, REFUSED, WINDOW
from letalone.sql.rewriting.features import count_people
from letalone.sql.rewriting.joined_tables import private_first
from letalone.sql.rewriting.named_queries import without_with
from letalone.sql.rewriting.other_words import plain_words
from letalone.sql.rewriting.over_answers import KEPT_KEYS, SUMMARY
from letalone.sql.rewriting.people import about_people
from letalone.sql.rewriting.totals import with_totals
from letalone.sql.rewriting.union_all import STACK, Stack, one_select
from letalone.sql.sql_formulas import Formulas, default_name, free_name, is_never_missing
from letalone.sql.subqueries import unfold
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
from letalone.sql.windows import (
    WindowReader,
    has_window,
    name_orders,
    name_window,
    read_qualify,
)

ODD = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
READ = (
    "expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset",
    "qualify", "distinct",
)  # fmt: skip
OF_EQUAL_ROWS = (exp.AnyValue, exp.First, exp.Min, exp.Max)  # of what is the same in each row
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
    look_up: LookUp | None = None,
    ends: Ends | None = None,
    numbers: Mapping[str, Fraction] | None = None,
) -> ReadSql:
    """The question that a SELECT asks of this table; `tables` are the public ones, by name.

    `whole_name` is what a table on a server is called there: FROM may name it so, from any part on.
    `look_up` reads public tables, where queries within the query ask for it; `ends` are bounds of
    columns, for ranges of them; `numbers` are answers of queries within the query, by their SQL.
    """
    text = read_text(sql)
    known = KnownTables(schema, tables or {}, whole_name, look_up, ends or {}, numbers or {})
    first: Unread | LetaloneError | None = None
    spoken = DIALECTS[0]
    for spelling in _dialects(dialect):
        result = _try_dialect(text, spelling, known, named=dialect)
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
    """What would be read instead: in another dialect, or after an edit."""
    others = [spelling for spelling in DIALECTS if spelling != named] if named is not None else []
    if any(isinstance(_try_dialect(text, spelling, known), ReadSql) for spelling in others):
        yield LeaveOut(Argument("dialect"))
    if unread.first is not None:
        yield AskFirst(unread.first)
        return
    spelled = [dialect] if named is not None else [dialect, *DIALECTS]
    edit = mend(text, unread, dialect, lambda again: _read_first(again, spelled, known))
    if edit is not None:
        yield edit


def _read_first(
    text: Text, dialects: Sequence[str], known: KnownTables
) -> ReadSql | Unread | LetaloneError:
    """What the first dialect reads that reads it; else the refusal of the first."""
    results = (_try_dialect(text, spelling, known) for spelling in dialects)
    first = next(results)
    return next((result for result in (first, *results) if isinstance(result, ReadSql)), first)


def _try_dialect(
    text: Text, dialect: str, known: KnownTables, *, named: str | None = None
) -> ReadSql | Unread | LetaloneError:
    try:
        query = without_with(parse_select(text, dialect))
        query = plain_words(one_select(query), named=named)
        return _question(text, query, dialect, known)
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
    own = [known.schema.name, *known.whole_name[-1:]]
    query = about_people(with_totals(query), known.schema.unit, own)
    query, inner, checked, people = unfold(private_first(query, own), known)
    query = with_totals(count_people(query, people) if people else query)
    units = None
    if inner is not None:
        units, schema = read_units(inner, known)
        about = replace(schema, name=query.args["from_"].this.name)
        known = replace(known, schema=about, whole_name=())
    _check_clauses(query)
    names = names_of(query, known)
    translate = Translator(names)
    selected = [_read_selected(node, names) for node in query.expressions]
    groups = _without_followers(_groups(query, selected, names), names)
    is_computed = partial(_is_computed, groups=groups, translate=translate)
    plain = [column for column in selected if not is_computed(column[1])]
    aggregates, order, looked = _read_aggregates(plain, groups, translate)
    for node in checked:
        translate(node)  # or is refused, although nobody uses it
    where = query.args.get("where")
    condition = None if where is None else translate(where.this)
    arranging = Arranging(translate, groups, aggregates, order, {}, looked=looked)
    arrangement = _arrange(query, selected, arranging, is_computed)
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


def _without_followers(groups: list[GroupClause], names: Names) -> list[GroupClause]:
    """The groups without columns of public tables that follow from the others: a ward's name beside
    its id makes no group smaller."""
    kept = list(groups)
    for group in groups:
        others = [other.of for other in kept if other is not group]
        if isinstance(group.of, ColumnRef) and follows_from(group.of, others, names):
            kept.remove(group)
    return kept


def _is_computed(node: exp.Expr, *, groups: Sequence[GroupClause], translate: Translator) -> bool:
    """Whether a column is made of others of the answer: of windows, or of keys and numbers."""
    if has_window(node):
        return True
    if is_aggregate(node) or type(node) in OF_EQUAL_ROWS:
        return False
    if type(node.unnest()) is exp.Literal:
        return True
    if is_grouping(node):
        return _is_made_of_keys(node, groups, translate)
    inside = {id(part) for found in node.walk() if _is_closed(found) for part in found.walk()}
    outside = [part for part in node.walk() if id(part) not in inside]
    if any(type(part) in WITHOUT_RANGE and not is_never_missing(part) for part in outside):
        return True
    columns = [part for part in outside if type(part) is exp.Column]
    return bool(columns) and all(_is_key(c, groups, translate) for c in columns)


def _is_closed(node: exp.Expr) -> bool:
    """Whether what is inside is about rows, or asked before."""
    return is_aggregate(node) or type(node) is exp.Subquery


def _is_made_of_keys(node: exp.Expr, groups: Sequence[GroupClause], translate: Translator) -> bool:
    """Whether it is no key itself, but a function of keys: of each group, not of each row."""
    columns = list(node.find_all(exp.Column))
    if type(node.unnest()) not in OF_CELLS or not columns:
        return False
    if not all(_is_key(column, groups, translate) for column in columns):
        return False
    return not any(same(group.of, key_of(node, translate)) for group in groups)


def _is_key(node: exp.Column, groups: Sequence[GroupClause], translate: Translator) -> bool:
    of = translate(node)
    keys = [group.of for group in groups]
    known = any(same(key, of) for key in keys)
    return known or (
        isinstance(of, ColumnRef) and follows_from(of, keys, translate.names) is not None
    )


def _arrange(
    query: exp.Select,
    selected: Selected,
    arranging: Arranging,
    is_computed: Callable[[exp.Expr], bool],
) -> Arrangement:
    """How the answer is shown; aggregates that only stand in clauses are shown if no others are."""
    windows = dict(_name_windows(selected, arranging, is_computed))
    shown = list(arranging.looked)
    arranging.computed = list(windows)
    computed = {name: WindowReader(arranging).read(node) for name, node in windows.items()}
    if windows and not (arranging.groups or arranging.asked or arranging.hidden):
        first = next(iter(windows.values()))
        raise WINDOW.at(first) if has_window(first) else _no_aggregate(first)  # of rows
    names = iter(arranging.selected), iter(computed)
    arranging.selected = [next(names[is_computed(node)]) for _, node in selected]
    query, sorted_by = name_orders(query, arranging, windows)
    arrangement = arranging.read(query)
    keep, kept_by = read_qualify(query.args.get("qualify"), arranging)
    kept_by = {**sorted_by, **kept_by}
    arrangement, keep = _having_last(arrangement, keep, set(computed))
    hidden = [*arranging.hidden, *kept_by]
    if not arranging.asked and not computed:
        hidden = list(kept_by)
        if not arranging.hidden:
            arranging.hidden.update(_count_groups(selected, arranging.groups))
    if KEPT_KEYS in query.meta:
        names = [group.name for group in arranging.groups]
        hidden += [name for name in names if name.casefold() not in query.meta[KEPT_KEYS]]
        hidden += list(arranging.asked)
    if query.meta.get(SUMMARY):
        hidden += [*(group.name for group in arranging.groups), *arranging.asked]
    hidden += [name for name in arranging.looked if name not in shown]
    looked = {name: _look_up(of, arranging) for name, of in arranging.looked.items()}
    more = tuple({**looked, **computed, **kept_by}.items())
    arranged = replace(arrangement, hidden=tuple(hidden), computed=more, keep=keep)
    stack = cast("Stack | None", query.meta.get(STACK))
    if stack is None:
        return arranged
    return replace(arranged, stacked=stack.columns, order=stack.order, limit=stack.limit)


def _having_last(
    arrangement: Arrangement, keep: Condition | None, computed: set[str]
) -> tuple[Arrangement, Condition | None]:
    """HAVING share > 0.1: what is computed of an answer is there after HAVING, as for QUALIFY."""
    having = arrangement.having
    if having is None or not computed & set(_named_in(having)):
        return arrangement, keep
    keep = having if keep is None else HavingTest("and", (having, keep))
    return replace(arrangement, having=None), keep


def _named_in(condition: Condition) -> Iterator[str]:
    match condition:
        case OutputRef(name):
            yield name
        case HavingTest(_, parts):
            for part in parts:
                yield from _named_in(part)
        case _:
            pass


def _look_up(column: ColumnRef, arranging: Arranging) -> KeyLookUp:
    """A column of a public table beside the keys of an answer."""
    names = arranging.translate.names
    keys = {
        group.of.name: group.name for group in arranging.groups if isinstance(group.of, ColumnRef)
    }
    joined = follows_from(column, [group.of for group in arranging.groups], names)
    assert joined is not None, "it was found before"
    assert names.look_up is not None, "there is a public table"
    known = looked_up(column, joined, names.look_up)
    pairs = [(tuple(map(as_cell, key)), as_cell(value)) for key, value in known.items()]
    return KeyLookUp(tuple(keys[left] for left, _ in joined.on), tuple(pairs))


def _name_windows(
    selected: Selected, arranging: Arranging, is_computed: Callable[[exp.Expr], bool]
) -> Iterator[tuple[str, exp.Expr]]:
    """The columns with windows; who gave no name gets that of the function, and a number."""
    ends = [f"{name}{end}" for name in arranging.asked for end in ("_low", "_high")]
    used = {name.casefold() for name in (*arranging.selected, *ends)}
    taken = {*used, *(name for name, _ in selected if name)}
    for name, node in selected:
        if not is_computed(node):
            continue
        shown = name or free_name(name_window(node), None, taken=taken)
        if shown.casefold() in used:
            raise slip(f"Two columns are called {shown!r}", "Name one otherwise.", node=node)
        used.add(shown.casefold())
        taken.add(shown)
        yield shown, node


def _count_groups(selected: Selected, groups: Sequence[GroupClause]) -> dict[str, Computable]:
    """SELECT ward … GROUP BY ward: which groups there are is told with the rows of each."""
    if not groups:
        raise _no_aggregate(selected[0][1] if selected else None)
    count = ask.count()
    return {free_name("count", count, taken={group.name for group in groups}): count}


def _no_aggregate(node: exp.Expr | None) -> Unread:
    return Unread("The SQL asks for no COUNT, SUM or other aggregate", SHAPE, node=node)


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
        instead = "Ask for a count, a sum or a mean: SELECT COUNT(*), AVG(cost)."
        what = "SELECT * returns single rows, and a private query cannot"
        raise Unread(what, instead, node=node, edit="COUNT(*)")
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
    _check_subtotals(group)
    only(group, "expressions", "all")
    if group.args.get("all"):
        return read_group_by(keys, selected, names)
    if not group.expressions:
        raise Unread("GROUP BY has no columns", SHAPE, node=group, word="GROUP")
    return read_group_by(group.expressions, selected, names)


def _check_subtotals(group: exp.Expr) -> None:
    """Refuses ROLLUP and the like, with the finest groups in its place."""
    for kind in (exp.Rollup, exp.Cube, exp.GroupingSets):
        node = group.find(kind)
        if node is None:
            continue
        listed = node.expressions or [key for key in group.expressions if key is not node]
        columns = [column.sql() for part in listed for column in part.find_all(exp.Column)]
        refused = REFUSED[kind].at(node)
        refused.edit = ", ".join(dict.fromkeys(columns)) if node.expressions else ""
        raise refused


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
) -> tuple[dict[str, Computable], list[str], dict[str, ColumnRef]]:
    """The aggregates by name, the names of all columns of SELECT in their order, and those of
    public tables that the groups decide."""
    aggregates: dict[str, Computable] = {}
    looked: dict[str, ColumnRef] = {}
    order: list[str] = []
    given = {name for name, _ in selected if name} | {group.name for group in groups}
    for name, node in selected:
        column = _follower(node, groups, translate)
        if column is not None:
            shown = name or free_name(node.name, None, taken={*given, *aggregates, *looked})
            looked[shown] = column
            order.append(shown)
            continue
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
    return aggregates, order, looked


def _follower(
    node: exp.Expr, groups: Sequence[GroupClause], translate: Translator
) -> ColumnRef | None:
    """The column of a public table that a selected one is, where the groups decide it."""
    node = node.this if type(node) in OF_EQUAL_ROWS else node
    of = translate(node) if type(node) is exp.Column else None
    keys = [group.of for group in groups]
    if not isinstance(of, ColumnRef) or any(same(key, of) for key in keys):
        return None
    return None if follows_from(of, keys, translate.names) is None else of


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
    raise Unread(what, "Count it, add it up, or put it into GROUP BY.", node=node, ungrouped=True)
