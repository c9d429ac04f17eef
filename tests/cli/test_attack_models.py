"""`letalone attack membership` and `inversion`: on one screen, as JSON, as a picture, on a file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from screens import check_screen

Letalone = Callable[..., Any]
FEW = ("--models", "20", "--people", "30")
QUICK = {"membership": FEW, "inversion": FEW}


@pytest.mark.long
@pytest.mark.parametrize("name", QUICK)
def test_each_attack_on_models_fits_a_screen_and_compares_with_a_private_model(
    letalone: Letalone, tmp_path: Path, name: str
) -> None:
    words = check_screen(letalone("attack", name, *QUICK[name], "--epsilon", "0.5"))
    assert "published today letalone, ε = 0.5" in words
    path = tmp_path / "picture.svg"
    found = letalone("attack", name, *QUICK[name], "--json", "--plot", str(path)).json()
    assert (found["command"], found["epsilon"]) == (f"attack {name}", 1.0)
    assert "<svg" in path.read_text("utf-8")


@pytest.mark.long  # a file of one's own: test_a_column_of_ones_own_file_is_reconstructed
def test_a_file_of_ones_own_is_attacked(letalone: Letalone, tmp_path: Path) -> None:
    rows = "".join(
        f"{n % 37},{'abc'[n % 3]},{'high' if n * n % 7 > 2 else 'low'}\n" for n in range(60)
    )
    path = tmp_path / "people.csv"
    path.write_text(f"age,town,income\n{rows}")
    asked = ("attack", "membership", str(path), "--target", "income", "--models", "20")
    assert letalone(*asked, "--json").json()["people"] == 60
    guessed = ("attack", "inversion", str(path), "--target", "age", "--sensitive", "town")
    assert letalone(*guessed, "--models", "20", "--json").json()["values"] == 3
    refused = letalone("attack", "inversion", str(path), "--target", "age", "--json")
    assert refused.code == 2
    assert "--sensitive is missing: name it with --sensitive" in refused.error()["message"]
