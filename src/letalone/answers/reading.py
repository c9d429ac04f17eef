"""Reading a release as a number or by its columns: `float(r)`, `r["n"]`, `for row in r`.

Tested:   tests/answers/test_reading.py
"""

from collections.abc import Mapping, Sequence
from math import nan

from letalone.answers.columns import Cell, CellKind, Output
from letalone.errors import ParameterError
from letalone.errors.spelling import did_you_mean

Cells = Mapping[str, Sequence[Cell]]


def one_number(outputs: Sequence[Output]) -> Output:
    """The one number of an answer that has no more."""
    if len(outputs) == 1 and len(outputs[0].values) == 1 and outputs[0].kind.is_numeric:
        return outputs[0]
    rows = len(outputs[0].values)
    names = ", ".join(f'r["{output.name}"]' for output in outputs[:3])
    raise ParameterError(
        f"This answer is not one number: it has {rows:,} row{'s' * (rows != 1)} and"
        f" {len(outputs)} column{'s' * (len(outputs) != 1)} of results. Take one of them: {names}."
    )


def as_float(outputs: Sequence[Output]) -> float:
    """The answer as a float; NaN where the noise left nothing of it."""
    value = one_number(outputs).values[0]
    return nan if value is None else float(value)  # pyright: ignore[reportArgumentType]


def as_whole(outputs: Sequence[Output]) -> int:
    """The answer as a whole number, where it is one."""
    output = one_number(outputs)
    value = output.values[0]
    if output.kind is not CellKind.INTEGER or not isinstance(value, int):
        raise ParameterError(
            f"{output.name} is not a whole number: round(float(r)) rounds it, int(float(r)) cuts it"
            " off."
        )
    return value


def as_bounds(outputs: Sequence[Output], *, grouped: bool) -> tuple[float, float]:
    """The two ends that an answer consists of, where those were asked for."""
    ends = {output.name: output.values for output in outputs}
    name = outputs[0].aggregate
    low, high = (ends.get(f"{name}_{side}") for side in ("lower", "upper"))
    if grouped or len(ends) != 2 or low is None or high is None:
        raise ParameterError(
            "This answer has no bounds: session.private_bounds(…) releases those of one column."
        )
    return float(low[0]), float(high[0])  # pyright: ignore[reportArgumentType]


def column(name: object, named: Cells, outputs: Sequence[Output], *, grouped: bool) -> object:
    """The cells of a column, one a group; without groups its one cell.

    The name of an aggregate with several numbers, such as a histogram, stands for all of them.
    """
    if isinstance(name, str) and name in named:
        return _cells(named[name], grouped=grouped)
    several = [output.values for output in outputs if output.aggregate == name]
    if several:
        each = [list(cells) for cells in zip(*several, strict=True)]
        return each if grouped else each[0]
    names = ", ".join(named)
    near = did_you_mean(name, named) if isinstance(name, str) else ""
    raise ParameterError(f"There is no column {name!r}. The columns are: {names}.{near}")


def _cells(cells: Sequence[Cell], *, grouped: bool) -> object:
    return list(cells) if grouped else cells[0]
