"""The notebooks run from top to bottom, and what they show was stored by a run."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "docs" / "execute_notebook.py"))
STORED = {name: json.loads(path.read_text("utf-8")) for name, path in SCRIPT["NOTEBOOKS"].items()}
SHOWN = {
    "analyst": (
        "Price: ε = 0.45",
        "with the answer that is ε = 0.5",
        "image/png",
        "does not fit into the budget",
        "n_low",
    ),
    "engineer": ("LogisticRegression: (ε = 1", "does not fit into the budget", "winner"),
}


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def shapes(notebook: dict[str, Any]) -> list[list[set[str]]]:
    """Which kinds of output each cell has; the values differ from run to run."""
    return [
        [set(output.get("data", {"stream": ""})) for output in cell["outputs"]]
        for cell in code_cells(notebook)
    ]


@pytest.mark.few("analyst")
@pytest.mark.parametrize("name", STORED)
def test_every_cell_runs_and_shows_what_is_stored(name: str) -> None:
    """If this fails after a change: python docs/execute_notebook.py"""
    fresh = SCRIPT["executed"](json.loads(json.dumps(STORED[name])))
    assert shapes(fresh) == shapes(STORED[name])
    numbers = [cell["execution_count"] for cell in code_cells(STORED[name])]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("name", STORED)
def test_the_stored_outputs_show_a_price_and_a_refusal(name: str) -> None:
    text = json.dumps(STORED[name], ensure_ascii=False)
    for words in SHOWN[name]:
        assert words in text
    for place in ("/tmp", "/root", "/home", "/work", "\\\\Users"):
        assert place not in text, "a path of the machine that ran it"


def test_a_failing_cell_would_be_noticed() -> None:
    broken = {"cells": [{"cell_type": "code", "source": ["1 / 0"], "outputs": []}]}
    with pytest.raises(ZeroDivisionError):
        SCRIPT["executed"](broken)
