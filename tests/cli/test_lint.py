"""`letalone lint`: places, rules, remedies, and an exit code that a pipeline can use."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from screens import check_refusal, check_screen, lines_on_a_terminal

Letalone = Callable[..., Any]
SLIP = "import numpy as np\nx = total + np.random.laplace(0, 1)\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_slip_is_named_with_its_place_reason_and_remedy(letalone: Letalone) -> None:
    Path("script.py").write_text(SLIP)
    shown = letalone("lint", "script.py")
    assert (shown.code, shown.err) == (7, "")
    assert lines_on_a_terminal(shown.out) < 25
    assert shown.out.startswith("script.py:2:5: LA001 Floating-point noise")
    for part in ("numpy.random.laplace", "Mironov", "la.Laplace(", "1 problem found in 1 script"):
        assert part in " ".join(shown.out.split())


def test_a_clean_script_exits_with_0_and_no_promise(letalone: Letalone) -> None:
    Path("script.py").write_text("x = 1\n")
    words = check_screen(letalone("lint", "script.py"))
    assert "Nothing found in 1 script" in words
    assert "not a proof" in words


def test_as_json_it_is_one_object_with_the_same_exit_code(letalone: Letalone) -> None:
    Path("script.py").write_text(SLIP)
    shown = letalone("lint", "script.py", "--json")
    assert (shown.code, shown.err, shown.out.count("\n")) == (7, "", 1)
    assert '"line": 2, "column": 5, "code": "LA001"' in shown.out


def test_folders_are_searched_for_scripts(letalone: Letalone) -> None:
    Path("inner").mkdir()
    Path("inner/a.py").write_text(SLIP)
    Path("inner/b.txt").write_text(SLIP)
    shown = letalone("lint", ".")
    assert shown.code == 7
    assert "1 problem found in 1 script," in shown.out
    cell = {"cell_type": "code", "source": SLIP}
    Path("inner/c.ipynb").write_text(json.dumps({"cells": [cell]}))
    shown = letalone("lint", ".")
    assert "inner/c.ipynb:cell 1:2:5: LA001" in shown.out
    assert "2 problems found in 2 scripts," in shown.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Which script?"),
        (("no.py",), "There is no file no.py"),
        (("broken.py",), "broken.py:1 is not Python"),
        (("empty",), "no script (.py) and no notebook (.ipynb) in empty"),
        (("a.csv",), "a.csv is neither a script"),
    ],
)
def test_wrong_usage_is_refused(letalone: Letalone, words: tuple[str, ...], said: str) -> None:
    Path("broken.py").write_text("x = (")
    Path("empty").mkdir()
    Path("a.csv").write_text("x")
    assert said in check_refusal(letalone("lint", *words), 2)
