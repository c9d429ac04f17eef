"""`letalone demo --attacks`: every attack has its scene, with the numbers of its result."""

from collections.abc import Callable
from time import process_time
from typing import Any

import pytest

from letalone.cli.trust import scenes
from letalone.cli.trust.attack import ATTACKS
from letalone.cli.trust.scenes import SCENES, Scene
from letalone.errors.installing import how_to_install
from screens import check_screen, offered

Letalone = Callable[..., Any]
FEW = ("linkage", "pseudonyms")
SECONDS = 30  # of a processor, for all of them: under a minute on two slow ones


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenes, "SCENES", {name: SCENES[name] for name in FEW})


def test_every_attack_has_a_scene() -> None:
    assert list(SCENES) == list(ATTACKS)


@pytest.mark.long
def test_all_scenes_play_within_the_time_and_say_what_is_learned_and_left(
    letalone: Letalone,
) -> None:
    start = process_time()
    found = letalone("demo", "--attacks", "--json").json()
    assert process_time() - start < SECONDS
    assert (found["command"], found["made_up"], found["epsilon"]) == ("demo", True, 1.0)
    assert [one["attack"] for one in found["attacks"]] == list(ATTACKS)
    for one in found["attacks"]:
        assert any(sign.isdigit() for sign in one["today"]), one["attack"]
        assert "at most" in one["letalone"], one["attack"]
        assert one["result"]["epsilon"] == 1.0


@pytest.mark.long  # its numbers: tests/attacks
def test_the_screen_shows_the_numbers_of_the_attack_itself(letalone: Letalone, few: None) -> None:
    shown = letalone("demo", "--attacks")
    words = check_screen(shown)
    found = letalone("attack", "linkage", "--json").json()
    named = f"{found['certain_people']:,} of {found['people']:,}"
    assert f"today: {named} patients have their names back." in words
    assert "ε = 1: one person is found at most 13.6 % of the time." in words
    assert "The data is made up." in words
    (command,) = offered(shown.out.split("Played")[1])
    assert command == ["attack", "linkage"]
    assert letalone("--json", "demo", "--attacks").json()["attacks"][0]["attack"] == "linkage"


def test_a_scene_is_shown_before_the_next_one_starts(
    letalone: Letalone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one fails; what the first one found is on the screen by then."""
    nobody = Scene("x", str, str, {"name": 1, "on": 2})
    monkeypatch.setattr(scenes, "SCENES", {"linkage": SCENES["linkage"], "pseudonyms": nobody})
    shown = letalone("demo", "--attacks")
    assert shown.code == 1
    assert "patients have their names back" in shown.out


def test_what_is_not_installed_is_left_out_and_named(
    letalone: Letalone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scenes, "find_spec", lambda _: None)
    two = {name: SCENES[name] for name in ("pseudonyms", "membership")}
    monkeypatch.setattr(scenes, "SCENES", two)
    words = check_screen(letalone("demo", "--attacks"))
    assert f"membership is left out. To install what it needs: {how_to_install('learn')}." in words
    found = letalone("demo", "--attacks", "--json").json()
    assert (found["left_out"], len(found["attacks"])) == (["membership"], 1)
