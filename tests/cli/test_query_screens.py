"""One command is offered with all that is missing, and the screen says what is left out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from letalone.errors.installing import how_to_install
from screens import check_advice, check_refusal, check_screen, offered, option

pytestmark = pytest.mark.long  # test_query.py asks; here are its screens

Letalone = Callable[..., Any]
ROWS = "\n".join(f"{n},{'ABC'[n % 3]},{n % 7}.5,{n % 4},{2022 + n % 2}" for n in range(120))
CSV = f"pid,ward,cost,los,year\n{ROWS}\n"
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


def test_one_command_has_places_for_bounds_and_groups_and_is_answered(
    letalone: Letalone, my: Path
) -> None:
    asked = ("query", "my.csv", MEANS, "--epsilon", "0.5")
    words, command = check_advice(letalone, asked, 2)
    assert "0:1000" in words
    assert "A,B,C" in words
    found = {"--keys": "ward=A,B,C", "--bounds": "cost=0:1000", "--budget": "2:1e-6"}
    assert {name: option(command, name) for name in found} == found
    assert (command[:5], len(command)) == ([*asked[:3], "--epsilon", "0.5"], 6 + 2 * len(found))
    assert "--dry-run" in command, "what is to be filled in spends nothing"


def test_one_command_has_places_also_where_the_unit_is_missing(
    letalone: Letalone, my: Path
) -> None:
    Path("my.letalone.toml").write_text(SCHEMA.replace('unit = "pid"\n', ""))
    asked = ("query", "my.csv", MEANS, "--epsilon", "0.5")
    words, command = check_advice(letalone, asked, 2)
    assert "publicly known in place of A,B,C and 0:1000" in words
    assert {"--unit", "--keys", "--bounds", "--budget"} < set(command)


@pytest.mark.few("lower")
@pytest.mark.parametrize("bounds", [(), ("--bounds", "cost=0:9", "--bounds", "los=0:9")])
@pytest.mark.parametrize("declared", ["", "lower = 0\nupper = 9\n"])
def test_a_quotient_is_offered_with_clamp(
    letalone: Letalone, my: Path, bounds: tuple[str, ...], declared: str
) -> None:
    number = 'type = "number"\n'
    Path("my.letalone.toml").write_text(SCHEMA.replace(number, number + declared))
    asked = ("query", "my.csv", "SELECT AVG(cost/los) FROM my", *ASK, *bounds)
    words, command = check_advice(letalone, asked, 2)
    assert "CLAMP(cost / los, 0, 1000)" in words.split("Try:")[0]
    assert "lower=" not in words
    assert "la." not in words
    assert command[2] == "SELECT AVG(CLAMP(cost/los, 0, 1000)) FROM my"


def test_years_are_listed_and_shown_as_years(letalone: Letalone, my: Path) -> None:
    sql = "SELECT year, COUNT(*) FROM my GROUP BY year"
    refused = letalone("query", "my.csv", sql, *ASK)
    assert "in place of 1,2,3" in check_refusal(refused, 2)
    assert option(offered(refused.err)[0], "--keys") == "year=1,2,3"
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
    shown = letalone("query", "my.csv", "SELECT SUM(cost) FROM my", *ASK, *more, "--explain")
    assert "clamped to [0, 9]" in check_screen(shown)
    unknown = letalone("query", "my.csv", "SELECT COUNT(*) FROM my", *ASK, "--bounds", "x=0:9")
    check_refusal(unknown, 2)


def test_without_matplotlib_nothing_is_charged(
    letalone: Letalone, my: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("letalone.drawing.figure.find_spec", lambda _: None)
    refused = letalone("query", "my.csv", "SELECT COUNT(*) FROM my", *ASK, "--plot", "x.png")
    assert how_to_install("plot") in check_refusal(refused, 2)
    assert not Path("my.letalone.db").exists()
    (command,) = offered(refused.err)
    check_screen(letalone(*command))


@pytest.mark.long  # session/test_sql.py: test_where_having_keeps_nothing
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
        assert "nothing spent" in check_screen(letalone("query", "my.csv", sql, *asked))


@pytest.mark.few("ward", "ELSE", "BIN")
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
    assert ("Other groups are not counted." in words) is said


def test_a_public_table_about_people_is_said_to_be_unprotected(
    letalone: Letalone, my: Path
) -> None:
    Path("people.csv").write_text("pid,vip\n" + "".join(f"{n},{n % 2}\n" for n in range(120)))
    sql = "SELECT COUNT(*) FROM my JOIN people USING (pid)"
    refused = letalone("query", "my.csv", sql, *ASK)
    words = check_refusal(refused, 2)
    assert "that anyone may see" in words
    assert "my.sql(…, tables={'people': its session})" in words
    shown = letalone("query", "my.csv", sql, *ASK, "--public", "people=people.csv")
    assert "Note: people is taken as public: nothing in it is protected." in check_screen(shown)


WIDE = (
    "SELECT ward, COUNT(*) AS number_of_visits, AVG(cost) AS average_cost,"
    " STDDEV(cost) AS spread_of_cost, AVG(los) AS average_stay, MEDIAN(year) AS middle_year"
    " FROM my GROUP BY ward"
)
ALL_BOUNDS = ("--bounds", "cost=0:9", "--bounds", "los=0:9", "--bounds", "year=2000:2030")


@pytest.mark.few("80")
@pytest.mark.parametrize("columns", ["80", "120"])
def test_five_aggregates_are_readable_and_fit_one_screen(
    letalone: Letalone, my: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    asked = ("query", "my.csv", WIDE, *ASK, *ALL_BOUNDS, "--keys", "ward=A,B,C")
    shown = letalone(*asked)
    lines = shown.out.splitlines()
    assert len(lines) < 25
    assert max(map(len, lines)) <= int(columns)
    names = ("number_of_visits", "average_cost", "spread_of_cost", "average_stay", "middle_year")
    assert all(any(name in line.split() for line in lines) for name in names)
    prose = [line for line in lines if ". " in line or line.endswith(".")]
    assert len(prose) <= 8, "no longer than the table"
    assert len(letalone(*asked, "--json").json()["rows"]) == 3


@pytest.mark.long  # the same again is free: test_offered_commands.py
def test_the_long_form_has_the_question_and_every_note_and_is_free(
    letalone: Letalone, my: Path
) -> None:
    asked = ("query", "my.csv", MEANS, *ASK, "--bounds", "cost=0:9", "--keys", "ward=A,B")
    short, long = check_screen(letalone(*asked)), check_screen(letalone(*asked, "--explain"))
    assert "--explain" in short
    for shown in (short, long):
        assert "[low, high]: 95 % noise range." in shown
    assert "nothing spent" in long
    for words in ("mean of cost clamped to [0, 9]", "rows without pid are left out"):
        assert words in long
        assert words not in short
    notes = letalone(*asked, "--json").json()["notes"]
    assert any(note == "rows without pid are left out" for note in notes), "JSON has all"


def test_a_spread_that_the_noise_swallowed_is_unknown(letalone: Letalone, my: Path) -> None:
    """At ε = 0.01 the noise is a thousand rows wide, and the groups are of at most sixty.

    An interval is its whole range nine times in ten, so none of twelve is less than once in 10^12.
    """
    sql = "SELECT year, STDDEV(cost) AS s FROM my GROUP BY year"
    years = ",".join(str(year) for year in range(2000, 2012))
    more = ("--bounds", "cost=0:9", "--keys", f"year={years}")
    shown = letalone("query", "my.csv", sql, "--epsilon", "0.01", "--budget", "9", *more)
    rows = [line.split() for line in shown.out.splitlines() if line.startswith("20")]
    assert len(rows) == 12
    assert any(row[1] == "unknown" for row in rows)
    assert not any(row[1] == "0" for row in rows)
    assert "unknown: there are too few rows" in shown.out


def test_the_delta_that_is_left_is_what_answers_can_have(letalone: Letalone, my: Path) -> None:
    """A quarter of the budget's δ is set aside for questions that need a δ."""
    sql = "SELECT ward, COUNT(*) FROM my GROUP BY ward"
    words = check_screen(letalone("query", "my.csv", sql, *ASK, "--delta", "1e-6"))
    own = "(δ = 2.4e-5 for questions that need a δ)"
    assert "left (δ: 2.4e-5)" in words
    assert own in check_screen(letalone("describe", "my.csv"))
    assert own in check_screen(letalone("ledger", "show", "my.letalone.db"))
    over = letalone("query", "my.csv", sql, "--epsilon", "1", "--delta", "2.5e-5")
    check_refusal(over, 3)


def test_a_dry_run_warns_of_a_starved_median_and_of_a_starved_aggregate(
    letalone: Letalone, my: Path
) -> None:
    sql = "SELECT MEDIAN(year) AS y FROM my"
    asked = ("query", "my.csv", sql, *ASK, "--bounds", "year=2000:2030", "--dry-run")
    words = check_screen(letalone(*asked))
    assert "Warning: y needs about" in words
    assert "its range covers most of the possible values" in words
    (warning,) = letalone(*asked, "--json").json()["warnings"]
    assert warning.startswith("y needs about")
    assert "Warning" not in check_screen(letalone(*asked, "--epsilon", "9", "--max-rows", "1"))
    split = "SELECT COUNT(DISTINCT pid) a, MEDIAN(cost) b, MEDIAN(los) c, MEDIAN(year) d FROM my"
    starved = letalone("query", "my.csv", split, *ASK, *ALL_BOUNDS, "--dry-run")
    assert "Warning: a gets only" in check_screen(starved)
    assert ".batch" not in starved.out
