"""The commands on the page about training are done, in their order, as they are written."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from letalone.cli.app import run

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "train.md"
BLOCKS = re.findall(r"```(sh|toml)\n(.*?)```", PAGE.read_text("utf-8"), re.S)


@pytest.mark.long  # cli/test_train.py: test_a_model_is_trained_charged_written_and_used
def test_every_command_on_the_page_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert [kind for kind, _ in BLOCKS] == ["sh", "sh", "toml", "sh"]
    for kind, text in BLOCKS:
        if kind == "toml":
            assert Path("people.letalone.toml").exists(), "init wrote it, and it is filled in"
            Path("people.letalone.toml").write_text(text, encoding="utf-8")
            continue
        for line in text.splitlines():
            program, *words = shlex.split(line)
            if program == "python":
                subprocess.run([sys.executable, *words], check=True)
                continue
            assert program == "letalone"
            assert run(words) == 0, capsys.readouterr().err
    lines = Path("predictions.csv").read_text("utf-8").splitlines()
    assert (lines[0], len(lines)) == ("person,predicted_income", 4001)
