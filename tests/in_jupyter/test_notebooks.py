"""The notebooks run in Jupyter as people open them: in a kernel, with and without ipywidgets."""

import json
from pathlib import Path
from typing import Any

import pytest

from in_jupyter.kernels import CellError, execute, type_cells

pytestmark = pytest.mark.long
FOLDER = Path(__file__).parents[2] / "docs" / "tutorial"


def shapes(notebook: dict[str, Any]) -> list[list[set[str]]]:
    """Which kinds of output each cell has; the values differ from run to run."""
    codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [
        [set(output.get("data", {"stream": ""})) for output in cell["outputs"]] for cell in codes
    ]


@pytest.mark.parametrize("without", [(), ("ipywidgets",)], ids=["widgets", "plain"])
@pytest.mark.parametrize("name", ["analyst", "engineer", "network"])
def test_every_cell_runs_and_shows_what_is_stored(
    name: str, without: tuple[str, ...], tmp_path: Path
) -> None:
    """If this fails after a change: python docs/execute_notebook.py"""
    stored = json.loads((FOLDER / f"{name}.ipynb").read_text("utf-8"))
    fresh = execute(stored, tmp_path, without)
    assert shapes(fresh) == shapes(stored)


def test_a_failing_cell_would_be_noticed(tmp_path: Path) -> None:
    with pytest.raises(CellError, match="ZeroDivisionError"):
        type_cells("1 / 0", folder=tmp_path)
