"""Expressions over the columns of one row: a closed, flat family of frozen nodes.

    la.col("age") >= 65
    (la.col("cost") - la.col("refund")) / 2
    la.col("ward").isin(["A", "B"]) & ~la.col("cost").is_null()
    la.case((la.col("age") < 18, "child"), otherwise="adult")
    la.col("city").starts_with("New ") | la.col("city").upper().like("%BURG")

Every expression is total: on every row it has a value or is missing (NULL), and nothing
that a row holds can make it fail.

- Numbers are IEEE doubles. Arithmetic casts whole numbers to doubles first; NaN and
  infinities, read or computed, are missing; x / 0 is missing; a missing operand makes
  the result missing; -0.0 equals 0.
- Conditions have three values; a filter keeps a row where the condition is true.
- Whole numbers compared with whole numbers stay 64-bit integers, and those outside of 64
  bits are missing; a whole number compared with a number is compared as a double.
- Text is compared byte by byte, and only for equality or with a pattern. Its letters are Unicode's
  code points, counted from 1; capitals and small letters are those of ASCII, and blanks are U+0020.
- Dates with a time are in UTC. Weekdays run from 1 (Monday) to 7 (Sunday). The difference of two
  dates is a number of days.
- A column with declared bounds is clamped to them where it is read.

`==` builds a `Comparison`; `same` tells whether two expressions are the same one.

  Tested:   tests/plans/test_expressions.py
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, fields
from fractions import Fraction
from typing import Generic, NoReturn, TypeVar, cast, final, get_args, get_origin
from typing import Literal as OneOfThese

from letalone.errors import ParameterError
from letalone.exact.typed import Constraint, refusal
from letalone.plans.constants import Value, as_bound, as_value, format_constant
from letalone.plans.records import stored_as
from letalone.plans.texts.date_patterns import Part, as_date_pattern
from letalone.plans.texts.like_patterns import ANY, as_it_is, as_pattern, small

ArithmeticOp = OneOfThese["+", "-", "*", "/"]
ComparisonOp = OneOfThese["=", "<>", "<", "<=", ">", ">="]
Spelling = OneOfThese["upper", "lower", "trim", "trim_start", "trim_end"]
Period = OneOfThese["year", "quarter", "month", "week", "day"]

PARTS: tuple[Part, ...] = get_args(Part)
PERIODS: tuple[Period, ...] = get_args(Period)
Result = TypeVar("Result")
MOST_NODES = 200
DEEPEST = 50
MOST_VALUES = 10_000
MOST_BINS = 100_000
MOST_LETTERS = 1_000_000
ELSEWHERE = {
    "str": " Write .upper(), .contains('A') or .substr(1, 3) of the expression itself.",
    "dt": " Write .month() or .part('month') of the expression itself.",
    "trunc": " Write .start_of('month').",
}

WIDTH = Constraint("a positive number", lambda x: x > 0, "It is how wide each range is.", (0, -1))
BINS = Constraint(
    f"a whole number from 1 to {MOST_BINS:,}",
    lambda x: 1 <= x <= MOST_BINS and x.denominator == 1,
    "It is the number of ranges; make them wider.",
    (0, -1, 1.5, MOST_BINS + 1),
)
PLACE = Constraint(
    f"a whole number from 1 to {MOST_LETTERS:,}",
    lambda x: 1 <= x <= MOST_LETTERS and x.denominator == 1,
    "Letters are counted from 1.",
    (0, 1.5, MOST_LETTERS + 1),
)


class ArithmeticOperators(Generic[Result]):
    """Sums, differences, products and quotients with anything on either side."""

    __slots__ = ()

    def _calculate(self, op: ArithmeticOp, left: object, right: object) -> Result:
        raise NotImplementedError

    def __add__(self, other: object) -> Result:
        return self._calculate("+", self, other)

    def __radd__(self, other: object) -> Result:
        return self._calculate("+", other, self)

    def __sub__(self, other: object) -> Result:
        return self._calculate("-", self, other)

    def __rsub__(self, other: object) -> Result:
        return self._calculate("-", other, self)

    def __mul__(self, other: object) -> Result:
        return self._calculate("*", self, other)

    def __rmul__(self, other: object) -> Result:
        return self._calculate("*", other, self)

    def __truediv__(self, other: object) -> Result:
        return self._calculate("/", self, other)

    def __rtruediv__(self, other: object) -> Result:
        return self._calculate("/", other, self)


class Expression(ArithmeticOperators["Arithmetic"]):
    """A value computed from one row; operators build larger ones."""

    __slots__ = ()

    def __post_init__(self) -> None:
        _check_fields(self)

    def _calculate(self, op: ArithmeticOp, left: object, right: object) -> "Arithmetic":
        return Arithmetic(op, as_expression(left), as_expression(right))

    def __neg__(self) -> "Negated":
        return Negated(self)

    def __eq__(self, other: object) -> "Comparison":  # pyright: ignore[reportIncompatibleMethodOverride]
        return Comparison("=", self, as_expression(other))

    def __ne__(self, other: object) -> "Comparison":  # pyright: ignore[reportIncompatibleMethodOverride]
        return Comparison("<>", self, as_expression(other))

    def __lt__(self, other: object) -> "Comparison":
        return Comparison("<", self, as_expression(other))

    def __le__(self, other: object) -> "Comparison":
        return Comparison("<=", self, as_expression(other))

    def __gt__(self, other: object) -> "Comparison":
        return Comparison(">", self, as_expression(other))

    def __ge__(self, other: object) -> "Comparison":
        return Comparison(">=", self, as_expression(other))

    def __and__(self, other: object) -> "And":
        return And((*_parts(And, self), *_parts(And, as_expression(other))))

    def __rand__(self, other: object) -> "And":
        return as_expression(other) & self

    def __or__(self, other: object) -> "Or":
        return Or((*_parts(Or, self), *_parts(Or, as_expression(other))))

    def __ror__(self, other: object) -> "Or":
        return as_expression(other) | self

    def __invert__(self) -> "Not":
        return Not(self)

    def isin(self, values: Iterable[object]) -> "OneOf":
        """Whether the value is one of these."""
        if isinstance(values, str | bytes | Expression):
            raise refusal("values", values, "a list of values, such as ['A', 'B']")
        return OneOf(self, tuple(as_value(value) for value in values))

    def is_null(self) -> "IsNull":
        """Whether the value is missing."""
        return IsNull(self)

    def if_null(self, *others: object) -> "Case":
        """The value, or the first of the others that is not missing where it is."""
        return coalesce(self, *others)

    def like(self, pattern: str, *, escape: str | None = None) -> "Like":
        """Whether a text matches: % stands for any letters, _ for one, but not after `escape`."""
        return Like(self, as_pattern(pattern, escape))

    def ilike(self, pattern: str, *, escape: str | None = None) -> "Like":
        """The same, whatever the case of the letters A to Z."""
        return Like(Respelled("lower", self), small(as_pattern(pattern, escape)))

    def starts_with(self, text: str) -> "Like":
        """Whether a text begins with these letters."""
        return Like(self, as_it_is(text) + ANY)

    def ends_with(self, text: str) -> "Like":
        """Whether a text ends with these letters."""
        return Like(self, ANY + as_it_is(text))

    def contains(self, text: str) -> "Like":
        """Whether these letters stand somewhere in a text."""
        return Like(self, ANY + as_it_is(text) + ANY)

    def upper(self) -> "Respelled":
        """The text with the letters a to z as capitals; other letters stay as they are."""
        return Respelled("upper", self)

    def lower(self) -> "Respelled":
        """The text with the letters A to Z as small ones; other letters stay as they are."""
        return Respelled("lower", self)

    def trim(self) -> "Respelled":
        """The text without the blanks at both ends."""
        return Respelled("trim", self)

    def substr(self, start: int, length: int | None = None) -> "Substring":
        """The letters from the first, 1, on; from the end where `start` is negative."""
        return Substring(self, start, length)

    def length(self) -> "Length":
        """How many letters (code points) a text has."""
        return Length(self)

    def concat(self, *others: object) -> "Concat":
        """This and the others as one text; missing where one of them is."""
        return Concat((self, *map(as_expression, others)))

    def part(self, part: Part) -> "DatePart":
        """A part of a date: year, quarter, month, day, yearday, week (1-53, as ISO 8601 counts),
        weekday (1 is Monday), hour, minute or second (in UTC)."""
        return DatePart(part, self)

    def year(self) -> "DatePart":
        """The year of a date."""
        return DatePart("year", self)

    def quarter(self) -> "DatePart":
        """The quarter of a date, 1 to 4."""
        return DatePart("quarter", self)

    def month(self) -> "DatePart":
        """The month of a date, 1 to 12."""
        return DatePart("month", self)

    def day(self) -> "DatePart":
        """The day of the month of a date, 1 to 31."""
        return DatePart("day", self)

    def weekday(self) -> "DatePart":
        """The weekday of a date, 1 (Monday) to 7."""
        return DatePart("weekday", self)

    def hour(self) -> "DatePart":
        """The hour of a time, 0 to 23 (in UTC)."""
        return DatePart("hour", self)

    def strftime(self, pattern: str) -> "DateText":
        """A date as text: '%Y-%m', '%A' (the name of the day), '%B' (of the month)."""
        return DateText(pattern, self)

    def days_since(self, other: object) -> "Arithmetic":
        """How many days after another date; times count with their day (in UTC)."""
        return StartOf("day", self) - StartOf("day", as_expression(other))

    def seconds_since(self, other: object) -> "Arithmetic":
        """How many seconds after another time, in whole seconds of both."""
        start = as_expression(other)
        return self.days_since(start) * 86400 + (self._second_of_day() - start._second_of_day())

    def _second_of_day(self) -> "Arithmetic":
        hours, minutes = self.part("hour") * 3600, self.part("minute") * 60
        return hours + minutes + self.part("second")

    def start_of(self, period: Period) -> "StartOf":
        """The first day of its year, quarter, month or week (a Monday), or its day (in UTC)."""
        return StartOf(period, self)

    def clamp(self, lower: object = None, upper: object = None) -> "Clamp":
        """The number, moved to the nearer end where it lies outside of [lower, upper]."""
        low, high = (
            None if end is None else as_bound(name, end)
            for name, end in (("lower", lower), ("upper", upper))
        )
        return Clamp(self, low, high)

    def __getattr__(self, name: str) -> NoReturn:
        hint = f' Write .part("{name}").' if name in PARTS else ELSEWHERE.get(name, "")
        raise AttributeError(f"An expression has no {name!r}.{hint}", name=name, obj=self)

    def __hash__(self) -> int:
        checked_size(self)
        return hash(repr(self))

    def __bool__(self) -> bool:
        # A set or a dict asks `bool(a == b)` only when the hashes agree.
        if isinstance(self, Comparison) and self.op == "=" and same(self.left, self.right):
            return True
        raise ParameterError(
            "An expression has no truth value of its own: each row has one. Write & for and,"
            " | for or, ~ for not, with brackets around each comparison, and"
            " (low <= x) & (x <= high) for a range."
        )


@stored_as("ColumnRef")
@final
class ColumnRef(Expression):
    """The value of a column."""

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise refusal("column", self.name, "the name of a column, such as 'age'")


@stored_as("Literal")
@final
class Literal(Expression):
    """A constant. Typed floats are their shortest decimal; times are in UTC, without a zone."""

    value: Value

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", as_value(self.value))


@stored_as("Arithmetic")
@final
class Arithmetic(Expression):
    """Sum, difference, product or quotient, in doubles; days between two dates."""

    op: ArithmeticOp
    left: Expression
    right: Expression


@stored_as("Negated")
@final
class Negated(Expression):
    """The number with its sign turned, in doubles."""

    of: Expression


@stored_as("Comparison")
@final
class Comparison(Expression):
    """True, false, or missing where a side is missing."""

    op: ComparisonOp
    left: Expression
    right: Expression


@stored_as("And")
@final
class And(Expression):
    """True where all parts are true, false where one is false, else missing."""

    parts: tuple[Expression, ...]


@stored_as("Or")
@final
class Or(Expression):
    """True where one part is true, false where all are false, else missing."""

    parts: tuple[Expression, ...]


@stored_as("Not")
@final
class Not(Expression):
    """The opposite; missing stays missing."""

    of: Expression


@stored_as("IsNull")
@final
class IsNull(Expression):
    """Whether the value is missing; never missing itself."""

    of: Expression


@stored_as("OneOf")
@final
class OneOf(Expression):
    """Whether the value is one of the listed ones; missing where it is missing."""

    of: Expression
    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        _check_fields(self)
        values = tuple(as_value(value) for value in self.values)
        if not 1 <= len(values) <= MOST_VALUES:
            raise ParameterError(
                f"isin got {len(values):,} values, but must get from 1 to {MOST_VALUES:,}. Join a"
                " public table for longer lists."
            )
        object.__setattr__(self, "values", values)


@stored_as("Case")
@final
class Case(Expression):
    """The value of the first branch whose condition is true, or `otherwise`."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression

    def __post_init__(self) -> None:
        if not self.branches:
            raise ParameterError("A case needs at least one (condition, value) pair; it has none.")
        for condition, value in self.branches:
            _check_nodes(condition, value)
        _check_fields(self)


