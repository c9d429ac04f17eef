"""Splits one line of a CSV file into its cells, given this line alone.

The delimiter separates them. A cell that begins with a quote (blanks before it aside) ends at the
next quote that is not doubled; two quotes in it are one; what follows the closing quote is kept,
but for blanks. A quote anywhere else is a letter. A quote that is open ends with the line.

  Tested:   tests/engines/test_csv_lines.py, against a reader letter by letter
"""

import re
from itertools import islice


def cell_pattern(delimiter: str) -> re.Pattern[bytes]:
    """A cell and what ends it. What was taken is not given back, so that time is linear."""
    other = b"[^" + re.escape(delimiter.encode()) + b"]"
    quoted = rb' *+"((?>[^"]++|"")*+)("?+)'
    return re.compile(b"(?:" + quoted + b")?+(" + other + b"*+)(.?)", re.DOTALL)


def split_line(
    line: bytes, pattern: re.Pattern[bytes], *, max_cells: int | None = None
) -> tuple[list[bytes], bool]:
    """The cells of one line by the rules above, and whether a quote is open at its end.

    `most`: only the first ones.
    """
    cells: list[bytes] = []
    for match in islice(pattern.finditer(line), max_cells):
        quoted, closed, rest, more = match.groups()
        cells.append(rest if quoted is None else quoted.replace(b'""', b'"') + rest.strip(b" "))
        if not more:
            return cells, quoted is not None and not closed
    return cells, False


def has_stray_quote(line: bytes, pattern: re.Pattern[bytes]) -> bool:
    """Whether a quote is a letter, or letters stand behind a closing one."""
    for match in pattern.finditer(line):
        quoted, _, rest, more = match.groups()
        if b'"' in rest or (quoted is not None and rest.strip(b" ")):
            return True
        if not more:
            break
    return False
