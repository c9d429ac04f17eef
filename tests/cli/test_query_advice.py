"""A command that is offered asks what was asked, in words of the terminal."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from letalone.cli.tables.option_values import mend_bounds
from letalone.ledger import Ledger
from letalone.plans.schema import Schema
from screens import check_advice, check_refusal, check_screen, offered, option

Letalone = Callable[..., Any]
ROWS = "\n".join(f"{n},{'AB'[n % 2]},{n % 7}.5,{n % 3 == 0}" for n in range(60))
CSV = f"pid,ward,cost,ok\n{ROWS}\n"
SCHEMA = """format = 1
name = "my"
[columns.pid]
type = "integer"
[columns.ward]
type = "text"
[columns.cost]
type = "number"
[columns.ok]
type = "boolean"
"""
ASK = ("--unit", "pid", "--epsilon", "1", "--budget", "9")
COUNT = "SELECT COUNT(*) FROM my"


@pytest.mark.few("ORDER BY", "WHERE ok")
@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("SELECT ward, COUNT(*) FROM my GROUP BY ward ORDER BY cost LIMIT 3",
         "SELECT ward, COUNT(*) FROM my GROUP BY ward LIMIT 3"),
        ("SELECT * FROM my WHERE ok", "SELECT COUNT(*) FROM my WHERE ok"),
    ],
)  # fmt: skip
def test_the_command_that_is_offered_asks_what_was_asked(
    letalone: Letalone, my: Path, typed: str, meant: str
) -> None:
    asked = ("query", "my.csv", typed, *ASK, "--keys", "ward=A,B")
    words, command = check_advice(letalone, asked, 4)
    assert words.count(" letalone query ") == 1
    assert command[2] == meant


def test_a_command_that_asks_something_else_says_so_and_spends_nothing(
    letalone: Letalone, my: Path
) -> None:
    words, command = check_advice(letalone, ("query", "my.csv", "SELECT * FROM my", *ASK), 4)
    assert "Another question, which would be answered:" in words
    assert command[2] == COUNT
    assert "--dry-run" in command


def test_a_count_that_nobody_asked_for_is_not_offered(letalone: Letalone, my: Path) -> None:
    asked = ("query", "my.csv", "SELECT STRING_AGG(ward, ',') FROM my", *ASK)
    refused = letalone(*asked)
    assert refused.code == 4
    assert "Another question" not in refused.err
    assert not offered(refused.err)


def test_a_group_by_that_is_missing_is_offered(letalone: Letalone, my: Path) -> None:
    asked = ("query", "my.csv", "SELECT ward, COUNT(*) FROM my", *ASK, "--keys", "ward=A,B")
    words, command = check_advice(letalone, asked, 4)
    assert " Try:" in words
    assert command[2] == "SELECT ward, COUNT(*) FROM my GROUP BY ward"
    assert "--dry-run" not in command


@pytest.mark.guarded
@pytest.mark.long  # session/test_confirming.py stays
def test_a_threshold_above_a_thousand_people_is_refused_before_anything_is_spent(
    letalone: Letalone, my: Path
) -> None:
    sql = "SELECT ward, COUNT(*) FROM my GROUP BY ward"
    more = ("--unit", "pid", "--epsilon", "0.05", "--budget", "2:1e-4", "--delta", "1e-8")
    asked = ("query", "my.csv", sql, *more)
    assert "from about" in check_screen(letalone(*asked, "--dry-run"))
    refused = letalone(*asked)
    assert refused.code == 2
    assert "pid or more would be found. Nothing was charged." in refused.err
    keys, dearer, fewer, yes = offered(refused.err)
    assert option(keys, "--keys") == "ward=A,B,C"
    assert float(option(dearer, "--epsilon")) > 0.05
    assert option(fewer, "--max-rows") == "1"
    assert "--yes" in yes
    assert not Path("my.letalone.db").exists()
    assert "Spent ε = 0.05" in check_screen(letalone(*yes))


@pytest.mark.few("1000:0", "cots", "price")
@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("cost=1000:0", "cost=0:1000"),
        ("cots=0:1000", "cost=0:1000"),
        ("0:1000", "cost=0:1000"),
        ("cost=1000", "cost=0:1000"),
        ("cost=0-1000", "cost=0:1000"),
        ("price=-5:1e3", "cost=-5:1e3"),
    ],
)
def test_bounds_are_put_right_and_not_bought(
    letalone: Letalone, my: Path, typed: str, meant: str
) -> None:
    asked = ("query", "my.csv", "SELECT SUM(cost) FROM my", *ASK, "--bounds", typed)
    words, command = check_advice(letalone, asked, 2)
    assert "Column '0:1000'" not in words
    assert option(command, "--bounds") == meant
    assert "--private-bounds" not in words


def test_bounds_go_by_the_name_that_select_gives(letalone: Letalone, my: Path) -> None:
    sql = "SELECT AVG(cost * 2) AS twice FROM my"
    asked = ("query", "my.csv", sql, *ASK, "--bounds")
    given = letalone(*asked, "twice=0:20", "--json").json()
    ((_, low, high),) = [row.values() for row in given["rows"]]
    assert 0 <= low <= high <= 20
    _, command = check_advice(letalone, (*asked, "twise=0:20"), 2)
    assert option(command, "--bounds") == "twice=0:20"


@pytest.mark.long
def test_a_budget_without_a_delta_is_said_with_the_owners_command(
    letalone: Letalone, my: Path
) -> None:
    letalone("query", "my.csv", COUNT, "--unit", "pid", "--epsilon", "0.1", "--budget", "2")
    sql = "SELECT ward, COUNT(*) FROM my GROUP BY ward"
    asked = ("query", "my.csv", sql, "--epsilon", "1", "--delta", "1e-6", "--yes")
    refused = letalone(*asked)
    words, (command,) = check_refusal(refused, 3), offered(refused.err)
    assert "the budget has none" in words
    assert "smaller delta" not in words
    assert command[:2] == ["ledger", "raise"]
    check_screen(letalone(*command, "--yes"))
    check_screen(letalone(*asked[:-3], "--delta", "1e-8"))


def test_bounds_of_which_nothing_is_clear_stay_as_they_are() -> None:
    assert mend_bounds(["x=1:2", "cost=a:b"], ["cost", "age"]) == ("x=1:2", "cost=a:b")


def test_an_epsilon_that_is_changed_is_spoken_of(letalone: Letalone, my: Path) -> None:
    assert letalone("query", "my.csv", COUNT, *ASK[:4], "--budget", "2").code == 0
    sql = "SELECT ward, COUNT(*) FROM my GROUP BY ward"
    words, command = check_advice(letalone, ("query", "my.csv", sql, "--epsilon", "5"), 2)
    assert "With less ε, since 5 does not fit into the budget:" in words
    assert float(option(command, "--epsilon")) <= 1


def test_the_refused_command_is_not_offered_again(letalone: Letalone, my: Path) -> None:
    tiny = ("--unit", "pid", "--epsilon", "1e-30", "--budget", "2")
    refused = letalone("query", "my.csv", COUNT, *tiny)
    assert refused.code == 2
    assert "Give a larger epsilon" in refused.err
    assert "letalone query" not in refused.err


def test_no_unit_is_made_up_where_no_name_sounds_like_a_person(
    letalone: Letalone, my: Path
) -> None:
    Path("sites.csv").write_text("Ward name,site\nA,x\n")
    for words in (
        ("describe", "sites.csv"),
        ("init", "sites.csv", "--yes"),
        ("query", "sites.csv", "SELECT COUNT(*) FROM sites", "--epsilon", "1", "--budget", "2"),
    ):
        shown = letalone(*words)
        (command,) = offered(shown.out + shown.err)
        assert option(command, "--unit") == "COLUMN", words


def test_the_unit_of_the_ledger_is_offered_where_there_is_one(letalone: Letalone, my: Path) -> None:
    Path("my.letalone.toml").unlink()
    asked = ("--unit", "ward", *ASK[2:])
    assert letalone("query", "my.csv", COUNT, *asked).code == 0
    (command,) = offered(letalone("describe", "my.csv").out)
    assert option(command, "--unit") == "ward"
    (command,) = offered(letalone("init", "my.csv", "--yes").out)
    assert option(command, "--unit") == "ward"
    assert "--budget" not in command
    check_screen(letalone(*command))


def test_a_delta_of_which_no_use_is_made_is_no_part_of_the_price(
    letalone: Letalone, my: Path
) -> None:
    asked = ("query", "my.csv", COUNT, *ASK, "--delta", "1e-6")
    assert "would spend ε = 1 for each" in check_screen(letalone(*asked, "--dry-run"))
    assert letalone(*asked, "--json").json()["delta"] == 0
    groups = "SELECT ward, COUNT(*) FROM my GROUP BY ward"
    found = letalone("query", "my.csv", groups, *ASK, "--delta", "1e-6", "--dry-run", "--json")
    assert found.json()["delta"] == 1e-6


def test_an_answer_without_groups_is_printed_with_its_reason_and_no_picture(
    letalone: Letalone, my: Path
) -> None:
    """Thirty units against a threshold of thousands: a key is listed less than once in e^20."""
    sql = "SELECT ward, COUNT(*) FROM my GROUP BY ward"
    more = ("--unit", "pid", "--epsilon", "0.1", "--budget", "2:1e-4", "--delta", "1e-6")
    files = ("--plot", "w.png", "--receipt", "w.json")
    shown = letalone("query", "my.csv", sql, *more, *files, "--yes")
    words = check_screen(shown)
    assert "No group passed the threshold" in words
    assert "--max-groups" in words
    assert "w.png was not written. There is nothing to draw" in words
    assert "Spent ε = 0.1, δ = 1e-6" in words
    assert Path("w.json").exists()
    found = letalone("query", "my.csv", sql, *more, *files, "--json", "--yes").json()
    assert (found["repeated"], found["plot"], found["receipt"]) == (True, None, "w.json")
    assert any("No group passed the threshold" in note for note in found["notes"])


@pytest.mark.parametrize("option", ["--receipt", "--out"])
def test_an_answer_is_printed_though_its_file_cannot_be_written(
    letalone: Letalone, my: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The place was fine when it was looked at; then the disk was full."""

    def fail(*given: object) -> None:
        raise OSError(28, "No space left on device", "x.json")

    monkeypatch.setattr("letalone.session.release.Release.save", fail)
    monkeypatch.setattr("letalone.cli.tables.query.write_answer", fail)
    shown = letalone("query", "my.csv", COUNT, *ASK, option, "x.json")
    assert shown.code == 1
    assert "Spent ε = 1 " in shown.out
    assert "No space left on device: x.json" in shown.err


