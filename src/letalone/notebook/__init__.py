"""What is for notebooks alone: a slider for ε. It needs the extra `[widget]`.

Answers, previews and pictures show themselves in a notebook without it.

  Tested:   tests/notebook, tests/browser/test_epsilon_slider.py
"""

from importlib import import_module

from letalone.errors import ParameterError
from letalone.errors.installing import not_installed

__all__ = ["EpsilonSlider"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'letalone.notebook' has no attribute {name!r}")
    try:
        return import_module("letalone.notebook.epsilon_slider").EpsilonSlider
    except ModuleNotFoundError as missing:
        if missing.name != "anywidget":
            raise
    raise ParameterError(not_installed("la.EpsilonSlider", "anywidget", "widget"))


def __dir__() -> list[str]:
    return __all__
