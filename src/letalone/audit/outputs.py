"""What a mechanism returned, read so that events about it can be stated.

Every output becomes a row of numbers, where it holds some, and a name of 64 bits that stands
for exactly this output: the bits of its floats, or a digest of how it prints. Reading is
a function of the output alone, once the layout of the columns is fixed by the first draws.
So an event about what was read is an event about the output.

Where the first draws are all numbers, or arrays of one length, a row is these. All else is
taken apart: the row is then a digest of what is no number (keys in order, labels,
the shape, None, an error), followed by the numbers, each in the column of its path: the key or
the place where it stands. A number that an output lacks is NaN there. Two outputs may share a
name; that only makes events coarser. Whole numbers beyond ±2^53 are read as the nearest float.

Equal dicts print differently in another order of insertion, sets in another process, and objects
without a print of their own show their address, which is another at every draw: an audit that
compared how they print would see a thousand different outputs and find nothing. So dicts and sets
are sorted, records become their fields, numbers are kept apart from the text around them, and what
is not understood is refused. The number under a key stays the same number where another key comes
or goes.

An error is an output, too: raised for one input and not for the other, it is an exact answer. A
draw that raises becomes a `Failure` with the error's class and text. Where every draw raises, there
is nothing to audit, and the first error goes to the caller.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from hashlib import blake2b
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from letalone.errors import ParameterError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Raw = Sequence[object] | NDArray[Any]

NO_BIT = 1100  # the place of zero's lowest set bit: above every other
MOST_PATHS = 100  # columns where outputs have different ones; or as many as one output has
_MANTISSA = np.uint64((1 << 52) - 1)
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, hence invertible modulo 2^64
NUMBER = "#"
ERROR = "the error "
ADDRESS = " at 0x"
FROM_MECHANISM = "The mechanism that was audited raised this."  # a note on its errors


@dataclass(frozen=True, slots=True)
class Failure:
    """A draw that raised an error, by its class and its text."""

    words: str
    error: Exception = field(compare=False, repr=False)


def attempt(ask: Callable[[], Any]) -> Any:
    """What it returns, or how it failed."""
    try:
        return ask()
    except Exception as error:
        return Failure(f"{type(error).__name__}: {error}", error)


def raise_if_all_failed(outputs: Iterable[object]) -> None:
    """Raises the first error where there is nothing but errors."""
    first: Failure | None = None
    for output in outputs:
        if not isinstance(output, Failure):
            return
        first = first or output
    if first is not None:
        with from_mechanism():
            raise first.error


@contextmanager
def from_mechanism() -> Generator[None]:
    """Notes on errors in this block that they are the mechanism's, and none of the audit."""
    try:
        yield
    except Exception as error:
        error.add_note(FROM_MECHANISM)
        raise


def is_from_mechanism(error: Exception) -> bool:
    """Whether the mechanism raised it."""
    return FROM_MECHANISM in getattr(error, "__notes__", ())


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """Many outputs on one input: rows of numbers (NaN where an output is none), and names."""

    numbers: Floats
    names: Integers
    shown: dict[int, str] = field(default_factory=dict[int, str])
    forms: dict[int, str] = field(default_factory=dict[int, str])  # what column 0 stands for

    def part(self, first: int, last: int) -> "Outputs":
        """The draws from place `first` up to, not including, `last`."""
        return Outputs(self.numbers[first:last], self.names[first:last], self.shown, self.forms)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def width(self) -> int:
        """How many numbers an output consists of; 0 where outputs are not numbers."""
        return self.numbers.shape[1]

    def column(self, place: int) -> Floats:
        return self.numbers[:, place]

    def words_for(self, name: int) -> str:
        if name in self.shown:
            return self.shown[name]
        row = self.numbers[np.flatnonzero(self.names == name)[0]].tolist()
        if self.forms:
            numbers = [number for number in row[1:] if number == number]
            return f"{self.forms.get(int(np.nan_to_num(row[0])), '')} with {numbers}"
        return repr(row[0] if len(row) == 1 else row)


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a row: so many numbers, or a form and then the numbers of these paths."""

    width: int
    paths: tuple[str, ...] = ()


def layout_of(*parts: Raw) -> Layout:
    """How outputs like these become rows; of width 0 where none of them holds a number."""
    matrices = [_as_matrix(part) for part in parts]
    widths = {-1 if matrix is None else matrix.shape[1] for matrix in matrices}
    if len(widths) == 1 and widths != {-1}:
        return Layout(widths.pop())
    paths = _paths([place_numbers(output)[1] for part in parts for output in part])
    return Layout(1 + len(paths), paths) if paths else Layout(0)


def read(raw: Raw, layout: Layout) -> Outputs:
    """The outputs as rows in this layout; as names only where its width is 0."""
    if layout.width == 0:
        return _read_names(raw)
    forms: dict[int, str] = {}
    if layout.paths:
        matrix = np.stack([_form_and_numbers(output, layout.paths, forms) for output in raw])
    else:
        matrix = _as_matrix(raw)
        if matrix is None or matrix.shape[1] != layout.width:
            matrix = np.stack([_row(output, layout.width) for output in raw])
    return Outputs(matrix, _names_of_rows(matrix), forms=forms)


def lowest_bits(numbers: Floats) -> Floats:
    """The exponent of the lowest set bit of each float; NO_BIT for zero, NaN for no number."""
    mantissas, exponents = _parts(numbers)
    lowest = mantissas & (~mantissas + np.uint64(1))
    places = exponents + np.frexp(lowest.astype(np.float64))[1] - 1
    return np.where(np.isfinite(numbers), np.where(numbers == 0, NO_BIT, places), np.nan)


def trailing_zeros(numbers: Floats) -> Floats:
    """How many bits at the end of each float's 53 are zero; NaN for no number."""
    return np.where(numbers == 0, 53, lowest_bits(numbers) - _parts(numbers)[1])