@pytest.mark.parametrize("option", ["--receipt", "--plot", "--out"])
def test_nothing_is_spent_where_a_file_cannot_be_written(
    letalone: Letalone, my: Path, option: str
) -> None:
    Path("taken.svg").mkdir()
    refused = letalone("query", "my.csv", COUNT, *ASK, option, "taken.svg")
    assert "taken.svg" in check_refusal(refused, 2)
    assert not Path("my.letalone.db").exists()


@pytest.mark.long  # session/test_largest.py stays
def test_a_delta_that_does_not_fit_is_refused_with_the_largest_that_does(
    letalone: Letalone, my: Path
) -> None:
    """A budget of δ = 1e-5, two questions of 1e-6: of the share for such questions 5e-7 is left."""
    asked = ("query", "my.csv", "SELECT ward, COUNT(*) FROM my GROUP BY ward", "--max-rows", "1")
    for epsilon in ("0.4", "0.6"):
        price = ("--unit", "pid", "--delta", "1e-6", "--budget", "3:1e-5")
        assert letalone(*asked, *price, "--epsilon", epsilon).code == 0
    refused = letalone(*asked, "--epsilon", "0.5", "--delta", "1e-6")
    words = check_refusal(refused, 3)
    assert "The most that fits now: ε = 0.5, δ = 5e-7." in words
    (command,) = offered(refused.err)
    assert (option(command, "--epsilon"), option(command, "--delta")) == ("0.5", "5e-7")
    assert letalone(*command).code == 0