@stored_as("DatePart")
@final
class DatePart(Expression):
    """A whole number: year, quarter 1-4, month 1-12, day 1-31, yearday 1-366, week 1-53 (of the
    year of its Thursday), weekday 1-7 (Monday is 1), hour 0-23, minute and whole second 0-59
    (UTC)."""

    # `field()` because the method `part` of Expression would be taken for a default.
    part: Part = field()  # pyright: ignore[reportIncompatibleMethodOverride]
    of: Expression


@stored_as("StartOf")
@final
class StartOf(Expression):
    """A date: the first day of the year, quarter, month or week (Monday), or the day (UTC)."""

    period: Period
    of: Expression


@stored_as("DateText")
@final
class DateText(Expression):
    """A date as text, by a pattern of `texts.date_patterns`."""

    pattern: str
    of: Expression

    def __post_init__(self) -> None:
        _check_fields(self)
        object.__setattr__(self, "pattern", as_date_pattern(self.pattern))


@stored_as("Like")
@final
class Like(Expression):
    """Whether a text matches a pattern of `texts.like_patterns`; missing where it is missing."""

    of: Expression
    pattern: str

    def __post_init__(self) -> None:
        _check_fields(self)
        object.__setattr__(self, "pattern", as_pattern(self.pattern))


@stored_as("Respelled")
@final
class Respelled(Expression):
    """Text with A to Z in one case, or without the blanks (U+0020) at an end or at both."""

    how: Spelling
    of: Expression


