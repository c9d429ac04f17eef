"""HAVING, ORDER BY, LIMIT and OFFSET: what is done to the noisy answer, and free.

An aggregate that stands in HAVING or ORDER BY alone is asked for, too, and not shown.

  Tested:   tests/sql/test_arranging.py
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from sqlglot import exp

from letalone.answers.arranged import Arrangement, Condition, Fixed, Named, Order, Test
from letalone.answers.columns import Cell
from letalone.plans.expressions import Literal, same
from letalone.plans.trees import Computable
from letalone.sql.formulas import Formulas, default_name, free_name
from letalone.sql.groups import Grouped, is_grouping, key_of
from letalone.sql.names import only
from letalone.sql.refusals import refused
from letalone.sql.text import Unread, slip
from letalone.sql.values import COMPARED, Translator

HAVING = "HAVING compares aggregates and keys with constants: HAVING COUNT(*) >= 10."
ORDER = "ORDER BY takes columns of SELECT, by name or place, and aggregates."


@dataclass(slots=True)
class Arranging:
    """Reads the clauses over what SELECT asks for; `hidden` collects what only they ask for."""

    translate: Translator
    groups: Sequence[Grouped]
    asked: dict[str, Computable]
    selected: Sequence[str]
    hidden: dict[str, Computable]

    def read(self, query: exp.Select) -> Arrangement:
        """The arrangement that a query asks for."""
        args = cast("Mapping[str, exp.Expr | None]", query.args)
        having, order = args.get("having"), args.get("order")
        found = Arrangement(
            having=None if having is None else self.condition(having.this),
            order=() if order is None else self._orders(order),
            limit=self._number(args.get("limit"), "LIMIT"),
            offset=self._number(args.get("offset"), "OFFSET") or 0,
        )
        return Arrangement(found.having, found.order, found.limit, found.offset, tuple(self.hidden))

    def condition(self, node: exp.Expr) -> Condition:
        """A condition on the rows of the answer."""
        match node:
            case exp.Paren():
                return self.condition(node.this)
            case exp.And() | exp.Or():
                only(node, "this", "expression")
                parts = (self.condition(node.left), self.condition(node.right))
                return Test("and" if type(node) is exp.And else "or", parts)
            case exp.Not():
                return Test("not", (self.condition(node.this),))
            case exp.Is() if type(node.expression) is exp.Null:
                return Test("missing", (self._operand(node.this),))
            case exp.Between():
                only(node, "this", "low", "high")
                of, low, high = (self._operand(node.args[x]) for x in ("this", "low", "high"))
                return Test("and", (Test(">=", (of, low)), Test("<=", (of, high))))
            case exp.In() if not node.args.get("query"):
                only(node, "this", "expressions")
                of = self._operand(node.this)
                tests = [Test("=", (of, self._operand(one))) for one in node.expressions]
                return Test("or", tuple(tests))
            case _ if type(node) in COMPARED:
                only(node, "this", "expression")
                pair = cast("exp.Binary", node)
                sides = (self._operand(pair.left), self._operand(pair.right))
                return Test(COMPARED[type(node)], sides)
            case _:
                raise refused(node, HAVING)

    def _operand(self, node: exp.Expr) -> Condition:
        name = self._name_of(node)
        if name is not None:
            return Named(name)
        if is_grouping(node):
            found = self.translate(node)
            if isinstance(found, Literal):
                return Fixed(_cell(found))
            raise Unread("HAVING looks at the answer, not at rows", _where(), node=node)
        raise refused(node, HAVING)

    def _name_of(self, node: exp.Expr) -> str | None:
        """The column of the answer that an expression is; one that is not there yet is added."""
        while type(node) is exp.Paren:
            node = node.this
        if type(node) is exp.Column and not node.args.get("table"):
            name = self._selected(node.name, quoted=bool(node.this.args.get("quoted")))
            if name is not None:
                return name
        if is_grouping(node) and not self._mentions(node):
            return self._key(node)
        return self._aggregate(Formulas(self.translate, self._known())(node), node)

    def _mentions(self, node: exp.Expr) -> bool:
        """Whether an aggregate of SELECT is meant by its name."""
        known = self._known()
        return any(
            one.name.casefold() in known and self.translate.names.find(one.this) is None
            for one in node.find_all(exp.Column)
        )

    def _known(self) -> dict[str, Computable]:
        return {name.casefold(): one for name, one in self.asked.items()}

    def _selected(self, name: str, *, quoted: bool) -> str | None:
        names = [*(group.name for group in self.groups), *self.asked]
        if name in names:
            return name
        lower = {one.lower(): one for one in names}
        return None if quoted else lower.get(name.lower())

    def _key(self, node: exp.Expr) -> str | None:
        if type(node) in (exp.Literal, exp.Boolean, exp.Neg, exp.Cast):
            return None
        of = key_of(node, self.translate)
        return next((group.name for group in self.groups if same(group.of, of)), None)

    def _aggregate(self, asked: Computable, node: exp.Expr) -> str:
        for name, known in {**self.asked, **self.hidden}.items():
            if known == asked:
                return name
        taken = {*self.asked, *self.hidden, *(group.name for group in self.groups)}
        name = free_name(default_name(node, asked), asked, taken=taken)
        self.hidden[name] = asked
        return name

    def _orders(self, order: exp.Expr) -> tuple[Order, ...]:
        only(order, "expressions")
        return tuple(self._order(cast("exp.Ordered", one)) for one in order.expressions)

    def _order(self, node: exp.Ordered) -> Order:
        only(node, "this", "desc", "nulls_first")
        name = self._place(node.this) or self._name_of(node.this)
        if name is None:
            raise Unread("ORDER BY looks at the answer, not at rows", ORDER, node=node)
        return Order(name, bool(node.args.get("desc")), bool(node.args.get("nulls_first")))

    def _place(self, node: exp.Expr) -> str | None:
        if type(node) is not exp.Literal or node.args.get("is_string"):
            return None
        digits = str(node.this)
        place = int(digits) if digits.isdecimal() else 0
        if not 1 <= place <= len(self.selected):
            what = f"ORDER BY names the column {digits[:20]}, and SELECT has {len(self.selected)}"
            raise slip(what, "Name the column.", node=node)
        return self.selected[place - 1]

    def _number(self, node: exp.Expr | None, word: str) -> int | None:
        if node is None:
            return None
        only(node, "expression")
        inner = cast("exp.Limit", node).expression
        digits = str(inner.this) if type(inner) is exp.Literal else ""
        if not digits.isdecimal():
            raise Unread(f"{word} takes a number of rows", f"Write {word} 10.", node=node)
        return int(digits)


def _cell(found: Literal) -> Cell:
    return float(found.value) if isinstance(found.value, Fraction) else found.value


def _where() -> str:
    return "Conditions on rows stand in WHERE: SELECT COUNT(*) FROM visits WHERE age >= 65."
