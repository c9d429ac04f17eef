"""Text for users has none of the private words that once made it hard to read.

What to write instead: docs/contributing/style.md. Proofs, decisions and lists of old names are not
for users; code and names in backticks are not prose.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "letalone"
STOPPED = re.compile(
    r"(?<!-)\b(?:anew|beforehand|beside|[Ww]hoever|dearer|starv(?:ed?|es|ing)|bought|purchases?|beware"
    r"|for good|so many|error bars?|kept elsewhere|errands?|book-keeping|slips?)\b"
    r"|\b(?:speaks?|spoke) of\b"
    r"|\b(?:tells?|told) (?:\w+ )?apart\b"
    r"|(?<![Tt]here )\b(?:is|are) no (?!longer\b|more\b|such\b)[a-z]"
    r"|\b[Ww]ho asks is\b"
    r"|\([DGLMP]\d{1,2}\)",  # the number of a claim, without its name
    re.IGNORECASE,
)
# Not for users, or written elsewhere: pages of the SQL that works are generated from its tables.
NOT_FOR_USERS = ("explanation/proofs", "decisions", "contributing/names.md", "_build")
GENERATED = ("reference/sql.md",)
# Where a word is meant as it is: people buy things there, or a heading has the number of its claim.
MEANT = {
    "docs/how-to/choose.md": ("bought",),
    "docs/explanation/mechanisms.md": ("bought",),
    "docs/explanation/glossary.md": ("error bar", "error bars"),
    "docs/explanation/gallery.md": ("is no b",),  # is no better than
    "engines/old_copies.py": ("anew",),  # a mark that earlier versions wrote into databases
}
PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if not page.relative_to(ROOT / "docs").as_posix().startswith(NOT_FOR_USERS + GENERATED)
    ),
]
TEMPLATES = sorted(SOURCE.rglob("*.html"))
FOLDERS = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))


def prose_of_page(text: str) -> str:
    """A page without code, links' targets and formulas, and without headings of claims."""
    text = re.sub(r"```.*?```|`[^`\n]*`|\]\([^)]*\)|\$[^$\n]+\$|<!--.*?-->", " ", text, flags=re.S)
    return re.sub(r"^(?:#+ .*|\|.*\||\(\w+\)=)$", " ", text, flags=re.M)


def prose_of_template(text: str) -> str:
    """A template without what Jinja and HTML read: quoted texts within Jinja stay."""
    text = re.sub(r"\{#.*?#\}", " ", text, flags=re.S)
    in_jinja = [" ".join(re.findall(r'"([^"]* [^"]*)"', part)) for part in JINJA.findall(text)]
    return " ".join([re.sub(r"<[^>]*>", " ", JINJA.sub(" ", text)), *in_jinja])


JINJA = re.compile(r"\{[{%].*?[}%]\}", re.S)


def messages(path: Path) -> Iterator[str]:
    """The strings of a module that have several words, and are not docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    first = [node.body[0] for node in ast.walk(tree) if isinstance(node, kinds) and node.body]
    docstrings = {id(node.value) for node in first if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and " " in node.value and id(node) not in docstrings:
            yield node.value


def stopped(text: str, page: str = "") -> list[str]:
    return [
        text[max(0, found.start() - 40) : found.end() + 20].strip()
        for found in STOPPED.finditer(text)
        if found[0].lower() not in MEANT.get(page, ())
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_in_plain_words(page: Path) -> None:
    name = page.relative_to(ROOT).as_posix()
    assert stopped(prose_of_page(page.read_text("utf-8")), name) == []


def test_the_console_is_in_plain_words() -> None:
    assert len(TEMPLATES) > 40
    found = {page.name: stopped(prose_of_template(page.read_text("utf-8"))) for page in TEMPLATES}
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.few("cli", "errors", "answers")
@pytest.mark.parametrize("folder", FOLDERS)
def test_messages_help_and_footers_are_in_plain_words(folder: str) -> None:
    """Errors, notes, help texts and footers are strings of the package."""
    found = {
        str(path.relative_to(SOURCE)): [
            one
            for text in messages(path)
            for one in stopped(text, path.relative_to(SOURCE).as_posix())
        ]
        for path in sorted((SOURCE / folder).rglob("*.py"))
    }
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize(
    "text",
    [
        "Questions are charged anew.",
        "The column that tells people apart.",
        "Intervals speak of the bounded data.",
        "It is no number.",
        "Whoever asks pays.",
        "sure of one person (D6)",
        "A fifth of ε bought bounds.",
    ],
)
def test_a_private_word_would_be_noticed(text: str, tmp_path: Path) -> None:
    assert stopped(prose_of_page(f"# Title\n\n{text}\n"))
    assert stopped(prose_of_template(f'<p>{text}</p>{{{{ field("a", hint="{text}") }}}}'))
    module = tmp_path / "module.py"
    module.write_text(f'"""A docstring."""\nWORDS = f"{text} {{1}}"\n', encoding="utf-8")
    assert [one for words in messages(module) for one in stopped(words)]


def test_plain_words_code_and_names_pass() -> None:
    assert (
        stopped("There is no file. It is no longer valid. Nobody asks; 12 patients are next to it.")
        == []
    )
    assert (
        stopped(prose_of_page("`--start-anew` and\n```python\nbeside = 1  # beside\n```\n")) == []
    )
