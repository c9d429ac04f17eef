"""Reads a Dockerfile as far as the tests need it: its instructions, stage by stage."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
Instruction = tuple[str, str]


def stages() -> list[list[Instruction]]:
    """The instructions of each stage, which begins with its FROM."""
    text = (ROOT / "Dockerfile").read_text("utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    whole = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    found: list[list[Instruction]] = []
    for line in whole.splitlines():
        name, _, rest = line.partition(" ")
        if name == "FROM":
            found.append([])
        found[-1].append((name, rest))
    return found


def values(stage: list[Instruction], name: str) -> list[str]:
    return [rest for given, rest in stage if given == name]


def command(words: str) -> list[str]:
    """The words of an instruction that is written as JSON, after its options."""
    return json.loads(words[words.index("[") :])


def served() -> list[str]:
    """What runs in a container: the entry point and its usual arguments."""
    (entry,), (arguments,) = (values(stages()[-1], name) for name in ("ENTRYPOINT", "CMD"))
    return [*command(entry), *command(arguments)]


def health_check() -> list[str]:
    (words,) = values(stages()[-1], "HEALTHCHECK")
    return command(words)
