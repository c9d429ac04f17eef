"""Rivals, each in a virtual environment of its own, and what a script prints there.

The environments are made on first use under the user's cache folder.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "letalone-bench"


def run_in(
    requirement: str,
    script: str,
    *,
    timeout_seconds: float | None = None,
    python: str = sys.executable,
) -> Any:
    """What `script` prints as JSON when it runs with `requirement` installed.

    Several requirements have spaces between them. python: such as "python3.12".
    """
    python = str(_environment(requirement, python) / "bin" / "python")
    done = subprocess.run(
        [python, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
    )
    return json.loads(done.stdout.splitlines()[-1])


def _environment(requirement: str, python: str) -> Path:
    folder = CACHE / re.sub(r"[=<>\[\] ]", "_", requirement)
    if not (folder / "ready").exists():
        print(f"installing {requirement} …", file=sys.stderr)
        # pyenv shows one version at a time
        shown = {} if python == sys.executable else {"PYENV_VERSION": python.removeprefix("python")}
        made = [python, "-m", "venv", "--clear", folder]
        subprocess.run(made, check=True, env=os.environ | shown)
        pip = [
            folder / "bin" / "python",
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
        ]
        subprocess.run([*pip, *requirement.split(), "numpy"], check=True)
        (folder / "ready").touch()
    return folder
