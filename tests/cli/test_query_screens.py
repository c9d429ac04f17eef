"""What a newcomer asks for next: one command with all that is missing, and what is left out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from screens import check_refusal, check_screen, offered

Letalone = Callable[..., Any]
ROWS = "\n".join(f"{n},{'ABC'[n % 3]},{n % 7}.5,{n % 4},{2022 + n % 2}" for n in range(120))
SCHEMA = """format = 1
name = "my"
unit = "pid"
[columns.pid]
type = "integer"
[columns.ward]
type = "text"
[columns.cost]
type = "number"
[columns.los]
type = "number"
[columns.year]
type = "integer"
"""
ASK = ("--epsilon", "1", "--budget", "9:1e-4")
MEANS = "SELECT ward, AVG(cost) FROM my GROUP BY ward"


@pytest.fixture
def my(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("my.csv").write_text(f"pid,ward,cost,los,year\n{ROWS}\n")
    Path("my.letalone.toml").write_text(SCHEMA)
    return tmp_path


def options(command: list[str]) -> dict[str, str]:
    return dict(zip(command[3::2], command[4::2], strict=True))


def test_one_command_has_places_for_bounds_and_groups_and_is_answered(
    letalone: Letalone, my: Path
) -> None:
    refused = letalone("query", "my.csv", MEANS, "--epsilon", "0.5")
    words = check_refusal(refused, 2)
    assert "in place of 0:1000" in words
    assert "in place of A,B,C" in words
    command = offered(refused.err)[0]
    found = {"--keys": "ward=A,B,C", "--bounds": "cost=0:1000", "--budget": "2"}
    assert options(command) == {"--epsilon": "0.5", **found}
    check_screen(letalone(*command))


def test_one_command_has_places_also_where_the_unit_is_missing(
    letalone: Letalone, my: Path
) -> None:
    Path("my.letalone.toml").write_text(SCHEMA.replace('unit = "pid"\n', ""))
    refused = letalone("query", "my.csv", MEANS, "--epsilon", "0.5")
    assert "publicly known in place of A,B,C and 0:1000" in check_refusal(refused, 2)
    (command,) = offered(refused.err)
    assert {"--unit", "--keys", "--bounds", "--budget"} < options(command).keys()
    check_screen(letalone(*command))


@pytest.mark.parametrize("bounds", [(), ("--bounds", "cost=0:9", "--bounds", "los=0:9")])
@pytest.mark.parametrize("declared", ["", "lower = 0\nupper = 9\n"])
def test_a_quotient_is_offered_with_clamp(
    letalone: Letalone, my: Path, bounds: tuple[str, ...], declared: str
) -> None:
    number = 'type = "number"\n'
    Path("my.letalone.toml").write_text(SCHEMA.replace(number, number + declared))
    refused = letalone("query", "my.csv", "SELECT AVG(cost/los) FROM my", *ASK, *bounds)
    words = check_refusal(refused, 2)
    assert "CLAMP(cost / los, 0, 1000)" in words.split("Try:")[0]
    assert "lower=" not in words
    assert "la." not in words
    (command,) = offered(refused.err)
    assert command[2] == "SELECT AVG(CLAMP(cost / los, 0, 1000)) FROM my"
    check_screen(letalone(*command))


def test_years_are_listed_and_shown_as_years(letalone: Letalone, my: Path) -> None:
    sql = "SELECT year, COUNT(*) FROM my GROUP BY year"
    refused = letalone("query", "my.csv", sql, *ASK)
    assert "in place of 1,2,3" in check_refusal(refused, 2)
    assert options(offered(refused.err)[0])["--keys"] == "year=1,2,3"
    words = check_screen(letalone("query", "my.csv", sql, *ASK, "--keys", "year=2022,2023"))
    assert "2022" in words
    assert "2,022" not in words


@pytest.mark.parametrize("delta", [(), ("--delta", "1e-6")])
def test_groups_of_one_unit_each_are_refused_and_nothing_is_written(
    letalone: Letalone, my: Path, delta: tuple[str, ...]
) -> None:
    sql = "SELECT pid, COUNT(*) FROM my GROUP BY pid"
    refused = letalone("query", "my.csv", sql, *ASK, *delta)
    assert "COUNT(DISTINCT pid)" in check_refusal(refused, 4)
    assert not Path("my.letalone.db").exists()


def test_bounds_of_another_column_are_not_in_the_way(letalone: Letalone, my: Path) -> None:
    more = ("--bounds", "cost=0:9", "--bounds", "los=0:9")
    shown = letalone("query", "my.csv", "SELECT SUM(cost) FROM my", *ASK, *more)
    assert "clamped to [0, 9]" in check_screen(shown)
    unknown = letalone("query", "my.csv", "SELECT COUNT(*) FROM my", *ASK, "--bounds", "x=0:9")
    check_refusal(unknown, 2)


def test_without_matplotlib_nothing_is_charged(
    letalone: Letalone, my: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("letalone.cli.query.find_spec", lambda _: None)
    refused = letalone("query", "my.csv", "SELECT COUNT(*) FROM my", *ASK, "--plot", "x.svg")
    assert "pip install 'letalone[plot]'" in check_refusal(refused, 2)
    assert not Path("my.letalone.db").exists()
    (command,) = offered(refused.err)
    check_screen(letalone(*command))


def test_where_no_row_passes_having_the_screen_says_so_and_the_rest_is_free(
    letalone: Letalone, my: Path
) -> None:
    sql = "SELECT ward, COUNT(*) AS n FROM my GROUP BY ward"
    for more in (("--keys", "ward=A,B,C"), ("--delta", "1e-6", "--max-rows", "1")):
        asked = ("--epsilon", "4", *ASK[2:], *more)
        shown = letalone("query", "my.csv", f"{sql} HAVING n > 1000000", *asked, "--json")
        assert any(note.startswith("No row passes HAVING.") for note in shown.json()["notes"])
        words = check_screen(letalone("query", "my.csv", f"{sql} HAVING n > 1000000", *asked))
        assert "No row passes HAVING. The same question without it is free." in words
        assert "No group is listed" not in words
        assert "it is free" in check_screen(letalone("query", "my.csv", sql, *asked))


@pytest.mark.parametrize(
    ("group", "more", "said"),
    [
        ("ward", ("--keys", "ward=A,B"), True),
        ("CASE WHEN cost > 3 THEN 'dear' END", (), True),
        ("CASE WHEN cost > 3 THEN 'dear' ELSE 'cheap' END", (), False),
        ("BIN(cost, 0, 10, 5)", (), True),
        ("cost IS NULL", (), False),
        ("cost > 3", (), True),
    ],
)
def test_rows_in_no_group_are_spoken_of_where_there_can_be_some(
    letalone: Letalone, my: Path, group: str, more: tuple[str, ...], said: bool
) -> None:
    shown = letalone("query", "my.csv", f"SELECT COUNT(*) FROM my GROUP BY {group}", *ASK, *more)
    words = check_screen(shown)
    assert ("Rows that fall into none of these groups are left out." in words) is said


def test_a_public_table_about_people_is_said_to_be_unprotected(
    letalone: Letalone, my: Path
) -> None:
    Path("people.csv").write_text("pid,vip\n" + "".join(f"{n},{n % 2}\n" for n in range(120)))
    sql = "SELECT COUNT(*) FROM my JOIN people USING (pid)"
    refused = letalone("query", "my.csv", sql, *ASK)
    words = check_refusal(refused, 2)
    assert "that anyone may see" in words
    assert "my.join(other, on=…)" in words
    shown = letalone("query", "my.csv", sql, *ASK, "--public", "people=people.csv")
    assert "Note: people is taken as public: nothing in it is protected." in check_screen(shown)
