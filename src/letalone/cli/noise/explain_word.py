"""`letalone explain WORD`: what a term means, from the glossary that comes with the package.

docs/explanation/glossary.md is written from the same terms, by docs/glossary.py.

  Tested:   tests/cli/test_explain_word.py, tests/documentation/test_glossary.py
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from letalone.cli import screen
from letalone.errors import ParameterError
from letalone.errors.spelling import did_you_mean

FILE = Path(__file__).with_name("glossary.toml")


@dataclass(frozen=True, slots=True)
class GlossaryTerm:
    """A word, what it means, where to read more, and other words that lead to it."""

    name: str
    text: str
    page: str
    also: tuple[str, ...]


@cache
def read_terms() -> tuple[GlossaryTerm, ...]:
    """All terms, in the order of the alphabet."""
    stored: list[dict[str, Any]] = tomllib.loads(FILE.read_text("utf-8"))["term"]
    terms = [
        GlossaryTerm(term["name"], term["text"], term["page"], tuple(term["also"]))
        for term in stored
    ]
    return tuple(sorted(terms, key=lambda term: term.name))


def find_term(word: str) -> GlossaryTerm:
    """The term of this name, or that it is another word for; else an error with the nearest."""
    by_word = {_fold_word(name): term for term in read_terms() for name in (term.name, *term.also)}
    folded = _fold_word(word)
    meant = by_word.get(folded) or by_word.get(folded.removesuffix("s"))
    if meant is None:
        raise ParameterError(
            f"{word[:40]!r} is not in the glossary.{did_you_mean(folded, by_word)} All its words:"
            " letalone explain word"
        )
    return meant


def _fold_word(word: str) -> str:
    return " ".join(word.lower().replace("_", " ").replace("-", " ").split())


def explain_word(words: tuple[str, ...], *, as_json: bool) -> None:
    """Print what a term means; without one, all terms."""
    if not words:
        _list_terms(as_json=as_json)
        return
    term = find_term(" ".join(words))
    if as_json:
        content = {"term": term.name, "also": term.also, "text": term.text, "page": term.page}
        screen.print_json("explain word", content)
        return
    screen.say(f"{term.name}: {term.text}")
    if term.also:
        screen.say(f"Related words: {', '.join(term.also)}.")
    screen.say(f"More: docs/{term.page}")


def _list_terms(*, as_json: bool) -> None:
    names = [term.name for term in read_terms()]
    if as_json:
        screen.print_json("explain word", {"terms": names})
        return
    screen.say(f"letalone explain WORD explains: {', '.join(names)}.")
