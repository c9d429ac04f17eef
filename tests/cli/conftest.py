"""A way to run a command in this process and see what came out."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from letalone.cli.app import run


@dataclass(frozen=True, slots=True)
class Outcome:
    code: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        """The one JSON object on standard output."""
        assert self.code == 0, self.err
        assert self.err == ""
        assert self.out.count("\n") == 1
        return json.loads(self.out)

    def error(self) -> dict[str, Any]:
        """The one JSON object on standard error."""
        assert self.out == ""
        assert self.err.count("\n") == 1
        return json.loads(self.err)


Letalone = Callable[..., Outcome]


@pytest.fixture
def my(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the CSV and the SCHEMA of the test's own file, as my.csv."""
    monkeypatch.chdir(tmp_path)
    Path("my.csv").write_text(request.module.CSV)
    Path("my.letalone.toml").write_text(request.module.SCHEMA)
    return tmp_path


@pytest.fixture
def letalone(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Letalone:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("LETALONE_TRACEBACK", raising=False)

    def call(*words: str) -> Outcome:
        code = run(list(words))
        shown = capsys.readouterr()
        return Outcome(code, shown.out, shown.err)

    return call
