"""`letalone explain error`: what privacy costs in accuracy, drawn from the theorems.

  total        the sum of the errors of K answers by Laplace noise, K/ε on average
  tail         the largest error of K answers by Laplace noise, ln(K/β)/ε but for β
  shortfall    how far a private choice is below the best of m, 2 ln(m/β)/ε but for β
  survey       a share by randomized response, which trusts nobody with the data, against
               Laplace noise on the mean, which trusts whoever adds it
  dimensions   the mean of vectors by Laplace noise against Gaussian noise, which needs a delta

One person moves the answers by 1, all together, or the score of an option by 1. What a
screen concludes is worked out from the numbers on it.

  Proven:   docs/explanation/proofs/utility.md
  Tested:   the numbers against la.utility, the slopes in the drawing, the conclusions where
            one noise or the other is closer, the file formats
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import ceil, log, log10
from pathlib import Path

from rich.table import Table

from letalone.cli import screen
from letalone.cli.noise.noise_commands import ErrorOptions
from letalone.cli.screen import in_two_digits
from letalone.drawing import (
    FORMATS,
    AxisKind,
    Chart,
    ChartAxis,
    Series,
    SeriesStyle,
    Sheet,
    can_draw,
    plot,
)
from letalone.errors import ParameterError
from letalone.errors.installing import not_installed
from letalone.errors.spelling import did_you_mean
from letalone.exact.typed import COUNT, EPSILON, POSITIVE_DELTA
from letalone.mechanisms import utility

PEOPLE = (100, 1000, 10_000, 100_000, 1_000_000)
DIMENSIONS = (1, 10, 100, 1000, 10_000)
OPTIONS = (2, 10, 100, 1000, 10_000)
MISSES = {"in 95 %": 0.05, "in 99.9 %": 0.001}  # of releases; the rest may be further off
BAR = 22
LEAST_BAR = 6
Points = tuple[tuple[float, ...], ...]  # each a number, and an error a column


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorComparison:
    """Errors over a growing number: each point is the number and an error a column."""

    theorem: str
    question: str
    measure: str
    over: str
    columns: tuple[str, ...]
    points: Points
    conclusion: str


def explain_error(options: ErrorOptions) -> None:
    """Print the comparisons, and draw them into a file if one is named."""
    compared = [make(options) for make in _choose(options.theorem)]
    plot = options.plot
    if plot is not None:
        draw(compared, options, plot)
    if options.as_json:
        fixed = {"epsilon": options.epsilon, "delta": options.delta, "people": options.people}
        comparisons = {"comparisons": [asdict(comparison) for comparison in compared]}
        screen.print_json("explain error", fixed | comparisons | {"plot": plot})
        return
    terminal = screen.console()
    for comparison in compared:
        if comparison is not compared[0]:
            screen.put("")
        for part in (comparison.question, _rows(comparison, terminal.width), comparison.conclusion):
            terminal.print(part)
    if options.theorem is None:
        others = ", ".join(name for name in THEOREMS if name not in USUAL)
        screen.say(f"For more, add --theorem and one of: {others}.")
    if plot is not None:
        screen.put(f"Drawn to {plot}")


def _choose(theorem: str | None) -> list[Callable[[ErrorOptions], ErrorComparison]]:
    if theorem is None:
        return [THEOREMS[name] for name in USUAL]
    if theorem.lower() in THEOREMS:
        return [THEOREMS[theorem.lower()]]
    raise ParameterError(
        f"--theorem is '{theorem[:40]}', but must be one of: {', '.join(THEOREMS)}."
        + did_you_mean(theorem, THEOREMS, quoted=False)
    )


def total(options: ErrorOptions) -> ErrorComparison:
    """The expected sum of the errors of K answers."""
    error = partial(utility.laplace_l1_error, sensitivity=1, epsilon=options.epsilon)
    points = _points(DIMENSIONS, error)
    return ErrorComparison(
        theorem="total",
        question=f"How far off are K answers in sum, by Laplace noise with {_price(options)}, if"
        " one person moves them by 1 in sum?",
        measure="mean of the sum of absolute errors",
        over="K",
        columns=("errors in sum, on average",),
        points=points,
        conclusion=f"Each answer is off by {in_two_digits(points[0][1])} on average, however many"
        " there are: E‖error‖₁ = K·Δ/ε, with Δ = 1.",
    )


def tail(options: ErrorOptions) -> ErrorComparison:
    """The largest error of K answers."""
    error = partial(utility.laplace_tail, sensitivity=1, epsilon=options.epsilon)
    points = _points(DIMENSIONS, *(partial(error, beta=miss) for miss in MISSES.values()))
    return ErrorComparison(
        theorem="tail",
        question=f"How far off is the worst of K answers, by Laplace noise with {_price(options)},"
        " if one person moves them by 1 in sum?",
        measure="largest absolute error, at most",
        over="K",
        columns=tuple(f"{often} at most" for often in MISSES),
        points=points,
        conclusion=f"{_growth(points, 'K')}: ‖error‖∞ ≤ (Δ/ε) ln(K/β) but with probability β,"
        " with Δ = 1.",
    )


def shortfall(options: ErrorOptions) -> ErrorComparison:
    """How far a choice is below the best of m options."""
    error = partial(utility.exponential_shortfall, sensitivity=1, epsilon=options.epsilon)
    points = _points(OPTIONS, *(partial(error, t=-log(miss)) for miss in MISSES.values()))
    return ErrorComparison(
        theorem="shortfall",
        question="How far below the best of m options is the one that the exponential mechanism"
        f" chooses with {_price(options)}, if one person moves a score by 1?",
        measure="score below the best, at most",
        over="m",
        columns=tuple(f"{often} at most" for often in MISSES),
        points=points,
        conclusion=f"{_growth(points, 'm')}: the shortfall is at most (2Δ/ε)(ln m + t) but with"
        " probability e^-t, with Δ = 1.",
    )


def survey(options: ErrorOptions) -> ErrorComparison:
    """Randomized response against Laplace noise, by the number of people."""
    epsilon = float(EPSILON.typed("epsilon", options.epsilon))
    errors = (utility.randomized_response_mean_error, utility.laplace_mean_error)
    points = _points(PEOPLE, *(partial(error, epsilon=epsilon) for error in errors))
    columns = ("randomized response", "Laplace")
    return ErrorComparison(
        theorem="survey",
        question=f"Root-mean-square error of a share among n people, with {_price(options)}:",
        measure="root-mean-square error",
        over="n",
        columns=columns,
        points=points,
        conclusion=f"{_closer(points, columns, 'n')} Randomized response has to trust nobody.",
    )


def dimensions(options: ErrorOptions) -> ErrorComparison:
    """Laplace against Gaussian noise, by the dimension."""
    delta = POSITIVE_DELTA.typed("delta", options.delta)
    people = int(COUNT.typed("people", options.people))
    points = _points(
        DIMENSIONS,
        partial(utility.laplace_vector_mean_error, n=people, epsilon=options.epsilon),
        partial(utility.gaussian_mean_error, n=people, epsilon=options.epsilon, delta=delta),
    )
    columns = ("Laplace", "Gaussian")
    vectors = f"the mean of {people:,} vectors" if people > 1 else "1 vector"
    prices = f"{_price(options)}, δ = {screen.number_text(options.delta)}"
    return ErrorComparison(
        theorem="dimensions",
        question=f"Root-mean-square error of {vectors} of length at most 1 in d dimensions, with"
        f" {prices}:",
        measure="root-mean-square error",
        over="d",
        columns=columns,
        points=points,
        conclusion=_closer(points, columns, "d"),
    )


THEOREMS: dict[str, Callable[[ErrorOptions], ErrorComparison]] = {
    make.__name__: make for make in (total, tail, shortfall, survey, dimensions)
}
USUAL = ("survey", "dimensions")


def _points(sizes: Sequence[int], *errors: Callable[[int], float]) -> Points:
    return tuple((size, *(error(size) for error in errors)) for size in sizes)


def _price(options: ErrorOptions) -> str:
    return f"ε = {screen.in_short(float(EPSILON.typed('epsilon', options.epsilon)))}"


def _growth(points: Points, over: str) -> str:
    (first, least, *_), (last, largest, *_) = points[0], points[-1]
    grown = in_two_digits(largest / least)
    return f"From {over} = {first:,} to {last:,} it grows by a factor of {grown}"


def _closer(points: Points, names: Sequence[str], over: str) -> str:
    """Which of two noises is closer, and where: the second gains on the first."""
    first_name, other = (
        f"{name} noise" if name[0].isupper() else name.capitalize() for name in names
    )
    number, first, second = points[-1]
    ahead = [point[0] for point in points if point[1] <= point[2]]
    behind = [point[0] for point in points if point[1] > point[2]]
    if ahead and behind:
        from_here = f"{over} = {behind[0]:,}"
        who = f"{first_name} is closer up to {over} = {ahead[-1]:,}, {other} from {from_here} on"
    else:
        who = f"{first_name if ahead else other} is closer at every {over} here"
    times = in_two_digits(max(first / second, second / first))
    return f"{who}: at {over} = {number:,} by a factor of {times}."


def _rows(compared: ErrorComparison, width: int) -> Table:
    errors = [error for _, *all_of_them in compared.points for error in all_of_them]
    digits = max(len(in_two_digits(error)) for error in errors) + 1
    first = len(f"{compared.points[-1][0]:,}")
    room = (width - first) // len(compared.columns) - len(" | ") - digits
    bar = _bars(min(errors), max(errors), max(LEAST_BAR, min(BAR, room)))
    rows = [
        [f"{number:,}", *(f"{in_two_digits(error):<{digits}}{bar(error)}" for error in all_of_them)]
        for number, *all_of_them in compared.points
    ]
    return screen.table(compared.over, *compared.columns, right=(compared.over,), rows=rows)


def _bars(least: float, largest: float, longest: int) -> Callable[[float], str]:
    """Bars on a logarithmic scale; the shortest has one block."""
    span = log10(largest / least) or 1.0
    return lambda error: "█" * ceil(1 + (longest - 1) * log10(error / least) / span)


def draw(compared: Sequence[ErrorComparison], options: ErrorOptions, path: Path) -> None:
    """Draw the comparisons on logarithmic axes."""
    if path.suffix.lower() not in FORMATS:
        raise ParameterError(f"--plot is '{path}', but must end in {' or '.join(FORMATS)}.")
    if not can_draw(path):
        raise ParameterError(not_installed("--plot", "matplotlib", "plot"))
    charts = tuple(_chart(comparison, options) for comparison in compared)
    plot(Sheet("", charts, columns=min(2, len(charts))), path)


def _chart(compared: ErrorComparison, options: ErrorOptions) -> Chart:
    more = {"dimensions": f", δ = {screen.number_text(options.delta)}, n = {options.people:,}"}
    numbers, *errors = zip(*compared.points, strict=True)
    columns = zip(compared.columns, errors, strict=True)
    return Chart(
        f"{compared.theorem}, {_price(options)}{more.get(compared.theorem, '')}",
        ChartAxis(compared.over, AxisKind.FACTORS),
        ChartAxis(compared.measure, AxisKind.FACTORS),
        tuple(Series(name, numbers, up, SeriesStyle.JOINED) for name, up in columns),
    )
