"""`letalone audit`: one's own code from the terminal, verdicts in words and as exit codes."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from letalone.audit import audit_self
from letalone.audit.suite import mechanism_cases
from letalone.cli.trust import audit as command
from screens import check_refusal, check_screen, lines_on_a_terminal, offered

Letalone = Callable[..., Any]
CODE = """
import numpy as np
from letalone.mechanisms import Geometric, Laplace

GENERATOR = np.random.default_rng(1)
laplace = Laplace(epsilon=1, sensitivity=1)
count = Geometric(epsilon=1, sensitivity=1)

def too_little(value):
    return round(value + GENERATOR.laplace(0, 0.2), 2)

def bulk(value, count):
    return laplace.release(np.full(count, value))

def rows(table, copies):
    return count.release(np.full(copies, table.num_rows))

def fails(value):
    raise ValueError("secret 42")

def refuses(value):
    return Laplace(epsilon=-1, sensitivity=1).release(value)

def slow(value):
    for _ in range(50 + 200_000 * int(value)):
        pass

number = 3
"""
CLAIM = ("--claimed-epsilon", "1")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("mine", "raises"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    Path("mine.py").write_text(CODE)
    Path("raises.py").write_text("raise RuntimeError('secret 42')")
    Path("t.csv").write_text("who,x\n" + "a,1\n" * 6 + "b,2\nc,3\n")
    return tmp_path


def test_too_little_noise_is_accused_with_exit_code_7(letalone: Letalone) -> None:
    shown = letalone("audit", "mine:too_little", *CLAIM, "--samples", "2000")
    assert (shown.code, shown.err) == (7, "")
    assert lines_on_a_terminal(shown.out) < 25
    for part in ("ACCUSED: ε is at least", "Event: ", "not used to choose", "one = 0.0"):
        assert part in " ".join(shown.out.split())


def test_an_honest_mechanism_passes_and_nothing_is_promised(letalone: Letalone) -> None:
    words = check_screen(
        letalone("audit", "mine.py:laplace", *CLAIM, "--samples", "2000", "--confidence", "0.99999")
    )
    assert "CONSISTENT" in words
    assert "not a proof" in words


def test_inputs_are_values_of_python(letalone: Letalone) -> None:
    inputs = ("--one", "[0.0, 0.0]", "--other", "[3.0, 0.0]")
    shown = letalone("audit", "mine:laplace", *CLAIM, *inputs, "--samples", "2000", "--json")
    assert shown.code == 7
    found = json.loads(shown.out)
    assert (found["command"], found["verdict"], found["judged"]) == ("audit", "accused", 1000)


@pytest.mark.long  # audit/test_suite.py stays
def test_bulk_functions_time_and_tables(letalone: Letalone) -> None:
    bulk = letalone("audit", "mine:bulk", *CLAIM, "--many", "--confidence", "0.99999")
    assert bulk.code == 0
    slow = letalone("audit", "mine:slow", *CLAIM, "--timing", "--samples", "200")
    assert (slow.code, "time in seconds" in slow.out) == (7, True)
    options = (*CLAIM, "--many", "--samples", "2000", "--confidence", "0.99999")
    assert letalone("audit", "mine:rows", *options, "--table", "t.csv", "--unit", "who").code == 7
    assert letalone("audit", "mine:rows", *options, "--table", "t.csv", "--unit", "row").code == 0


def test_who_was_audited_and_what_was_given_is_said_in_words_and_as_json(
    letalone: Letalone,
) -> None:
    options = (*CLAIM, "--many", "--samples", "2000", "--table", "t.csv")
    shown = letalone("audit", "mine:rows", *options, "--unit", "who")
    words = " ".join(shown.out.split())
    assert "Audited: each 'who' of t.csv, 3 in all. Its neighbour lacks one of them (6 of" in words
    found = json.loads(letalone("audit", "mine:rows", *options, "--unit", "who", "--json").out)
    assert (found["table"], found["unit"], found["units"]) == ("t.csv", "who", 3)
    assert (found["rows"], found["rows_taken"], found["tried"]) == (8, 6, 3)
    shown = letalone("audit", "mine:rows", *options)
    words = " ".join(shown.out.split())
    assert "Audited: each row of t.csv, 8 in all. Its neighbour lacks one of them (1 of" in words
    assert "Name the column with --unit" in words
    found = json.loads(letalone("audit", "mine:laplace", *CLAIM, "--json").out)
    assert (found["one"], found["other"]) == ("0.0", "1.0")


def test_a_picture_is_drawn(letalone: Letalone) -> None:
    shown = letalone("audit", "mine:too_little", *CLAIM, "--samples", "500", "--plot", "a.svg")
    assert "Drawn to a.svg" in shown.out
    drawn = ET.fromstring(Path("a.svg").read_bytes())
    assert "ε is at least" in (drawn[0].text or "")


def test_letalone_audits_itself(letalone: Letalone, monkeypatch: pytest.MonkeyPatch) -> None:
    few = mechanism_cases()[:2]
    monkeypatch.setattr(command, "audit_self", lambda **words: audit_self(cases=few, **words))
    words = check_screen(letalone("audit", "--self", "--confidence", "0.99999"))
    assert "None is accused" in words
    assert "Laplace, vector" in words
    found = letalone("audit", "--self", "--confidence", "0.99999", "--json").json()
    assert list(found["audits"]) == ["Laplace", "Laplace, vector"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Which function"),
        (("mine:laplace",), "what does it claim"),
        (("mine", *CLAIM), "must be written as module:name"),
        (("nowhere:f", *CLAIM), "There is no module nowhere"),
        (("nowhere.py:f", *CLAIM), "There is no file nowhere.py"),
        (("raises:f", *CLAIM), "raises could not be imported: RuntimeError"),
        (("mine:laplas", *CLAIM), "mine has no 'laplas'. It has: Geometric, Laplace, bulk"),
        (("mine:number", *CLAIM), "has the type int"),
        (("mine:fails", *CLAIM, "--samples", "200"), "itself raised ValueError every time"),
        (("mine:refuses", *CLAIM, "--samples", "200"), "mine:refuses itself raised ParameterErr"),
        (("mine:laplace", *CLAIM, "--one", "'a'", "--other", "'b'"), "mine:laplace itself raised"),
        (("mine:laplace", *CLAIM, "--plot", "no/a.svg"), "there is no folder no"),
        (("mine:laplace", *CLAIM, "--one", "1"), "belong together"),
        (("mine:laplace", *CLAIM, "--one", "f()", "--other", "2"), "is not a value"),
        (("mine:rows", *CLAIM, "--table", "no.csv"), "There is no file no.csv"),
        (("mine:rows", *CLAIM, "--table", "t.csv", "--one", "1", "--other", "2"), "finds neigh"),
        (("mine:rows", *CLAIM, "--unit", "who"), "a column of --table"),
        (("mine:bulk", *CLAIM, "--timing", "--many"), "leave out --many"),
        (("mine:laplace", "--self"), "leave the name out"),
        (("mine:laplace", "--claimed-epsilon", "-1"), "must be"),
    ],
)
def test_wrong_usage_is_refused(letalone: Letalone, words: tuple[str, ...], said: str) -> None:
    told = check_refusal(letalone("audit", *words), 2)
    assert said in told
    assert "secret" not in told


def test_what_is_offered_can_be_typed_and_the_help_fits(letalone: Letalone) -> None:
    assert ["audit", "--self"] in offered(letalone("audit").err)
    assert len(letalone("audit", "--help").out.splitlines()) < 25