@stored_as("Substring")
@final
class Substring(Expression):
    """So many letters of a text from a place on, or all; a negative place counts from the end.

    Where the text is shorter, what there is: letters 2 to 4 of 'abc' are 'bc'. The third letter
    from the end of 'ab' is its first.
    """

    of: Expression
    start: int
    letters: int | None

    def __post_init__(self) -> None:
        _check_fields(self)
        PLACE.typed("start", abs(self.start) if isinstance(self.start, int) else self.start)  # pyright: ignore[reportUnnecessaryIsInstance]
        if self.letters is not None:
            PLACE.typed("length", self.letters)
        if self.start < 0 and self.letters is not None:
            raise ParameterError(
                "substr got a length and a place that counts from the end. Leave out the length,"
                " and take letters of the result."
            )


@stored_as("Length")
@final
class Length(Expression):
    """How many code points a text has."""

    of: Expression


@stored_as("Concat")
@final
class Concat(Expression):
    """Texts and whole numbers as one text; missing where one is, or beyond a million letters."""

    parts: tuple[Expression, ...]


@stored_as("Bin")
@final
class Bin(Expression):
    """The number 0 … count-1 of the range that holds the value; missing if none does.

    Edge i is the double nearest to lower + i width; range i is [edge i, edge i + 1), and the
    last one has its end, too.
    """

    of: Expression
    lower: Fraction = field()  # pyright: ignore[reportIncompatibleMethodOverride]
    width: Fraction
    count: int

    def __post_init__(self) -> None:
        _check_fields(self)
        object.__setattr__(self, "lower", as_bound("lower", self.lower))
        object.__setattr__(self, "width", WIDTH.typed("width", as_bound("width", self.width)))
        object.__setattr__(self, "count", int(BINS.typed("count", self.count)))

    def label(self, number: int) -> str:
        """The range in words, such as '[0, 10)'."""
        start, end = (self.lower + (number + i) * self.width for i in (0, 1))
        return (
            f"[{format_constant(start)},"
            f" {format_constant(end)}{']' if number == self.count - 1 else ')'}"
        )


