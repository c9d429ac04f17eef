"""What every command has in common: it fits the screen, speaks JSON and exits as promised."""

import errno
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from letalone import errors
from letalone.cli import app as program
from letalone.cli.app import IN_PLAIN_LETTERS, LIKENESSES, run

Letalone = Callable[..., "object"]

SCREENS = [
    "",
    "--help",
    "demo",
    "demo --help",
    "noise --help",
    "noise laplace 42 --epsilon 1 --sensitivity 1",
    "noise geometric 42 -7 0 --epsilon 0.01 --sensitivity 3",
    "noise gaussian 1e9 --sigma 2000 --sensitivity 1",
    "noise discrete-gaussian 5 --epsilon 1 --delta 1e-6 --sensitivity 1",
    "explain",
    "explain epsilon",
    "explain epsilon 0.001",
    "explain epsilon 800",
    "explain epsilon 1.2345678901 --delta 1e-10",
    "explain error",
    "explain error --epsilon 0.01 --delta 1e-12 --people 1000000000",
    "explain error --theorem total",
    "explain error --theorem tail --epsilon 0.001",
    "explain error --theorem shortfall --epsilon 100",
    "explain error --epsilon 900 --people 1",
    "noise laplace 1 --epsilon 1e-250 --sensitivity 1",
    "doctor",
]
WITH_RESULT = [
    screen for screen in SCREENS if "--help" not in screen and screen not in ("", "explain")
]

USAGE = [
    "nosuchcommand",
    "demo --nosuch",
    "demo extra",
    "noise",
    "noise laplas 1 --epsilon 1 --sensitivity 1",
    "noise laplace 1 --epsilon 1",
    "noise laplace 1 --sensitivity 1",
    "noise laplace 1 --epsilon -1 --sensitivity 1",
    "noise laplace 1 --epsilon nan --sensitivity 1",
    "noise laplace 1 --epsilon one --sensitivity 1",
    "noise laplace 1 --epsilon 1 --scale 1 --sensitivity 1",
    "noise laplace 1 --epsilon 1 --sigma 1 --sensitivity 1",
    "noise laplace 1 --epsilom 1 --sensitivity 1",
    "noise laplace nan --epsilon 1 --sensitivity 1",
    "noise laplace 1 --epsilon 1 --sensitivity 1 --confidence 95",
    "noise geometric 1.5 --epsilon 1 --sensitivity 1",
    "noise geometric 1 --epsilon 1 --sensitivity 0.5",
    "noise gaussian 1 --epsilon 1 --sensitivity 1",
    "noise gaussian 1 --epsilon 1 --delta 0 --sensitivity 1",
    "explain nothing",
    "explain epsilon 0",
    "explain epsilon -1",
    "explain epsilon inf",
    "explain epsilon 1 --delta 1",
    "explain error --epsilon 0",
    "explain error --delta 0",
    "explain error --people 0",
    "explain error --plot nowhere.xyz",
    "explain error --people 1e4x",
    "explain error --theorem nothing",
    "explain epsilon --nosuch",
    "explain epsilon 1,5",
    "noise laplace 1 --epsilon 0,5 --sensitivity 1",
]


@pytest.mark.parametrize("line", SCREENS)
def test_a_screen_is_at_most_80_wide_and_24_high(letalone: Letalone, line: str) -> None:
    shown = letalone(*line.split())
    assert shown.code == 0, shown.err
    assert shown.err == ""
    lines = shown.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 25
    assert "…" not in shown.out.replace(" … ", ""), "something was cut off"


@pytest.mark.parametrize("line", WITH_RESULT)
def test_every_result_comes_as_one_json_object_too(letalone: Letalone, line: str) -> None:
    found = letalone(*line.split(), "--json").json()
    assert found["format"] == 1
    assert line.startswith(found["command"])
    assert letalone("--json", *line.split()).json().keys() == found.keys()


@pytest.mark.parametrize("line", USAGE)
def test_wrong_usage_exits_2_with_words_on_standard_error(letalone: Letalone, line: str) -> None:
    shown = letalone(*line.split())
    assert shown.code == 2
    assert shown.out == ""
    assert "Error: " in shown.err
    assert "Traceback" not in shown.err


@pytest.mark.parametrize("line", USAGE)
def test_wrong_usage_with_json_is_one_object_on_standard_error(
    letalone: Letalone, line: str
) -> None:
    shown = letalone(*line.split(), "--json")
    error = shown.error()
    assert shown.code == error["exit_code"] == 2
    names = {"format", "error", "message", "exit_code", "code", "facts", "remedies"}
    assert set(error) == names
    assert error["message"].endswith((".", "?", "'", "]")) or error["message"]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.LetaloneError, 1),
        (errors.ParameterError, 2),
        (errors.FormatError, 2),
        (errors.BudgetExceeded, 3),
        (errors.UnsupportedQuery, 4),
        (errors.NeighboursDiffer, 4),
    ],
)
def test_an_error_leaves_with_the_exit_code_of_its_class(
    letalone: Letalone, monkeypatch: pytest.MonkeyPatch, kind: type[Exception], code: int
) -> None:
    def fail(**typed: object) -> None:
        raise kind("what, allowed, remedy")

    monkeypatch.setattr("letalone.cli.tables.demo.demo", fail)
    shown = letalone("demo")
    assert (shown.code, shown.err) == (code, "Error: what, allowed, remedy\n")
    assert letalone("demo", "--json").error() == {
        "format": 1,
        "error": kind.__name__,
        "message": "what, allowed, remedy",
        "exit_code": code,
        "code": kind.default_code,
        "facts": {},
        "remedies": [],
    }


