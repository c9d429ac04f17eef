"""Puts each fault of tests/faults into a copy of the source and says which ones no test notices.

    python tests/mutants.py                  all of them: minutes
    python tests/mutants.py rounding         those with this in their name or their file
    python tests/mutants.py --jobs 4         so many at once

First the tests run on the copy without a fault: one that fails by itself would notice anything.
"""

import argparse
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from faults import bottom, upper
from faults.fault import ROOT, Fault

FAULTS = bottom.FAULTS + upper.FAULTS
LIMIT_SECONDS = 600
KILLED, SURVIVED = "killed", "SURVIVED"


def main() -> int:
    """1 where a fault survives, or could not be tried."""
    asked = _asked()
    chosen = [fault for fault in FAULTS if asked.name in f"{fault.name} {fault.file}"]
    sound = [fault for fault in chosen if not fault.stale]
    if not chosen or not _pass_without_fault(sound):
        print("No fault has this name." if not chosen else "The tests fail without a fault.")
        return 1
    for fault in chosen:
        if fault.stale:
            print(f"stale: {fault.name}: {fault.stale}")
    with ThreadPoolExecutor(asked.jobs) as pool:
        lived = [name for name in pool.map(_tried, sound) if name]
    lived += [fault.name for fault in chosen if fault.stale]
    print(f"{len(chosen)} faults,", f"not killed: {'; '.join(lived)}" if lived else "none survives")
    return 1 if lived else 0


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", default="", help="a part of the name or of the file")
    parser.add_argument("--jobs", type=int, default=1, help="how many at once")
    return parser.parse_args()


def _pass_without_fault(faults: list[Fault]) -> bool:
    tests = tuple(dict.fromkeys(test for fault in faults for test in fault.tests))
    with TemporaryDirectory() as folder:
        return not faults or _verdict(_copy(folder), tests, limit=None) == SURVIVED


def _tried(fault: Fault) -> str:
    """The name of a fault that was not killed."""
    with TemporaryDirectory() as folder:
        source = _copy(folder)
        fault.put_into(source)
        verdict = _verdict(source, fault.tests, limit=LIMIT_SECONDS)
    print(f"{verdict:12} {fault.name}", flush=True)
    return "" if verdict == KILLED else fault.name


def _copy(folder: str) -> Path:
    return Path(shutil.copytree(ROOT / "src", Path(folder) / "src"))


def _verdict(source: Path, tests: tuple[str, ...], *, limit: int | None) -> str:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    given = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    given.pop("LETALONE_ALL", None)
    try:
        ended = subprocess.run(
            [*command, *tests],
            cwd=ROOT,
            env=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return "out of time"
    return _said(ended)


def _said(ended: "subprocess.CompletedProcess[str]") -> str:
    """0: all passed; 1: some failed; anything else is an error of the fault or of its tests."""
    if ended.returncode in (0, 1):
        return KILLED if ended.returncode else SURVIVED
    print(ended.stdout[-2000:])
    return "not run"


if __name__ == "__main__":
    sys.exit(main())
