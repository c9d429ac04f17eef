"""Draws how much of a budget is spent over time: steps upwards, and the cap above them."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from markupsafe import Markup

from letalone.curator.console.charts import axes
from letalone.curator.console.charts.axes import HEIGHT, AxisScale, number, seconds
from letalone.curator.console.charts.drawing import abbreviate, line, path, stretch, svg, text
from letalone.curator.console.directions import isolate

PARTS = 4  # levels that are told apart by their kind of line
MAX_STEPS = 200
ROW = 20
Steps = Sequence[tuple[datetime, float]]


def burn_down(
    points: Steps, caps: Steps, *, until: datetime, parts: Mapping[str, Steps], title: str
) -> Markup:
    """Spent ε after each charge, up to `until`, under the caps: a cap may have been raised.

    `parts` are levels under it (purposes, analysts), drawn as lines; of more than four, the four
    that have spent the most.
    """
    chosen = _largest(parts)
    moves = [when for steps in (points, caps, *chosen.values()) for when, _ in steps]
    ends = [seconds(when) for when in [*moves, until]]
    across = axes.exactly(min(ends), max(ends))
    top = max((value for _, value in caps), default=1.0)
    up = AxisScale.around([top, *(spent for _, spent in points)], start=axes.BOTTOM, end=axes.TOP)
    wide = axes.inner(across)
    paths = [*_area(_thin(points), wide, up), _stairs(caps, wide, up, "chart-cap")]
    for index, steps in enumerate(chosen.values()):
        paths.append(_stairs(_thin(steps), wide, up, f"chart-part chart-part-{index + 1}"))
    drawn = [
        *axes.levels(up), *axes.moments(across),
        stretch(paths, left=across.start, right=across.end), *_legend(list(chosen)),
    ]  # fmt: skip
    height = HEIGHT + (ROW * (len(chosen) + 1) if chosen else 0)
    about = _about(points, top, chosen)
    return svg(drawn, height=height, title=title, about=about, kind="chart-spending")


def _largest(parts: Mapping[str, Steps]) -> dict[str, Steps]:
    spent = {name: steps[-1][1] for name, steps in parts.items() if steps}
    names = sorted(spent, key=lambda name: -spent[name])[:PARTS]
    return {name: parts[name] for name in names}


def _thin(steps: Steps) -> Steps:
    """At most `MAX_STEPS` steps: of those that lie close, the last, which has spent the most."""
    every = -(-len(steps) // MAX_STEPS)
    return steps if every <= 1 else [*steps[every - 1 : -1 : every], steps[-1]]


def _area(points: Steps, across: AxisScale, up: AxisScale) -> list[str]:
    stairs = _corners(points, across, up)
    feet = [(stairs[0][0], up.place(0)), (across.end, up.place(0))] if stairs else []
    below = path([*feet[:1], *stairs, *feet[1:]], "chart-area", closed=True)
    return [below, _stairs(points, across, up, "chart-line")]


def _stairs(steps: Steps, across: AxisScale, up: AxisScale, kind: str) -> str:
    return path(_corners(steps, across, up), kind)


def _corners(steps: Steps, across: AxisScale, up: AxisScale) -> list[tuple[float, float]]:
    """Each level from its moment on, until the next, and the last to the end."""
    at = [(across.place(seconds(when)), up.place(level)) for when, level in steps]
    ends = [*(x for x, _ in at[1:]), across.end]
    return [corner for (x, y), end in zip(at, ends, strict=False) for corner in ((x, y), (end, y))]


def _legend(names: Sequence[str]) -> list[str]:
    parts = list[str]()
    for index, name in enumerate(["all together", *names] if names else []):
        y = HEIGHT + 8 + ROW * index
        kind = "chart-line" if index == 0 else f"chart-part chart-part-{index}"
        parts += [line((2, y - 4), (10, y - 4), kind), text(12, y, abbreviate(name, 40))]
    return parts


def _about(points: Steps, cap: float, parts: Mapping[str, Steps]) -> str:
    words = f"The cap is {number(cap)}."
    if not points:
        return f"Nothing is spent yet. {words}"
    (first, _), (last, spent) = points[0], points[-1]
    words = f"From {first:%Y-%m-%d} to {last:%Y-%m-%d}, {number(spent)} was spent. {words}"
    each = "; ".join(f"{isolate(name)} {number(steps[-1][1])}" for name, steps in parts.items())
    return words + (f" Of it: {each}." if each else "")