def test_fewer_groups_make_the_error_smaller(letalone: Letalone, my: Path) -> None:
    sql = "SELECT ward, COUNT(*) n FROM my GROUP BY ward"
    asked = ("query", "my.csv", sql, *ASK, "--keys", "ward=A,B", "--max-rows", "2", "--dry-run")
    errors = [
        letalone(*asked, "--max-groups", most, "--json").json()["parts"][0]["errors"]["n"]
        for most in ("1", "2")
    ]
    assert errors[0] < errors[1]


def test_an_answer_says_that_rows_beyond_the_limit_count_less(letalone: Letalone, my: Path) -> None:
    words = check_screen(letalone("query", "my.csv", COUNT, *ASK, "--dry-run"))
    assert "finds how many rows per pid count whole; with the answer that is ε = 1." in words
    words = check_screen(letalone("query", "my.csv", COUNT, *ASK))
    assert "per pid count less: totals may be low" in words
    words = check_screen(letalone("query", "my.csv", COUNT, *ASK, "--max-rows", "1"))
    assert "--max-rows" not in words


def test_thirty_groups_fit_one_screen_and_json_has_all(
    letalone: Letalone, my: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("letalone.cli.screen.is_terminal", lambda: True)
    sql = "SELECT ward, COUNT(*) n FROM my GROUP BY ward"
    keys = ("--keys", "ward=" + ",".join(map(str, range(30))))
    words = check_screen(letalone("query", "my.csv", sql, *ASK, *keys))
    assert "and 18 more" in words
    found = letalone("query", "my.csv", sql, *ASK, *keys, "--json").json()
    assert (len(found["rows"]), found["repeated"]) == (30, True)


@pytest.mark.long  # sources/test_places.py; test_a_table_has_one_budget_however_it_is_named
def test_a_table_of_a_duckdb_file_is_called_by_its_own_name(letalone: Letalone, my: Path) -> None:
    with duckdb.connect("h.duckdb") as db:
        db.execute("CREATE TABLE visits AS SELECT range AS pid FROM range(100)")
        db.execute("CREATE TABLE other AS SELECT 1 AS x")
    refused = letalone("init", "h.duckdb")
    words = check_refusal(refused, 2)
    assert "Name one with --table." in words
    assert [option(command, "--table") for command in offered(refused.err)] == ["other", "visits"]
    for commands in (("describe", "h.duckdb"), ("query", "h.duckdb", "SELECT COUNT(*) FROM h")):
        refused = letalone(*commands)
        check_refusal(refused, 2)
        for command in offered(refused.err):
            assert command[0] == commands[0]
            assert command[0] == "query" or letalone(*command).code == 0
    (command,) = offered(letalone("init", "h.duckdb", "--table", "visits").out)
    assert "FROM visits" in command[2]
    assert option(command, "--table") == "visits"
    check_screen(letalone(*command))
    assert Ledger.open("h.letalone.db").data_set("visits").releases == 2, "the row limit, too"
    asked = ("query", "h.duckdb", "SELECT COUNT(*) FROM visits", "--epsilon", "0.25")
    check_screen(letalone(*asked))  # FROM names the table
    assert Ledger.open("h.letalone.db").data_set("visits").releases == 3


@pytest.mark.long  # sources/test_places.py: a file of its own for each
def test_two_tables_of_a_file_have_two_schema_files_and_two_budgets(
    letalone: Letalone, my: Path
) -> None:
    with duckdb.connect("h.duckdb") as db:
        db.execute("CREATE TABLE visits AS SELECT range AS pid FROM range(100)")
        db.execute("CREATE TABLE people AS SELECT range AS pid FROM range(50)")
    for table, budget in (("visits", "2"), ("people", "3")):
        assert letalone("init", "h.duckdb", "--table", table, "--unit", "pid").code == 0
        asked = ("query", "h.duckdb", f"SELECT COUNT(*) FROM {table}", "--table", table)
        check_screen(letalone(*asked, "--epsilon", "1", "--budget", budget))
        assert Schema.read(f"h.{table}.letalone.toml").name == table
    assert not Path("h.letalone.toml").exists()
    with Ledger.open("h.letalone.db") as ledger:
        found = {one.name: (one.budget.epsilon, one.spent.epsilon) for one in ledger.data_sets()}
    assert found == {"visits": (2, 1), "people": (3, 1)}
    words = check_screen(letalone("describe", "h.duckdb", "--table", "people"))
    assert "h.people.letalone.toml" in words
    assert "left about ε = 2" in words


def test_a_table_has_one_budget_however_it_is_named(letalone: Letalone, my: Path) -> None:
    """The only table of a file, by no name, by its name, and by that with its schema."""
    with duckdb.connect("one.duckdb") as db:
        db.execute("CREATE TABLE visits AS SELECT range AS pid FROM range(100)")
    asked = ("query", "one.duckdb", "SELECT COUNT(*) FROM visits", "--epsilon", "0.5")
    assert letalone(*asked, "--unit", "pid", "--budget", "2").code == 0
    for named in ((), ("--table", "visits"), ("--table", "main.visits")):
        assert letalone(*asked, *named, "--json").json()["repeated"], named
    with Ledger.open("one.letalone.db") as ledger:
        assert [one.name for one in ledger.data_sets()] == ["visits"]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT SUM(DISTINCT cost) FROM my", "DISTINCT is answered in COUNT only"),
        ("SELECT COUNT(*) FROM my WHERE ok = 2", "Write TRUE or FALSE."),
        ("SELECT * FROM my", "SELECT * returns single rows"),
        ("SELECT COUNT(*) FROM my WHERE ward < 'B'", "use =, <> or IN"),
    ],
)
def test_a_refusal_speaks_sql_and_not_python(
    letalone: Letalone, my: Path, sql: str, said: str
) -> None:
    shown = letalone("query", "my.csv", sql, *ASK)
    assert said in check_refusal(shown, shown.code)
    assert "la." not in shown.err
    assert "STAR" not in shown.err


