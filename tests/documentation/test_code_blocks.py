"""Every block of Python in README and docs runs, and doctests print what they say."""

from doctest import ELLIPSIS
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ELSEWHERE = (
    ROOT / "docs/how-to/spark.md",  # needs a Spark: tests/on_spark/test_page.py
    ROOT / "docs/how-to/train_a_network.md",  # needs PyTorch: tests/deep_learning/test_page.py
)
SYBIL = Sybil(parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS)])


def blocks(page: Path) -> int:
    return page.read_text("utf-8").count("\n```python\n")


@pytest.mark.few("README", "properties", "attack.md")
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if blocks(page) and page not in ELSEWHERE],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_code_on_this_page_runs(page: Path) -> None:
    document = SYBIL.parse(page)
    examples = list(document.examples())
    assert len(examples) >= blocks(page), "a block of Python was not found by the parser"
    for example in examples:
        example.evaluate()


def test_a_wrong_output_would_be_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n\n```\n")
    (example,) = SYBIL.parse(page).examples()
    with pytest.raises(AssertionError, match="Expected"):
        example.evaluate()


def test_python_hides_under_no_other_name() -> None:
    """`py`, `python3` and `pycon` blocks would be shown, but not run."""
    for page in PAGES:
        for name in ("py", "python3", "pycon", "{code-block} python"):
            assert f"```{name}\n" not in page.read_text("utf-8"), page
