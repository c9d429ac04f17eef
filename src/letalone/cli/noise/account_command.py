"""`letalone account` and `letalone calibrate`: what releases reveal, and what a promise allows.

Both read the little language of `expressions`. The numbers shown are certified: the truth
lies between `lower` and `upper`, and a number that is found keeps its promise. So does what
is drawn, between the points that were computed too: delta as a function of e^epsilon is
convex, so its chords lie above it and their continuations below.
"""

from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import exp, expm1, inf, isinf
from pathlib import Path
from time import perf_counter

from letalone.cli.noise.noise_commands import AccountOptions, CalibrateOptions
from letalone.cli.noise.sums_of_releases import (
    COUNTS,
    MAX_RUNS,
    SAFER_WHEN_LARGE,
    Node,
    holes,
    parse,
    privacy_of,
)
from letalone.cli.screen import console, in_short, number_text, print_json
from letalone.drawing import AxisKind, Chart, ChartAxis, ChartMark, Series, write_svg
from letalone.errors import ParameterError
from letalone.exact.typed import EPSILON_OR_ZERO, as_typed
from letalone.privacy import Privacy
from letalone.privacy.bounds import above
from letalone.privacy.planning import most_steps_for, solve_for
from letalone.privacy.promises import AttackRisk, EpsilonDelta

USUAL_DELTA = 1e-6
POINTS = 40
BETWEEN = 8  # steps drawn between two points that were computed
NEGLIGIBLE = 1e-12
SMALLEST = 1e-300
DIGITS = 8  # of a number that is found to one part in 10^6
SOUGHT = ("sigma", "scale", "epsilon", "rho", "mu", "rate", *COUNTS)
NO_EPSILON = (
    "--epsilon is missing, but is the promise to keep: a positive number such as 1. Or give a risk:"
    " --advantage 0.05."
)
NO_PROMISE = (
    "calibrate needs a promise to keep: an expression with --epsilon, such as"
    ' "100 * gaussian(sigma=?)" --epsilon 1 --delta 1e-6; or a risk, such as --advantage 0.05, or'
    " --true-positive 0.02 --at-false-positive 0.01."
)

Promise = EpsilonDelta | AttackRisk
Bounded = tuple[float, tuple[float, float]]


def account(options: AccountOptions) -> None:
    """Print epsilon at a delta (1e-6 if none is named), or delta at an epsilon."""
    expression, plot = options.expression, options.plot
    delta, epsilon = options.delta, options.epsilon
    if delta is not None and epsilon is not None:
        raise ParameterError(
            "--delta and --epsilon are both given, but one follows from the other: with --delta "
            "the epsilon is said, with --epsilon the delta."
        )
    if epsilon is not None:
        EPSILON_OR_ZERO.typed("epsilon", epsilon)
    start = perf_counter()
    privacy = privacy_of(parse(expression))
    at = USUAL_DELTA if delta is None and epsilon is None else delta
    certified = privacy.epsilon_bounds(at) if at is not None else privacy.delta_bounds(epsilon or 0)
    seconds = perf_counter() - start
    if plot is not None:
        point = (certified[1], at) if at is not None else (epsilon or 0.0, certified[1])
        draw(privacy, expression, plot, point=point)
    if options.as_json:
        given = {"delta": at} if at is not None else {"epsilon": epsilon}
        ends = zip(("lower", "upper"), certified, strict=True)
        bounds = {name: None if isinf(end) else end for name, end in ends}
        note = {"reason": _endless(privacy)} if isinf(certified[1]) else {}
        took = {"plot": plot, "seconds": round(seconds, 6)}
        print_json("account", {"expression": expression, **given, **bounds, **note, **took})
        return
    screen = console()
    for line in _lines(privacy, certified, delta=at, epsilon=epsilon):
        screen.print(line, markup=True)
    screen.print(f"{_certified_words(certified)} proven. It took {seconds:.2g} s.")
    if plot is not None:
        screen.print(f"Drawn to {plot}", markup=False)


def calibrate(options: CalibrateOptions) -> None:
    """Print the number in place of `?` that keeps (epsilon, delta) or a risk; or the epsilon."""
    promise = _promise(options)
    start = perf_counter()
    expression = options.expression or _pair(options.delta)
    tree = parse(expression)
    name = _hole_name(tree)
    value, privacy = _solve(tree, name, promise)
    seconds = perf_counter() - start
    if options.as_json:
        content = {"expression": options.expression, "name": name, "value": value}
        kept = _promise_as_json(options, promise, privacy)
        print_json("calibrate", {**content, **kept, "seconds": round(seconds, 6)})
        return
    least = "smallest" if name in SAFER_WHEN_LARGE else "largest"
    close = "" if name in COUNTS else ", to one part in 10^6"
    shown = {"epsilon": "ε"}.get(name, name) if options.expression is None else name
    console().print(
        f"[bold]{shown} = {value!r}[/bold] is the {least} that keeps"
        f" {_promise_text(promise)}{close}. {_reached_text(promise, privacy)}"
    )


