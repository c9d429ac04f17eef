"""Files that freeze what must not change by accident: `check` compares, and rewrites when told."""

import json
import os
from difflib import unified_diff
from pathlib import Path
from typing import Any

FILES = Path(__file__).parent / "files"
MOST_LINES = 80


def check(name: str, text: str) -> None:
    """Compares a text with the file of this name; LETALONE_GOLDEN=write writes the file instead."""
    path = FILES / name
    text = text.rstrip("\n") + "\n"
    if os.environ.get("LETALONE_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return
    kept = path.read_text("utf-8") if path.exists() else ""
    if kept == text:
        return
    lines = list(unified_diff(kept.splitlines(), text.splitlines(), "kept", "now", lineterm=""))
    shown = "\n".join(lines[:MOST_LINES])
    more = "" if len(lines) <= MOST_LINES else f"\n… and {len(lines) - MOST_LINES} lines more"
    raise AssertionError(
        f"tests/golden/files/{name} is not what letalone says now:\n{shown}{more}\n\n"
        "Somebody relies on this: names, formats, digests and JSON stay as they are. Where the"
        " change is meant, write the file anew, look the diff over, and say so in CHANGELOG.md:\n"
        "  LETALONE_GOLDEN=write LETALONE_ALL=1 pytest -n 0 tests/golden"
    )


def as_json(value: Any) -> str:
    """A value as lines that a diff can show, in the order in which it came."""
    return json.dumps(value, indent=1, ensure_ascii=False)
