"""Writes docs/_static/playground_numbers.js: what each ε of the playground's slider promises.

    python docs/playground.py

The page computes no promise: all of them are letalone's own, rounded up, and looked up by a script.
"""

import json
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import letalone as la
from letalone.answers.promise import as_percent, best_guess, most_caught
from letalone.cli.noise.explain_epsilon import factor

FILE = Path(__file__).parent / "_static" / "playground_numbers.js"
STEPS = ("1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "8")  # within a factor of ten
EPSILONS = [Fraction(s) * Fraction(10) ** p for p in (-2, -1, 0) for s in STEPS] + [Fraction(10)]
CORNER = Decimal("0.0001")
HEAD = "// Written by docs/playground.py: promises are rounded up, errors are those of a count.\n"


def promise(epsilon: Fraction) -> dict[str, Any]:
    """What is shown beside one ε; below the corner of the curve nobody can get."""
    privacy = la.PureDP(epsilon)
    corner = Decimal(1 - best_guess(privacy)).quantize(CORNER, ROUND_FLOOR)
    error = la.Laplace(epsilon=epsilon, sensitivity=1).error(0.95)
    return {
        "epsilon": float(epsilon),
        "guess": as_percent(best_guess(privacy)),
        "caught": as_percent(most_caught(privacy)),
        "factor": factor(float(epsilon)),
        "corner": float(corner),
        "error": float(f"{error:.3g}"),
    }


def text() -> str:
    lines = [json.dumps(promise(epsilon), ensure_ascii=False) for epsilon in EPSILONS]
    listed = ",\n  ".join(lines)
    return f"{HEAD}window.letalonePlayground = [\n  {listed}\n];\n"


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(text(), encoding="utf-8")
