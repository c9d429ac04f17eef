"""Links lead somewhere, generated pages are current, and built pages fetch nothing."""

import re
import runpy
from pathlib import Path

import pytest

from letalone.errors.codes import Code

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_finds_it(page: Path) -> None:
    for target in LINK.findall(page.read_text("utf-8")):
        path = target.split("#")[0]
        if path and not path.startswith(("http://", "https://")):
            assert (page.parent / path).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_page_has_one_title_and_says_nothing_is_simple(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S)
    assert len(re.findall(r"^# ", text, re.M)) == 1
    assert not re.search(r"\b(simply|obviously)\b", text, re.I)


def test_the_page_of_the_command_line_is_current() -> None:
    """If this fails: python docs/command_line.py"""
    script = runpy.run_path(str(ROOT / "docs" / "command_line.py"))
    assert script["PAGE"].read_text("utf-8") == script["page"]()


def test_the_page_of_errors_is_current_and_has_every_code() -> None:
    """If this fails: python docs/error_codes.py"""
    script = runpy.run_path(str(ROOT / "docs" / "error_codes.py"))
    text = script["PAGE"].read_text("utf-8")
    assert text == script["page"]()
    assert all(f"| `{code.name}` |" in text for code in Code)


def test_a_page_that_fetches_from_elsewhere_is_noticed() -> None:
    check = runpy.run_path(str(ROOT / "docs" / "check_html.py"))["foreign_sources"]
    for bad in (
        '<script src="https://cdn.example/x.js"></script>',
        '<script async src="//cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="https://fonts.example/a.css">',
        "@import url(https://fonts.example/a.css);",
        "src: url('https://fonts.example/a.woff2')",
        '<img alt="" src="https://pixel.example/1.gif">',
    ):
        assert check(bad), bad
    for good in (
        '<a href="https://example.org">a page</a>',
        '<script src="_static/x.js?v=1"></script>',
        '<link rel="stylesheet" href="_static/a.css">',
        '<link rel="canonical" href="https://example.org/page">',
    ):
        assert not check(good), good
