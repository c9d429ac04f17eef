"""Files that freeze what must not change by accident: `check` compares, and rewrites when told."""

import json
import os
import re
from collections.abc import Callable
from difflib import unified_diff
from functools import reduce
from pathlib import Path
from typing import Any

FILES = Path(__file__).parent / "files"
MOST_LINES = 80
RUNS = 6  # a number that chance makes alike in all of them is one that it hardly ever changes
HEXADECIMAL = re.compile(r"\b[0-9a-f]{12,}\b")
NUMBERS = re.compile(r"[-−–]?\d[\d,.]*(?:e[+-]?\d+)?")


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


def check_random(name: str, make: Callable[[], Any]) -> None:
    """Compares what does not depend on chance, and the form of what does.

    When the file is written, `make` runs several times: what differs is stored as a placeholder,
    which any value of its type satisfies later. A placeholder of the old file stays one.
    """
    path = FILES / name
    kept = json.loads(path.read_text("utf-8")) if path.exists() else None
    runs = RUNS if os.environ.get("LETALONE_GOLDEN") == "write" else 1
    value = reduce(blur, [make() for _ in range(runs)])
    check(name, as_json(blur_as(kept, value)))


def blur(one: Any, other: Any) -> Any:
    """What two values have in common."""
    if is_plain(one) and blur_as(one, other) == one:
        return one
    if isinstance(one, dict) and isinstance(other, dict) and list(one) == list(other):
        return {key: blur(one[key], other[key]) for key in one}
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [blur(a, b) for a, b in zip(one, other, strict=True)]
    words = in_blanks(one)
    if isinstance(one, str) and isinstance(other, str) and words == in_blanks(other):
        return words
    return kind_of(one) if kind_of(one) == kind_of(other) else "<anything>"


def blur_as(kept: Any, now: Any) -> Any:
    """A value with the placeholders of the file, where it satisfies them."""
    if isinstance(kept, dict) and isinstance(now, dict):
        return {key: blur_as(kept.get(key), value) for key, value in now.items()}
    if isinstance(kept, list) and isinstance(now, list) and len(kept) == len(now):
        return [blur_as(a, b) for a, b in zip(kept, now, strict=True)]
    if isinstance(kept, str) and kept in (kind_of(now), in_blanks(now), "<anything>"):
        return kept
    return now


def is_plain(value: Any) -> bool:
    return not isinstance(value, dict | list)


def kind_of(value: Any) -> str:
    """The placeholder of any value of a type: 1 and 1.5 are both numbers."""
    if isinstance(value, str) and value.startswith("<"):
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return "<number>" if number else f"<{type(value).__name__}>"


def in_blanks(value: Any) -> Any:
    """A text without its numbers and hexadecimal words."""
    if not isinstance(value, str):
        return None
    return NUMBERS.sub("#", HEXADECIMAL.sub("#", value))
