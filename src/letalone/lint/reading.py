"""From a file to findings, in the order of the file.

A line that ends with `# noqa: LA001` silences that rule on it; a bare `# noqa` silences all.
"""

import ast
import re
import tokenize
from os import PathLike
from pathlib import Path

from letalone.errors import ParameterError
from letalone.lint.finding import Finding, Found, Rule
from letalone.lint.names import read
from letalone.lint.rules import RULES

SILENCED = re.compile(r"#\s*noqa(?!\w)(?::\s*(?P<codes>[A-Z0-9, ]+))?", re.IGNORECASE)


def lint(path: str | PathLike[str]) -> list[Finding]:
    """What the rules find in a file."""
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
        raise ParameterError(f"{place} is not Python {'.'.join(_VERSION)} or later.") from None
    lines = text.splitlines()
    found = [_finding(file, rule, one) for rule in RULES for one in rule.find(script)]
    return sorted(one for one in set(found) if not _is_silenced(lines[one.line - 1], one.code))


_VERSION = ("3", "11")


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
    found = SILENCED.search(line)
    if found is None:
        return False
    codes = found["codes"]
    return codes is None or code in re.split(r"[,\s]+", codes.upper())
