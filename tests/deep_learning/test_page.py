"""The page of docs that needs PyTorch runs as it stands."""

from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

pytestmark = pytest.mark.long

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "train_a_network.md"


def test_the_code_on_the_page_runs():
    examples = list(Sybil(parsers=[PythonCodeBlockParser()]).parse(PAGE).examples())
    assert len(examples) == PAGE.read_text("utf-8").count("\n```python\n") > 3
    for example in examples:
        example.evaluate()