def _parts(numbers: Floats) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    bits = np.ascontiguousarray(numbers).view(np.uint64)
    exponents = ((bits >> np.uint64(52)) & np.uint64(0x7FF)).astype(np.int64)
    hidden = np.where(exponents > 0, np.uint64(1 << 52), np.uint64(0))
    return (bits & _MANTISSA) | hidden, np.maximum(exponents, 1) - 1075


def _as_matrix(raw: Raw) -> Floats | None:
    try:
        array = np.asarray(raw)
    except (TypeError, ValueError):  # rows of different lengths
        return None
    if array.dtype.kind not in "biuf" or array.size == 0:
        return None
    return np.ascontiguousarray(array.reshape(len(array), -1), dtype=np.float64)


def _paths(found: Sequence[dict[str, float]]) -> tuple[str, ...]:
    """The paths of numbers, in the order in which they came; of too many the most frequent."""
    often = Counter(path for numbers in found for path in numbers)
    limit = max(MOST_PATHS, max(map(len, found), default=0))
    kept = {path for path, _ in often.most_common(limit)}
    return tuple(path for path in often if path in kept)


def _row(output: object, width: int) -> Floats:
    matrix = _as_matrix([output])
    if matrix is not None and matrix.shape[1] == width:
        return matrix[0]
    return np.full(width, np.nan)


def _form_and_numbers(output: object, paths: tuple[str, ...], forms: dict[int, str]) -> Floats:
    text, numbers = place_numbers(output)
    form = _digest(text) >> 11  # 53 bits, which a float holds
    forms[form] = text
    return np.array([float(form), *(numbers.get(path, np.nan) for path in paths)])


def _names_of_rows(matrix: Floats) -> Integers:
    bits = matrix.view(np.uint64)
    names = bits[:, 0].copy()
    for place in range(1, matrix.shape[1]):
        names = (names ^ (names >> np.uint64(29))) * _MIX + bits[:, place]
    return names.view(np.int64)


def _read_names(raw: Raw) -> Outputs:
    outputs = raw.tolist() if isinstance(raw, np.ndarray) else raw
    prints = [print_output(output) for output in outputs]
    digests = {text: _digest(text) for text in set(prints)}
    names = np.array([digests[text] for text in prints], dtype=np.int64)
    return Outputs(np.empty((len(names), 0)), names, {name: t for t, name in digests.items()})


def _digest(text: str) -> int:
    return int.from_bytes(
        blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "big", signed=True
    )


def place_numbers(output: object) -> tuple[str, dict[str, float]]:
    """All that is no number, as one text with # in their places, and the numbers by path."""
    numbers: dict[str, float] = {}
    return _whole(output, numbers), numbers


def print_output(output: object) -> str:
    """The output as one text, numbers included."""
    return _whole(output, None)


def _whole(output: object, numbers: dict[str, float] | None) -> str:
    try:
        return _text(output, numbers, "")
    except RecursionError:
        pass
    raise ParameterError(
        "The mechanism returned something that holds itself, or is nested too deeply to be read."
        " Let it return plain numbers, text, lists or dicts."
    )


def _text(output: object, numbers: dict[str, float] | None, path: str) -> str:
    match output:
        case str() | bytes() | None:
            return repr(output)
        case Real() | Decimal() | np.bool_():
            return _number(output, numbers, path)
        case Mapping():
            return _items(cast("Mapping[object, object]", output), numbers, path)
        case AbstractSet():
            members = cast("AbstractSet[object]", output)
            return "{" + ", ".join(sorted(_text(member, None, "") for member in members)) + "}"
        case list() | tuple():
            items = enumerate(cast("list[object]", output))
            return f"({', '.join(_text(item, numbers, f'{path}[{n}]') for n, item in items)})"
        case _:
            return _object(output, numbers, path)


def _items(output: Mapping[object, object], numbers: dict[str, float] | None, path: str) -> str:
    pairs = sorted((_text(key, None, ""), place) for place, key in enumerate(output))
    values = list(output.values())
    inner = (f"{key}: {_text(values[n], numbers, f'{path}[{key}]')}" for key, n in pairs)
    return "{" + ", ".join(inner) + "}"


def _object(output: object, numbers: dict[str, float] | None, path: str) -> str:
    if isinstance(output, Failure):
        return f"{ERROR}{output.words}"
    if is_dataclass(output) and not isinstance(output, type):
        names = [field.name for field in fields(output)]
        attributes: dict[object, object] = {name: getattr(output, name) for name in names}
        return type(output).__name__ + _items(attributes, numbers, path)
    if hasattr(output, "__array__"):
        return _text(np.asarray(cast("Any", output)).tolist(), numbers, path)
    text = repr(output)
    if ADDRESS in text:
        raise ParameterError(
            f"The mechanism returned an object of the type {type(output).__name__}, which an audit"
            " does not understand. It reads numbers, arrays, text, None, and lists, tuples, sets,"
            " dicts and dataclasses of these: let the mechanism return one of them."
        )
    return text


def _number(output: object, numbers: dict[str, float] | None, path: str) -> str:
    if numbers is None:
        return repr(cast("Any", output).item() if isinstance(output, np.generic) else output)
    while path in numbers:  # two keys that print alike
        path += "'"
    try:
        numbers[path] = float(cast("Any", output))
    except (OverflowError, ValueError):  # too large; a signalling NaN
        return repr(output)
    return NUMBER
