"""Every claim has a place where a reader meets it, and a test that could refute it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INDEX = ROOT / "docs" / "explanation" / "claims.md"
ROW = re.compile(r"^\| ([A-Z]\d) \| .+ \| \[.+\]\(([\w./-]+)#(\w+)\) \| `(test_\w+)` \|$", re.M)
TEST = re.compile(r"^def (test_\w+)\(", re.M)
CLAIMS = [
    *(f"D{number}" for number in range(1, 10)),
    *(f"M{number}" for number in range(1, 9)),
    *(f"P{number}" for number in range(1, 8)),
    *(f"L{number}" for number in range(1, 5)),
    *(f"A{number}" for number in range(1, 6)),
    *(f"G{number}" for number in range(1, 9)),
]
ROWS = {claim: rest for claim, *rest in ROW.findall(INDEX.read_text("utf-8"))}


def named_tests_of(folder: Path) -> set[str]:
    """The names of all test functions below a folder."""
    return {name for path in folder.rglob("test_*.py") for name in TEST.findall(path.read_text())}


TESTS = named_tests_of(ROOT / "tests")


def test_the_index_lists_every_claim_in_order_and_no_other() -> None:
    assert list(ROWS) == CLAIMS


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_page_of_a_claim_has_a_section_for_it(claim: str) -> None:
    page, anchor, _ = ROWS[claim]
    assert anchor == claim.lower()
    text = (INDEX.parent / page).read_text("utf-8")
    assert re.search(rf"^\({anchor}\)=\n## .*\({claim}\)$", text, re.M)


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_test_of_a_claim_exists_and_bears_its_name(claim: str) -> None:
    _, _, name = ROWS[claim]
    assert name.startswith(f"test_{claim.lower()}_")
    assert name in TESTS
