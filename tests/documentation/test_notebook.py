"""The notebook for analysts runs from top to bottom, and what it shows was stored by a run."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "docs" / "execute_notebook.py"))
STORED = json.loads(SCRIPT["NOTEBOOK"].read_text("utf-8"))


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def shapes(notebook: dict[str, Any]) -> list[list[set[str]]]:
    """Which kinds of output each cell has; the values differ from run to run."""
    return [
        [set(output.get("data", {"stream": ""})) for output in cell["outputs"]]
        for cell in code_cells(notebook)
    ]


def test_every_cell_runs_and_shows_what_is_stored() -> None:
    """If this fails after a change: python docs/execute_notebook.py"""
    fresh = SCRIPT["executed"](json.loads(json.dumps(STORED)))
    assert shapes(fresh) == shapes(STORED)
    numbers = [cell["execution_count"] for cell in code_cells(STORED)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_stored_outputs_show_an_interval_a_price_and_a_refusal() -> None:
    text = json.dumps(STORED, ensure_ascii=False)
    for words in ("Price: ε = 0.5", "image/png", "does not fit into the budget", "n_low"):
        assert words in text
    for place in ("/tmp", "/root", "/home", "/work", "\\\\Users"):
        assert place not in text, "a path of the machine that ran it"


def test_a_failing_cell_would_be_noticed() -> None:
    broken = {"cells": [{"cell_type": "code", "source": ["1 / 0"], "outputs": []}]}
    with pytest.raises(ZeroDivisionError):
        SCRIPT["executed"](broken)
