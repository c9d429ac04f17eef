"""An answer as a CSV file: the numbers and ranges of its page, and those that were drawn.

Text that a spreadsheet would take for a formula begins with an apostrophe, which says that it is
text: a group may be called anything. Blanks and signs that are not seen may come before the sign
that starts a formula, and this may be a full-width one.

  Tested:   tests/curator/console/test_files.py
"""

from csv import writer
from dataclasses import replace
from io import StringIO
from typing import Any
from unicodedata import normalize

from letalone.answers.columns import Cell
from letalone.answers.views import is_drawn
from letalone.session.release import Release

SIGNS = frozenset("=+-@")  # what a spreadsheet would compute
LINES = ("\t", "\r", "\n")
NOISY = "_noisy"


def as_csv(found: Release) -> str:
    """All rows: as they are shown, then each number as it was drawn, which can be added up."""
    columns = [*_as_shown(found), *_as_drawn(found)]
    out = StringIO(newline="")
    write = writer(out)
    write.writerow([as_text(name) for name, _ in columns])
    rows = zip(*(cells for _, cells in columns), strict=True)
    write.writerows([as_text(cell) for cell in row] for row in rows)
    return out.getvalue()


def _as_shown(found: Release) -> list[tuple[str, tuple[Cell, ...]]]:
    shown = replace(found, outputs=found.shown)
    rows = shown.rows()
    return [(name, tuple(row[name] for row in rows)) for name in shown.columns]


def _as_drawn(found: Release) -> list[tuple[str, tuple[Cell, ...]]]:
    return [(output.name + NOISY, output.values) for output in found.outputs if is_drawn(output)]


def as_text(cell: Any) -> Any:
    """The cell; marked as text where a spreadsheet would compute it."""
    if isinstance(cell, bool):
        return yes_or_no(cell)
    return f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell


def yes_or_no(cell: Cell) -> str:
    """A truth as people write it, on the page, in its chart and in its file; "" of all else."""
    return ("no", "yes")[cell] if isinstance(cell, bool) else ""


def _is_formula(text: str) -> bool:
    first = next((letter for letter in text if letter.isprintable() and letter != " "), "")
    return text.startswith(LINES) or normalize("NFKC", first)[:1] in SIGNS
