"""Windows over an answer: shares of a total, ranks, running sums, the row before.

    SELECT ward, COUNT(*) AS n, 100 * COUNT(*) / SUM(COUNT(*)) OVER () AS share
    FROM visits GROUP BY ward

A window looks at noisy numbers and keys of the answer, never at rows, so it is free. One over rows
(AVG(cost) OVER (PARTITION BY ward), without GROUP BY) is refused.

  Tested:   tests/session/test_sql_habits.py
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from sqlglot import exp

from letalone.answers.arranged import Condition
from letalone.answers.row_formulas import (
    WINDOWS,
    Calculation,
    Fixed,
    Order,
    OutputRef,
    RowFormula,
    WindowFunction,
)
from letalone.plans.expressions import Literal
from letalone.sql.answer_formulas import FUNCTIONS_OF_CELLS, OF_CELLS, WITHOUT_RANGE
from letalone.sql.arranging import Arranging
from letalone.sql.names import only
from letalone.sql.refusals import WINDOW, sql_name
from letalone.sql.sql_formulas import free_name, is_never_missing
from letalone.sql.text import Unread
from letalone.sql.values import COMPUTED

MAX_DISTANCE = 1000  # rows before or after; and tiles
OF_ROWS = "This looks at rows, and not at the answer"
OF_ANSWER = "What is computed from an answer is made of its keys and aggregates."
FRAME = "Write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW, or leave it out."
NAMES = {name.replace("_", ""): name for name in WINDOWS}  # sqlglot's, and SQL's
WITHOUT = ("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile")
ORDERED = (*WITHOUT, "lag", "lead")


def has_window(node: exp.Expr) -> bool:
    """Whether a column of SELECT is computed from the answer's other rows."""
    return node.find(exp.Window) is not None


def name_window(node: exp.Expr) -> str:
    """What a column that has no name is called: as its first function."""
    window = node.find(exp.Window)
    if window is not None:
        return function_of(window)
    node = node.unnest()
    return node.key if type(node) in FUNCTIONS_OF_CELLS else "formula"


def function_of(window: exp.Window) -> str:
    """The function of a window, as SQL writes it."""
    call = window.this
    function = str(call.this if type(call) is exp.Anonymous else call.key).lower()
    return NAMES.get(function, function)


def read_qualify(
    clause: exp.Expr | None, arranging: Arranging
) -> tuple[Condition | None, dict[str, RowFormula]]:
    """QUALIFY as a condition on columns, and the columns that it computes for itself."""
    if clause is None:
        return None, {}
    clause = clause.copy()
    computed: dict[str, RowFormula] = {}
    for node in list(_find_compared(clause.this)):
        name = free_name("qualify", None, taken={*arranging.selected, *computed})
        computed[name] = WindowReader(arranging).read(node)
        node.replace(exp.Column(this=exp.to_identifier(name, quoted=True)))
    arranging.computed = [*arranging.computed, *computed]
    return arranging.condition(clause.this), computed


def name_orders(
    query: exp.Select, arranging: Arranging, named: Mapping[str, exp.Expr]
) -> tuple[exp.Select, dict[str, RowFormula]]:
    """The query sorted by columns, and those that ORDER BY computes for itself.

    `named` are the computed columns of SELECT.
    """
    order = query.args.get("order")
    if order is None or not any(_is_computed(one.this, arranging) for one in order.expressions):
        return query, {}
    query, computed = query.copy(), dict[str, RowFormula]()
    for node in [one.this for one in query.args["order"].expressions]:
        if not _is_computed(node, arranging):
            continue
        name = next((name for name, known in named.items() if known == node.unnest()), None)
        if name is None:
            name = free_name("order", None, taken={*arranging.selected, *computed})
            computed[name] = WindowReader(arranging).read(node)
        node.replace(exp.Column(this=exp.to_identifier(name, quoted=True)))
    arranging.computed = [*arranging.computed, *computed]
    return query, computed


def _is_computed(node: exp.Expr, arranging: Arranging) -> bool:
    """Whether ORDER BY has to compute it: CASE ward WHEN 'A' THEN 1 ELSE 2 END."""
    if has_window(node):
        return True
    plain = type(node.unnest()) not in WITHOUT_RANGE or is_never_missing(node.unnest())
    return not plain and arranging.key_of(node.unnest()) is None


