"""An empty figure, and the file that it goes to.

The only file of the layers that loads matplotlib, and it does so when it is called.

  Tested:   test_picture.py in tests/answers, tests/attacks and tests/audit
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from letalone.errors import ParameterError

FORMATS = (".svg", ".png", ".pdf")


def empty_figure(path: object = None, **settings: Any) -> Any:
    """A figure to draw on; before that, a path where it cannot be written is refused."""
    check_drawable(path)
    from matplotlib.figure import Figure

    return Figure(layout="constrained", **settings)


def check_drawable(path: object = None) -> None:
    """Refuses a path where no picture can be written, and a machine that cannot draw."""
    if path is not None and (target := Path(cast("str", path))).suffix.lower() not in FORMATS:
        allowed = ", ".join(FORMATS)
        raise ParameterError(f"The picture is to go to '{target}', but must end in {allowed}.")
    if find_spec("matplotlib") is None:
        raise ParameterError(
            ".plot() needs matplotlib, which is not installed: pip install 'letalone[plot]'."
        )


def save_figure(figure: Any, path: object = None) -> Any:
    """The figure, written to a file where a path is given."""
    if path is not None:
        figure.savefig(path)
    return figure