@stored_as("Clamp")
@final
class Clamp(Expression):
    """The number, moved to the nearer end where it lies outside of [lower, upper].

    An end that is None is open. A whole number stays whole where the ends are; else in doubles.
    """

    of: Expression
    lower: Fraction | None = field()  # pyright: ignore[reportIncompatibleMethodOverride]
    upper: Fraction | None = field()  # pyright: ignore[reportIncompatibleMethodOverride]

    def __post_init__(self) -> None:
        _check_fields(self)
        for side in ("lower", "upper"):
            if getattr(self, side) is not None:
                object.__setattr__(self, side, as_bound(side, getattr(self, side)))
        if self.lower is None and self.upper is None:
            raise ParameterError("clamp got no bound. Give lower=…, upper=… or both.")
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise ParameterError(
                f"clamp got lower={format_constant(self.lower)} and"
                f" upper={format_constant(self.upper)}, but lower must not be above upper. Swap"
                " them."
            )


Node = (
    ColumnRef
    | Literal
    | Arithmetic
    | Negated
    | Comparison
    | And
    | Or
    | Not
    | IsNull
    | OneOf
    | Case
    | DatePart
    | StartOf
    | DateText
    | Like
    | Respelled
    | Substring
    | Length
    | Concat
    | Bin
    | Clamp
)
NODES: tuple[type[Expression], ...] = Node.__args__


