"""`letalone attack reconstruction` and `canaries`: a screen, JSON, a picture, one's own files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from screens import check_screen

Letalone = Callable[..., Any]
QUICK = {
    "reconstruction": ("--rows", "24"),
    "canaries": ("--secrets", "1", "--secret-pattern", "my pin is ###"),
}


@pytest.mark.few("canaries")
@pytest.mark.parametrize("name", QUICK)
def test_each_fits_a_screen_and_compares_today_with_a_private_release(
    letalone: Letalone, tmp_path: Path, name: str
) -> None:
    words = check_screen(letalone("attack", name, *QUICK[name], "--epsilon", "0.5"))
    assert "published today letalone, ε = 0.5" in words
    path = tmp_path / "picture.svg"
    found = letalone("attack", name, *QUICK[name], "--json", "--plot", str(path)).json()
    assert (found["command"], found["epsilon"]) == (f"attack {name}", 1.0)
    assert "<svg" in path.read_text("utf-8")


def test_a_column_of_ones_own_file_is_reconstructed(letalone: Letalone, tmp_path: Path) -> None:
    path = tmp_path / "clinic.csv"
    path.write_text("sick\n" + "yes\n" * 3 + "no\n" * 9)
    asked = ("attack", "reconstruction", str(path), "--column", "sick")
    found = letalone(*asked, "--equals", "yes", "--rows", "9", "--json").json()
    assert (found["people"], found["questions"], found["share"]) == (9, 36, 0.25)
    refused = letalone(*asked, "--json")
    assert refused.code == 2
    assert "must hold 0 and 1" in refused.error()["message"]


def test_secrets_in_ones_own_text_are_told(letalone: Letalone, tmp_path: Path) -> None:
    path = tmp_path / "mails.txt"
    path.write_text("dear all\nmy pin is 471\nsee you\n")
    found = letalone("attack", "canaries", str(path), *QUICK["canaries"], "--json").json()
    assert found["lines"] == 3
    assert found["own_secrets"]["number"] == 1
    assert found["own_secrets"]["found"][0] == 1