def _find_compared(node: exp.Expr) -> Iterator[exp.Expr]:
    """What a condition compares, where a window is in it."""
    if not isinstance(node, CONDITIONS):
        yield from [node] if has_window(node) else []
        return
    for part in list(node.iter_expressions()):
        yield from _find_compared(part)


@dataclass(frozen=True, slots=True)
class WindowReader:
    """Reads columns with windows; aggregates within them are asked for by `arranging`."""

    arranging: Arranging

    def read(self, node: exp.Expr) -> RowFormula:
        """The formula of a column, over columns of the answer."""
        while type(node) is exp.Paren:  # not .unnest(), which would open a query in brackets, too
            node = node.this
        if type(node) is exp.Window:
            return self._window(node)
        if type(node) is exp.Null:
            return Fixed(None)
        key = self.arranging.key_of(node) if type(node) in OF_CELLS else None
        if key is not None:
            return self._output(key, node)
        read = None if _is_constant(node) else READERS.get(type(node))
        if read is not None:
            return read(self, node)  # its parts: so that the question stays the same without it
        if not has_window(node):
            return self._cell(node)
        instead = "A column with OVER is made of windows, aggregates, + - * /, CASE, ROUND and ABS."
        raise Unread(f"Not answered: {sql_name(node)} of a window", instead, node=node)

    def _cell(self, node: exp.Expr) -> RowFormula:
        """A constant, or a column of the answer."""
        fixed = type(node) is exp.Subquery or _is_constant(node)  # a number that is asked first
        operand = self.arranging.translate(node) if fixed else None
        if isinstance(operand, Literal):
            value = operand.value
            return Fixed(float(value) if isinstance(value, Fraction) else value)
        self._check_meant(node)
        name = self.arranging.name_of(node)
        if name is None:
            raise WINDOW.at(node) if has_window(node) else Unread(OF_ROWS, OF_ANSWER, node=node)
        return self._output(name, node)

    def _output(self, name: str, node: exp.Expr) -> RowFormula:
        self.arranging.check_one_number(name, node)
        if self.arranging.is_range(name):
            instead = (
                "Say what is meant by the column itself: CASE WHEN age < 20 THEN …, in GROUP BY."
            )
            raise Unread("Ranges are shown as text, and not computed with", instead, node=node)
        return OutputRef(name)

    def compare(self, op: str, left: RowFormula, right: RowFormula, node: exp.Expr) -> RowFormula:
        """A comparison of two of the same type, as in HAVING."""
        plain = [side for side in (left, right) if isinstance(side, OutputRef | Fixed)]
        if len(plain) == 2:
            self.arranging.check_alike(plain[0], plain[1], node)
        return Calculation(op, (left, right))

    def operation(self, node: exp.Expr) -> RowFormula:
        only(node, "this", "expression", "typed", "safe")
        binary = cast("exp.Binary", node)
        parts = (self.read(binary.this), self.read(binary.expression))
        return Calculation(COMPUTED[type(node)], parts)

    def of_one(self, op: str, node: exp.Expr) -> RowFormula:
        only(node, "this")
        return Calculation(op, (self.read(node.this),))

    def rounded(self, node: exp.Expr) -> RowFormula:
        only(node, "this", "decimals")
        digits = node.args.get("decimals")
        places = Fixed(0) if digits is None else self._cell(digits)
        return Calculation("rounded", (self.read(node.this), places))

    def nullif(self, node: exp.Expr) -> RowFormula:
        only(node, "this", "expression")
        other = cast("exp.Nullif", node).expression
        return Calculation("nullif", (self.read(node.this), self.read(other)))

    def _window(self, node: exp.Window) -> WindowFunction:
        only(node, "this", "partition_by", "order", "spec", "over")
        call, function = node.this, function_of(node)
        order = node.args.get("order")
        if function not in WINDOWS:
            raise Unread(f"Not answered: {sql_name(call)} OVER", WINDOW.instead, node=node)
        if function in ORDERED and order is None:
            instead = f"Say in which order: {sql_name(call)}() OVER (ORDER BY COUNT(*) DESC)."
            raise Unread(f"{sql_name(call)} has no order", instead, node=node)
        return WindowFunction(
            function,
            of=None if function in WITHOUT else self._argument(call),
            partition=tuple(self._key(key) for key in node.args.get("partition_by") or ()),
            order=() if order is None else self._orders(order),
            frame=_frame(node.args.get("spec")),
            number=_number(call, function),
        )

    def _orders(self, order: exp.Expr) -> tuple[Order, ...]:
        """In OVER a number is a constant, and names are those of columns first."""
        for ordered in order.expressions:
            if type(ordered.this) is exp.Literal:
                instead = "Name the column: OVER (ORDER BY COUNT(*) DESC)."
                raise Unread("A number in OVER orders nothing", instead, node=order)
            self._check_meant(ordered.this)
        return self.arranging.read_orders(order)

    def _check_meant(self, node: exp.Expr) -> None:
        """Refuses a name of SELECT that is another column's name, too."""
        for column in node.find_all(exp.Column):
            if self.arranging.is_ambiguous(column):
                instead = "Give the column of SELECT another name."
                raise Unread(f"{column.name!r} means two things here", instead, node=column)

    def _argument(self, call: exp.Expr) -> RowFormula | None:
        only(call, "this", "offset", "big_int")
        of = call.this
        return None if type(of) is exp.Star else self.read(of)

    def _key(self, node: exp.Expr) -> str:
        self._check_meant(node)
        name = self.arranging.name_of(node)
        if name is None:
            raise WINDOW.at(node)
        return name


