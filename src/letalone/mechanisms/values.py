"""Reading the private values that a mechanism is given, without a leak on the way.

A value must not move further from its neighbour by being read. Floats are taken as the
binary number that they are. Whole numbers beyond ±2^53 are not exact as floats, so the
mechanisms that work in floats clamp them there: clamping never moves two values apart,
rounding can. The mechanisms that work in whole numbers clamp to ±(2^62 − 1) before the noise
and the sum to ±(2^63 − 1) after it. The noise itself is never clamped: where it alone would
stop, the sum would tell the number. A single number, a list and an array are
treated alike.

What a value may be depends on its type, never on what it is, with one exception: NaN and
infinities are refused. In a list a truth value anywhere is refused, whatever the other
entries are. No message repeats a value.

  Proven:   clamping is 1-Lipschitz, so no sensitivity grows
  Tested:   every dtype of numpy, lists of mixed and huge numbers, the edges
  Assumed:  nothing
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from numbers import Integral
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from letalone.errors import ParameterError

EXACT_FLOAT = 1 << 53  # every whole number up to here is a float
EXACT_INT = (1 << 62) - 1  # with noise up to as much the sum has 64 bits
LARGEST_INT = (1 << 63) - 1
LARGEST_BULK_SCALE = 1 << 50  # up to here noise beyond 2^62 has a chance of e^-4096
LARGEST_FLOAT = 1.7976931348623157e308
SHORT_FLOATS: tuple[type, ...] = (float, np.float16, np.float32)  # not longdouble: 80 bits

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class HasArray(Protocol):
    """A series, a tensor: whatever numpy can read."""

    def __array__(self) -> NDArray[Any]:
        """Its values."""
        ...


Arrays = Sequence[Any] | NDArray[Any] | HasArray


def release_floats(
    value: object, one: Callable[[float], float], many: Callable[[Floats], Floats]
) -> float | Floats:
    """`one` for a single number, `many` for anything that has a shape."""
    if _is_array_like(value):
        floats = read_floats(value)
        return many(floats.reshape(-1)).reshape(floats.shape)
    return one(read_float(value))


def release_integers(
    value: object, one: Callable[[int], int], many: Callable[[Integers], Integers]
) -> int | Integers:
    """`one` for a single whole number, `many` for anything that has a shape; both clamped."""
    if _is_array_like(value):
        integers = read_integers(value)
        return many(integers.reshape(-1)).reshape(integers.shape)
    return one(min(max(read_integer(value), -EXACT_INT), EXACT_INT))


def add_integer(number: int, noise: int) -> int:
    """The number plus noise, the sum clamped to ±(2^63 − 1): post-processing."""
    return min(max(number + noise, -LARGEST_INT), LARGEST_INT)


def add_integers(
    numbers: Integers, scale: Fraction, one: Callable[[], int], many: Callable[[int], Integers]
) -> Integers:
    """The numbers plus noise, the sums clamped to ±(2^63 − 1): post-processing."""
    if scale <= LARGEST_BULK_SCALE:
        noise = many(numbers.size)
        if noise.dtype == np.int64:  # all of it below 2^62
            noise += numbers
            return noise
        drawn = noise.tolist()
    else:
        drawn = [one() for _ in range(numbers.size)]
    return np.array([*map(add_integer, numbers.tolist(), drawn)], np.int64)


def read_float(value: object) -> float:
    """A number as a float: exact, or clamped where a whole number is too large."""
    if isinstance(value, SHORT_FLOATS):
        number = float(cast("float", value))
        if not -LARGEST_FLOAT <= number <= LARGEST_FLOAT:
            raise _not_finite()
        return number
    if _is_integer(value):
        return float(min(max(int(cast("int", value)), -EXACT_FLOAT), EXACT_FLOAT))
    raise _unreadable(value, "a float or an int")


def read_integer(value: object) -> int:
    """A whole number of any size."""
    if _is_integer(value):
        return int(cast("int", value))
    is_float = isinstance(value, float | np.floating)
    hint = "Round floats first, for instance with math.floor." if is_float else ""
    raise _unreadable(value, "an int", hint)


def list_values(values: object) -> object:
    """A column of pandas, Polars or Arrow as a list of Python's values; all else as it is."""
    for name in ("to_pylist", "to_list"):
        as_list = getattr(values, name, None)
        if callable(as_list):
            return as_list()
    return values


