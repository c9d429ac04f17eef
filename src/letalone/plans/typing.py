"""What an expression yields: its type, an interval that holds its values, can it be missing.

Theorem.  In every row the value of an admitted expression is missing or of the stated type
and, if it is a number, within [lower, upper]. It is missing only if `nullable`.
  Proven:   rounding to the nearest double is monotone, so a sum of doubles from [a, b] and
            [c, d] lies within [fl(a + c), fl(b + d)]; products and quotients are monotone
            in each operand between the ends, so they lie between the rounded results at
            the four corners. An infinite end means that no bound is declared; values are
            finite, since non-finite ones are missing, so 0 times an unbounded one is 0.
  Tested:   tests/plans/test_typing.py, against random rows
  Assumed:  the engine computes in IEEE doubles, rounding to nearest

Refusals happen here, before data is touched: a plan that passes cannot fail on any row.

Which columns are surely there follows from the filter: it keeps a row only where its condition is
true. `age >= 65` is true only where age is not missing, so no aggregate over the kept rows skips a
row for a missing age.

Theorem.  If `condition` is true in a row, then every column of `surely_present(condition)`
is not missing in it.
  Proven:   by induction: arithmetic, negation, parts and starts of dates, functions of text,
            ranges, clamps, comparisons, patterns and `isin` are missing where an operand is;
            `and` is true only if all parts are; `or` only if one is, so what all parts share is
            kept; `not` is true only where its operand is false, hence not missing
  Tested:   tests/plans/test_presence.py, against every row of small tables
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import product
from math import inf, isfinite
from sys import float_info
from typing import cast

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.errors.codes import Code
from letalone.errors.problem import Spelled, problem
from letalone.plans import expressions as nodes
from letalone.plans.clauses import Join
from letalone.plans.constants import Value
from letalone.plans.expressions import ColumnRef, Expression
from letalone.plans.schema import Column, Schema, unknown_column
from letalone.plans.texts.date_patterns import PART_RANGE, Part, parts_in
from letalone.plans.types import Type, type_of_value
from letalone.plans.wording import in_words

LARGEST = float_info.max
ORDERED = (Type.DATE, Type.TIMESTAMP)
WRITTEN = (Type.TEXT, Type.INTEGER)
TIMED: tuple[Part, ...] = ("hour", "minute", "second")
ColumnNames = frozenset[str]
NO_COLUMNS: ColumnNames = frozenset()


@dataclass(frozen=True, slots=True)
class ExpressionType:
    """A type, the interval of its values (infinite where none is declared), can it be missing."""

    type: Type
    lower: float = -inf
    upper: float = inf
    nullable: bool = True


# The type of a bare None: its interval is empty.
MISSING = ExpressionType(Type.OTHER, inf, -inf)


@dataclass(frozen=True, slots=True)
class ColumnTypes:
    """The columns that an expression of a plan can name."""

    table: str
    unit: str | None
    typed: Mapping[str, ExpressionType]
    declared: Mapping[str, Column]
    derived: Mapping[str, Expression]

    def type_of(self, expression: Expression) -> ExpressionType:
        nodes.inline_columns(
            expression, self.derived
        )  # refuses what derived columns make too large
        return _type_node(expression, self)


def type_of(expression: Expression, schema: Schema) -> ExpressionType:
    """The type of an expression over the columns of a schema, or a refusal in words."""
    return columns_of(schema).type_of(expression)


def columns_of(
    schema: Schema,
    *,
    joins: Sequence[Join] = (),
    derived: Sequence[tuple[str, Expression]] = (),
    where: Expression | None = None,
    present: frozenset[str] = frozenset(),
) -> ColumnTypes:
    """The columns of a table, of the public tables joined to it, and the derived ones.

    Those in `present` are never missing, and the filter says it of others.
    """
    declared = {column.name: column for column in schema.columns}
    for join in joins:
        declared |= {column.name: column for column in join.columns}
    typed = {
        name: replace(_of_column(column), nullable=name not in present)
        for name, column in declared.items()
    }
    columns = ColumnTypes(schema.name, schema.unit, typed, declared, {})
    for name, expression in derived:
        typed = {**columns.typed, name: columns.type_of(expression)}
        inlined = nodes.inline_columns(expression, columns.derived)
        columns = replace(columns, typed=typed, derived={**columns.derived, name: inlined})
    return columns if where is None else _within(columns, where, derived)


def _within(
    columns: ColumnTypes, where: Expression, derived: Sequence[tuple[str, Expression]]
) -> ColumnTypes:
    """The same columns in the rows that the filter keeps: some are surely there."""
    here = surely_present(nodes.checked_size(where)) | surely_present(
        nodes.inline_columns(where, columns.derived)
    )
    typed = dict(columns.typed)
    for name in typed.keys() - columns.derived.keys():
        typed[name] = replace(typed[name], nullable=typed[name].nullable and name not in here)
    for name, expression in derived:
        again = _type_node(expression, replace(columns, typed=typed))
        typed[name] = replace(again, nullable=again.nullable and name not in here)
    return replace(columns, typed=typed)


def _of_column(column: Column) -> ExpressionType:
    lower = -inf if column.lower is None else float(column.lower)
    upper = inf if column.upper is None else float(column.upper)
    return ExpressionType(column.type, lower, upper)


def _type_node(expression: Expression, columns: ColumnTypes) -> ExpressionType:
    match cast("nodes.Node", expression):
        case ColumnRef(name):
            if name not in columns.typed:
                raise unknown_column(name, list(columns.typed), table=columns.table)
            return columns.typed[name]
        case nodes.Literal(value):
            return _of_constant(value)
        case nodes.Arithmetic():
            return _arithmetic(cast("nodes.Arithmetic", expression), columns)
        case nodes.Negated(of):
            typed = _numeric(of, columns, "negated")
            return ExpressionType(Type.NUMBER, -typed.upper, -typed.lower, typed.nullable)
        case nodes.Comparison():
            return _comparison(cast("nodes.Comparison", expression), columns)
        case nodes.And(parts) | nodes.Or(parts):
            # A list first: `any` alone would leave parts after the first unchecked.
            missing = [_condition(part, columns) for part in parts]
            return ExpressionType(Type.BOOLEAN, nullable=any(missing))
        case nodes.Not(of):
            return ExpressionType(Type.BOOLEAN, nullable=_condition(of, columns))
        case nodes.IsNull(of):
            _type_node(of, columns)
            return ExpressionType(Type.BOOLEAN, nullable=False)
        case nodes.OneOf(of, values):
            return _one_of(of, values, columns)
        case nodes.Case():
            return _case(cast("nodes.Case", expression), columns)
        case nodes.DatePart(part, of):
            return _date_part(part, of, columns)
        case nodes.StartOf(period, of):
            typed = _type_of_date(of, columns, f"start of its {period}")
            return ExpressionType(Type.DATE, nullable=typed.nullable)
        case nodes.DateText(pattern, of):
            timed = next((part for part in parts_in(pattern) if part in TIMED), "day")
            return ExpressionType(Type.TEXT, nullable=_date_part(timed, of, columns).nullable)
        case nodes.Like(of):
            nullable = _text(of, columns, "matched with a pattern").nullable
            return ExpressionType(Type.BOOLEAN, nullable=nullable)
        case nodes.Respelled(_, of) | nodes.Substring(of):
            return _text(of, columns, "taken for text")
        case nodes.Length(of):
            nullable = _text(of, columns, "counted by letters").nullable
            return ExpressionType(Type.INTEGER, 0, nullable=nullable)
        case nodes.Concat(parts):
            for part in parts:
                _text(part, columns, "joined to text", WRITTEN)
            return ExpressionType(Type.TEXT)  # what is too long is missing
        case nodes.Bin(of, _, _, count):
            _numeric(of, columns, "put into ranges")
            return ExpressionType(Type.INTEGER, 0, count - 1)
        case nodes.Clamp(of, lower, upper):
            return _clamp_interval(_numeric(of, columns, "clamped"), lower, upper)


def _of_constant(value: Value) -> ExpressionType:
    if value is None:
        return MISSING
    kind = type_of_value(value)
    if kind is Type.INTEGER and not -(2**63) <= cast("int", value) < 2**63:
        raise ParameterError(
            f"The whole number {value} does not fit into 64 bits, in which whole numbers are"
            " compared. Write it as a float to compare numbers."
        )
    if not kind.is_numeric:
        return ExpressionType(kind, nullable=False)
    try:
        number = float(cast("int | Fraction", value))
    except OverflowError:
        raise ParameterError(
            "A constant is larger than any double. Numbers are doubles, up to 1.8e308."
        ) from None
    return ExpressionType(kind, number, number, nullable=False)


def _arithmetic(expression: nodes.Arithmetic, columns: ColumnTypes) -> ExpressionType:
    left, right = (_type_node(side, columns) for side in (expression.left, expression.right))
    if expression.op == "-" and {left.type, right.type} & set(ORDERED):
        return _days_between(expression, left, right)
    done = {"+": "added", "-": "subtracted", "*": "multiplied", "/": "divided"}[expression.op]
    _check_numeric(expression.left, left, done)
    _check_numeric(expression.right, right, done)
    lower, upper = _interval(expression.op, left, right)
    fits = isfinite(lower) and isfinite(upper)
    return ExpressionType(
        Type.NUMBER,
        min(lower, LARGEST),
        max(upper, -LARGEST),
        nullable=left.nullable or right.nullable or not fits,
    )


def _days_between(
    expression: nodes.Arithmetic, left: ExpressionType, right: ExpressionType
) -> ExpressionType:
    """Of two dates. Nobody declares bounds of dates, so their number has none."""
    if left.type is right.type is Type.DATE:
        return ExpressionType(Type.NUMBER, nullable=left.nullable or right.nullable)
    words = f"'{in_words(expression)}' subtracts {right.type.value} from {left.type.value}."
    python = f"{words} Write .days_since(…): two dates have a number of days between them."
    sql = f"{words} Write DATE_DIFF('day', start, end), the number of days between two dates."
    raise ParameterError(problem(Code.WRONG_KIND, words=Spelled(python, sql)))


def _interval(op: str, left: ExpressionType, right: ExpressionType) -> tuple[float, float]:
    match op:
        case "+":
            return left.lower + right.lower, left.upper + right.upper
        case "-":
            return left.lower - right.upper, left.upper - right.lower
        case "/" if right.lower <= 0 <= right.upper:
            return -inf, inf
        case _:
            ends = product((left.lower, left.upper), (right.lower, right.upper))
            if op == "*":
                corners = [0.0 if 0 in (a, b) else a * b for a, b in ends]
            else:
                corners = [a / b if isfinite(b) else 0.0 for a, b in ends]
            return min(corners), max(corners)


def _comparison(expression: nodes.Comparison, columns: ColumnTypes) -> ExpressionType:
    left, right = (_type_node(side, columns) for side in (expression.left, expression.right))
    _check_comparable(expression, left, right)
    if expression.op not in ("=", "<>"):
        _check_ordered(expression, left.type)
    return ExpressionType(Type.BOOLEAN, nullable=left.nullable or right.nullable)


def _check_comparable(
    expression: nodes.Comparison, left: ExpressionType, right: ExpressionType
) -> None:
    if MISSING in (left, right):
        raise ParameterError(
            f"'{in_words(expression)}' compares with a missing value, which is never true."
            " Write .is_null() or ~….is_null()."
        )
    sides = ((expression.left, left), (expression.right, right))
    text = [of for of, t in sides if isinstance(of, ColumnRef) and t.type is Type.TEXT]
    _check_same_kind(left.type, right.type, in_words(expression), columns=text)


def _check_same_kind(
    left: Type, right: Type, words: str, *, columns: Sequence[ColumnRef] = ()
) -> None:
    if left is Type.OTHER or right is Type.OTHER:
        what = f"'{words}' compares a column whose type letalone does not know. Only"
        works = "works on it. Cast it to text, a number or a date in the table."
        spelled = Spelled(f"{what} .is_null() {works}", f"{what} IS NULL {works}")
        raise UnsupportedQuery(problem(Code.NO_PRIVATE_ANSWER, words=spelled))
    if left is right or (left.is_numeric and right.is_numeric):
        return
    what = f"'{words}' compares {left.value} with {right.value}; both sides must be of the same"
    hint = _comparing_hint({left, right}, columns)
    spelled = Spelled(f"{what} type. {hint.on('python')}", f"{what} type. {hint.on('options')}")
    raise ParameterError(problem(Code.WRONG_KIND, words=spelled))


def _comparing_hint(kinds: set[Type], columns: Sequence[ColumnRef]) -> Spelled:
    if columns and Type.TEXT in kinds and kinds & set(ORDERED):
        declared = {columns[0].name: (kinds & set(ORDERED)).pop().value}
        return Spelled(
            "In CSV files, and in pandas where they are Python objects, dates are text until their"
            f" type is declared: la.open(…, types={declared})."
        )
    if Type.TIMESTAMP in kinds:
        written = "Write a time as '2024-01-31 14:30:00'."
        return Spelled("Write a time as datetime.datetime(2024, 1, 31).", written)
    if Type.DATE in kinds:
        written = "Write a date as '2024-01-31'."
        return Spelled("Write a date as datetime.date(2024, 1, 31).", written)
    if Type.BOOLEAN in kinds:
        return Spelled("Write True or False.", "Write TRUE or FALSE.")
    return Spelled("Write numbers without quotes and text in quotes.")


def _check_ordered(expression: nodes.Comparison, kind: Type) -> None:
    if not kind.is_numeric and kind not in ORDERED:
        what = (
            f"'{in_words(expression)}' orders {kind.value}, whose order differs between engines."
            " Numbers, dates and times can be ordered; use"
        )
        spelled = Spelled(f"{what} ==, != or .isin([…]) here.", f"{what} =, <> or IN (…) here.")
        raise UnsupportedQuery(problem(Code.NO_PRIVATE_ANSWER, words=spelled))


def _one_of(of: Expression, values: tuple[Value, ...], columns: ColumnTypes) -> ExpressionType:
    typed = _type_node(of, columns)
    for value in values:
        kind = _of_constant(value)
        if kind == MISSING:
            raise ParameterError(
                f"The values for '{in_words(of)}' hold None, which nothing equals. Leave it out"
                " and add | ….is_null()."
            )
        named = [of] if isinstance(of, ColumnRef) else []
        _check_same_kind(typed.type, kind.type, f"{in_words(of)} is one of …", columns=named)
    return ExpressionType(Type.BOOLEAN, nullable=typed.nullable)


def _case(expression: nodes.Case, columns: ColumnTypes) -> ExpressionType:
    for condition, _ in expression.branches:
        _condition(condition, columns)
    results = [*(value for _, value in expression.branches), expression.otherwise]
    found = [_type_node(result, columns) for result in results]
    known = [typed for typed in found if typed != MISSING]
    kinds = {typed.type for typed in known}
    if len(kinds) > 1 and kinds != {Type.INTEGER, Type.NUMBER}:
        words = " and ".join(sorted(kind.value for kind in kinds))
        raise ParameterError(
            f"The values of a case are {words}; they must be of one type. Numbers of both kinds"
            " may be mixed, and None stands for a missing value."
        )
    if not known:
        raise ParameterError("All values of a case are None. Give at least one value.")
    return ExpressionType(
        kinds.pop() if len(kinds) == 1 else Type.NUMBER,
        min(typed.lower for typed in known),
        max(typed.upper for typed in known),
        nullable=any(typed.nullable for typed in _reachable_values(expression, found, columns)),
    )


def _reachable_values(
    expression: nodes.Case, found: list[ExpressionType], columns: ColumnTypes
) -> list[ExpressionType]:
    """The values that rows can get: not `otherwise` if `c` and `not c` are branches."""
    conditions = [condition for condition, _ in expression.branches]
    sure = [repr(nodes.Not(c)) for c in conditions if not _condition(c, columns)]
    return found[:-1] if any(repr(c) in sure for c in conditions) else found


def _clamp_interval(
    found: ExpressionType, lower: Fraction | None, upper: Fraction | None
) -> ExpressionType:
    ends = [end for end in (lower, upper) if end is not None]
    is_integer = found.type is Type.INTEGER and all(is_whole(end) for end in ends)
    low = -inf if lower is None else float(lower)
    high = inf if upper is None else float(upper)
    kind = Type.INTEGER if is_integer else Type.NUMBER
    least, largest = (min(max(end, low), high) for end in (found.lower, found.upper))
    return ExpressionType(kind, least, largest, found.nullable)


def is_whole(end: Fraction) -> bool:
    """Whether an end is a whole number that doubles hold exactly."""
    return end.denominator == 1 and abs(end) <= 2**53


def _date_part(part: str, of: Expression, columns: ColumnTypes) -> ExpressionType:
    allowed = (Type.TIMESTAMP,) if part in TIMED else ORDERED
    typed = _type_of_date(of, columns, part, allowed)
    lower, upper = PART_RANGE.get(part, (-inf, inf))
    return ExpressionType(Type.INTEGER, lower, upper, typed.nullable)


def _type_of_date(
    of: Expression, columns: ColumnTypes, what: str, allowed: Sequence[Type] = ORDERED
) -> ExpressionType:
    typed = _type_node(of, columns)
    if typed.type not in allowed:
        raise ParameterError(
            f"'{in_words(of)}' is {typed.type.value} and has no {what}. It must be"
            f" {' or '.join(kind.value for kind in allowed)}; declare it so in the schema."
        )
    return typed


def _condition(expression: Expression, columns: ColumnTypes) -> bool:
    """Whether a condition can be missing; refuses what is no condition."""
    typed = _type_node(expression, columns)
    if typed.type is not Type.BOOLEAN:
        raise ParameterError(
            f"'{in_words(expression)}' is {typed.type.value}, but must be a condition, such as"
            ' la.col("age") >= 65.'
        )
    return typed.nullable


def _numeric(expression: Expression, columns: ColumnTypes, done: str) -> ExpressionType:
    typed = _type_node(expression, columns)
    _check_numeric(expression, typed, done)
    return typed


def _check_numeric(expression: Expression, typed: ExpressionType, done: str) -> None:
    if not typed.type.is_numeric:
        hint = (
            " Count with la.case((condition, 1), otherwise=0)."
            if typed.type is Type.BOOLEAN
            else ""
        )
        kind = "missing" if typed == MISSING else typed.type.value
        raise ParameterError(
            f"'{in_words(expression)}' is {kind} and cannot be {done}; numbers can.{hint}"
        )


def _text(
    of: Expression, columns: ColumnTypes, done: str, allowed: Sequence[Type] = (Type.TEXT,)
) -> ExpressionType:
    typed = _type_node(of, columns)
    if typed.type not in allowed:
        kind = "missing" if typed == MISSING else typed.type.value
        kinds = {Type.TEXT: "text", Type.INTEGER: "whole numbers"}
        can = " and ".join(kinds[kind] for kind in allowed)
        raise ParameterError(f"'{in_words(of)}' is {kind} and cannot be {done}; {can} can.")
    return typed


def surely_present(condition: Expression | None) -> ColumnNames:
    """Columns that are not missing wherever the condition is true."""
    match cast("nodes.Node | None", condition):
        case nodes.And(parts):
            return NO_COLUMNS.union(*(surely_present(part) for part in parts))
        case nodes.Or(parts):
            return reduce(ColumnNames.intersection, (surely_present(part) for part in parts))
        case nodes.Not(nodes.IsNull(of)) | nodes.Not(of):
            return _columns_needed(of)
        case None:
            return NO_COLUMNS
        case _:
            return _columns_needed(cast("Expression", condition))


def _columns_needed(expression: Expression) -> ColumnNames:
    """Columns that are not missing wherever the expression is not missing."""
    match cast("nodes.Node", expression):
        case ColumnRef(name):
            return frozenset((name,))
        case nodes.Arithmetic(_, left, right) | nodes.Comparison(_, left, right):
            return _columns_needed(left) | _columns_needed(right)
        case nodes.Negated(of) | nodes.Not(of) | nodes.OneOf(of) | nodes.Bin(of) | nodes.Clamp(of):
            return _columns_needed(of)
        case nodes.DatePart(_, of) | nodes.StartOf(_, of) | nodes.DateText(_, of):
            return _columns_needed(of)
        case nodes.Like(of) | nodes.Respelled(_, of) | nodes.Substring(of) | nodes.Length(of):
            return _columns_needed(of)
        case nodes.Concat(parts):
            return NO_COLUMNS.union(*map(_columns_needed, parts))
        # `and`, `or` and cases can be there without all of their parts; `is_null` always is.
        case nodes.And() | nodes.Or() | nodes.Case() | nodes.IsNull() | nodes.Literal():
            return NO_COLUMNS
