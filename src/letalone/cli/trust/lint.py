"""`letalone lint script.py`: slips that break differential privacy, with the remedy."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import indent

from letalone.cli.offered import to_type
from letalone.cli.screen import console, flowing, print_json, put, say
from letalone.cli.trust import FOUND
from letalone.errors import ParameterError
from letalone.lint import RULES, Finding, lint

INDENT = "    "


def lint_files(paths: Sequence[Path], *, as_json: bool) -> int:
    """Print what the rules find; returns the exit code."""
    files = _files(paths)
    slips = [finding for path in files for finding in lint(path)]
    if as_json:
        findings = [finding.to_json() for finding in slips]
        print_json("lint", {"files": len(files), "findings": findings})
    else:
        _show(slips, len(files))
    return FOUND if slips else 0


def _files(paths: Sequence[Path]) -> list[Path]:
    if not paths:
        raise ParameterError("Which script? Name files or folders:" + to_type("lint", "script.py"))
    for path in paths:
        if not path.exists():
            raise ParameterError(
                f"There is no file {path}. Name a script (.py), a notebook (.ipynb) or a folder."
            )
    files = [file for path in paths for file in (_inside(path) if path.is_dir() else [path])]
    if not files:
        folders = ", ".join(map(str, paths))
        raise ParameterError(
            f"There is no script (.py) and no notebook (.ipynb) in {folders}. Nothing was checked."
        )
    return files


def _inside(folder: Path) -> list[Path]:
    """Scripts and notebooks in a folder and those below, but no copies that Jupyter keeps."""
    paths = [path for kind in ("*.py", "*.ipynb") for path in folder.rglob(kind)]
    return sorted(path for path in paths if ".ipynb_checkpoints" not in path.parts)


def _show(findings: Sequence[Finding], files: int) -> None:
    width = console().width - len(INDENT)
    for finding in findings:
        put(f"{finding.place}: {finding.code} {finding.title}.")
        put(*(indent(flowing(text, width), INDENT) for text in (finding.why, finding.remedy)))
    scripts = f"{files} script{'s' * (files != 1)}"
    many = len(findings)
    counted = f"{many} problem{'s' * (many > 1)}" if many else "Nothing"
    put(f"{counted} found in {scripts}, by {len(RULES)} rules.")
    if not findings:
        say("This is not a proof: rules see how libraries are called, not what a program does.")
