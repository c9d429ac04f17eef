"""Small tables for the golden files, the same every time."""

from pathlib import Path

ROWS = 240
CSV = "person_id,age,work,hours,income,zip\n" + "".join(
    f"{n // 2},{17 + n * 7 % 74},{('private', 'public', 'own')[n % 3]},{1 + n * 11 % 79},"
    f"{'high' if 17 + n * 7 % 74 > 50 else 'low'},{10000 + n % 12}\n"
    for n in range(ROWS)
)
SCHEMA = """format = 1
name = "my"
version = 1
neighbours = "add/remove"
unit = "person_id"

[columns.person_id]
type = "integer"

[columns.age]
type = "integer"
lower = 17
upper = 90

[columns.work]
type = "text"
keys = ["private", "public", "own"]

[columns.hours]
type = "number"

[columns.income]
type = "text"
keys = ["high", "low"]

[columns.zip]
type = "integer"
lower = 10000
upper = 10012
"""
CODE = """
from letalone import Geometric, Laplace

laplace = Laplace(epsilon=1, sensitivity=1).release

def fails(value):
    raise ValueError("secret 42")
"""
SCRIPT = """
import letalone as la
import numpy as np

visits = la.open("my.csv", unit="person_id", budget=la.Budget(epsilon=3))
n = len(visits.agg(n=la.count()).release(epsilon=1))
print(np.random.laplace(0, 1))
"""


def write_tables(folder: Path) -> None:
    """my.csv with its schema, plain.csv without one, works.csv, which is public,
    homes.csv of the same people, and code."""
    (folder / "my.csv").write_text(CSV, "utf-8")
    (folder / "my.letalone.toml").write_text(SCHEMA, "utf-8")
    (folder / "plain.csv").write_text(CSV, "utf-8")
    (folder / "works.csv").write_text("work,sector\nprivate,A\npublic,B\nown,A\n", "utf-8")
    homes = "".join(f"{n},{'AB'[n % 2]}\n" for n in range(100))
    (folder / "homes.csv").write_text(f"person_id,city\n{homes}", "utf-8")
    (folder / "mine.py").write_text(CODE, "utf-8")
    (folder / "script.py").write_text(SCRIPT, "utf-8")
