"""What the notebooks show was stored by a whole run; `tests/in_jupyter` runs them again."""

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "tutorial"
STORED = {path.stem: json.loads(path.read_text("utf-8")) for path in FOLDER.glob("*.ipynb")}
SHOWN = {
    "analyst": (
        "ε = 0.45",
        "with the answer that is ε = 0.5",
        "image/png",
        "<svg",
        "does not fit into the budget",
        "n_low",
    ),
    "engineer": ("LogisticRegression: (ε = 1", "does not fit into the budget", "winner"),
    "network": ("PrivateTrainer(Sequential): (ε = 2", "does not fit into the budget", "are right"),
}


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("name", SHOWN)
def test_the_stored_outputs_show_a_price_and_a_refusal(name: str) -> None:
    text = json.dumps(STORED[name], ensure_ascii=False)
    for words in SHOWN[name]:
        assert words in text
    for place in ("/tmp", "/root", "/home", "/work", "\\\\Users"):
        assert place not in text, "a path of the machine that ran it"


@pytest.mark.parametrize("name", STORED)
def test_cells_were_run_from_top_to_bottom_and_none_failed(name: str) -> None:
    numbers = [cell["execution_count"] for cell in code_cells(STORED[name])]
    assert numbers == list(range(1, len(numbers) + 1))
    kinds = {out["output_type"] for cell in code_cells(STORED[name]) for out in cell["outputs"]}
    assert kinds <= {"stream", "execute_result"}


@pytest.mark.parametrize("name", STORED)
def test_every_notebook_is_a_page_that_the_index_lists(name: str) -> None:
    assert f"tutorial/{name}\n" in (FOLDER.parent / "index.md").read_text("utf-8")