def _is_constant(node: exp.Expr) -> bool:
    if type(node) is exp.Cast:
        return type(node.this) is exp.Literal  # DATE '2024-01-31'
    return all(isinstance(part, CONSTANTS) for part in node.walk())


def _number(call: exp.Expr, function: str) -> int:
    """How far LAG and LEAD look, or how many tiles there are."""
    if function not in ("lag", "lead", "ntile"):
        return 1
    given = call.this if function == "ntile" else call.args.get("offset")
    if function == "ntile" and type(call) is exp.Anonymous:
        given = next(iter(call.expressions), None)
    return 1 if given is None and function != "ntile" else _distance(given, call)


def _distance(node: exp.Expr | None, place: exp.Expr) -> int:
    digits = str(node.this) if type(node) is exp.Literal else ""
    if not digits.isdecimal() or not 1 <= int(digits) <= MAX_DISTANCE:
        instead = f"Write a whole number from 1 to {MAX_DISTANCE:,}."
        raise Unread("This number of rows is not read", instead, node=place)
    return int(digits)


def _frame(spec: exp.Expr | None) -> tuple[int | None, int | None] | None:
    if spec is None:
        return None
    kind = str(spec.args.get("kind") or "").upper()
    ends = [_end(spec, side) for side in ("start", "end")]
    if kind == "RANGE" and ends == [None, 0]:
        return None  # what is meant without it, too
    if kind != "ROWS" or spec.args.get("exclude"):
        raise Unread("This frame of a window is not read", FRAME, node=spec)
    return ends[0], ends[1]


def _end(spec: exp.Expr, side: str) -> int | None:
    value, towards = spec.args.get(side), str(spec.args.get(f"{side}_side") or "").upper()
    match value:
        case "UNBOUNDED":
            if (side, towards) in (("start", "PRECEDING"), ("end", "FOLLOWING")):
                return None
        case "CURRENT ROW":
            return 0
        case None if side == "end":
            return 0
        case exp.Expr():
            distance = _distance(value, spec)
            return -distance if towards == "PRECEDING" else distance
        case _:
            pass
    raise Unread("This frame of a window is not read", FRAME, node=spec)


CONDITIONS = (exp.Connector, exp.Not, exp.Paren, exp.Predicate)
CONSTANTS = (exp.Literal, exp.Neg, exp.Boolean)
READERS: dict[type[exp.Expr], Callable[[WindowReader, exp.Expr], RowFormula]] = {
    **OF_CELLS,
    **dict.fromkeys(COMPUTED, WindowReader.operation),
    exp.Neg: lambda reader, node: reader.of_one("negative", node),
    exp.Abs: lambda reader, node: reader.of_one("absolute", node),
    exp.Round: WindowReader.rounded,
    exp.Nullif: WindowReader.nullif,
}
