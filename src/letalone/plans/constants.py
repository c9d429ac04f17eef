"""Constants as they are stored, compared and sent to an engine: one form for each.

A typed float means its shortest decimal. A time with a zone is turned into UTC, and one
without is taken to be in UTC. A whole number is an `int`, any other number a `Fraction`.

  Tested:   tests/plans/test_constants.py
"""

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real

from letalone.errors import ParameterError
from letalone.exact.typed import as_typed, refusal

Value = bool | int | Fraction | str | date | datetime | None
LARGEST_BOUND = 10**100
MOST_PLACES = 20
# A bound of 10^-400 or 10^400 is no bound; the exponent is looked at before the number is built.
LARGEST_EXPONENT = 400


def as_value(value: object) -> Value:
    """A constant in its one form, or an error that says what can be one."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return well_formed("constant", value)
    if isinstance(value, datetime):
        return _as_utc(value)
    if isinstance(value, date):
        return date(value.year, value.month, value.day)
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    if callable(value):
        raise ParameterError(
            "A function is given where an expression has to stand. Write it with la.col:"
            " .where(la.col('age') > 18)."
        )
    return _number(value)


def as_bound(name: str, value: object) -> Fraction:
    """A bound: a finite number of sane size, as typed."""
    try:
        number = _sane(value)
    except (TypeError, ValueError, ArithmeticError):
        raise _bound_refused(name, value) from None
    if abs(number) > LARGEST_BOUND:
        raise _bound_refused(name, value)
    return number


def well_formed(name: str, text: str) -> str:
    """The text, or an error if it is not Unicode that a table can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ParameterError(
            f"A {name} holds half of a surrogate pair, which no table can hold. Give"
            " well-formed Unicode."
        ) from None
    return str.__str__(text)  # str() of an Enum of texts would be its name


def format_constant(value: Fraction) -> str:
    """A rational as a person writes it: 0.1, 1000, 1/3."""
    for places in range(MOST_PLACES):
        if (value * 10**places).denominator == 1:
            return _decimal(value, places)
    return str(value)


def _decimal(value: Fraction, places: int) -> str:
    digits = str(abs(int(value * 10**places))).rjust(places + 1, "0")
    point = len(digits) - places
    sign = "-" if value < 0 else ""
    return sign + digits[:point] + ("." + digits[point:] if places else "")


def _as_utc(value: datetime) -> datetime:
    if getattr(value, "nanosecond", 0):
        raise refusal("constant", value, "a point in time in whole microseconds")
    try:
        moment = value if value.tzinfo is None else value.astimezone(UTC)
        return datetime(*moment.timetuple()[:6], moment.microsecond)
    except (TypeError, ValueError, OverflowError):
        raise refusal("constant", value, "a point in time; write None for a missing one") from None


def _number(value: object) -> int | Fraction:
    if isinstance(value, Integral):
        return int(value)
    try:
        return _sane(value)
    except (TypeError, ValueError, ArithmeticError):
        pass
    if isinstance(value, Real | Decimal):
        raise refusal("constant", value, "a finite number; write None for a missing one")
    raise refusal("constant", value, "a truth value, number, text, date, datetime or None")


def _sane(value: object) -> Fraction:
    """As typed; a decimal like 1e999999999 is refused before it fills the memory."""
    if isinstance(value, Decimal) and (
        not value.is_finite() or abs(value.adjusted()) > LARGEST_EXPONENT
    ):
        raise ValueError("not a number of sane size")
    return as_typed(value)


def _bound_refused(name: str, value: object) -> ParameterError:
    return refusal(
        name, value, "a finite number of at most 1e100 in size", "It is where values are clamped."
    )
