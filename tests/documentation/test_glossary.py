"""The page of the glossary is that of the program, and its links lead to pages."""

import runpy
from pathlib import Path

from letalone.cli.noise.explain_word import read_terms

ROOT = Path(__file__).parents[2]


def test_the_page_of_the_glossary_is_current() -> None:
    """If this fails: python docs/glossary.py"""
    script = runpy.run_path(str(ROOT / "docs" / "glossary.py"))
    assert script["PAGE"].read_text("utf-8") == script["page"]()


def test_no_word_leads_to_two_terms_and_each_has_a_page() -> None:
    terms = read_terms()
    words = [word for term in terms for word in (term.name, *term.also)]
    assert len(words) == len(set(words))
    assert all(word == word.lower() for word in words)
    assert all((ROOT / "docs" / term.page).is_file() for term in terms)