def _promise(options: CalibrateOptions) -> Promise:
    """What is to be kept: an epsilon and a delta, or a risk."""
    risk = (options.advantage, options.true_positive, options.at_false_positive)
    if all(rate is None for rate in risk):
        if options.epsilon is None or options.expression is None:
            raise ParameterError(NO_PROMISE if options.expression is None else NO_EPSILON)
        return EpsilonDelta(options.epsilon, options.delta or 0)
    if options.epsilon is not None:
        raise ParameterError("--epsilon and a risk are both given, but one is kept. Leave one out.")
    if options.delta is not None and options.expression is not None:
        raise ParameterError("--delta is given, but a risk has none. Leave --delta out.")
    return AttackRisk(
        advantage=options.advantage,
        true_positive=options.true_positive,
        at_false_positive=options.at_false_positive,
    )


def _pair(delta: float | None) -> str:
    """Releases of which no more is known than an epsilon and a delta."""
    return f"approx(epsilon=?, delta={number_text(delta)})" if delta else "pure(epsilon=?)"


def _promise_as_json(
    options: CalibrateOptions, promise: Promise, privacy: Privacy
) -> dict[str, object]:
    if isinstance(promise, EpsilonDelta):
        reached = privacy.delta(options.epsilon or 0)
        return {"epsilon": options.epsilon, "delta": options.delta or 0.0, "reached_delta": reached}
    return {
        "advantage": options.advantage,
        "true_positive": options.true_positive,
        "at_false_positive": options.at_false_positive,
        "delta": options.delta,
    }


def _promise_text(promise: Promise) -> str:
    if isinstance(promise, AttackRisk):
        return str(promise)
    at = f" and δ = {number_text(float(promise.delta))}" if promise.delta else ""
    return f"ε = {in_short(float(promise.epsilon))}{at}"


def _reached_text(promise: Promise, privacy: Privacy) -> str:
    if isinstance(promise, AttackRisk):
        return "This is proven, for any test of whether one person is in the data."
    reached = privacy.delta(promise.epsilon)
    return f"This is proven: there δ is {f'at most {_above(reached)}' if reached else '0'}."


def draw(
    privacy: Privacy, title: str, path: Path, *, point: tuple[float, float] | None = None
) -> None:
    """Draw delta over epsilon, both bounds, and mark the point that was asked for."""
    points = [(epsilon, privacy.delta_bounds(epsilon)) for epsilon in _grid(privacy, point)]
    steps = {"δ is at most": _steps_above(points), "δ is at least": _steps_below(points)}
    both = {name: tuple(zip(*line, strict=True)) for name, line in steps.items()}
    curves = tuple(Series(name, xs, ys) for name, (xs, ys) in both.items())
    marks = (ChartMark(*point, words=_place(*point)),) if point else ()
    axes = ChartAxis("ε"), ChartAxis("δ", AxisKind.FACTORS)
    write_svg(Chart(title[:80], *axes, curves, marks), path)


def _grid(privacy: Privacy, point: tuple[float, float] | None) -> list[float]:
    """From 0 to where little is left, with the kink at the largest loss."""
    worst, far = privacy.worst_loss(), privacy.epsilon(NEGLIGIBLE)
    if isinf(far):
        far = privacy.epsilon(0.5) * 4 + 10 if worst is None else 1.25 * above(worst)
    if point is not None and not isinf(point[0]):
        far = max(far, point[0])
    if not 0 < far < inf:
        raise ParameterError("There is no curve to draw: this reveals nothing, or everything.")
    kinks = {above(worst)} if worst is not None and above(worst) < far else set[float]()
    return sorted({far * step / POINTS for step in range(POINTS + 1)} | kinks)


def _steps_above(points: Sequence[Bounded]) -> Iterator[tuple[float, float]]:
    """Chords in e^epsilon, each as steps that keep the value on their left."""
    yield points[0][0], points[0][1][1]
    for (begin, (_, high)), (right, (_, low)) in pairwise(points):
        for start, end in pairwise(_points_between(begin, right)):
            # The share of the left end: (e^right - e^start) / (e^right - e^left).
            share = expm1(start - right) / expm1(begin - right)
            value = low + share * (high - low)
            yield from ((start, value), (end, value))
        yield right, low