def test_an_unforeseen_exception_shows_its_class_and_not_its_text(
    letalone: Letalone, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**typed: object) -> None:
        raise TypeError("the value was 271828")

    monkeypatch.setattr("letalone.cli.tables.demo.demo", fail)
    for words in (("demo",), ("demo", "--json")):
        shown = letalone(*words)
        assert shown.code == 1
        assert "TypeError" in shown.err
        assert "271828" not in shown.err + shown.out
    monkeypatch.setenv("LETALONE_TRACEBACK", "1")
    with pytest.raises(TypeError, match="271828"):
        run(["demo"])


def test_an_interrupt_is_quiet(letalone: Letalone, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(**typed: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("letalone.cli.tables.demo.demo", interrupt)
    shown = letalone("demo")
    assert (shown.code, shown.out, shown.err) == (program.INTERRUPTED, "", "")


@pytest.mark.long  # processes; test_the_installed_script_starts_the_program stays
def test_a_reader_who_leaves_early_is_no_error() -> None:
    """A thousand values are more than a pipe holds, so the writer meets the closed end."""
    words = [sys.executable, "-m", "letalone.cli", "noise", "laplace", *map(str, range(3000))]
    words += ["--epsilon", "1", "--sensitivity", "1"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stderr is not None
        writer.stdout.read(10)
        writer.stdout.close()
        assert writer.stderr.read() == b""
    assert writer.returncode == 1


@pytest.mark.long  # test_every_sign_on_a_screen_has_a_plain_likeness stays
def test_a_terminal_without_greek_letters_shows_something_else_instead() -> None:
    words = [sys.executable, "-m", "letalone.cli", "explain", "epsilon"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    shown = subprocess.run(words, capture_output=True, env=environment, check=True)
    assert b"e = 1 promises" in shown.stdout
    assert b"|:::" in shown.stdout
    assert b"?\n" not in shown.stdout.replace(b"data?", b"")
    assert shown.stderr == b""


@pytest.mark.parametrize("line", WITH_RESULT)
def test_every_sign_on_a_screen_has_a_plain_likeness(letalone: Letalone, line: str) -> None:
    out = letalone(*line.split()).out
    signs = {sign for sign in out if ord(sign) > 127} - set("─")  # rich has its own plain tables
    assert signs <= LIKENESSES.keys()
    plain = out.encode("ascii", IN_PLAIN_LETTERS).decode("ascii")
    assert plain.count("?") == out.count("?")


def on_a_terminal(*words: str, **variables: str) -> str:
    """What a command prints when it believes to stand before a person."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **variables}
    environment.pop("NO_COLOR", None) if "NO_COLOR" not in variables else None
    call = [sys.executable, "-m", "letalone.cli", *words]
    with subprocess.Popen(
        call, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as done:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
    os.close(ours)
    assert done.returncode in (0, 2)
    return shown.decode()


@pytest.mark.long  # processes; test_the_installed_script_starts_the_program stays
def test_colours_appear_on_a_terminal_and_no_color_turns_them_off() -> None:
    assert "\x1b[1m" in on_a_terminal("explain", "epsilon")
    assert "\x1b[3" not in on_a_terminal("explain", "epsilon", NO_COLOR="1")


@pytest.mark.long  # processes; test_the_installed_script_starts_the_program stays
def test_noise_without_values_on_a_terminal_does_not_wait_for_them() -> None:
    shown = on_a_terminal("noise", "laplace", "--epsilon", "1", "--sensitivity", "1")
    assert "no value was given" in shown


def test_the_version_is_that_of_the_package(letalone: Letalone) -> None:
    from importlib.metadata import version

    assert letalone("--version").out == f"letalone {version('letalone')}\n"
    found = letalone("--version", "--json").json()
    assert found == {"format": 1, "command": "version", "version": version("letalone")}


@pytest.mark.parametrize(("line", "command"), [("", "letalone"), ("explain", "explain")])
def test_help_comes_as_json_too(letalone: Letalone, line: str, command: str) -> None:
    for words in ([*line.split(), "--json"], ["--json", *line.split()]):
        found = letalone(*words).json()
        assert (found["format"], found["command"]) == (1, command)
        assert all(f"{name} " in letalone(*line.split()).out for name in found["commands"])
        assert all(found["commands"].values())


def test_a_full_disk_is_named_and_nothing_else(
    letalone: Letalone, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**typed: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("letalone.cli.tables.demo.demo", fail)
    shown = letalone("demo")
    assert (shown.code, shown.err) == (1, "Error: No space left on device\n")


@pytest.mark.long
def test_closed_streams_are_no_fault_of_letalone() -> None:
    call = f'exec "{sys.executable}" -m letalone.cli demo'
    for closed in ("<&-", ">&-", "2>&-"):
        shown = subprocess.run(
            ["sh", "-c", f"{call} {closed}"], capture_output=True, text=True, check=False
        )
        assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.parametrize("line", ["demo", "explain epsilon 1 --delta 1e-6", "explain error"])
def test_a_narrow_screen_has_no_ragged_lines(
    letalone: Letalone, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """A line that is broken by hand and then by the terminal leaves a short one behind it."""
    monkeypatch.setenv("COLUMNS", "60")
    lines = [shown.rstrip() for shown in letalone(*line.split()).out.splitlines()]
    for shown, following in pairwise(lines):
        ends_in_the_middle = shown[-1:].isalpha() and following[:1].islower()
        first_word = following.split(" ")[0]
        assert not ends_in_the_middle or len(shown) + 1 + len(first_word) > 60, shown


def test_the_installed_script_starts_the_program() -> None:
    script = Path(sys.executable).parent / "letalone"
    shown = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout.startswith("letalone ")
