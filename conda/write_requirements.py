"""Writes version and requirements of pyproject.toml into conda/recipe/recipe.yaml.

    python conda/write_requirements.py

What the extras of pip would install is a constraint here: not installed, and refused if older.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECIPE = ROOT / "conda" / "recipe" / "recipe.yaml"
# The names that conda-forge has for what PyPI calls otherwise.
CONDA = {
    "duckdb": "python-duckdb",
    "matplotlib": "matplotlib-base",
    "prometheus-client": "prometheus_client",
    "torch": "pytorch",
}
FOR_CONTRIBUTORS = {"browser", "test", "test-all", "release", "check", "docs", "dev"}


def as_conda(requirement: str) -> str:
    """numpy>=2.2 as conda writes it; brackets are pip's alone."""
    match = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?(.*)", requirement)
    assert match is not None, requirement
    name = match[1].lower()
    return f"{CONDA.get(name, name)} {match[2]}"


def requirements(project: dict[str, Any]) -> dict[str, list[str]]:
    """The lists of the recipe that are taken from the project."""
    extras = project["optional-dependencies"]
    wanted = {as_conda(one) for name in extras.keys() - FOR_CONTRIBUTORS for one in extras[name]}
    python = f"python {project['requires-python']}"
    return {
        "run": [python, *map(as_conda, project["dependencies"])],
        "run_constraints": sorted(wanted),
    }


def text() -> str:
    """The recipe as it should stand."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    recipe = RECIPE.read_text("utf-8")
    recipe = re.sub(r'(?<=\n  version: )"[^"]*"', f'"{project["version"]}"', recipe, count=1)
    for name, listed in requirements(project).items():
        lines = "".join(f"    - {one}\n" for one in listed)
        recipe = re.sub(rf"(?<=\n  {name}:\n)(?:    - .*\n)+", lines, recipe, count=1)
    return recipe


if __name__ == "__main__":
    RECIPE.write_text(text(), encoding="utf-8")
