"""From a script or a notebook to findings, in the order of the file.

A line that ends with `# noqa: LA001` silences that rule on it; a bare `# noqa` silences all.

The code of a notebook is read as one script. Cells share their names: an import of the first cell
is known in the last one. What is IPython's own (`%time`, `!ls`, `name?`) is put aside; the lines
keep their places.

  Tested:   tests/lint/test_notebooks.py
"""

import ast
import json
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, cast

from letalone.errors import ParameterError
from letalone.lint.finding import Finding, Found, Rule
from letalone.lint.names import read
from letalone.lint.rules import RULES

NOT_PYTHON = "is not Python 3.11 or later."
SCRIPTS, NOTEBOOK = (".py", ".pyw", ".pyi"), ".ipynb"
LINE_ENDS = re.compile(r"\r\n|\r|\n")  # those of Python; str.splitlines knows more
SILENCED = re.compile(r"#\s*noqa(?!\w)(?::\s*(?P<codes>[A-Z0-9, ]+))?", re.IGNORECASE)
MAGIC = re.compile(r"^(\s*)[%!?].*$|^(\s*)[\w.]+\?{1,2}\s*$")
ASSIGNED = re.compile(r"^(\s*[\w, ]+=\s*)[%!].*$")
OF_PYTHON = re.compile(r"^%%(time|timeit|capture|prun|python|python3)\b")


def lint(path: str | PathLike[str]) -> list[Finding]:
    """What the rules find in a script (.py) or in the code cells of a notebook (.ipynb)."""
    suffix = Path(path).suffix.lower()
    if suffix == NOTEBOOK:
        return _lint_notebook(Path(path))
    if suffix not in SCRIPTS:
        raise ParameterError(f"{path} is neither a script (.py) nor a notebook (.ipynb).")
    try:
        with tokenize.open(path) as file:  # as Python does, by the encoding it declares
            text = file.read()
    except (UnicodeDecodeError, SyntaxError):
        raise ParameterError(f"{path} is not text that Python could read.") from None
    return lint_text(text, file=str(Path(path)))


def lint_text(text: str, *, file: str = "script") -> list[Finding]:
    """What the rules find in a text."""
    try:
        script = read(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        place = f"{file}:{line}" if line else file
        raise _NotPython(f"{place} {NOT_PYTHON}", line) from None
    lines = LINE_ENDS.split(text)
    findings = [_finding(file, rule, match) for rule in RULES for match in rule.find(script)]
    return sorted(
        finding
        for finding in set(findings)
        if not _is_silenced(lines[finding.line - 1], finding.code)
    )


class _NotPython(ParameterError):  # noqa: N818  (as in letalone.errors)
    """A text that is no Python; `line` is where, if that is known."""

    def __init__(self, words: str, line: int | None) -> None:
        super().__init__(words)
        self.line = line


def _lint_notebook(path: Path) -> list[Finding]:
    """The findings in the whole of its code, each with its cell and the line there."""
    cells = [_lines(source) for source in _sources(path)]
    text = "\n".join(line for lines in cells for line in lines)
    # Of every line of the text: its cell, the first of which is 1, and the line there.
    places = [(cell, at + 1) for cell, lines in enumerate(cells, 1) for at in range(len(lines))]
    try:
        findings = lint_text(text, file=str(path))
    except _NotPython as error:
        line = error.line
    else:
        origins = [places[finding.line - 1] for finding in findings]
        return [replace(f, cell=c, line=n) for f, (c, n) in zip(findings, origins, strict=True)]
    cell = None if line is None else places[min(line, len(places)) - 1]
    where = path if cell is None else f"{path}:cell {cell[0]}:{cell[1]}"
    raise ParameterError(f"{where} {NOT_PYTHON}")


def _finding(file: str, rule: Rule, found: Found) -> Finding:
    node, more = found
    assert isinstance(node, ast.expr | ast.stmt)
    return Finding(
        file=file,
        line=node.lineno,
        column=node.col_offset + 1,
        code=rule.code,
        title=rule.title,
        why=f"{more} {rule.why}".strip(),
        remedy=rule.remedy,
    )


def _is_silenced(line: str, code: str) -> bool:
    comment = SILENCED.search(line)
    if comment is None:
        return False
    codes = comment["codes"]
    return codes is None or code in re.split(r"[,\s]+", codes.upper())


def _sources(path: Path) -> Iterator[str]:
    try:
        stored = json.loads(path.read_text("utf-8-sig"))
        cells = cast("list[dict[str, Any]]", stored["cells"])
        sources = [cell.get("source", "") for cell in cells if cell.get("cell_type") == "code"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        sources = None
    if sources is None:
        raise ParameterError(
            f"{path} is not a notebook that can be read: it must be JSON with a list of cells, as"
            " Jupyter saves it since 2015 (format 4)."
        )
    yield from ("".join(cast("Iterable[str]", source)) for source in sources)


def _lines(source: str) -> list[str]:
    lines = source.splitlines() or [""]
    if lines[0].startswith("%%") and not OF_PYTHON.match(lines[0]):
        return [""] * len(lines)  # another language
    return [_without_magic(line) for line in lines]


def _without_magic(line: str) -> str:
    line = ASSIGNED.sub(r"\1None", line)
    return MAGIC.sub(lambda found: f"{found[1] or found[2] or ''}pass", line)