def test_files_of_another_kind_are_told_from_damaged_ones(letalone: Letalone, my: Path) -> None:
    assert "frame" not in check_refusal(letalone("describe", "no.csv"), 2)
    for command in ("verify", "explain"):
        words = check_refusal(letalone(command, "my.csv"), 2)
        assert "is not a receipt" in words
        assert "damaged" not in words
    assert letalone("query", "my.csv", COUNT, *ASK).code == 0
    for command in ("show", "verify"):
        refused = letalone("ledger", command, "my.csv")
        assert "There is a ledger next to it" in check_refusal(refused, 2)
        (offer,) = offered(refused.err)
        assert letalone(*offer).code == 0


def test_a_schema_file_without_a_unit_is_described_with_the_next_step(
    letalone: Letalone, my: Path
) -> None:
    words = check_screen(letalone("describe", "my.csv"))
    assert 'write unit = "pid" into' in words


def test_init_offers_force_with_all_that_was_typed(letalone: Letalone, my: Path) -> None:
    refused = letalone("init", "my.csv", "--unit", "pid", "--yes")
    (command,) = offered(refused.err)
    assert option(command, "--unit") == "pid"
    assert {"--yes", "--force"} <= set(command)
    assert letalone(*command).code == 0


def test_every_command_says_in_the_same_words_who_is_protected(
    letalone: Letalone, my: Path
) -> None:
    whom = "each pid (add or remove one)"
    asked = letalone("query", "my.csv", COUNT, *ASK, "--receipt", "x.json", "--explain")
    assert "per pid (add or remove one)" in check_screen(asked)
    for words in (("describe", "my.csv"), ("verify", "x.json")):
        assert whom in check_screen(letalone(*words))


