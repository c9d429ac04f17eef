"""GROUP BY: columns, their places or names in SELECT, CASE, parts of dates, and ranges.

Ranges are BIN(age, 0, 100, 10), from 0 to 100 by 10; WIDTH_BUCKET(age, 0, 100, 10), from 0 to 100
in ten; or FLOOR(age / 10) * 10, and other ways to write it, where the bounds of the column are
declared or given beside the query, so that which ranges there are is public. They are shown as
'[0, 10)'; rows outside of all are left out. The last range has its upper end, too, also that of
WIDTH_BUCKET: SQL counts a value that equals it as above all.

  Tested:   tests/sql/test_question.py, test_refusals.py
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import NamedTuple

from sqlglot import exp

from letalone.plans import expressions as nodes
from letalone.plans.clauses import GroupColumn
from letalone.plans.expressions import Bin, ColumnRef, Expression, Literal, same
from letalone.plans.plan import Group, bins
from letalone.plans.types import Type
from letalone.plans.wording import short_name
from letalone.sql.aggregates import is_aggregate
from letalone.sql.names import Names, matching, only
from letalone.sql.refusals import TILES
from letalone.sql.text import Unread, slip
from letalone.sql.values import Translator, number_of

GROUPED = (
    "GROUP BY takes columns, CASE, YEAR(day), MONTH(day), DATE_TRUNC('month', day) and"
    " BIN(age, 0, 100, 10)."
)
BUCKETS = ("min_value", "max_value", "num_buckets")
ROUNDED = (exp.Floor, exp.IntDiv, exp.Round)
MOST = 10**9  # so large may the ends of a formula be that is put into ranges
OF_ROWS = (exp.Window, exp.AnyValue, exp.First)
Selected = Sequence[tuple[str | None, exp.Expr]]  # the columns of SELECT, each with its name


@dataclass(frozen=True, slots=True)
class GroupClause:
    """A group column: its name in the answer, and what it is in each row."""

    name: str
    of: Expression

    @property
    def group(self) -> Group:
        """As `group_by` takes it."""
        if isinstance(self.of, Bin):
            return GroupColumn(self.name, self.of, Type.INTEGER)
        plain = isinstance(self.of, ColumnRef) and self.of.name == self.name
        return self.name if plain else (self.name, self.of)


def key_of(node: exp.Expr, translate: Translator) -> Expression:
    """What a group column is in each row."""
    node = node.unnest()
    ranges = _ranges(node, translate)
    if ranges is not None:
        return ranges
    key = translate(node)
    if isinstance(key, Literal):
        raise Unread("A constant is not a group", GROUPED, node=node)
    return key


def is_grouping(node: exp.Expr) -> bool:
    """Whether a selected column may be a key: no aggregate and no window is in it."""
    return not any(is_aggregate(part) or type(part) in OF_ROWS for part in node.walk())


def read_group_by(
    listed: Sequence[exp.Expr], selected: Selected, names: Names
) -> list[GroupClause]:
    """The group columns in their order."""
    translate = Translator(names)
    named = [(name, node) for name, node in selected if name and is_grouping(node)]
    keys = {n: key_of(node, translate) for n, node in named if type(node) is not exp.Literal}
    clauses: list[GroupClause] = []
    for node in listed:
        key = key_of(_meant(node, selected, names), translate)
        clauses.append(GroupClause(_name(key, keys, len(clauses) + 1), key))
    return clauses


def _meant(node: exp.Expr, selected: Selected, names: Names) -> exp.Expr:
    """The expression that a place or a name in SELECT stands for."""
    place = read_place(node, len(selected), "GROUP BY")
    meant = node if place is None else selected[place][1]
    if type(node) is exp.Column and not node.args.get("table") and names.find(node.this) is None:
        called = [name for name, _ in selected if name]
        name = matching(node.this, called)
        if name is not None:
            meant = node = next(expression for known, expression in selected if known == name)
    if type(meant) is exp.Window and meant.find(exp.Ntile):
        raise TILES.at(meant)
    if not is_grouping(meant):
        raise Unread("An aggregate is not a group", GROUPED, node=node)
    return meant


def read_place(node: exp.Expr, columns: int, clause: str) -> int | None:
    """The place of the column of SELECT, from 0, that a number stands for; None for all else."""
    if type(node) is not exp.Literal or node.args.get("is_string"):
        return None
    digits = str(node.this)
    place = int(digits) if digits.isdecimal() else 0
    if not 1 <= place <= columns:
        what = f"{clause} names the column {digits[:20]}, and SELECT has {columns}"
        raise slip(what, "Name the column.", node=node)
    return place - 1


def _name(of: Expression, keys: Mapping[str, Expression], place: int) -> str:
    for name, key in keys.items():
        if same(key, of):
            return name
    match of:
        case Bin(ColumnRef(name)):
            return name
        case nodes.Case():
            return "case" if place == 1 else f"case_{place}"
        case _:
            return short_name(of) or f"group_{place}"


def _ranges(node: exp.Expr, translate: Translator) -> Expression | None:
    if type(node) is exp.Anonymous and str(node.this).upper() == "BIN":
        return _bin(node, translate)
    if type(node) is exp.WidthBucket:
        return _buckets(node, translate)
    steps = _steps(node)
    return None if steps is None else _floor(steps, node, translate)


class Steps(NamedTuple):
    """What is rounded to steps, the width of a step, whether to the nearest one, and where one of
    them begins."""

    of: exp.Expr
    width: exp.Expr
    nearest: bool
    start: Fraction = Fraction(0)


def _steps(node: exp.Expr) -> Steps | None:
    """The ranges that an expression means.

    FLOOR(x / 10) * 10, FLOOR(x / 10), x // 10 * 10, x - x % 10, FLOOR(x), ROUND(x, -1) and
    FLOOR((x - 5) / 10) * 10 + 5.
    """
    node = _plain(node)
    match node:
        case exp.Add() if (start := _number(node.expression)) is not None:
            steps = _steps(node.this)
            return steps and _shifted(steps, start)
        case exp.Mul():
            for side, width in ((node.left, node.right), (node.right, node.left)):
                steps = _steps(side) if type(_plain(side)) in ROUNDED else None
                if steps is not None and _number(steps.width) == _number(width) is not None:
                    return steps
            return None
        case exp.Floor() if not node.args.get("decimals") and not node.args.get("to"):
            quotient = _plain(node.this)
            if type(quotient) is exp.Div and _number(quotient.expression) is not None:
                return Steps(_plain(quotient.this), quotient.expression, nearest=False)
            return Steps(quotient, exp.Literal.number(1), nearest=False)
        case exp.IntDiv() if _number(node.expression) is not None:
            return Steps(node.this, node.expression, nearest=False)
        case exp.Sub():
            rest = node.expression.unnest()
            if type(rest) is exp.Mod and rest.this == node.this:
                return Steps(node.this, rest.expression, nearest=False)
            return None
        case exp.Round():
            return _rounded(node)
        case _:
            return None


def _rounded(node: exp.Round) -> Steps | None:
    """ROUND(x, -1), and ROUND(x / 10)."""
    decimals, of = node.args.get("decimals"), _plain(node.this)
    digits = Fraction(0) if decimals is None else _number(decimals)
    if digits is None or not -6 <= digits <= 6 or digits.denominator != 1:
        return None
    if not digits and type(of) is exp.Div and _number(of.expression) is not None:
        return Steps(of.this, of.expression, nearest=True)
    width = f"1{'0' * -int(digits)}" if digits <= 0 else f"0.{'0' * (int(digits) - 1)}1"
    return Steps(of, exp.Literal.number(width), nearest=True)


def _shifted(steps: Steps, start: Fraction) -> Steps | None:
    """FLOOR((x - 5) / 10) * 10 + 5: ranges that begin at 5."""
    of = _plain(steps.of)
    if start == 0:
        return steps
    if type(of) is not exp.Sub or _number(of.expression) != start:
        return None
    return steps._replace(of=of.this, start=start)


def _plain(node: exp.Expr) -> exp.Expr:
    """Without brackets, casts to whole numbers around what is whole, and + 0."""
    node = node.unnest()
    whole = isinstance(node, exp.Cast) and node.args["to"].this in exp.DataType.INTEGER_TYPES
    if whole and type(node.this.unnest()) in ROUNDED:
        return _plain(node.this)
    if type(node) in (exp.Add, exp.Sub) and _number(node.args["expression"]) == 0:
        return _plain(node.this)
    return node


def _number(node: exp.Expr | None) -> Fraction | None:
    """A number as it is written."""
    match node:
        case exp.Neg():
            inner = _number(node.this)
            return None if inner is None else -inner
        case exp.Paren():
            return _number(node.this)
        case exp.Literal() if not node.args.get("is_string"):
            return Fraction(str(node.this))
        case _:
            return None


def _bin(node: exp.Expr, translate: Translator) -> Expression:
    if len(node.expressions) != 4:
        what = "BIN takes a column, from, to and the width of a range"
        raise slip(what, "Write BIN(age, 0, 100, 10).", node=node)
    column, *numbers = node.expressions
    ends = [number_of(end, translate, "An end of BIN") for end in numbers]
    return bins(translate(column), *ends, name="range").of


def _buckets(node: exp.Expr, translate: Translator) -> Expression:
    only(node, "this", *BUCKETS, words={"threshold": "WIDTH_BUCKET with a list of ends"})
    given = [node.args.get(name) for name in BUCKETS]
    ends = [number_of(end, translate, "An end of WIDTH_BUCKET") for end in given if end is not None]
    if len(ends) != len(BUCKETS) or ends[2] < 1 or ends[2].denominator != 1:
        what = "WIDTH_BUCKET takes a column, from, to and how many ranges"
        raise slip(what, "Write WIDTH_BUCKET(age, 0, 100, 10).", node=node)
    lower, upper, count = ends
    return bins(translate(node.this), lower, upper, (upper - lower) / count, name="range").of


def _floor(steps: Steps, node: exp.Expr, translate: Translator) -> Expression:
    """Ranges of a number that is clamped to declared bounds where it is read, or has given ones."""
    width = number_of(steps.width, translate, "The width of a range")
    of, nearest = translate(steps.of), steps.nearest
    bounds = _known_bounds(of, translate.names)
    half = width / 2 if nearest else Fraction(0)
    if width <= 0 or bounds is None or (nearest and bounds[0] < 0):
        name = of.name if isinstance(of, ColumnRef) else "age"
        instead = (
            f"Say from where to where they go: BIN({name}, 0, 100, 10), from, to and the width of a"
            f' range; or bounds={{"{name}": (0, 100)}}, --bounds {name}=0:100.'
        )
        raise Unread("These ranges have no public ends", instead, node=node)
    first, last = (Fraction(floor((end - steps.start + half) / width)) for end in bounds)
    return Bin(of, first * width - half + steps.start, width, int(last - first) + 1)


def _known_bounds(of: Expression, names: Names) -> tuple[Fraction, Fraction] | None:
    """Those that are given beside the query, or declared."""
    if isinstance(of, ColumnRef) and of.name in names.ends:
        return names.ends[of.name]
    added = [column for joined in names.joined.values() for column in joined.added]
    for column in (*names.schema.columns, *added):
        if isinstance(of, ColumnRef) and column.name == of.name:
            known = column.lower is not None and column.upper is not None
            return (column.lower or Fraction(0), column.upper or Fraction(0)) if known else None
    if isinstance(of, ColumnRef):
        return None
    typed = names.typed(of)
    if not typed.type.is_numeric or not max(abs(typed.lower), abs(typed.upper)) < MOST:
        return None
    return Fraction(typed.lower), Fraction(typed.upper)
