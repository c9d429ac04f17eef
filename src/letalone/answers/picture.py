"""A release as a picture: each aggregate in a field of its own, with its error bars.

The only file below the command line that draws; matplotlib is loaded when it is called.

  Tested:   tests/answers/test_picture.py
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from letalone.answers.columns import KeyColumn, Output
from letalone.answers.views import cell_text, is_drawn
from letalone.errors import ParameterError

FORMATS = (".svg", ".png", ".pdf")
MOST_PLACES = 60
MOST_SERIES = 8


def draw(
    keys: Sequence[KeyColumn], outputs: Sequence[Output], *, title: str, path: object = None
) -> Any:
    """The figure, written to a file where a path is given."""
    target = None if path is None else _target(path)
    drawn = [output for output in outputs if is_drawn(output)]
    if not drawn or not drawn[0].values:
        raise ParameterError("There is nothing to draw: no number here has an interval.")
    figure = _figure()
    names = list(dict.fromkeys(output.aggregate for output in drawn))
    figure.set_size_inches(7, 1 + 2.6 * len(names))
    fields = figure.subplots(len(names), 1, squeeze=False)[:, 0]
    for field, name in zip(fields, names, strict=True):
        _draw_one(field, keys, [output for output in drawn if output.aggregate == name], name)
    figure.suptitle(_plain(title), fontsize=10)
    if target is not None:
        figure.savefig(target)
    return figure


def _draw_one(field: Any, keys: Sequence[KeyColumn], outputs: list[Output], name: str) -> None:
    """Groups across; where an aggregate has several numbers, those, and a series a group."""
    groups = _groups(keys)
    if len(outputs) == 1:
        _bars(field, groups, _points(outputs[0]), "")
    else:
        labels = [output.label or output.name for output in outputs]
        points = [_points(output) for output in outputs]
        for place, group in enumerate(groups[:MOST_SERIES]):
            _bars(field, labels, [one[place] for one in points], group, shift=place)
        if len(groups) > 1:
            field.legend(fontsize=8)
    field.set_ylabel(_plain(name))


def _bars(
    field: Any,
    labels: Sequence[str],
    points: Sequence[tuple[float, float, float]],
    series: str,
    shift: int = 0,
) -> None:
    shown = points[:MOST_PLACES]
    across = [place + 0.08 * shift for place in range(len(shown))]
    values = [value for value, _, _ in shown]
    # A count below 0 lies below its interval, which ends at 0.
    below = [max(0.0, value - low) for value, low, _ in shown]
    above = [max(0.0, high - value) for value, _, high in shown]
    field.errorbar(
        across, values, yerr=[below, above], fmt="o", capsize=3, label=_plain(series) or None
    )
    field.set_xticks(range(len(shown)), [_plain(label) for label in labels[:MOST_PLACES]])
    if max((len(label) for label in labels), default=0) > 6:
        field.tick_params(axis="x", rotation=30)


def _points(output: Output) -> list[tuple[float, float, float]]:
    ends = zip(output.values, output.low or (), output.high or (), strict=True)
    return [cast("tuple[float, float, float]", one) for one in ends]


def _groups(keys: Sequence[KeyColumn]) -> list[str]:
    if not keys:
        return [""]
    rows = zip(*(column.values for column in keys), strict=True)
    return [", ".join(cell_text(cell) for cell in row) for row in rows]


def _plain(text: str) -> str:
    """Dollar signs would start a formula."""
    return text.replace("$", r"\$")


def _target(path: object) -> Path:
    target = Path(cast("str", path))
    if target.suffix.lower() not in FORMATS:
        allowed = ", ".join(FORMATS)
        raise ParameterError(f"The picture is to go to '{target}', but must end in {allowed}.")
    return target


def _figure() -> Any:
    if find_spec("matplotlib") is None:
        raise ParameterError(
            ".plot() needs matplotlib, which is not installed: pip install 'letalone[plot]'."
        )
    from matplotlib.figure import Figure

    return Figure(layout="constrained")