def col(name: str) -> ColumnRef:
    """The value of a column in each row: `la.col("age") >= 65`."""
    return ColumnRef(name)


def case(*branches: tuple[object, object], otherwise: object = None) -> Case:
    """The value of the first pair whose condition is true: `la.case((condition, value), …)`."""
    for branch in branches:
        if not isinstance(branch, tuple) or len(branch) != 2:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise refusal("branch", branch, "a pair (condition, value)")
    pairs = ((as_expression(condition), as_expression(value)) for condition, value in branches)
    return Case(tuple(pairs), as_expression(otherwise))


def coalesce(*values: object) -> Case:
    """The first of the values that is not missing."""
    *first, last = map(as_expression, values)
    return Case(tuple((Not(IsNull(value)), value) for value in first), last)


def as_expression(value: object) -> Expression:
    """The expression itself, or the constant."""
    return value if isinstance(value, Expression) else Literal(as_value(value))


def same(left: Expression, right: Expression) -> bool:
    """Whether two expressions are the same one, part by part."""
    checked_size(left)
    checked_size(right)
    return repr(left) == repr(right)


def child_nodes(node: Expression) -> Iterator[Expression]:
    """The parts that an expression is directly made of, in order."""
    for part in fields(cast("Node", node)):
        yield from nodes_in(getattr(node, part.name))


def checked_size(expression: Expression) -> Expression:
    """The expression, or a refusal if it is too large to walk; never recursive itself."""
    waiting, seen = [(expression, 1)], 0
    while waiting:
        node, depth = waiting.pop()
        seen += 1
        if seen > MOST_NODES or depth > DEEPEST:
            raise ParameterError(
                f"This expression has more than {MOST_NODES} parts or is nested deeper than"
                f" {DEEPEST} levels. Shorten it, or compute it into a column of the table."
            )
        waiting.extend((child, depth + 1) for child in child_nodes(node))
    return expression


def inline_columns(expression: Expression, derived: Mapping[str, Expression]) -> Expression:
    """The expression with each derived column replaced by what it is, checked for size."""
    return checked_size(_inline(checked_size(expression), derived))


def column_names(expression: Expression) -> list[str]:
    """The columns that an expression reads, in order, each once."""
    names: dict[str, None] = {}
    waiting = [checked_size(expression)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ColumnRef):
            names[node.name] = None
        waiting.extend(reversed(list(child_nodes(node))))
    return list(names)


def nodes_in(value: object) -> Iterator[Expression]:
    """The expressions in a field: itself, or those in a tuple of any depth."""
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, tuple):
        for item in cast("tuple[object, ...]", value):
            yield from nodes_in(item)


def _inline(node: Expression, derived: Mapping[str, Expression]) -> Expression:
    if isinstance(node, ColumnRef):
        return derived.get(node.name, node)
    return with_parts(node, lambda part: _inline(part, derived))


def with_parts(node: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with each of its direct parts changed."""
    if isinstance(node, Literal | ColumnRef):
        return node
    parts = {
        part.name: _with_nodes(getattr(node, part.name), change)
        for part in fields(cast("Node", node))
    }
    return type(node)(**parts)


def _with_nodes(value: object, change: Callable[[Expression], Expression]) -> object:
    if isinstance(value, Expression):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_with_nodes(item, change) for item in cast("tuple[object, ...]", value))
    return value


def _parts(kind: type[And] | type[Or], node: Expression) -> tuple[Expression, ...]:
    return node.parts if isinstance(node, kind) else (node,)


def _check_fields(node: Expression) -> None:
    """By their types: expressions, at least one of them, or one of a few words."""
    for part in fields(cast("Node", node)):
        value: object = getattr(node, part.name)
        allowed = get_args(part.type)
        if part.type is Expression:
            _check_nodes(value)
        elif part.type == tuple[Expression, ...]:
            if not isinstance(value, tuple) or not value:
                what = f"parts of {type(node).__name__}"
                raise refusal(what, cast("object", value), "at least one condition")
            _check_nodes(*cast("tuple[object, ...]", value))
        elif get_origin(part.type) is OneOfThese and value not in allowed:
            name = "operator" if part.name == "op" else part.name
            raise refusal(name, value, "one of " + ", ".join(allowed))


def _check_nodes(*nodes: object) -> None:
    for node in nodes:
        if not isinstance(node, NODES):
            raise refusal("part of an expression", node, 'an expression, such as la.col("age")')