@pytest.mark.long  # dialects: tests/sql
def test_a_dialect_can_be_named_and_another_is_refused_with_those_that_there_are(
    letalone: Letalone, my: Path
) -> None:
    sql = 'SELECT COUNT(*) AS n FROM my WHERE ward = "Psychiatry"'
    for dialect in ("spark", "bigquery"):
        assert letalone("query", "my.csv", sql, *ASK, "--dialect", dialect, "--json").code == 0
    refused = letalone("query", "my.csv", sql, *ASK, "--dialect", "oracle")
    words = check_refusal(refused, 2)
    assert "must be one of: duckdb, postgres, spark, bigquery" in words
    assert "--dialect" not in offered(refused.err)[0]
    # In DuckDB and PostgreSQL double quotes are for names.
    refused = letalone("query", "my.csv", sql, *ASK, "--dialect", "postgres")
    assert "Column 'Psychiatry' is not in table" in check_refusal(refused, 2)
    rows = sql.replace("COUNT(*) AS n", "*")
    (command,) = offered(letalone("query", "my.csv", rows, *ASK, "--dialect", "bigquery").err)
    assert option(command, "--dialect") == "bigquery"
    assert letalone(*command).code == 0


@pytest.mark.long  # others of this file stay
def test_that_totals_may_be_low_is_said_however_long_the_other_words_are(
    letalone: Letalone, my: Path
) -> None:
    """Found groups count ten rows of a person; a long budget pushed the warning out."""
    sql = "SELECT ward, COUNT(*) AS a_rather_long_name FROM my GROUP BY ward"
    price = ("--unit", "pid", "--epsilon", "0.123456", "--delta", "1.2345e-7", "--yes")
    for _ in range(2):
        shown = letalone("query", "my.csv", sql, *price, "--budget", "98.76543:1.2345e-4")
        words = " ".join(shown.out.split())
        assert "Rows beyond 10 per pid count less: totals may be low" in words


