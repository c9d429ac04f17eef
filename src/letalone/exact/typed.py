"""What a typed number means: 0.1 is one tenth; and a typed path, the folder that ~ is.

A float that a person types (an epsilon, a delta, a rate, a noise scale) means the
shortest decimal that prints as it, so ten charges of 0.1 are exactly 1. A data value
means its binary number. A sensitivity may be either, a typed number or a bound read
off the data, so it is the larger of the two.

A `Constraint` is data: it checks a value, words the error and lists values that it
must refuse, from which the tests are generated.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Integral, Rational, Real
from os import PathLike, fspath
from pathlib import Path
from re import compile as pattern
from typing import cast

from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Argument, Problem, Spelled, problem

Number = int | float | Fraction | Decimal

LONGEST_DECIMAL = 12_000  # bits: Python writes no more than 4300 decimal digits
FARTHEST_EXPONENT = 5_000  # of a decimal: beyond, a short text is a number of megabytes
TRUE_OR_FALSE = Spelled("True or False", options="TRUE or FALSE", http="true or false")
WRITTEN = pattern(r"-?[0-9]{1,4300}(/[0-9]{1,4300})?|-?0x[0-9a-f]+/0x[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Constraint:
    """A set of allowed numbers, with the words that explain it."""

    allowed: str
    holds: Callable[[Fraction], bool]
    hint: str = ""
    refused: tuple[float, ...] = ()

    def typed(self, name: str, value: object) -> Fraction:
        """The decimal that was typed, or an error that says what is allowed."""
        return self._checked(name, value, as_typed)

    def cautious(self, name: str, value: object) -> Fraction:
        """The larger of the decimal and the binary reading: for bounds on data."""
        return self._checked(name, value, lambda number: max(as_typed(number), as_binary(number)))

    def _checked(self, name: str, value: object, read: Callable[[object], Fraction]) -> Fraction:
        try:
            number = read(value)
        except (TypeError, ValueError, OverflowError):
            raise self._error(name, value) from None
        if not self.holds(number):
            raise self._error(name, value)
        return number

    def _error(self, name: str, value: object) -> ParameterError:
        return refusal(name, value, self.allowed, self.hint)


def refusal(
    name: str, value: object, allowed: str | Spelled, hint: str | Spelled = ""
) -> ParameterError:
    """The error for a public parameter: what was wrong, what is allowed, how to fix it."""
    shown = repr(value) if not isinstance(value, Real) else str(value)
    facts = {"name": Argument(name), "value": shown[:80], "allowed": allowed, "hint": hint}
    return ParameterError(Problem(Code.VALUE_NOT_ALLOWED, facts))


def read_flag(name: str, value: object) -> bool:
    """True or False and nothing that only counts as one: 'no' would count as True."""
    if not isinstance(value, bool):
        raise refusal(name, value, TRUE_OR_FALSE)
    return value


def as_typed(value: object) -> Fraction:
    """The rational that a typed number means: a float is its shortest decimal."""
    if isinstance(value, bool):
        raise TypeError("a truth value is not a number")
    if isinstance(value, float):
        return Fraction(float.__repr__(value))  # float.__repr__: numpy's repr adds its type
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Decimal) and value and abs(value.adjusted()) > FARTHEST_EXPONENT:
        raise OverflowError("a decimal with an exponent of thousands")
    if isinstance(value, Rational | Decimal):
        return Fraction(cast("Fraction | Decimal", value))
    if isinstance(value, Real):  # numpy's shorter floats
        return Fraction(str(value))
    raise TypeError(f"{type(value).__name__} is not a number")


def as_binary(value: object) -> Fraction:
    """The rational that a number is in binary: a float is what the machine holds."""
    if isinstance(value, Real) and not isinstance(value, Rational):
        if not isfinite(value):
            raise ValueError("not a finite number")
        # A long double holds more than a float: its own ratio is exact.
        return Fraction(*cast("float", value).as_integer_ratio())
    return as_typed(value)


def write_rational(number: Fraction) -> str:
    """A rational as text: '1/10', or hexadecimal where it has thousands of digits."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) < LONGEST_DECIMAL:
        return str(number)
    return f"{number.numerator:#x}/{number.denominator:#x}"


def read_rational(text: str) -> Fraction:
    """The rational that `written` wrote, or ValueError.

    Nothing else is read: 1e20000000 is a short text of a number that fills the memory.
    """
    if not WRITTEN.fullmatch(text):
        raise ValueError("not a number such as 1/10")
    if "0x" not in text:
        return Fraction(text)
    top, _, bottom = text.partition("/")
    return Fraction(int(top, 16), int(bottom, 16))


NAN, INF = float("nan"), float("inf")


def positive(hint: str) -> Constraint:
    """The numbers above 0."""
    return Constraint("a positive number", lambda x: x > 0, hint, (0, -1, -0.5, NAN, INF, -INF))


def zero_or_more(hint: str) -> Constraint:
    """The numbers that are not negative."""
    return Constraint("a number that is 0 or more", lambda x: x >= 0, hint, (-1, NAN, INF))


def between_0_and_1(hint: str) -> Constraint:
    """The numbers above 0 and below 1."""
    refused = (0, -1e-9, -1, 1, 2, 95, NAN, INF)
    return Constraint("a number above 0 and below 1", lambda x: 0 < x < 1, hint, refused)


def whole_from(least: int, hint: str = "") -> Constraint:
    """The whole numbers from `least` on."""
    return Constraint(
        f"a whole number that is {least} or more",
        lambda x: x >= least and x.denominator == 1,
        hint,
        (least - 1, -1, least + 0.5, NAN, INF),
    )


EPSILON = positive("Smaller means more private; 0.1 to 1 is usual for one query.")
EPSILON_OR_ZERO = zero_or_more(EPSILON.hint)
DELTA = Constraint(
    "a number from 0 up to, but not including, 1",
    lambda x: 0 <= x < 1,
    "It is slack in probability: choose it far below 1/n for n people, such as 1e-6.",
    (-1e-9, 1, 2, NAN, INF),
)
POSITIVE_DELTA = between_0_and_1(DELTA.hint)
PROBABILITY = Constraint("a number from 0 to 1", lambda x: 0 <= x <= 1, "", (-0.1, 1.1, NAN, INF))
# Far within what a float can tell from 0 and 1. The parts of a formula are surer than it.
CONFIDENCE = Constraint(
    "a number from 1e-9 to 1 - 1e-15",
    lambda x: Fraction(1, 10**9) <= x <= 1 - Fraction(1, 10**15),
    "0.95 means: right in 95 of 100 releases.",
    (0, 1, -1, 95, 5e-324, 9e-10, 0.9999999999999999, NAN, INF),
)
ERROR = Constraint(
    "a positive number", lambda x: x > 0, "It is the half-width of the interval.", (0, -1)
)
SENSITIVITY = positive(
    "It is the most that one person can change the answer; la.sensitivity computes it."
)
SCALE = positive("It is the size of the noise; larger means more private.")
COUNT = whole_from(1)
FINITE = Constraint("a finite number", lambda _: True, refused=(NAN, INF, -INF))


def expand_home(path: str | PathLike[str]) -> Path:
    """The path with the folder that ~ stands for: every spelling of a place is one place."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        words = f"There is no file {fspath(path)!r}: nobody here is called what stands after ~."
        raise ParameterError(problem(Code.UNKNOWN_FILE, words=words)) from None
