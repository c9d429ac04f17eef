"""Runs cells in a Jupyter kernel of their own, as docs/execute_notebook.py does."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).parents[2] / "docs" / "execute_notebook.py"
# A program of its own: a kernel's sockets may stay open until its end.
PROGRAM = """
import json, runpy, sys
import nbformat

given = nbformat.reads(sys.stdin.read(), as_version=4)
print(json.dumps(runpy.run_path(sys.argv[1])["executed"](given)))
"""
Notebook = dict[str, Any]


class CellError(Exception):
    """A cell ended with an error; its traceback is the text."""


def execute(notebook: Notebook, folder: Path, without: Sequence[str] = ()) -> Notebook:
    """The notebook with its outputs, in a kernel where some packages cannot be imported."""
    hidden = "".join(f"sys.modules[{package!r}] = None; " for package in without)
    hide = _cell(f"import sys; {hidden}", "hide")
    given = json.dumps(notebook | {"cells": [hide, *notebook["cells"]]})
    command = [sys.executable, "-c", PROGRAM, str(SCRIPT)]
    done = subprocess.run(
        command, cwd=folder, input=given, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise CellError(done.stderr[-3000:])
    found = json.loads(done.stdout)
    return found | {"cells": found["cells"][1:]}


def type_cells(*sources: str, folder: Path, without: Sequence[str] = ()) -> list[dict[str, str]]:
    """What each cell shows by its last line: its representations by MIME type."""
    cells = [_cell(source, f"cell-{number}") for number, source in enumerate(sources)]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return [shown_by(cell) for cell in execute(notebook, folder, without)["cells"]]


def shown_by(cell: dict[str, Any]) -> dict[str, str]:
    """The representations of a cell's last line; none if it shows nothing."""
    results = [o["data"] for o in cell["outputs"] if o["output_type"] == "execute_result"]
    return results[0] if results else {}


def _cell(source: str, name: str) -> dict[str, Any]:
    kept = {"execution_count": None, "outputs": [], "metadata": {}}
    return {"cell_type": "code", "id": name, "source": source, **kept}
