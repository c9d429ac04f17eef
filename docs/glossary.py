"""Writes docs/explanation/glossary.md from the terms that `letalone explain WORD` explains.

    python docs/glossary.py

A test fails while the page and the terms differ.
"""

import os
from pathlib import Path

from letalone.cli.noise.explain_word import GlossaryTerm, read_terms

DOCS = Path(__file__).parent
PAGE = DOCS / "explanation" / "glossary.md"

INTRODUCTION = """\
# Glossary

<!-- Written by docs/glossary.py from src/letalone/cli/noise/glossary.toml; edit that. -->

The words that letalone uses, one for each thing. In the terminal, `letalone explain WORD` says the
same.
"""


def page() -> str:
    """The page as it should be."""
    return "\n".join([INTRODUCTION, *(_entry(term) for term in read_terms())])


def _entry(term: GlossaryTerm) -> str:
    where = os.path.relpath(DOCS / term.page, PAGE.parent)
    also = f" *Related words: {', '.join(term.also)}.*" if term.also else ""
    return f"**{term.name}**: {term.text}{also} [More]({where}).\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
