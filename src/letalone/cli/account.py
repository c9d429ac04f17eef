"""`letalone account` and `letalone calibrate`: what releases reveal, and what a promise allows.

Both read the little language of `expressions`. The numbers shown are certified: the truth
lies between `lower` and `upper`, and a number that is found keeps its promise.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import inf, isinf
from pathlib import Path
from time import perf_counter

from letalone.cli.expressions import SAFER_WHEN_LARGE, Node, holes, parse, privacy_of
from letalone.cli.screen import console, exponent, in_short, print_json
from letalone.errors import ParameterError
from letalone.mechanisms.planning import most_steps, solve
from letalone.privacy import Privacy
from letalone.privacy.bounds import shown_above
from letalone.privacy.chart import Axis, Curve, write_chart

USUAL_DELTA = 1e-6
POINTS = 24
NEGLIGIBLE = 1e-12
WORDS = {"times": "runs", "rate": "sampling rate"}
NOT_SOUGHT = (
    "size",
    "reports",
    "categories",
    "dimension",
    "order",
    "delta",
    "truth",
    "sensitivity",
)


def account(
    expression: str,
    *,
    delta: float | None,
    epsilon: float | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Print epsilon at a delta, or delta at an epsilon."""
    if delta is not None and epsilon is not None:
        raise ParameterError(
            "--delta and --epsilon are both given, but one follows from the other: with --delta "
            "the epsilon is said, with --epsilon the delta."
        )
    start = perf_counter()
    privacy = privacy_of(parse(expression))
    at = USUAL_DELTA if delta is None and epsilon is None else delta
    found = privacy.epsilon_bounds(at) if at is not None else privacy.delta_bounds(epsilon or 0)
    seconds = perf_counter() - start
    if plot is not None:
        draw(privacy, expression, plot)
    if as_json:
        given = {"delta": at} if at is not None else {"epsilon": epsilon}
        bounds = {"lower": _finite(found[0]), "upper": _finite(found[1])}
        note = {"reason": _endless(privacy)} if isinf(found[1]) else {}
        drawn = {"plot": plot and str(plot)}
        content = {"expression": expression, **given, **bounds, **note, **drawn}
        print_json("account", {**content, "seconds": round(seconds, 6)})
        return
    screen = console()
    for line in _lines(privacy, found, delta=at, epsilon=epsilon):
        screen.print(line, markup=True)
    screen.print(f"Both ends are certified. It took {seconds:.2g} s.")
    if plot is not None:
        screen.print(f"Drawn to {plot}", markup=False)


def calibrate(
    expression: str, *, epsilon: float | None, delta: float | None, as_json: bool
) -> None:
    """Print the number in place of `?` that keeps (epsilon, delta)."""
    if epsilon is None:
        raise ParameterError(
            "--epsilon is missing, but is the promise to keep: a positive number such as 1."
        )
    start = perf_counter()
    tree = parse(expression)
    name = _asked(tree)
    allowed = 0.0 if delta is None else delta
    found = _found(tree, name, epsilon=epsilon, delta=allowed)
    reached = privacy_of(tree, _exactly(found)).delta(epsilon)
    seconds = perf_counter() - start
    if as_json:
        promise = {"epsilon": epsilon, "delta": allowed, "reached_delta": reached}
        content = {"expression": expression, "name": name, "value": found, **promise}
        print_json("calibrate", {**content, "seconds": round(seconds, 6)})
        return
    least = "smallest" if name in SAFER_WHEN_LARGE else "largest"
    at = f" and δ = {exponent(allowed)}" if allowed else ""
    screen = console()
    screen.print(f"[bold]{WORDS.get(name, name)} = {found!r}[/bold]")
    screen.print(f"is the {least} that keeps ε = {in_short(epsilon)}{at}, to one part in 10^6.")
    screen.print(f"It is certified: there δ is at most {shown_above(reached)}.")


def draw(privacy: Privacy, title: str, path: Path) -> None:
    """Draw delta over epsilon, both bounds."""
    far = privacy.epsilon(NEGLIGIBLE)
    far = min(far, privacy.epsilon(0.5) * 4 + 10) if isinf(far) else far
    if not 0 < far < inf:
        raise ParameterError("There is no curve to draw: this reveals nothing, or everything.")
    grid = [far * step / POINTS for step in range(POINTS + 1)]
    bounds = [privacy.delta_bounds(epsilon) for epsilon in grid]
    curves = [
        Curve("δ is at most", tuple((e, high) for e, (_, high) in zip(grid, bounds, strict=True))),
        Curve("δ is at least", tuple((e, low) for e, (low, _) in zip(grid, bounds, strict=True))),
    ]
    write_chart(path, curves, title=title[:80], across=Axis("ε", factors=False), up=Axis("δ"))


def _lines(
    privacy: Privacy, found: tuple[float, float], *, delta: float | None, epsilon: float | None
) -> list[str]:
    low, high = found
    if delta is None:
        at = f"at ε = {in_short(epsilon) if epsilon else 0}"
        return [f"[bold]δ ≤ {_above(high)}[/bold]  {at}", f"δ ≥ {_below(low)}  {at}"]
    at = f"at δ = {exponent(delta) if delta else 0}"
    if isinf(high):
        return [f"[bold]ε = ∞[/bold]  {at}", _endless(privacy)]
    return [f"[bold]ε ≤ {_above(high)}[/bold]  {at}", f"ε ≥ {_below(low)}  {at}"]


def _endless(privacy: Privacy) -> str:
    if privacy.certain_leak() != 0:
        return "With a larger probability than this delta, everything may be shown."
    return "The privacy loss of this noise has no bound: it needs a delta above 0."


def _above(value: float) -> str:
    return _six(value, up=True)


def _below(value: float) -> str:
    return _six(value, up=False)


def _six(value: float, *, up: bool) -> str:
    """Six digits, rounded outwards."""
    if value == 0 or isinf(value):
        return "0" if value == 0 else "∞"
    context = Context(prec=6, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return f"{float(context.plus(Decimal(value))):.6g}".replace("e-0", "e-")


def _asked(tree: Node) -> str:
    asked = holes(tree)
    if len({name for name, _ in asked}) != 1:
        raise ParameterError(
            f"The expression has {len(asked)} question marks, but calibrate fills exactly one: "
            "write ? for the number to find, as in 100 * gaussian(sigma=?)."
        )
    if len(asked) > 1:
        raise ParameterError("Only one ? may stand in the expression.")
    return asked[0][0]


def _found(tree: Node, name: str, *, epsilon: float, delta: float) -> float:
    if name in NOT_SOUGHT:
        raise ParameterError(
            f"? stands for {name}, but calibrate finds noise (sigma, scale), prices (epsilon, "
            "rho, mu), the number of runs (? * …) and the sampling rate."
        )
    if name == "times":
        return most_steps(
            lambda count: privacy_of(tree, Fraction(count)), epsilon=epsilon, delta=delta
        )
    return solve(
        lambda number: privacy_of(tree, number),
        epsilon=epsilon,
        delta=delta,
        more_is_safer=name in SAFER_WHEN_LARGE,
        most=Fraction(1) if name == "rate" else None,
    )


def _exactly(found: float) -> Fraction:
    return Fraction(repr(found))


def _finite(value: float) -> float | None:
    return None if isinf(value) else value
