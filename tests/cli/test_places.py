"""One file has one ledger in the terminal, however its place is spelled."""

from pathlib import Path

import pytest

from letalone.cli.app import run

ASK = ("SELECT COUNT(*) FROM visits", "--unit", "person", "--epsilon", "0.5")


@pytest.mark.parametrize("spelling", ["visits.csv", "~/visits.csv", "~/link.csv", "link.csv"])
def test_every_spelling_of_a_file_spends_from_one_budget(
    spelling: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text("person,age\n" + "".join(f"p{n},40\n" for n in range(50)))
    Path("link.csv").symlink_to("visits.csv")
    assert run(["query", "visits.csv", *ASK, "--budget", "1"]) == 0
    assert run(["query", spelling, *ASK, "--budget", "1", "--json"]) == 0
    assert '"repeated": true' in capsys.readouterr().out
    assert [path.name for path in tmp_path.glob("*.db")] == ["visits.letalone.db"]
    assert run(["query", spelling, *ASK, "--ledger", "~/visits.letalone.db", "--json"]) == 0
    assert '"repeated": true' in capsys.readouterr().out
