"""The gallery: every attack with one picture and a command line, all of which can be typed."""

import re
import shlex
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from typer.main import get_command

from letalone import attacks
from letalone.cli.app import app
from letalone.cli.trust.attack import ATTACKS
from letalone.cli.trust.scenes import SCENES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "explanation" / "gallery.md").read_text("utf-8")
LINES = re.findall(r"^letalone (.*)$", PAGE, re.M)
LARGEST = 60_000  # bytes of a picture
SECTIONS = dict(
    zip(
        re.findall(r"^letalone attack (\S+)", PAGE, re.M),
        re.split(r"^## .*$", PAGE, flags=re.M)[1:],
        strict=True,
    )
)


def test_every_attack_has_a_section_in_the_order_of_the_table() -> None:
    assert list(SECTIONS) == list(ATTACKS)


def test_the_page_names_every_function_of_the_facade_that_attacks() -> None:
    functions = {name for name in attacks.__all__ if name.islower()}
    assert functions == set(re.findall(r"`la\.attacks\.(\w+)", PAGE))
    assert {ATTACKS[name].function.partition(":")[2] for name in SCENES} <= functions


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_has_its_picture_its_paper_and_a_few_sentences(name: str) -> None:
    text = SECTIONS[name]
    assert re.findall(r"{image} (\S+)", text) == [f"gallery/{name}.svg"]
    assert re.search(r":alt: .{60,}", text)
    assert re.search(r"^\w.*\*[^*]+\* \(.*(19|20)\d\d\)\.$", text, re.M | re.S), "a paper, a year"
    prose = text.split(":width: 540px\n```")[1].split("\n\n")[1]
    assert 4 <= len(re.findall(r"[.?!](?=\s|$)", prose)) <= 9


@pytest.mark.parametrize("line", LINES)
def test_a_command_line_of_the_page_parses(line: str) -> None:
    command, words = cast("Any", get_command(app)), shlex.split(line)
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    assert command.make_context("letalone", words, resilient_parsing=False).args == []


def test_a_picture_is_small_and_none_is_left_over() -> None:
    found = {path.stem: path for path in (DOCS / "explanation" / "gallery").iterdir()}
    assert set(found) == set(ATTACKS)
    for path in found.values():
        assert "<svg" in path.read_text("utf-8")
        assert path.stat().st_size < LARGEST, path.name


@pytest.mark.long  # pictures: answers/test_picture.py
def test_a_picture_is_drawn_the_same_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One with noise in it. Another version of matplotlib may write it otherwise."""
    monkeypatch.syspath_prepend(str(DOCS))
    gallery = cast("Any", __import__("gallery"))
    assert list(gallery.PICTURES) == list(ATTACKS)
    for name in ("one", "two"):
        gallery.write("pseudonyms", tmp_path / f"{name}.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    sys.modules.pop("gallery")
