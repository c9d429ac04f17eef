"""The code of a notebook as one script, and where each of its lines stands.

Cells share their names, so they are read together: an import of the first cell is known in the
last one. What is IPython's own (`%time`, `!ls`, `name?`) is put aside; the lines keep their places.

  Tested:   tests/lint/test_notebooks.py
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from letalone.errors import ParameterError

MAGIC = re.compile(r"^(\s*)[%!?].*$|^(\s*)[\w.]+\?{1,2}\s*$")
ASSIGNED = re.compile(r"^(\s*[\w, ]+=\s*)[%!].*$")
OF_PYTHON = re.compile(r"^%%(time|timeit|capture|prun|python|python3)\b")


@dataclass(frozen=True, slots=True)
class Notebook:
    """The text of all code cells; `places` has the cell and the line in it of every line."""

    text: str
    places: tuple[tuple[int, int], ...]


def read_notebook(path: Path) -> Notebook:
    """A notebook's code cells, the first of which is cell 1."""
    cells = [_lines(source) for source in _sources(path)]
    places = [(cell, line) for cell, lines in enumerate(cells, 1) for line in _numbers(lines)]
    return Notebook("\n".join(line for lines in cells for line in lines), tuple(places))


def _numbers(lines: list[str]) -> range:
    return range(1, len(lines) + 1)


def _sources(path: Path) -> Iterator[str]:
    try:
        stored = json.loads(path.read_text("utf-8-sig"))
        cells = cast("list[dict[str, Any]]", stored["cells"])
        found = [cell.get("source", "") for cell in cells if cell.get("cell_type") == "code"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        found = None
    if found is None:
        raise ParameterError(
            f"{path} is no notebook that can be read: it must be JSON with a list of cells, as"
            " Jupyter saves it since 2015 (format 4)."
        )
    yield from ("".join(cast("Iterable[str]", source)) for source in found)


def _lines(source: str) -> list[str]:
    lines = source.splitlines() or [""]
    if lines[0].startswith("%%") and not OF_PYTHON.match(lines[0]):
        return [""] * len(lines)  # another language
    return [_without_magic(line) for line in lines]


def _without_magic(line: str) -> str:
    line = ASSIGNED.sub(r"\1None", line)
    return MAGIC.sub(lambda found: f"{found[1] or found[2] or ''}pass", line)
