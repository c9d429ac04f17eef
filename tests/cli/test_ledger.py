"""`letalone ledger …` and `letalone verify`: short screens, honest words, exit codes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from behind import PATIENTS, execute
from letalone.cli.app import IN_PLAIN_LETTERS, LIKENESSES
from letalone.ledger import Ledger
from letalone.ledger.storage import transaction
from letalone.privacy import Budget, GaussianDP, PureDP

Letalone = Callable[..., Any]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "ledger.db"
    with Ledger.open(place) as ledger:
        ledger.register("visits", Budget(1, 1e-6), neighbours=PATIENTS)
        paid = ledger.charge("visits", PureDP(0.25), plan={"count": "*"}, digest="d" * 64)
        ledger.settle(paid, {"values": [17]})
        (tmp_path / "x.json").write_text(json.dumps(ledger.receipt({"values": [17]})))
        ledger.charge("visits", GaussianDP(0.03), plan={}, digest="e")
    return place


def check_screen(shown: Any) -> str:
    """At most 80 wide and 24 high, nothing on standard error, and every sign has a likeness."""
    assert (shown.code, shown.err) == (0, "")
    lines = shown.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 25
    assert {sign for sign in shown.out if ord(sign) > 127} - set("─") <= LIKENESSES.keys()
    plain = shown.out.encode("ascii", IN_PLAIN_LETTERS).decode("ascii")
    assert plain.count("?") == shown.out.count("?")
    return " ".join(shown.out.split())


def test_show_says_what_is_spent_left_and_not_settled(letalone: Letalone, path: Path) -> None:
    words = check_screen(letalone("ledger", "show", str(path)))
    ledger = Ledger.open(path)
    assert "visits: version 1, 2 releases, 1 not settled spent ε = 0." in words
    assert "of ε = 1, δ = 1e-6 left about ε = 0." in words
    assert ledger.head in words
    assert ledger.fingerprint in words
    ledger.freeze("visits", "x")
    assert "1 not settled, frozen" in check_screen(letalone("ledger", "show", str(path)))


def test_show_as_json_is_exact(letalone: Letalone, path: Path) -> None:
    for words in (("ledger", "show", str(path), "--json"), ("--json", "ledger", "show", str(path))):
        found = letalone(*words).json()
        assert (found["command"], found["entries"]) == ("ledger show", 5)
        (one,) = found["data_sets"]
        assert one["budget"] == {"epsilon": "1", "delta": "1/1000000"}
        assert one["neighbours"] == {"relation": "add/remove", "unit": "patient"}
        assert (one["releases"], one["frozen"], one["not_settled"]) == (2, False, [5])


@pytest.mark.long  # widths: test_screens.py, test_tabled.py
def test_many_and_long_names_still_fit_a_screen(letalone: Letalone, path: Path) -> None:
    with Ledger.open(path) as ledger:
        for number in range(20):
            name = f"{number} {'long' * 40}"
            ledger.register(name, Budget(0.123456789, 1e-9), neighbours=PATIENTS)
            ledger.charge(name, PureDP(0.0123456789), plan={}, digest="d")
            ledger.freeze(name, "x")
    words = check_screen(letalone("ledger", "show", str(path)))
    assert "more: --json lists all" in words
    assert len(letalone("ledger", "show", str(path), "--json").json()["data_sets"]) == 21


def test_an_empty_ledger_is_shown(letalone: Letalone, tmp_path: Path) -> None:
    Ledger.open(tmp_path / "new.db")
    words = check_screen(letalone("ledger", "show", str(tmp_path / "new.db")))
    assert "No data set is registered yet" in words


def test_verify_says_what_it_cannot_prove_unless_a_head_is_given(
    letalone: Letalone, path: Path
) -> None:
    head = Ledger.open(path).head
    assert "cannot detect" in check_screen(letalone("ledger", "verify", str(path)))
    assert "you stored" in check_screen(letalone("ledger", "verify", str(path), "--head", head))
    found = letalone("ledger", "verify", str(path), "--json").json()
    assert (found["holds"], found["entries"], found["head"]) == (True, 5, head)
    assert (found["compared"], found["repriced"]) == (False, [])


def test_a_damaged_ledger_exits_6_and_names_the_entry(letalone: Letalone, path: Path) -> None:
    execute(path, "UPDATE entries SET text = replace(text, '17', '18') WHERE number = 3")
    execute(path, "UPDATE entries SET text = replace(text, 'count', 'total') WHERE number = 3")
    shown = letalone("ledger", "verify", str(path))
    assert (shown.code, shown.out) == (6, "")
    assert "damaged at entry 3" in shown.err
    error = letalone("ledger", "verify", str(path), "--json").error()
    assert (error["error"], error["exit_code"]) == ("LedgerDamaged", 6)
    other = letalone("ledger", "verify", str(path), "--head", "0" * 64)
    assert other.code == 6


def test_an_export_is_written_and_checked(
    letalone: Letalone, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    to = tmp_path / "out.json"
    check_screen(letalone("ledger", "export", str(path), "out.json"))
    head = Ledger.open(path).head
    assert "All 5 entries are valid" in check_screen(letalone("verify", str(to)))
    assert "that you stored" in check_screen(letalone("verify", str(to), "--head", head))
    found = letalone("verify", str(to), "--json").json()
    assert (found["command"], found["kind"], found["holds"]) == ("verify", "ledger", True)
    found = letalone("ledger", "export", str(path), str(to), "--json").json()
    assert (found["path"], found["head"]) == (str(to), head)
    to.write_text(to.read_text("utf-8").replace("17", "18"), encoding="utf-8")
    assert letalone("verify", str(to)).code == 6


def test_a_receipt_is_checked_offline_and_its_key_compared(
    letalone: Letalone, path: Path, tmp_path: Path
) -> None:
    file = str(tmp_path / "x.json")
    fingerprint = Ledger.open(path).fingerprint
    path.unlink()  # the ledger is not needed
    words = check_screen(letalone("verify", file))
    assert "unchanged since it was signed" in words
    assert "ε = 0.25, δ = 0" in words
    assert "each patient (add or remove one)" in words
    assert fingerprint in words
    assert "compare the fingerprint" in words
    assert "the key that you gave" in check_screen(letalone("verify", file, "--key", fingerprint))
    found = letalone("verify", file, "--json").json()
    assert (found["kind"], found["holds"], found["compared"]) == ("receipt", True, False)
    assert found["body"]["release"] == {"values": [17]}
    wrong = letalone("verify", file, "--key", "0" * 32)
    assert wrong.code == 6
    assert "another key" in wrong.err


def test_a_changed_receipt_exits_6(letalone: Letalone, path: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(file.read_text().replace('"0.25"', '"0.01"'))
    shown = letalone("verify", str(file))
    assert (shown.code, shown.out) == (6, "")
    assert "changed after it was signed" in shown.err


def test_wrong_files_and_options_exit_2_and_make_nothing(
    letalone: Letalone, path: Path, tmp_path: Path
) -> None:
    no, text = tmp_path / "no.db", tmp_path / "text.csv"
    text.write_text("name,age\nAnn,40\n" * 50)
    to, receipt = tmp_path / "out.json", str(tmp_path / "x.json")
    letalone("ledger", "export", str(path), str(to))
    for words in (
        ("ledger", "show", str(no)),
        ("ledger", "verify", str(no)),
        ("ledger", "export", str(no), str(tmp_path / "new.json")),
        ("ledger", "export", str(path)),
        ("ledger", "export", str(path), str(path)),
        ("ledger", "show", str(text)),
        ("ledger", "show", str(tmp_path)),
        ("ledger", "nothing"),
        ("ledger", "verify", str(path), "--head", "abc"),
        ("verify", str(no)),
        ("verify", str(text)),
        ("verify", str(to), "--key", "0" * 32),
        ("verify", receipt, "--head", "0" * 64),
        ("verify", receipt, "--key", "abc"),
    ):
        shown = letalone(*words)
        assert (shown.code, shown.out) == (2, ""), words
        assert "Error" in shown.err
        assert "Ann" not in shown.err
        assert letalone(*words, "--json").error()["exit_code"] == 2
    assert not no.exists()
    assert not (tmp_path / "new.json").exists()


def test_the_help_of_the_group_comes_as_json_too(letalone: Letalone) -> None:
    check_screen(letalone("ledger"))
    commands = {
        "history",
        "raise",
        "show",
        "verify",
        "export",
        "levels",
        "checkpoint",
        "backup",
        "why",
        "thaw",
    }
    for line in (*(f"ledger {one}" for one in sorted(commands)), "verify"):
        check_screen(letalone(*line.split(), "--help"))
    found = letalone("ledger", "--json").json()
    assert set(found["commands"]) == commands


# Freezes.


def test_why_says_what_froze_a_data_set_and_thaw_allows_questions_again(
    letalone: Letalone, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    assert check_screen(letalone("ledger", "why", "ledger.db")) == "Nothing is frozen."
    with Ledger.open(path) as ledger:
        ledger.fail(ledger.charge("visits", PureDP(0.01), plan={}, digest="f" * 64))
        ledger.allow("visits", Budget(1), purpose="care")  # a later change does not hide it
    words = check_screen(letalone("ledger", "why", "ledger.db"))
    assert "visits: frozen by entry 8" in words
    assert "the engine failed" in words
    assert f"charged by entry 6, digest {'f' * 64}" in words
    assert "ledger thaw ledger.db visits --why" in words
    (one,) = letalone("ledger", "why", "ledger.db", "visits", "--json").json()["frozen"]
    assert (one["entry"], one["reservation"], one["digest"]) == (8, 6, "f" * 64)
    thawing = ("ledger", "thaw", "ledger.db", "visits")
    assert letalone(*thawing).code == 2, "a reason is needed"
    assert letalone(*thawing, "--why", " ").code == 2
    found = letalone(*thawing, "--why", "it was a full disk", "--json").json()
    assert (found["frozen"], found["entry"]) == (False, 10)
    assert "not frozen" in letalone(*thawing, "--why", "again").err
    assert Ledger.open(path).entries()[-1].body["why"] == "it was a full disk"
    assert "not frozen" in check_screen(letalone("ledger", "why", "ledger.db", "visits"))


def test_verify_names_times_that_fall_and_the_ledger_holds_all_the_same(
    letalone: Letalone, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(path) as ledger:
        monkeypatch.setattr(transaction, "now", lambda: "2001-01-01T00:00:00Z")
        ledger.note("the clock was set back")
        monkeypatch.undo()
        ledger.note("and is right again")
        assert ledger.verify().set_back == (6,)
    words = check_screen(letalone("ledger", "verify", str(path)))
    assert "Entry 6 has an earlier time than the entry before it: a clock was set back" in words
    found = letalone("ledger", "verify", str(path), "--json").json()
    assert (found["holds"], found["set_back"]) == (True, [6])


# Levels, checkpoints, backups.


def test_levels_say_who_may_use_how_much_and_that_they_only_ration(
    letalone: Letalone, path: Path
) -> None:
    assert "No limits are set" in check_screen(letalone("ledger", "levels", str(path)))
    with Ledger.open(path) as ledger:
        ledger.allow("visits", Budget(0.5), purpose="research")
        ledger.allow("visits", Budget(0.2), purpose="research", analyst="Ann")
        asker = {"analyst": "Ann", "purpose": "research"}
        ledger.charge("visits", PureDP(0.1), plan={}, digest="f", **asker)
        ledger.withdraw("visits", **asker, why="has left")
    words = check_screen(letalone("ledger", "levels", str(path)))
    assert "visits, research: ε = 0.1 of ε = 0.5 used" in words
    assert "Ann: ε = 0.1 of ε = 0.2 used, withdrawn" in words
    assert "The guarantee is the budget of the data set" in words
    first, second = letalone("ledger", "levels", str(path), "--json").json()["levels"]
    assert (first["analyst"], second["analyst"]) == (None, "Ann")
    assert second["remaining"] == {"epsilon": "1/10", "delta": "0"}
    assert second["withdrawn"] is True


def test_a_checkpoint_finds_a_backup_that_was_put_back(
    letalone: Letalone, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    backup, kept = Path("backup.db"), Path("kept.json")
    check_screen(letalone("ledger", "backup", str(path), str(backup)))
    with Ledger.open(path) as ledger:
        ledger.note("after the backup")
    assert "Entry 6 is signed" in check_screen(
        letalone("ledger", "checkpoint", str(path), str(kept))
    )
    compared = ("--checkpoint", str(kept), "--json")
    assert letalone("ledger", "verify", str(path), *compared).json()["compared"] is True
    error = letalone("ledger", "verify", str(backup), *compared).error()
    assert (error["error"], error["exit_code"]) == ("LedgerDamaged", 6)
    assert "Entries 6 to 6 are missing" in error["message"]
    for command, file in (("backup", backup), ("checkpoint", kept)):
        refused = letalone("ledger", command, str(path), str(file))
        assert refused.code == 2
        assert "is there already" in refused.err
    assert len(Ledger.open(path)) == 7, "a checkpoint that cannot be written is not made"


def test_a_checkpoint_is_checked_alone_and_an_export_is_compared_with_it(
    letalone: Letalone, path: Path, tmp_path: Path
) -> None:
    kept, to = tmp_path / "kept.json", tmp_path / "out.json"
    with Ledger.open(path) as ledger:
        kept.write_text(json.dumps(ledger.checkpoint()))
        fingerprint = ledger.fingerprint
        ledger.export(to)
    words = check_screen(letalone("verify", str(kept)))
    assert "The checkpoint is unchanged since it was signed." in words
    assert fingerprint in words
    found = letalone("verify", str(kept), "--key", fingerprint, "--json").json()
    assert (found["kind"], found["holds"], found["compared"]) == ("checkpoint", True, True)
    assert letalone("verify", str(kept), "--key", "0" * 32).code == 6
    compared = check_screen(letalone("verify", str(to), "--checkpoint", str(kept)))
    assert "that you stored" in compared
    other = Ledger.open(tmp_path / "other.db")
    other.export(to)
    assert letalone("verify", str(to), "--checkpoint", str(kept)).code == 6
    assert letalone("verify", str(kept), "--checkpoint", str(kept)).code == 2
    changed = json.loads(kept.read_text()) | {"number": 1}
    kept.write_text(json.dumps(changed))
    assert letalone("verify", str(kept)).code == 6


def test_of_a_whole_answer_it_is_said_where_the_receipt_is(
    letalone: Letalone, tmp_path: Path
) -> None:
    file = tmp_path / "answer.json"
    file.write_text(json.dumps({"rows": [], "release": {}, "receipt": {"format": 1}}))
    shown = letalone("verify", str(file))
    assert shown.code == 2
    assert "in the field 'receipt'" in shown.err
