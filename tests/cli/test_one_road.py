"""`letalone query` compiles a question once, and nothing more once it is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from letalone.engines.duckdb.duck_engine import DuckEngine
from letalone.session import pricing
from letalone.tables.compiled import compile_plan
from screens import check_refusal, offered

Letalone = Callable[..., Any]
ROWS = "\n".join(f"{n},{'AB'[n % 2]},{n % 7}.5" for n in range(60))
SCHEMA = """format = 1
name = "my"
unit = "pid"
[columns.pid]
type = "integer"
[columns.ward]
type = "text"
[columns.cost]
type = "number"
"""
MEAN = "SELECT ward, AVG(cost) FROM my GROUP BY ward"
PRICE = ("--epsilon", "1", "--budget", "9:1e-4")
KEYS, BOUNDS = ("--keys", "ward=A,B"), ("--bounds", "cost=0:9")


@pytest.fixture
def my(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("my.csv").write_text(f"pid,ward,cost\n{ROWS}\n")
    Path("my.letalone.toml").write_text(SCHEMA)
    return tmp_path


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What is compiled, in order."""
    made: list[object] = []

    def counting(plan: Any, **price: Any) -> Any:
        made.append(plan)
        return compile_plan(plan, **price)

    monkeypatch.setattr(pricing, "compile_plan", counting)
    return made


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_question_is_compiled_once(
    letalone: Letalone, my: Path, compilations: list[object], more: tuple[str, ...]
) -> None:
    assert letalone("query", "my.csv", MEAN, *PRICE, *KEYS, *BOUNDS, *more).code == 0
    assert len(compilations) == 1


@pytest.mark.long  # others of this file stay
def test_a_question_whose_bounds_are_bought_is_compiled_once_for_each_trial_and_for_the_answer(
    letalone: Letalone, my: Path, compilations: list[object]
) -> None:
    asked = ("query", "my.csv", MEAN, *PRICE, *KEYS, "--private-bounds")
    assert letalone(*asked, "--dry-run").code == 0
    assert len(compilations) == 5, "four trials and the bounds"
    compilations.clear()
    assert letalone(*asked).code == 0
    assert len(compilations) == 6


@pytest.mark.parametrize(
    "asked",
    [
        (MEAN, *PRICE),
        (MEAN, *PRICE, *KEYS),
        (MEAN, "--epsilon", "1", *KEYS, *BOUNDS),
        ("SELECT AVG(csot) FROM my", *PRICE),
        ("SELECT * FROM my WHERE ward = 'A'", *PRICE),
        ("SELECT AVG(cost/cost) FROM my", *PRICE),
        (MEAN, *PRICE, "--keys", "ward"),
        ("SELECT COUNT(*) FROM my", *PRICE, "--max-rows", "0"),
    ],
)
@pytest.mark.few("asked0", "asked2", "asked3", "asked5")
def test_a_refusal_compiles_nothing_and_every_command_that_it_offers_is_answered(
    letalone: Letalone, my: Path, compilations: list[object], asked: tuple[str, ...]
) -> None:
    refused = letalone("query", "my.csv", *asked)
    check_refusal(refused, refused.code)
    assert refused.code in (2, 4)
    assert compilations == []
    assert not Path("my.letalone.db").exists()
    commands = offered(refused.err)
    assert commands
    for command in commands:
        assert letalone(*command, "--ledger", f"{commands.index(command)}.db").code == 0, command


def test_file_and_ledger_are_opened_once(
    letalone: Letalone, my: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from letalone.ledger import Ledger

    opened = {"engine": 0, "ledger": 0}
    make, open_ledger = DuckEngine.__init__, Ledger.open.__func__

    def counting_engine(self: DuckEngine, *given: Any, **more: Any) -> None:
        opened["engine"] += 1
        make(self, *given, **more)

    def counting_ledger(cls: type[Ledger], *given: Any, **more: Any) -> Ledger:
        opened["ledger"] += 1
        return open_ledger(cls, *given, **more)

    monkeypatch.setattr(DuckEngine, "__init__", counting_engine)
    monkeypatch.setattr(Ledger, "open", classmethod(counting_ledger))
    for _ in range(2):  # the first makes the ledger, the second finds it
        opened.update(engine=0, ledger=0)
        assert letalone("query", "my.csv", MEAN, *PRICE, *KEYS, *BOUNDS).code == 0
        assert opened == {"engine": 1, "ledger": 1}
