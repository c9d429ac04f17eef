"""Words that are written from right to left, kept apart from what stands next to them.

A browser puts a date or a comma that follows an Arabic name on the other side of it. `bdi` around
the name prevents that. So every `{{ … }}` of a template that stands in text is passed through
`given`, which puts it there where the words need it: `Isolation` adds this when a template is
read, so none can be forgotten. Within tags, and in elements that hold no tags (a title, a field,
an option, which then has dir="auto"), it adds nothing. The same holds for signs that turn the
direction of what follows: they end with the name.

  Tested:   tests/curator/console/test_directions.py
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from markupsafe import Markup, escape

RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
FIRST, LAST = "\u2068", "\u2069"  # around words where there are no elements
BDI = Markup("<bdi>{}</bdi>")
FILTER = "given"
WITHOUT_TAGS = "title|textarea|option|script|style"
WITHIN = r"""(?:"[^"]*"|'[^']*'|[^>"'])*"""
WHOLE = re.compile(rf"<({WITHOUT_TAGS})\b{WITHIN}>.*?</\1>|<!--.*?-->", re.DOTALL)
BEGUN = re.compile(rf"<(?:{WITHOUT_TAGS})\b")
TAG = re.compile(rf"</?[a-zA-Z!]{WITHIN}>")


def turns(words: object) -> bool:
    """Whether words change the direction of what stands next to them."""
    if not isinstance(words, str) or words.isascii():
        return False
    return bool(RIGHT_TO_LEFT.search(words) or TURNS.search(words))


def isolate_markup(value: Any) -> Any:
    """What a template shows: words that turn are isolated, all else stays as it is."""
    return BDI.format(value) if turns(value) and not isinstance(value, Markup) else value


def join_isolated(values: Iterable[Any], between: str = "") -> str:
    """Jinja's `join`, each value isolated by itself, so that none change places."""
    parts = [isolate_markup(value) for value in values]
    if any(isinstance(part, Markup) for part in parts):
        return escape(between).join(parts)
    return between.join(map(str, parts))


def isolate(words: str) -> str:
    """The same for words in which there are no elements, such as those of a picture."""
    return f"{FIRST}{TURNS.sub('', words)}{LAST}" if turns(words) else words


class Isolation(Extension):
    """Adds `| given` to what a template shows in text."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """The template's tokens, and those."""
        html, title, wrapped, last = "", False, False, ""
        for token in stream:
            match token.type, token.value:
                case "data", words:
                    html = _begun(html + words)
                case "name", "title" if last == "block":  # what a page is called
                    title = True
                case "name", "endblock":
                    title = False
                case "variable_begin", _ if not html and not title:
                    wrapped = True
                    yield token
                    token = Token(token.lineno, "lparen", "(")
                case "variable_end", _ if wrapped:
                    wrapped = False
                    added = (("rparen", ")"), ("pipe", "|"), ("name", FILTER))
                    yield from (Token(token.lineno, *part) for part in added)
                case _:
                    pass
            last = token.value
            yield token


def _begun(html: str) -> str:
    """The tag, or the element without tags, that is not over yet; nothing within text."""
    rest = WHOLE.sub("", html)
    if (begun := BEGUN.search(rest)) is not None:
        return rest[begun.start() :]
    rest = TAG.sub("", rest)
    return rest[rest.find("<") :] if "<" in rest else ""
