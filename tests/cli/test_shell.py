"""`letalone shell`: question after question, each as `letalone query` answers it."""

import json
import os
import pty
import sys
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from select import select
from signal import SIGINT
from subprocess import Popen
from typing import Any, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letalone.cli.tables.shell import HISTORY, split_question
from letalone.ledger import Ledger
from screens import offered

Letalone = Callable[..., Any]
CSV = "pid,ward,cost\n" + "".join(f"{n},{'AB'[n % 2]},{n % 9}\n" for n in range(300))
SCHEMA = """format = 1
name = "my"
unit = "pid"
[columns.pid]
type = "integer"
[columns.ward]
type = "text"
[columns.cost]
type = "number"
"""
COUNT = "SELECT COUNT(*) AS n FROM my"
START = ("shell", "my.csv", "--epsilon", "0.5", "--budget", "9:1e-4", "--max-rows", "1")


@pytest.fixture
def ask(letalone: Letalone, my: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run a shell on these lines, as a pipe gives them."""

    def call(text: str, *more: str) -> Any:
        monkeypatch.setattr("sys.stdin", StringIO(text))
        return letalone(*START, *more)

    return call


def spent() -> float:
    return float(Ledger.open("my.letalone.db").data_set("my").spent.epsilon)


def test_a_question_ends_with_a_semicolon_on_whatever_line_that_is(ask: Any) -> None:
    found = ask(
        "SELECT COUNT(*)\n  AS n\nFROM my;\nSELECT COUNT(*) AS n FROM my WHERE ward = 'a;b';"
    )
    assert found.code == 0, found.err
    assert found.out.count("Spent ε = 0.5") == 2
    assert spent() == 1


def test_a_question_is_what_query_asks_so_a_repeat_is_free(ask: Any, letalone: Letalone) -> None:
    first = letalone("query", "my.csv", COUNT, *START[2:], "--json").json()
    again = ask(f"{COUNT};", "--json").json()
    assert again["repeated"]
    assert again["rows"] == first["rows"]
    assert spent() == 0.5


def test_options_may_stand_behind_a_question_and_hold_for_it_alone(ask: Any) -> None:
    by_ward = "SELECT ward, COUNT(*) AS n FROM my GROUP BY ward;"
    found = ask(f"{by_ward} --keys ward=A,B --epsilon 0.25 --json\n{by_ward}\n")
    assert [row["ward"] for row in json.loads(found.out)["rows"]] == ["A", "B"]
    assert "The groups of ward are not listed" in found.err
    assert found.code == 2
    assert spent() == 0.25


def test_settings_hold_until_they_are_cleared(ask: Any) -> None:
    by_ward = "SELECT ward, SUM(cost) AS s FROM my GROUP BY ward;\n"
    found = ask(
        ".epsilon 0.25\n.keys ward=A\n.keys ward=A,B\n.bounds cost=0:9\n.settings\n"
        f"{by_ward}.clear\n.settings\n{by_ward}"
    )
    first, second = (line for line in found.out.splitlines() if line.startswith("--epsilon"))
    assert first.endswith("--keys ward=A,B --bounds cost=0:9")
    assert "--keys" not in second
    assert "Spent ε = 0.25" in found.out
    assert "bounds" in found.err


@pytest.mark.long  # others of this file stay
def test_a_command_that_a_refusal_offers_can_be_pasted(ask: Any) -> None:
    refused = ask("SELECT AVG(cost) FROM my;\n")
    (_, bought) = offered(refused.err)
    pasted = " ".join(f"'{word}'" if " " in word else word for word in ["letalone", *bought])
    assert "Spent ε = 0.5" in ask(f"{pasted}\n").out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (".help", ".preview SELECT"),
        (".tables", "my"),
        (".columns", "ward"),
        (".budget", "No budget is set yet"),
        (".history", "No question was asked yet"),
        (f".preview {COUNT}", "Nothing was spent"),
        (f".preview {COUNT}; --epsilon 2", "ε = 2"),
    ],
)
def test_commands_with_a_dot_spend_nothing(ask: Any, line: str, words: str) -> None:
    found = ask(f"{line}\n")
    assert found.code == 0, found.err
    assert words in found.out
    assert not Path("my.letalone.db").exists()


def test_the_budget_and_the_history_are_shown(ask: Any) -> None:
    found = ask(f"{COUNT};\n.budget\n.history\n")
    assert "Left: about ε = 8.5" in found.out
    assert "answered" in found.out


def test_what_is_mistyped_is_said_and_ends_nothing(ask: Any) -> None:
    found = ask(
        f".budgte\n.epsilon\nSELECT COUNT(*) FROM mine;\n{COUNT}; --keys 'ward=A\n{COUNT};\n"
    )
    assert "Did you mean '.budget'?" in found.err
    assert ".epsilon needs a value" in found.err
    assert "A quote is not closed" in found.err
    assert "Spent ε = 0.5" in found.out
    assert found.code == 2


def test_words_that_people_try_work_without_their_point(ask: Any) -> None:
    for word in ("help", "help;", "HELP"):
        assert ".preview SELECT" in ask(f"{word}\n").out
    for word in ("exit", "quit", "quit;", "exit ;"):
        shown = ask(f"{word}\n{COUNT};")
        assert (shown.code, shown.out, shown.err) == (0, "", "")


def test_a_pipe_may_leave_out_the_last_semicolon_and_quit_ends_it(ask: Any) -> None:
    assert "Spent ε = 0.5" in ask(COUNT).out
    assert ask(f".quit\n{COUNT};\n").out == ""


def test_a_file_that_is_not_there_is_refused(letalone: Letalone, my: Path) -> None:
    assert letalone("shell", "mi.csv").code == 2


@given(st.lists(st.sampled_from(["a", "'", '"', ";", "--", "\n", " ", "/*", "*/", "--k x"])))
def test_no_part_of_what_is_typed_is_lost(parts: list[str]) -> None:
    text = "".join(parts)
    found = split_question(text)
    if found is not None:
        sql, more, rest = found
        assert text.startswith(f"{sql};")
        left = text[len(sql) + 1 :]
        assert (more + rest).replace("\n", "").replace(" ", "") == left.replace("\n", "").replace(
            " ", ""
        )


# A test that is run in the background has children that hear no interrupt.
BEGIN = """import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from letalone.cli import main
main()"""


class TerminalSession:
    """A shell at a terminal, which is ended with the block whatever happens in it."""

    def __init__(self, home: Path) -> None:
        self.ours, theirs = pty.openpty()
        environment = {**os.environ, "HOME": str(home), "TERM": "dumb", "COLUMNS": "80"}
        call = [sys.executable, "-c", BEGIN, *START]
        self.program = Popen(call, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.program.kill()
        self.program.wait()
        os.close(self.ours)

    def wait_for(self, words: str, *, seconds: float = 30) -> None:
        found, end = b"", time.monotonic() + seconds
        while words.encode() not in found:
            assert time.monotonic() < end, found.decode(errors="replace")
            if select([self.ours], [], [], 0.5)[0]:
                found += os.read(self.ours, 4096)

    def interrupt_until(self, words: str) -> None:
        """An interrupt just before the terminal is read is heard with the next key only."""
        for _ in range(10):
            self.program.send_signal(SIGINT)
            try:
                self.wait_for(words, seconds=3)
            except AssertionError:
                continue
            return
        raise AssertionError(f"not seen: {words}")

    def write(self, text: str) -> None:
        os.write(self.ours, text.encode())


@pytest.mark.long
def test_at_a_terminal_the_prompt_has_the_budget_and_ctrl_c_loses_nothing(
    my: Path, tmp_path: Path
) -> None:
    with TerminalSession(tmp_path) as shell:
        shell.wait_for("my> ")
        shell.write("SELECT COUNT(*)\n")
        shell.wait_for("...> ")
        shell.interrupt_until("Dropped: nothing was asked")
        shell.write(f"{COUNT};\n")
        shell.wait_for("my ε 8.5 left> ")
        shell.write("SELECT pid FROM my;\n")
        shell.wait_for("my ε 8.5 left> ")
        shell.write("\x04")
        assert shell.program.wait(30) == 0
    kept = tmp_path / HISTORY.relative_to("~")
    assert kept.read_text() == f"{COUNT};\n", "of what was refused nothing is kept"
    assert kept.stat().st_mode & 0o777 == 0o600