def _steps_below(points: Sequence[Bounded]) -> Iterator[tuple[float, float]]:
    """The next chord continued to the left, as steps that keep the value on their right."""
    beyond = [*points[2:], points[-1]]
    for (begin, (low, _)), (right, (least, _)), (after, (_, upper)) in zip(
        points[:-1], points[1:], beyond, strict=True
    ):
        yield begin, low
        for start, end in pairwise(_points_between(begin, right)):
            value = least + _beyond(end, right, after) * max(least - upper, 0.0)
            yield from ((start, value), (end, value))
        yield right, least


def _beyond(place: float, right: float, after: float) -> float:
    """(e^right - e^place) / (e^after - e^right), without a number too large for a float."""
    if after == right:
        return 0.0
    return expm1(place - right) * exp(right - after) / expm1(right - after)


def _points_between(start: float, right: float) -> list[float]:
    return [start + (right - start) * step / BETWEEN for step in range(BETWEEN + 1)]


def _place(epsilon: float, delta: float) -> str:
    return ", ".join(
        f"{letter} = {in_short(value) if 0 < value < inf else _above(value)}"
        for letter, value in (("ε", epsilon), ("δ", delta))
    )


def _lines(
    privacy: Privacy, bounds: tuple[float, float], *, delta: float | None, epsilon: float | None
) -> list[str]:
    low, high = bounds
    if delta is None:
        at = f"at ε = {in_short(epsilon) if epsilon else 0}"
        return [f"[bold]δ ≤ {_above(high)}[/bold]  {at}", f"δ ≥ {_below(low)}  {at}"]
    at = f"at δ = {number_text(delta) if delta else 0}"
    if isinf(low):
        return [f"[bold]ε = ∞[/bold]  {at}", _endless(privacy)]
    first = f"[bold]ε ≤ {_above(high)}[/bold]  {at}"
    last = [f"ε ≥ {_below(low)}  {at}"]
    return [first, _endless(privacy), *last] if isinf(high) else [first, *last]


def _certified_words(bounds: tuple[float, float]) -> str:
    if isinf(bounds[0]):
        return "That is"
    return "Only the lower bound is" if isinf(bounds[1]) else "Both bounds are"


def _endless(privacy: Privacy) -> str:
    if privacy.certain_leak() != 0:
        return "With a larger probability than this delta, everything may be revealed."
    return "The privacy loss of this noise has no bound: it needs a delta above 0."


def _six(value: float, *, up: bool) -> str:
    """Six digits, rounded outwards; below 10^-300 nobody needs to know better."""
    if value < SMALLEST:
        return "1e-300" if up and value > 0 else "0"
    if isinf(value):
        return "∞"
    context = Context(prec=6, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return f"{float(context.plus(Decimal(value))):.6g}".replace("e-0", "e-")


_above, _below = partial(_six, up=True), partial(_six, up=False)


def _hole_name(tree: Node) -> str:
    questions = holes(tree)
    if len({name for name, _ in questions}) != 1:
        raise ParameterError(
            f"The expression has {len(questions)} question marks, but calibrate fills exactly one: "
            "write ? for the number to find, as in 100 * gaussian(sigma=?)."
        )
    if len(questions) > 1:
        raise ParameterError("Only one ? may stand in the expression.")
    return questions[0][0]


def _solve(tree: Node, name: str, promise: Promise) -> tuple[float, Privacy]:
    """The number, short, and what is revealed with it."""
    if name not in SOUGHT:
        raise ParameterError(
            f"? stands for {name}, but calibrate finds noise (sigma, scale), prices (epsilon, "
            "rho, mu), the number of runs (? * …) or steps, and the sampling rate."
        )
    exact = _search(tree, name, promise)
    for number in (*_short(exact, up=name in SAFER_WHEN_LARGE), exact):
        privacy = privacy_of(tree, as_typed(number))
        if promise.is_kept(privacy):
            return number, privacy
    raise ParameterError("No number was certified. Ask for a slightly larger epsilon or delta.")


def _search(tree: Node, name: str, promise: Promise) -> float:
    if name in COUNTS:
        return most_steps_for(
            promise, lambda count: privacy_of(tree, Fraction(count)), most=MAX_RUNS
        )
    return solve_for(
        promise,
        lambda number: privacy_of(tree, number),
        more_is_safer=name in SAFER_WHEN_LARGE,
        most=Fraction(1) if name == "rate" else None,
    )


def _short(number: float, *, up: bool) -> list[float]:
    """With fewer digits: a round number that is better still, then one on the safe side."""
    if isinstance(number, int):
        return []
    context = Context(prec=DIGITS, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    safe, nearest = float(context.plus(Decimal(number))), float(f"{number:.6g}")
    return [nearest, safe] if (nearest < number) == up else [safe]
