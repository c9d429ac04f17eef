"""The playground shows letalone's own promises, and its script makes none of its own."""

import json
import re
import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
WRITER = runpy.run_path(str(DOCS / "playground.py"))
PAGE = (DOCS / "explanation" / "playground.md").read_text("utf-8")


def test_the_numbers_are_those_of_letalone() -> None:
    """If this fails after a change: python docs/playground.py"""
    assert WRITER["FILE"].read_text("utf-8") == WRITER["text"]()


def test_the_table_of_the_page_says_the_same() -> None:
    listed = re.findall(r"^  (\{.*\}),?$", WRITER["FILE"].read_text("utf-8"), re.M)
    promises = {step["epsilon"]: step for step in map(json.loads, listed)}
    rows = re.findall(r"^\| ([\d.]+) \| (.+?) \| (.+?) \| (.+?) \| ± (.+?) \|$", PAGE, re.M)
    assert len(rows) == 5
    for epsilon, *shown, error in rows:
        step = promises[float(epsilon)]
        assert shown == [step["guess"], step["caught"], step["factor"]]
        assert float(error) == step["error"]


def test_the_script_computes_no_promise_and_loads_nothing() -> None:
    script = (DOCS / "_static" / "playground.js").read_text("utf-8")
    for word in ("Math.exp", "fetch", "XMLHttpRequest", "import", "://", "innerHTML"):
        assert word not in script
