"""HAVING, ORDER BY, LIMIT and OFFSET: what is done to the noisy answer, and free.

An aggregate that stands in HAVING or ORDER BY alone is asked for, too, and not shown. Both order
text by its code points, as Python does; WHERE, which an engine computes, does not order text.

  Tested:   tests/sql/test_arranging.py
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import cast

from sqlglot import exp

from letalone.answers.arranged import Arrangement, Condition, Fixed, HavingTest, Order, OutputRef
from letalone.plans.aggregates.facts import AggregateRequest
from letalone.plans.aggregates.formula_trees import Computable
from letalone.plans.dates import read_moment
from letalone.plans.expressions import Bin, ColumnRef, Expression, Literal, same
from letalone.plans.types import Type, type_of_value
from letalone.sql.groups import GroupClause, is_grouping, key_of, read_place
from letalone.sql.names import named_by, only
from letalone.sql.public_queries import follows_from
from letalone.sql.refusals import refuse_node
from letalone.sql.sql_formulas import Formulas, default_name, free_name
from letalone.sql.text import Unread, slip
from letalone.sql.values import COMPARED, Translator

HAVING = "HAVING compares aggregates and keys with constants: HAVING COUNT(*) >= 10."
ROWS = "Conditions on rows stand in WHERE: SELECT COUNT(*) FROM visits WHERE age >= 65."
ORDER = "ORDER BY takes columns of SELECT, by name or place, and aggregates."


@dataclass(slots=True)
class Arranging:
    """Reads the clauses over what SELECT asks for; `hidden` collects what only they ask for."""

    translate: Translator
    groups: Sequence[GroupClause]
    asked: dict[str, Computable]
    selected: Sequence[str]
    hidden: dict[str, Computable]
    computed: Collection[str] = ()  # names of columns with windows
    looked: dict[str, ColumnRef] = field(default_factory=dict[str, ColumnRef])  # in public tables

    def read(self, query: exp.Select) -> Arrangement:
        args = cast("Mapping[str, exp.Expr | None]", query.args)
        having, order = args.get("having"), args.get("order")
        return Arrangement(
            having=None if having is None else self.condition(having.this),
            order=() if order is None else self.read_orders(order),
            limit=self._number(args.get("limit"), "LIMIT"),
            offset=self._number(args.get("offset"), "OFFSET") or 0,
        )

    def condition(self, node: exp.Expr) -> Condition:
        match node:
            case exp.Paren():
                return self.condition(node.this)
            case exp.And() | exp.Or():
                only(node, "this", "expression")
                parts = (self.condition(node.left), self.condition(node.right))
                return HavingTest("and" if type(node) is exp.And else "or", parts)
            case exp.Not():
                return HavingTest("not", (self.condition(node.this),))
            case exp.Is() if type(node.expression) is exp.Null:
                return HavingTest("missing", (self._operand(node.this),))
            case exp.Between():
                only(node, "this", "low", "high")
                operand, low, high = (node.args[x] for x in ("this", "low", "high"))
                ends = (self._compared(">=", operand, low), self._compared("<=", operand, high))
                return HavingTest("and", ends)
            case exp.In() if not node.args.get("query"):
                only(node, "this", "expressions")
                tests = [self._compared("=", node.this, value) for value in node.expressions]
                return HavingTest("or", tuple(tests))
            case _ if type(node) in COMPARED:
                only(node, "this", "expression")
                pair = cast("exp.Binary", node)
                return self._compared(COMPARED[type(node)], pair.left, pair.right)
            case _:
                raise refuse_node(node, HAVING)

    def _compared(self, op: str, left: exp.Expr, right: exp.Expr) -> HavingTest:
        """A comparison of two of the same type, as in WHERE; text beside a date is read as one."""
        sides = self._operand(left), self._operand(right)
        sides, kinds = self.check_alike(*sides, left, who="HAVING")
        if op not in ("=", "<>"):
            self._check_ordered(sides, kinds, left)
        return HavingTest(op, sides)

    def check_alike(
        self, one: Condition, other: Condition, node: exp.Expr, *, who: str = "This"
    ) -> tuple[tuple[Condition, Condition], tuple[Type, Type]]:
        """Both sides with their types, which must be the same."""
        sides = one, other
        kinds = self._type(one), self._type(other)
        if Type.DATE in kinds:
            sides = _read_dates(one), _read_dates(other)
            kinds = self._type(sides[0]), self._type(sides[1])
        if kinds[0] is not kinds[1] and not (kinds[0].is_numeric and kinds[1].is_numeric):
            what = f"{who} compares {kinds[0].value} with {kinds[1].value}"
            instead = "Both sides must be of the same type: numbers without quotes, text in quotes."
            raise slip(what, instead, node=node)
        return sides, kinds

    def _check_ordered(
        self, sides: tuple[Condition, Condition], kinds: tuple[Type, Type], node: exp.Expr
    ) -> None:
        """Ranges are shown as text, whose order is not theirs; truth has none in WHERE either."""
        if Type.BOOLEAN in kinds:
            raise Unread("HAVING orders truth values", "Write = TRUE or = FALSE.", node=node)
        if any(isinstance(self._key_named(side), Bin) for side in sides):
            instead = "List the ranges that are meant: ages IN ('[0, 10)', '[10, 20)')."
            raise Unread("HAVING orders ranges", instead, node=node)

    def _type(self, of: Condition) -> Type:
        """Keys are as they are shown, ranges as text; aggregates are numbers."""
        match of:
            case OutputRef():
                key = self._key_named(of)
                key = self.looked.get(of.name) if key is None else key
                if isinstance(key, Bin):
                    return Type.TEXT
                return Type.NUMBER if key is None else self.translate.names.type_of(key)
            case Fixed(value) if value is not None and not isinstance(value, float):
                return type_of_value(value)
            case _:
                return Type.NUMBER

    def _key_named(self, of: Condition) -> Expression | None:
        """What a group column is in each row; None for an aggregate or a constant."""
        name = of.name if isinstance(of, OutputRef) else None
        return next((group.of for group in self.groups if group.name == name), None)

    def _operand(self, node: exp.Expr) -> Condition:
        if type(node) is exp.Subquery:
            return _read_constant(self.translate(node), node)
        name = self._group_column(node) or self.name_of(node, having=True)
        if name is not None:
            self.check_one_number(name, node)
            return OutputRef(name)
        if is_grouping(node):
            return _read_constant(self.translate(node), node)
        raise refuse_node(node, HAVING)

    def _group_column(self, node: exp.Expr) -> str | None:
        """The group column of this name: in HAVING it goes before a name that SELECT gives."""
        node = node.unnest()
        if type(node) is not exp.Column or type(node.this) is not exp.Identifier:
            return None
        if node.args.get("table") or self.translate.names.find(node.this) is None:
            return None
        return self._key(node)

    def name_of(self, node: exp.Expr, *, having: bool = False) -> str | None:
        """The column of the answer that an expression is; one that is not there yet is added."""
        node = node.unnest()
        if type(node) is exp.Column and not node.args.get("table"):
            name = named_by(node, self._names())
            if name is not None:
                return name
        if is_grouping(node) and not self._mentions(node):
            return self._key(node)
        known = self.asked
        if having:
            keys = [column for column in node.find_all(exp.Column) if self._group_column(column)]
            hides = {named_by(column, known) for column in keys}
            known = {name: request for name, request in known.items() if name not in hides}
        return self._aggregate(Formulas(self.translate, known)(node), node)

    def key_of(self, node: exp.Expr) -> str | None:
        """The group column that an expression is, as it is written."""
        if not is_grouping(node) or self._mentions(node):
            return None
        try:
            return self._key(node)
        except Unread:  # it is none that rows can have
            return None

    def is_range(self, name: str) -> bool:
        """Whether a column holds ranges, which are shown as text."""
        return isinstance(self._key_named(OutputRef(name)), Bin)

    def _names(self) -> list[str]:
        keys = [group.name for group in self.groups]
        return [*keys, *self.looked, *self.asked, *self.computed]

    def _mentions(self, node: exp.Expr) -> bool:
        """Whether an aggregate of SELECT is meant by its name."""
        names = self.translate.names
        columns = [c for c in node.find_all(exp.Column) if named_by(c, self.asked) is not None]
        return any(names.find(column.this) is None for column in columns)

    def _key(self, node: exp.Expr) -> str | None:
        written = node.this if type(node) is exp.Cast else node  # DATE '2024-01-31' is a cast
        if type(written) in (exp.Literal, exp.Boolean, exp.Neg):
            return None
        key = key_of(node, self.translate)
        known = next((group.name for group in self.groups if same(group.of, key)), None)
        return self._looked_up(key) if known is None else known

    def _looked_up(self, of: Expression) -> str | None:
        """The column of a public table that the groups decide; one that is not shown is added."""
        for name, column in self.looked.items():
            if same(column, of):
                return name
        keys = [group.of for group in self.groups]
        if not isinstance(of, ColumnRef) or not follows_from(of, keys, self.translate.names):
            return None
        taken = {*self._names(), *self.hidden}
        name = free_name(of.name, None, taken=taken)
        self.looked[name] = of
        return name

    def _aggregate(self, asked: Computable, node: exp.Expr) -> str:
        for name, known in {**self.asked, **self.hidden}.items():
            if known == asked:
                return name
        taken = {*self._names(), *self.hidden}
        name = free_name(default_name(node, asked), asked, taken=taken)
        self.hidden[name] = asked
        return name

    def read_orders(self, order: exp.Expr) -> tuple[Order, ...]:
        """What ORDER BY sorts by, in SELECT or in a window."""
        only(order, "expressions")
        return tuple(self._order(cast("exp.Ordered", ordered)) for ordered in order.expressions)

    def _order(self, node: exp.Ordered) -> Order:
        only(node, "this", "desc", "nulls_first")
        place = read_place(node.this, len(self.selected), "ORDER BY")
        name = self.name_of(node.this) if place is None else self.selected[place]
        if name is None:
            raise Unread("ORDER BY looks at the answer, not at rows", ORDER, node=node)
        self.check_one_number(name, node)
        return Order(
            name,
            descending=bool(node.args.get("desc")),
            missing_first=bool(node.args.get("nulls_first")),
            ranges=self.is_range(name),
        )

    def is_ambiguous(self, column: exp.Column) -> bool:
        """Whether a name is given in SELECT, and is that of another column of the table."""
        if column.args.get("table") or type(column.this) is not exp.Identifier:
            return False
        given = named_by(column, self._names())
        if given is None or self.translate.names.find(column.this) is None:
            return False
        return self._group_column(column) != given

    def check_one_number(self, name: str, node: exp.Expr) -> None:
        """Refuses what has several numbers, where one is needed."""
        request = {**self.asked, **self.hidden}.get(name)
        if isinstance(request, AggregateRequest) and len(request.at) > 1:
            what = "Several quantiles at once are neither compared nor sorted by"
            raise Unread(what, "Name one: QUANTILE_CONT(cost, 0.5).", node=node)

    def _number(self, node: exp.Expr | None, word: str) -> int | None:
        if node is None:
            return None
        if type(node) is exp.Fetch:
            only(node, "count", "direction", "limit_options")
            only(node.args.get("limit_options") or exp.Null(), "rows")
        else:
            only(node, "expression")
        inner = node.args.get("count" if type(node) is exp.Fetch else "expression")
        digits = str(inner.this) if type(inner) is exp.Literal else ""
        if not digits.isdecimal():
            raise Unread(f"{word} takes a number of rows", f"Write {word} 10.", node=node)
        return int(digits)


def _read_constant(operand: Expression, node: exp.Expr) -> Fixed:
    if not isinstance(operand, Literal):
        raise Unread("HAVING looks at the answer, not at rows", ROWS, node=node)
    value = operand.value
    return Fixed(float(value) if isinstance(value, Fraction) else value)


def _read_dates(of: Condition) -> Condition:
    if isinstance(of, Fixed) and isinstance(of.value, str):
        return Fixed(cast("date", read_moment(of.value, Type.DATE)))
    return of
