"""How outputs are drawn from what is audited.

A callable is asked once for every draw, and so is an object with `release`, each time with a copy
of the input; an error that one of them raises is an output as any other. Mechanisms of letalone
that give every entry of an array its own noise are asked for all draws at once; to audit their
one-number path, pass the method itself: `mechanism.release`.

A mechanism may work in place. `x += noise` changes the array that the next draw would be given, and
an array that is filled again at every call would make all outputs the last one. Then draws would
not be independent, and an honest mechanism could be accused. So arrays, frames, lists, dicts and
sets are copied, for every draw and from every output.

What cannot change is not copied, nor is an object of another class: a session or a model is
handed on as it is, and must not change what it returns (see the proof's section 5).
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import is_dataclass
from inspect import signature
from typing import Any, cast

import numpy as np

from letalone.audit.outputs import Raw, attempt, from_mechanism
from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Spelled, problem
from letalone.mechanisms import DiscreteGaussian, Gaussian, Geometric, Laplace, RandomizedResponse
from letalone.randomness.bits import BitSource

Source = Callable[[object, int], Raw]

# Exactly these, no subclass: another class may share one draw among the entries.
ENTRY_BY_ENTRY = (DiscreteGaussian, Gaussian, Geometric, Laplace, RandomizedResponse)
FIXED = (int, float, complex, str, bytes, type(None), np.generic)


def source_of(mechanism: Any, *, many: bool, bits: BitSource | None) -> Source:
    """A function of an input and a count that gives so many outputs."""
    extra = {} if bits is None else {"bits": bits}
    if isinstance(mechanism, type) and hasattr(mechanism, "release"):
        raise ParameterError(
            f"The mechanism is the class {mechanism.__name__} itself, but an audit needs one that"
            f" is made, with its parameters: {mechanism.__name__}(…)."
        )
    if many:
        return _bulk(_callable(mechanism))
    release = getattr(mechanism, "release", None)
    if callable(release) and type(mechanism) in ENTRY_BY_ENTRY:
        return lambda value, count: _entry_by_entry(release, value, count, extra)
    ask = release if callable(release) else _callable(mechanism)
    return lambda value, count: _one_by_one(ask, value, count, extra)


def asker_of(mechanism: Any, *, bits: BitSource | None) -> Callable[[object], Any]:
    """A function of an input that asks once and copies nothing, for those who measure time."""
    source_of(mechanism, many=False, bits=bits)  # which refuses what is no mechanism
    extra = {} if bits is None else {"bits": bits}
    release = getattr(mechanism, "release", None)
    ask = release if callable(release) else _callable(mechanism)
    return lambda value: attempt(lambda: ask(value, **extra))


def _one_by_one(ask: Callable[..., Any], value: object, count: int, extra: Any) -> Raw:
    copy = copier_of(value)
    return [copy_input(attempt(lambda: ask(copy(), **extra))) for _ in range(count)]


def _entry_by_entry(release: Callable[..., Any], value: object, count: int, extra: Any) -> Raw:
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        copy = copier_of(value)
        with from_mechanism():
            return [release(copy(), **extra) for _ in range(count)]
    with from_mechanism():
        return release(np.broadcast_to(array, (count, *array.shape)).copy(), **extra)


def _bulk(mechanism: Callable[..., Any]) -> Source:
    def draw(value: object, count: int) -> Raw:
        _check_takes_two(mechanism, value, count)
        with from_mechanism():
            outputs = copy_input(mechanism(copy_input(value), count))
        if len(outputs) != count:
            what = f"The mechanism returned {len(outputs)} outputs, but {count} were asked for."
            called = "it is called as mechanism(value, count)."
            spelled = Spelled(f"{what} With many=True {called}", f"{what} With --many {called}")
            raise ParameterError(problem(Code.OTHER, words=spelled))
        return outputs

    return draw


def _check_takes_two(mechanism: Callable[..., Any], value: object, count: int) -> None:
    try:
        shape = signature(mechanism)
    except ValueError:  # some built-in functions tell nothing about their arguments
        return
    try:
        shape.bind(value, count)
    except TypeError:
        what = (
            f"the mechanism is called as mechanism(value, count), but it takes {shape}. Give it a"
            " second argument, how many outputs to return, or leave"
        )
        spelled = Spelled(f"With many=True {what} many=True out.", f"With --many {what} it out.")
        raise ParameterError(problem(Code.OTHER, words=spelled)) from None


def _callable(mechanism: object) -> Callable[..., Any]:
    if not callable(mechanism):
        raise ParameterError(
            f"The mechanism has the type {type(mechanism).__name__}, but must be a function of one"
            " input or have a method `release`. For mechanisms that choose, pass a function:"
            " lambda utilities: mechanism.choose_index(utilities)."
        )
    return mechanism


def copier_of(value: object) -> Callable[[], Any]:
    """A function that gives a new copy at every call."""
    if _is_fixed(value):
        return lambda: value
    match value:
        case list() if all(map(_is_fixed, cast("list[object]", value))):
            return cast("list[object]", value).copy
        case dict() if all(map(_is_fixed, cast("dict[object, object]", value).values())):
            return cast("dict[object, object]", value).copy
        case np.ndarray() if not value.dtype.hasobject:
            return value.copy
        case list() | tuple() | dict() | set() | bytearray() | np.ndarray():
            return lambda: deepcopy(cast("object", value))
        case _:
            return _of_object(value)


def copy_input(value: object) -> Any:
    """One copy."""
    return copier_of(value)()


def _of_object(value: Any) -> Callable[[], Any]:
    if hasattr(value, "iloc"):  # pandas
        return lambda: value.copy(deep=True)
    if hasattr(value, "__array__") and hasattr(value, "clone"):  # Polars, torch
        return value.clone
    is_record = is_dataclass(value) and not isinstance(value, type)
    if is_record and not cast("Any", type(value)).__dataclass_params__.frozen:
        return lambda: _copy_record(value)
    return lambda: value


def _is_fixed(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_fixed, cast("tuple[object, ...]", value)))
    return isinstance(value, FIXED)


def _copy_record(value: object) -> object:
    """A copy of a record, or the record where something in it cannot be copied."""
    try:
        return deepcopy(value)
    except Exception:
        return value
