"""`letalone lint script.py`: slips that break differential privacy, with the remedy."""

from collections.abc import Sequence
from pathlib import Path

from letalone.cli.offered import to_type
from letalone.cli.screen import console, flowing, print_json
from letalone.errors import ParameterError
from letalone.lint import RULES, Finding, lint

FOUND = 7  # the exit code of a check that found something
INDENT = "    "


def lint_files(paths: Sequence[Path], *, as_json: bool) -> int:
    """Print what the rules find; returns the exit code."""
    files = _files(paths)
    found = [finding for path in files for finding in lint(path)]
    if as_json:
        findings = [finding.to_json() for finding in found]
        print_json("lint", {"files": len(files), "findings": findings})
    else:
        _show(found, len(files))
    return FOUND if found else 0


def _files(paths: Sequence[Path]) -> list[Path]:
    if not paths:
        raise ParameterError("Which script? Name files or folders:" + to_type("lint", "script.py"))
    for path in paths:
        if not path.exists():
            raise ParameterError(
                f"There is no file {path}. Name a script (.py), a notebook (.ipynb) or a folder."
            )
    found = [one for path in paths for one in (_inside(path) if path.is_dir() else [path])]
    if not found:
        folders = ", ".join(map(str, paths))
        raise ParameterError(
            f"There is no script (.py) and no notebook (.ipynb) in {folders}. Nothing was checked."
        )
    return found


def _inside(folder: Path) -> list[Path]:
    """Scripts and notebooks in a folder and those below, but no copies that Jupyter keeps."""
    found = [path for kind in ("*.py", "*.ipynb") for path in folder.rglob(kind)]
    return sorted(path for path in found if ".ipynb_checkpoints" not in path.parts)


def _show(found: Sequence[Finding], files: int) -> None:
    screen = console()
    for one in found:
        print(f"{one.place}: {one.code} {one.title}.")
        for text in (one.why, one.remedy):
            lines = flowing(text, screen.width - len(INDENT)).splitlines()
            print("\n".join(INDENT + line for line in lines))
    scripts = "1 script" if files == 1 else f"{files} scripts"
    counted = "Nothing" if not found else "1 slip" if len(found) == 1 else f"{len(found)} slips"
    print(f"{counted} found in {scripts}, by {len(RULES)} rules.")
    if not found:
        note = "That is no proof: rules see how libraries are called, not what a program does."
        print(flowing(note, screen.width))
