"""Formulas on noisy answers: the value, and an interval by interval arithmetic.

Theorem.  If each of the m parts of a formula lies in its interval with probability at least
1 − (1 − c) / m, then the true value of the formula lies in the interval computed from theirs with
probability at least c.
  Proven:   all m hold at once with probability at least c (the union bound), and then so does
            every step: sums, differences and products of numbers from intervals lie between the
            results at the ends, quotients too where the divisor's interval does not hold 0 (else
            an end is open), and rounding, roots, powers of e, logarithms and whole numbers below or
            above are monotone; what has no root or logarithm is missing
  Tested:   tests/tables/test_formulas.py: coverage, and against random points of the intervals
  Assumed:  doubles are good to nine digits here, as for all intervals
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import inf

import numpy as np

from letalone.plans.aggregates.formula_trees import (
    Constant,
    FunctionCall,
    Operation,
    PartValue,
    Tree,
)
from letalone.plans.aggregates.formulas import Formula, inner_name
from letalone.tables.columns import Floats, NoisyColumn

# Functions that rise, and the least value of each where the lower end has none.
RISING: dict[str, Callable[[Floats], Floats]] = {
    "root": np.sqrt,
    "exponential": np.exp,
    "logarithm": np.log,
    "floor": np.floor,
    "ceiling": np.ceil,
}
LEAST = {"root": 0.0, "exponential": 0.0, "logarithm": -inf, "floor": -inf, "ceiling": -inf}
Factors = dict[int, Fraction]  # of the parts of a weighted sum


def confidence_of(parts: int, confidence: float) -> float:
    """How sure each of so many parts must be, so that all of them are; never rounded down."""
    return confidence if parts <= 1 else float(np.nextafter(1 - (1 - confidence) / parts, 1))


def evaluate_formula(
    name: str, formula: Formula, answers: Mapping[str, NoisyColumn]
) -> NoisyColumn:
    """The answer of a formula from those of its parts."""
    parts = [answers[inner_name(name, number)] for number in range(len(formula.parts))]
    with np.errstate(all="ignore"):
        answer = _evaluate(formula.tree, parts)
    # Between two open ends any value would mislead: the noise leaves nothing to tell.
    known = np.isfinite(answer.values) & (np.isfinite(answer.low) | np.isfinite(answer.high))
    low = np.where(np.isnan(answer.low), -np.inf, answer.low)
    high = np.where(np.isnan(answer.high), np.inf, answer.high)
    return NoisyColumn(np.where(known, answer.values, np.nan), low, high)


def linear(tree: Tree) -> Factors | None:
    """The factor of each part where the formula is a weighted sum of its parts; else None."""
    match tree:
        case PartValue(part):
            return {part: Fraction(1)}
        case Constant():
            return {}
        case FunctionCall("negative", of):
            return _times(linear(of), Fraction(-1))
        case Operation("+", left, right):
            return _plus(linear(left), linear(right))
        case Operation("-", left, right):
            return _plus(linear(left), _times(linear(right), Fraction(-1)))
        case Operation("*", Constant(value), of) | Operation("*", of, Constant(value)):
            return _times(linear(of), value)
        case Operation("/", of, Constant(value)) if value != 0:
            return _times(linear(of), 1 / value)
        case _:
            return None


def _times(found: Factors | None, factor: Fraction) -> Factors | None:
    return None if found is None else {part: factor * weight for part, weight in found.items()}


def _plus(left: Factors | None, right: Factors | None) -> Factors | None:
    if left is None or right is None:
        return None
    none = Fraction(0)
    return {part: left.get(part, none) + right.get(part, none) for part in left | right}


def as_double(number: Fraction | int) -> float:
    """The double next to a number; beyond the largest, infinity."""
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def _evaluate(tree: Tree, parts: Sequence[NoisyColumn]) -> NoisyColumn:
    match tree:
        case PartValue(part):
            answer = parts[part]
            return NoisyColumn(answer.values, np.minimum(answer.low, answer.high), answer.high)
        case Constant(value):
            number = np.array(as_double(value))
            return NoisyColumn(number, number, number)
        case Operation(op, left, right):
            return _combine(op, _evaluate(left, parts), _evaluate(right, parts))
        case FunctionCall("negative", of):
            inner = _evaluate(of, parts)
            return NoisyColumn(-inner.values, -inner.high, -inner.low)
        case FunctionCall("absolute", of):
            return _absolute(_evaluate(of, parts))
        case FunctionCall(function, of) if function in RISING:
            inner, rising = _evaluate(of, parts), RISING[function]
            least = np.nan_to_num(rising(inner.low), nan=LEAST[function], posinf=inf, neginf=-inf)
            return NoisyColumn(rising(inner.values), least, rising(inner.high))
        case FunctionCall(_, of, digits):
            inner = _evaluate(of, parts)
            return NoisyColumn(*(_round(x, digits) for x in (inner.values, inner.low, inner.high)))


def _combine(op: str, left: NoisyColumn, right: NoisyColumn) -> NoisyColumn:
    a, b = left.values, right.values
    match op:
        case "+":
            return NoisyColumn(a + b, left.low + right.low, left.high + right.high)
        case "-":
            return NoisyColumn(a - b, left.low - right.high, left.high - right.low)
        case "*":
            return _corners(a * b, _products(left, right))
        case _:
            return _divide(left, right)


def _products(left: NoisyColumn, right: NoisyColumn) -> list[Floats]:
    """At the corners; 0 times an open end is 0, since the other number is finite."""
    pairs = [(a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
    return [np.where((a == 0) | (b == 0), 0.0, a * b) for a, b in pairs]


def _divide(left: NoisyColumn, right: NoisyColumn) -> NoisyColumn:
    values = np.where(right.values == 0, np.nan, left.values / right.values)
    pairs = [(a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
    quotients = _corners(values, [np.where(np.isinf(b), 0.0, a / b) for a, b in pairs])
    holds = (right.low <= 0) & (right.high >= 0)
    low, high = np.where(holds, -np.inf, quotients.low), np.where(holds, np.inf, quotients.high)
    return NoisyColumn(values, low, high)


def _corners(values: Floats, ends: Sequence[Floats]) -> NoisyColumn:
    stacked = np.stack(np.broadcast_arrays(*ends))
    return NoisyColumn(values, np.min(stacked, axis=0), np.max(stacked, axis=0))


def _absolute(found: NoisyColumn) -> NoisyColumn:
    low, high = np.abs(found.low), np.abs(found.high)
    least = np.where((found.low <= 0) & (found.high >= 0), 0.0, np.minimum(low, high))
    return NoisyColumn(np.abs(found.values), least, np.maximum(low, high))


def _round(values: Floats, digits: int) -> Floats:
    """Half away from 0; as it is where it is too large to have such digits."""
    scale = 10.0**digits
    scaled = np.sign(values) * np.floor(np.abs(values) * scale + 0.5) / scale
    return np.where(np.isfinite(scaled), scaled, values)
