"""Notebooks: cells are read together, and a finding says which cell and which line of it."""

import json
from pathlib import Path

import pytest

from letalone.errors import ParameterError
from letalone.lint import lint

IMPORT = "import numpy as np\n"
SLIP = "x = 1\ny = total + np.random.laplace(0, 1)\n"


def saved(folder: Path, *cells: str, name: str = "a.ipynb") -> Path:
    """A notebook, with a cell of words before each of code."""
    made: list[dict[str, object]] = []
    for cell in cells:
        made.append({"cell_type": "markdown", "source": ["np.random.laplace(0, 1)"]})
        made.append({"cell_type": "code", "source": cell.splitlines(keepends=True)})
    path = folder / name
    path.write_text(json.dumps({"cells": made, "nbformat": 4}))
    return path


def test_a_finding_has_its_cell_and_its_line_there(tmp_path: Path) -> None:
    path = saved(tmp_path, IMPORT, SLIP, "", SLIP)
    found = lint(path)
    assert [(one.cell, one.line, one.column, one.code) for one in found] == [
        (2, 2, 5, "LA001"),
        (4, 2, 5, "LA001"),
    ]
    assert found[0].place == f"{path}:cell 2:2:5"
    assert found[0].to_json()["cell"] == 2


def test_what_is_not_python_in_a_cell_of_python_is_put_aside(tmp_path: Path) -> None:
    magic = "%matplotlib inline\nfiles = !ls\nnp?\nif files:\n    %time 1\n"
    cells = (IMPORT + magic, "%%bash\necho $((1", "%%time\n" + SLIP)
    assert [(one.cell, one.line) for one in lint(saved(tmp_path, *cells))] == [(3, 3)]


def test_a_line_can_be_silenced(tmp_path: Path) -> None:
    assert lint(saved(tmp_path, IMPORT + SLIP.replace("1)", "1)  # noqa: LA001"))) == []


def test_what_cannot_be_read_is_refused_with_the_place(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"a\.ipynb:cell 2:1 is not Python"):
        lint(saved(tmp_path, IMPORT, "x = = 1\n"))
    for text in ("[]", "{", '{"cells": 3}', '{"cells": [3]}'):
        path = tmp_path / "b.ipynb"
        path.write_text(text)
        with pytest.raises(ParameterError, match="is not a notebook that can be read"):
            lint(path)
    (tmp_path / "c.txt").write_text(IMPORT)
    with pytest.raises(ParameterError, match="neither a script"):
        lint(tmp_path / "c.txt")
