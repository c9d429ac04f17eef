"""A question is planned and compiled once, when it is priced; nothing is spent until `release`."""

from typing import Any

import pytest

import letalone as la
from letalone.session import pricing, query
from letalone.session.query import Query
from session.makers import opened
from session.test_partners import by_sex, patients, visits


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was planned and compiled."""
    found = list[str]()
    for module, name in ((query, "make_plan"), (pricing, "compile_plan")):
        real = getattr(module, name)

        def counted(*given: Any, _real: Any = real, _name: str = name, **more: Any) -> Any:
            found.append(_name)
            return _real(*given, **more)

        monkeypatch.setattr(module, name, counted)
    return found


def test_a_release_is_planned_and_compiled_once(calls: list[str]) -> None:
    opened().bound(max_rows=10).agg(n=la.count()).release(0.5)
    assert calls == ["make_plan", "compile_plan"]


def test_a_price_is_looked_at_and_paid_without_compiling_again(calls: list[str]) -> None:
    session = opened(budget=la.Budget(2))
    priced = session.agg(n=la.count()).price(0.5)
    assert priced.fits
    assert priced.preview().left == priced.remaining
    assert "ε = 0.5" in priced.explain()
    more = priced.how_many_more()
    assert session.spent == la.Budget(0)
    release = priced.release()
    assert session.spent == la.Budget(0.5)
    assert priced.how_many_more() == more - 1
    assert priced.release().repeated
    assert release.asked == priced.terms
    assert calls == ["make_plan", "compile_plan"]


def test_a_price_that_keeps_an_error_says_so_on_its_answer() -> None:
    priced = opened().agg(n=la.count()).price(error=5)
    assert "is the least of three digits" in str(priced.release())


def test_what_a_price_shows_is_of_all_tables_that_would_pay() -> None:
    with visits() as mine, patients() as theirs:
        priced = by_sex(mine, theirs).price(0.5)
        before = priced.how_many_more()
        theirs.agg(n=la.count()).release(0.5)
        assert priced.how_many_more() == before - 1
        assert "Of 'patients'" in str(priced.remaining)


def test_a_question_from_a_plan_is_the_same_question() -> None:
    session = opened()
    asked = session.agg(n=la.count())
    whole = Query.from_plan(asked.table, asked.plan)
    assert whole.price(0.5).terms.digest == asked.price(0.5).terms.digest
    assert not whole.release(0.5).repeated
    assert asked.release(0.5).repeated
    with pytest.raises(la.ParameterError, match="is a whole plan"):
        whole.where(la.col("age") > 3)


def test_sql_that_is_only_explained_is_priced_and_not_answered() -> None:
    session = opened()
    priced = session.sql("EXPLAIN SELECT COUNT(*) FROM data").price(0.5)
    with pytest.raises(la.ParameterError, match="begins with EXPLAIN"):
        priced.release()
    assert session.spent == la.Budget(0)
