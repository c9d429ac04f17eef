"""Runs the cells of the notebooks in docs/tutorial and stores what they print.

    python docs/execute_notebook.py             # all of them, or
    python docs/execute_notebook.py engineer    # one

No Jupyter is needed. The answers differ each time, because the noise is new; a test runs the
cells as well, and fails if one of them does.
"""

import ast
import base64
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "tutorial"
NOTEBOOKS = {name: FOLDER / f"{name}.ipynb" for name in ("analyst", "engineer")}


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with fresh outputs; an error in a cell ends it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(codes, start=1):
        cell["execution_count"] = number
        cell["outputs"] = _run("".join(cell["source"]), names, number)
    return notebook


def _run(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """What a cell prints, and its last expression as a notebook shows it."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), names)
        value = None
        if last is not None:
            whole = ast.Expression(last.value)
            value = eval(compile(whole, f"cell {number}", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines})
    if value is not None:
        shown = {"data": _shown(value), "execution_count": number, "metadata": {}}
        outputs.append({**shown, "output_type": "execute_result"})
    return outputs


def _shown(value: Any) -> dict[str, Any]:
    if hasattr(value, "savefig"):
        drawn = io.BytesIO()
        value.savefig(drawn, format="png", dpi=60)
        return {
            "image/png": base64.b64encode(drawn.getvalue()).decode("ascii"),
            "text/plain": ["a picture"],
        }
    found: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        found["text/html"] = value._repr_html_().splitlines(keepends=True)
    return found


if __name__ == "__main__":
    for name in sys.argv[1:] or NOTEBOOKS:
        content = executed(json.loads(NOTEBOOKS[name].read_text("utf-8")))
        text = json.dumps(content, ensure_ascii=False, indent=1)
        NOTEBOOKS[name].write_text(text + "\n", encoding="utf-8")
