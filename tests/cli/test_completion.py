"""Tab completes commands and options in the shells that people have."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Letalone = Callable[..., Any]


def complete(*words: str) -> list[str]:
    """What bash is told after these words."""
    asked = {"COMP_WORDS": " ".join(["letalone", *words]), "COMP_CWORD": str(len(words))}
    environment = {**os.environ, **asked, "_LETALONE_COMPLETE": "complete_bash"}
    call = [
        sys.executable,
        "-c",
        "import sys; sys.argv[0] = 'letalone'; from letalone.cli import main; main()",
    ]
    return subprocess.run(call, env=environment, capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("quer",), "query"),
        (("ledger", "rai"), "raise"),
        (("query", "visits.csv", "--dry"), "--dry-run"),
    ],
)
@pytest.mark.few("quer")
def test_a_word_that_was_begun_is_completed(words: tuple[str, ...], found: str) -> None:
    assert complete(*words) == [found]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_lines_and_says_where_they_go(letalone: Letalone, shell: str) -> None:
    shown = letalone("completion", shell)
    assert shown.code == 0
    assert shown.out.startswith("# For your shell's start-up file: ")
    assert "_LETALONE_COMPLETE" in shown.out
    assert letalone("completion", shell, "--json").json()["shell"] == shell


def test_another_shell_is_refused_with_the_nearest(letalone: Letalone) -> None:
    refused = letalone("completion", "bsh")
    assert refused.code == 2
    assert "Did you mean 'bash'?" in refused.err


def test_bash_reads_its_lines(letalone: Letalone, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    script = tmp_path / "lines"
    script.write_text(letalone("completion", "bash").out)
    asked = f"source {script} && complete -p letalone"
    done = subprocess.run([bash, "-c", asked], capture_output=True, text=True)
    assert "_letalone_completion letalone" in done.stdout
