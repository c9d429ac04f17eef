"""`letalone explain error`: what privacy costs in accuracy, drawn from the theorems.

Two comparisons. Over the number of people n: a share by randomized response, which trusts
nobody, against Laplace noise on the mean, which trusts whoever adds it. Over the dimension
d: the mean of vectors by Laplace against Gaussian noise, which needs a delta.

  Proven:   docs/explanation/proofs/utility.md
  Tested:   the numbers against la.utility, the slopes in the drawing, the file formats
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from math import ceil, log10
from pathlib import Path
from typing import Any

from rich.table import Table

from letalone.cli.screen import console, exponent, in_short, print_json, table
from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, EPSILON, POSITIVE_DELTA
from letalone.mechanisms import utility

PEOPLE = (100, 1000, 10_000, 100_000, 1_000_000)
DIMENSIONS = (1, 10, 100, 1000, 10_000)
BAR = 22
FORMATS = (".svg", ".png", ".pdf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What the comparison holds fixed."""

    epsilon: float
    delta: float
    people: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two errors over a growing number; the last point of both is the largest number."""

    over: str
    first: str
    second: str
    points: tuple[tuple[int, float, float], ...]


def explain_error(setting: Setting, *, plot: Path | None, as_json: bool) -> None:
    """Print both comparisons, and draw them into a file if one is named."""
    compared = by_people(setting), by_dimension(setting)
    if plot is not None:
        draw(compared, setting, plot)
    if as_json:
        found = {"comparisons": [asdict(one) for one in compared]}
        print_json("explain error", asdict(setting) | found | {"plot": plot and str(plot)})
        return
    screen = console()
    epsilon, delta = in_short(setting.epsilon), exponent(setting.delta)
    screen.print(f"How far off is the mean of n numbers from 0 to 1, with ε = {epsilon}?")
    screen.print(_rows(compared[0]))
    screen.print("Randomized response trusts nobody with the data, and pays √n for it.\n")
    screen.print(
        f"And the mean of {setting.people:,} vectors of length 1 in d dimensions, δ = {delta}?"
    )
    screen.print(_rows(compared[1]))
    screen.print("A small δ buys √d. With few dimensions Laplace noise is the better choice.")
    if plot is not None:
        screen.print(f"Drawn to {plot}", markup=False)


def by_people(setting: Setting) -> Comparison:
    """Randomized response against Laplace noise, by the number of people."""
    epsilon = float(EPSILON.typed("epsilon", setting.epsilon))
    points = [
        (
            people,
            utility.randomized_response_mean_error(people, epsilon=epsilon),
            utility.laplace_mean_error(people, epsilon=epsilon),
        )
        for people in PEOPLE
    ]
    return Comparison("n", "randomized response", "Laplace", tuple(points))


def by_dimension(setting: Setting) -> Comparison:
    """Laplace against Gaussian noise, by the dimension."""
    POSITIVE_DELTA.typed("delta", setting.delta)
    people = int(COUNT.typed("people", setting.people))
    points = [
        (
            dimension,
            utility.laplace_vector_mean_error(dimension, n=people, epsilon=setting.epsilon),
            utility.gaussian_mean_error(
                dimension, n=people, epsilon=setting.epsilon, delta=setting.delta
            ),
        )
        for dimension in DIMENSIONS
    ]
    return Comparison("d", "Laplace", "Gaussian", tuple(points))


def _rows(compared: Comparison) -> Table:
    rows = table(compared.over, compared.first, compared.second, right=(compared.over,))
    errors = [error for _, *both in compared.points for error in both]
    bar = _bars(min(errors), max(errors))
    for number, *both in compared.points:
        rows.add_row(f"{number:,}", *(f"{error:<8.2g}{bar(error)}" for error in both))
    return rows


def _bars(least: float, most: float) -> Callable[[float], str]:
    """Bars on a logarithmic scale; the shortest has one block."""
    span = log10(most / least) or 1.0
    return lambda error: "█" * ceil(1 + (BAR - 1) * log10(error / least) / span)


def draw(compared: tuple[Comparison, Comparison], setting: Setting, path: Path) -> None:
    """Draw both comparisons on logarithmic axes."""
    if path.suffix.lower() not in FORMATS:
        raise ParameterError(f"--plot is '{path}', but must end in {' or '.join(FORMATS)}.")
    if find_spec("matplotlib") is None:
        raise ParameterError("--plot needs matplotlib: pip install 'letalone[plot]'")
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(9, 4), layout="constrained")
    titles = (
        f"A mean in [0, 1], ε = {setting.epsilon:g}",
        f"A mean of {setting.people:,} vectors, δ = {setting.delta:g}",
    )
    for axes, one, title in zip(figure.subplots(1, 2), compared, titles, strict=True):
        numbers, first, second = zip(*one.points, strict=True)
        axes.loglog(numbers, first, marker="o", label=one.first)
        axes.loglog(numbers, second, marker="s", linestyle="--", label=one.second)
        axes.set(xlabel=one.over, ylabel="root-mean-square error", title=title)
        axes.legend()
    figure.savefig(path)
