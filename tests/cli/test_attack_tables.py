"""`letalone attack`: each attack on one screen, as JSON, as a picture, and on one's own files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from letalone.cli.trust.attack import ATTACKS
from screens import check_refusal, check_screen

Letalone = Callable[..., Any]
QUICK = {
    "linkage": (),
    "pseudonyms": (),
    "histories": ("--people", "50"),
    "homer": ("--trials", "100"),
    "heat-map": (),
    "differencing": ("--targets", "2"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", QUICK)
def test_each_attack_fits_a_screen_and_compares_today_with_a_private_release(
    letalone: Letalone, tmp_path: Path, name: str
) -> None:
    words = check_screen(letalone("attack", name, *QUICK[name], "--epsilon", "0.5"))
    assert "published today letalone, ε = 0.5" in words
    path = tmp_path / "picture.svg"
    found = letalone("attack", name, *QUICK[name], "--json", "--plot", str(path)).json()
    assert (found["command"], found["epsilon"]) == (f"attack {name}", 1.0)
    assert "<svg" in path.read_text("utf-8")


def test_the_help_lists_every_attack_in_words_and_as_json(letalone: Letalone) -> None:
    shown, as_json = letalone("attack"), letalone("attack", "--json").json()
    assert list(as_json["commands"]) == list(ATTACKS)
    assert all(f"  {name} " in shown.out for name in ATTACKS)
    assert letalone("attack", "nothing").code == 2


@pytest.mark.parametrize("name", ATTACKS)
def test_each_attack_shows_an_example(letalone: Letalone, name: str) -> None:
    assert f"Example: letalone attack {name} " in " ".join(
        letalone("attack", name, "--help").out.split()
    )


def test_two_files_of_ones_own_are_linked(
    letalone: Letalone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ill.csv").write_text("zip,age,ill\n1,30,flu\n1,31,gout\n2,30,flu\n")
    Path("voters.csv").write_text("zip,age,name\n1,30,Ada\n1,31,Ben\n1,31,Cleo\n")
    asked = ("attack", "linkage", "ill.csv", "voters.csv", "--on", "zip,age", "--name", "name")
    found = letalone(*asked, "--sensitive", "ill", "--json").json()
    assert found["candidates"] == {"0": 1, "1": 1, "2": 1}
    assert found["examples"] == [{"name": "Ada", "ill": "flu"}]
    Path("voters.csv").write_text("zip,age,name\n1,30,\x1b[31mAda\n")
    assert "\x1b" not in letalone(*asked).out
    refused = letalone("attack", "linkage", "ill.csv", "--json")
    assert refused.code == 2
    assert "give both, or none" in refused.error()["message"]
    assert {path.name for path in tmp_path.iterdir()} == {"ill.csv", "voters.csv"}


def test_a_repeated_option_of_an_attack_adds_a_column(
    letalone: Letalone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ill.csv").write_text("zip,age\n1,30\n1,31\n")
    asked = ("attack", "linkage", "ill.csv", "ill.csv", "--json")
    found = letalone(*asked, "--on", "zip", "--on", "age").json()
    assert (found["quasi_identifiers"], found["certain"]) == (["zip", "age"], 2)
    assert letalone(*asked, "--on", "zip").json()["certain"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("histories",), "--person is missing: name it with --person. Columns of my.csv are: who"),
        (("histories", "--person", "who"), "--points is missing"),
        (("heat-map", "--person", "who"), "--place is missing"),
        (("differencing", "--person", "who"), "--sensitive is missing"),
        (("differencing", "--person", "who", "--sensitive", "ill"), "--known is missing"),
        (("linkage", "--on", "who"), "give both, or none"),
        (("membership",), "--target is missing"),
        (("inversion", "--target", "ill"), "--sensitive is missing"),
    ],
)
def test_columns_of_the_made_up_data_are_not_looked_for_in_ones_own(
    letalone: Letalone,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.csv").write_text("who,ill\n1,flu\n")
    name, *more = words
    assert said in check_refusal(letalone("attack", name, "my.csv", *more), 2)


def test_a_place_for_the_picture_is_checked_before_the_work(letalone: Letalone) -> None:
    for place, said in (("no/x.svg", "there is no folder no"), ("x.gif", "must end in .svg")):
        shown = letalone("attack", "membership", "--models", "1000000", "--plot", place)
        assert said in check_refusal(shown, 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("heat-map", "--max-cells", "0"), "Error: --max-cells is 0"),
        (("homer", "--false-alarm", "2"), "Error: --false-alarm is 2"),
        (("linkage", "--on", ","), "Error: --on must be a list"),
    ],
)
def test_an_error_names_the_option_that_was_typed(
    letalone: Letalone, words: tuple[str, ...], said: str
) -> None:
    assert said in check_refusal(letalone("attack", *words), 2)