def test_the_beginning_of_an_option_suggests_the_option(letalone: Letalone, my: Path) -> None:
    refused = letalone("query", "my.csv", COUNT, "--eps", "0.1")
    assert refused.code == 2
    assert "(Possible options: --epsilon)" in refused.err


@pytest.mark.parametrize("command", ["history", "raise", "why", "thaw"])
def test_the_help_of_the_ledger_names_the_data_set(letalone: Letalone, command: str) -> None:
    assert "NAME" in letalone("ledger", command, "-h").out.splitlines()[0]


@pytest.mark.parametrize(
    ("group", "keys"),
    [("YEAR(day)", "2023,2024"), ("STRFTIME(day, '%Y-%m')", "2024-01,2024-02"), ("ward", "A,B,C")],
)
def test_keys_that_stand_for_others_look_like_those(
    letalone: Letalone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str, keys: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.csv").write_text("pid,ward,day\n1,A,2024-01-31\n2,B,2023-02-01\n")
    letalone("init", "my.csv", "--unit", "pid", "--yes")
    sql = f"SELECT {group} AS g, COUNT(*) FROM my GROUP BY {group}"
    _, command = check_advice(
        letalone, ("query", "my.csv", sql, "--epsilon", "1", "--budget", "9"), 2
    )
    assert option(command, "--keys").partition("=")[2] == keys
    assert "--dry-run" in command