def read_floats(value: object) -> Floats:
    """An array of finite float64."""
    array = _as_array(value)
    _refuse_truth_values(value, "floats or ints")
    if array.dtype.kind in "iu":
        return _clamp_array(array, EXACT_FLOAT).astype(np.float64)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8 and array.dtype.char != "g":
        if not _is_list(value) or not _may_hold_rounded_integers(array):
            return _finite(array.astype(np.float64, copy=False))
    elif not _is_mixed_list(value, array):
        raise _unreadable_array(array, "floats or ints")
    return _each(value, read_float, np.float64)


def read_integers(value: object) -> Integers:
    """An array of int64 within ±(2^62 − 1)."""
    array = _as_array(value)
    _refuse_truth_values(value, "ints")
    if array.dtype.kind in "iu":
        return _clamp_array(array, EXACT_INT).astype(np.int64, copy=False)
    if array.size == 0 and _is_list(value):
        return array.astype(np.int64)  # an empty list has no type of its own
    if _is_mixed_list(value, array):
        clamped = _each(value, read_integer, np.object_)
        return np.clip(clamped, -EXACT_INT, EXACT_INT).astype(np.int64)
    hint = "Round floats first: np.floor(values).astype(int)." if array.dtype.kind == "f" else ""
    raise _unreadable_array(array, "ints", hint)


def _is_array_like(value: object) -> bool:
    if isinstance(value, np.generic | int | float):
        return False
    return isinstance(value, np.ndarray | Sequence) or hasattr(value, "__array__")


def _as_array(value: object) -> NDArray[Any]:
    if isinstance(value, np.ma.MaskedArray):
        raise ParameterError(
            "The values are a masked array, but must be a plain one. Give masked places a"
            " fixed value: values.filled(0)."
        )
    try:
        return np.asarray(value)
    except (TypeError, ValueError):
        raise ParameterError(
            "The values have no regular shape, but must be numbers in rows of equal length."
            " Pad the shorter rows."
        ) from None


def _is_mixed_list(value: object, array: NDArray[Any]) -> bool:
    # numpy turns lists of ints beyond 64 bits into objects, and mixtures of large ones
    # into floats. Those are read again one by one. Arrays of objects are refused.
    return _is_list(value) and array.dtype.kind in "fO" and array.dtype.char != "g"


def _refuse_truth_values(value: object, allowed: str) -> None:
    # numpy turns True into 1 where other entries are numbers, and keeps it where one is huge.
    if not _is_list(value) or isinstance(value, str | bytes | range):
        return
    if not {bool, np.bool_}.isdisjoint(map(type, _entries(np.asarray(value, dtype=object)))):
        raise ParameterError(f"The values have the type bool, but must be {allowed}.")


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence)


def _may_hold_rounded_integers(array: NDArray[Any]) -> bool:
    return bool(array.size) and not float(np.max(np.abs(array))) <= EXACT_FLOAT


def _each(value: object, read: Callable[[object], object], dtype: Any) -> NDArray[Any]:
    objects = np.asarray(value, dtype=object)
    read_all = [read(entry) for entry in _entries(objects)]
    return np.array(read_all, dtype=dtype).reshape(objects.shape)


def _entries(objects: NDArray[Any]) -> list[object]:
    # An array without dimensions stays one among objects: it is read as the number it holds.
    flat = cast("list[object]", objects.reshape(-1).tolist())
    return [e[()] if type(e) is np.ndarray else e for e in flat]


def _clamp_array(array: NDArray[Any], limit: int) -> NDArray[Any]:
    if array.size == 0 or (int(array.min()) >= -limit and int(array.max()) <= limit):
        return array
    least = -limit if array.dtype.kind == "i" else 0
    return np.clip(array, least, limit)


def _finite(array: Floats) -> Floats:
    # The least and the largest are NaN where any is, and need no array of their own.
    if array.size and not (
        float(array.min()) >= -LARGEST_FLOAT and float(array.max()) <= LARGEST_FLOAT
    ):
        raise _not_finite()
    return array


def _is_integer(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def _unreadable(value: object, allowed: str, hint: str = "") -> ParameterError:
    name = type(value).__name__
    return ParameterError(f"A value has the type {name}, but must be {allowed}. {hint}".rstrip())


def _unreadable_array(array: NDArray[Any], allowed: str, hint: str = "") -> ParameterError:
    # The full name of a text type would tell the length of the longest text.
    name = "text" if array.dtype.kind in "USV" else array.dtype.name
    return ParameterError(
        f"The values have the type {name}, but must be {allowed}. {hint}".rstrip()
    )


def _not_finite() -> ParameterError:
    return ParameterError(
        "A value is not a finite number. Replace NaN and infinities by a fixed number before"
        " the release, or drop them by a rule that looks at nothing else."
    )
