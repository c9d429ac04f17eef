"""Formulas over aggregates as people write them: `la.sum("a") / la.count()`, `100 * la.mean("x")`.

A tree is a closed, flat family of frozen nodes: the answer of a part, a constant, an operation on
two, a function of one. `Computable` gives what people ask for the operators that build trees.

  Tested:   tests/plans/test_formulas.py
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal as OneOfThese
from typing import SupportsIndex, cast, get_args

from letalone.errors import ParameterError
from letalone.exact.typed import refusal
from letalone.plans.constants import as_bound, format_constant
from letalone.plans.expressions import ArithmeticOp, ArithmeticOperators
from letalone.plans.records import stored_as

Function = OneOfThese[
    "negative", "absolute", "rounded", "root", "exponential", "logarithm", "floor", "ceiling"
]
FUNCTIONS: tuple[Function, ...] = get_args(Function)
TITLES: dict[Function, str] = {
    "root": "the square root of",
    "exponential": "e to the power of",
    "logarithm": "the natural logarithm of",
    "floor": "the whole number below",
    "ceiling": "the whole number above",
}
MOST_DIGITS = 15
MOST_NODES = 100
DEEPEST = 30
PLAIN = "a number or an aggregate, such as la.count()"


@stored_as("Answered")
class PartValue:
    """The noisy answer of the part of this number."""

    part: int


@stored_as("Constant")
class Constant:
    """A number as typed."""

    value: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", as_bound("constant", self.value))


@stored_as("Combined")
class Operation:
    """A sum, a difference, a product or a quotient."""

    op: ArithmeticOp
    left: "Tree"
    right: "Tree"

    def __post_init__(self) -> None:
        if self.op not in get_args(ArithmeticOp):
            raise refusal("operator", self.op, "one of + - * /")


@stored_as("Applied")
class FunctionCall:
    """The opposite, the size, the number rounded half away from 0 to so many digits, its square
    root, e to its power, its natural logarithm, or the whole number below or above it."""

    function: Function
    of: "Tree"
    digits: int = 0

    def __post_init__(self) -> None:
        if self.function not in FUNCTIONS:
            raise refusal("function", self.function, f"one of {', '.join(FUNCTIONS)}")
        if type(self.digits) is not int or abs(self.digits) > MOST_DIGITS:
            what = f"a whole number from -{MOST_DIGITS} to {MOST_DIGITS}"
            raise refusal("digits", self.digits, what, "It is how many follow the point.")


Tree = PartValue | Constant | Operation | FunctionCall
TREES: tuple[type, ...] = Tree.__args__


class Computable(ArithmeticOperators["FormulaRequest"]):
    """What can be calculated with: an aggregate as asked, or a formula over some."""

    __slots__ = ()

    def _calculate(self, op: ArithmeticOp, left: object, right: object) -> "FormulaRequest":
        return combine(op, left, right)

    def __neg__(self) -> "FormulaRequest":
        return apply_function("negative", self)

    def __abs__(self) -> "FormulaRequest":
        return apply_function("absolute", self)

    def __round__(self, digits: SupportsIndex | None = None) -> "FormulaRequest":
        return apply_function("rounded", self, 0 if digits is None else digits.__index__())


@dataclass(frozen=True, slots=True)
class FormulaRequest(Computable):
    """A formula over aggregates, before the table is known; each part once."""

    parts: tuple[Computable, ...]
    tree: Tree


def combine(op: ArithmeticOp, left: object, right: object) -> FormulaRequest:
    """The formula of an operation on two aggregates, formulas or numbers."""
    first, other = as_formula(left), as_formula(right)
    parts = first.parts + tuple(part for part in other.parts if part not in first.parts)
    moved = renumber_parts(other.tree, [parts.index(part) for part in other.parts])
    return FormulaRequest(parts, check_tree(Operation(op, first.tree, moved)))


def apply_function(function: Function, of: object, digits: int = 0) -> FormulaRequest:
    """The formula of a function of an aggregate or a formula."""
    formula = as_formula(of)
    return FormulaRequest(formula.parts, check_tree(FunctionCall(function, formula.tree, digits)))


def as_formula(value: object) -> FormulaRequest:
    """The formula that is one aggregate, or one number."""
    if isinstance(value, FormulaRequest):
        return value
    if isinstance(value, Computable):
        return FormulaRequest((value,), PartValue(0))
    if isinstance(value, bool | str) or value is None:
        raise refusal("part of a formula", value, PLAIN)
    return FormulaRequest((), Constant(as_bound("number in a formula", value)))


def renumber_parts(tree: Tree, numbers: list[int]) -> Tree:
    """The tree with part i as part numbers[i]."""
    return map_tree(tree, lambda one: PartValue(numbers[one.part]))


def map_tree(tree: Tree, change: Callable[[PartValue], Tree]) -> Tree:
    """The tree with its answers changed."""
    match tree:
        case PartValue():
            return change(tree)
        case Constant():
            return tree
        case Operation(op, left, right):
            return Operation(op, map_tree(left, change), map_tree(right, change))
        case FunctionCall(function, of, digits):
            return FunctionCall(function, map_tree(of, change), digits)


def parts_used(tree: Tree) -> list[int]:
    """The parts that a tree reads, in order, each once."""
    parts: dict[int, None] = {}
    map_tree(tree, lambda one: parts.setdefault(one.part) or one)
    return list(parts)


def check_tree(tree: object) -> Tree:
    """The tree, or a refusal if it is no tree, or too large to walk; never recursive itself."""
    waiting, seen = [(tree, 1)], 0
    while waiting:
        node, depth = waiting.pop()
        seen += 1
        if not isinstance(node, Tree):
            raise refusal("part of a formula", node, PLAIN)
        if seen > MOST_NODES or depth > DEEPEST:
            raise ParameterError(
                f"This formula has more than {MOST_NODES} parts or is nested deeper than {DEEPEST}"
                " levels. Ask for its parts, and calculate with the answers."
            )
        if isinstance(node, Operation):
            waiting += [(node.left, depth + 1), (node.right, depth + 1)]
        elif isinstance(node, FunctionCall):
            waiting.append((node.of, depth + 1))
    return cast("Tree", tree)


def in_words(tree: Tree, parts: list[str]) -> str:
    """The formula with its parts in words: (sum of cost) / (count)."""
    match tree:
        case PartValue(part):
            return f"({parts[part]})"
        case Constant(value):
            return format_constant(value)
        case Operation(op, left, right):
            return f"{_in_brackets(left, parts)} {op} {_in_brackets(right, parts)}"
        case FunctionCall("negative", of):
            return f"-{_in_brackets(of, parts)}"
        case FunctionCall("absolute", of):
            return f"the size of {_in_brackets(of, parts)}"
        case FunctionCall(function, of) if function in TITLES:
            return f"{TITLES[function]} {_in_brackets(of, parts)}"
        case FunctionCall(_, of, digits):
            many = f"{abs(digits)} digit{'s' * (abs(digits) > 1)}"
            places = f"{many} {'after' if digits > 0 else 'before'} the point"
            return f"{_in_brackets(of, parts)} rounded to {places if digits else 'whole numbers'}"


def _in_brackets(tree: Tree, parts: list[str]) -> str:
    words = in_words(tree, parts)
    return f"({words})" if isinstance(tree, Operation | FunctionCall) else words
