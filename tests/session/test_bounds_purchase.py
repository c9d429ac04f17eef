"""Bounds that are bought, and then the answer: two charges, and never the first alone."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pandas as pd
import pytest

import letalone as la
from letalone.engines.duckdb.duck_engine import DuckEngine
from letalone.errors.codes import Code
from letalone.ledger import EntryKind, Ledger
from letalone.session import pricing
from letalone.session.steps import bounds_purchase
from letalone.session.steps.bounds_purchase import TRIAL_BOUNDS, WIDEST_BOUNDS, lacking_bounds
from letalone.session.steps.in_steps import PricedInSteps
from session.makers import opened

ROWS = 3000


def session(budget: float = 100) -> la.Session:
    rows = range(ROWS)
    frame = pd.DataFrame(
        {
            "person": [str(i) for i in rows],
            "amount": [0.0005 + i * 1e-8 for i in rows],
            "days": [3000 + i % 1000 for i in rows],
        }
    )
    return la.open(frame, unit="person", budget=budget, name="my")


def priced(of: la.Session, sql: str = "SELECT AVG(amount) FROM my") -> PricedInSteps:
    found = of.sql(sql).price_with_bounds(1)
    assert isinstance(found, PricedInSteps)
    return found


def kinds(of: la.Session) -> list[EntryKind]:
    charged = (EntryKind.RESERVED, EntryKind.SETTLED, EntryKind.REFUSED)
    return [entry.kind for entry in of.ledger.entries("my") if entry.kind in charged]


def test_bounds_take_a_fifth_and_both_are_charged_in_turn() -> None:
    my = session()
    found = priced(my)
    assert (found.columns, found.total) == (("amount",), la.Budget(1))
    assert (found.purchases[0].terms.epsilon, found.answer.terms.epsilon) == (
        Fraction(1, 5),
        Fraction(4, 5),
    )
    assert kinds(my) == []
    bought = found.release()
    assert kinds(my) == [EntryKind.RESERVED, EntryKind.SETTLED] * 2
    assert set(bought.bounds) == {"amount"}
    assert my.spent.epsilon == 1
    assert priced(my).release().release.repeated
    assert my.spent.epsilon == 1


def test_what_has_bounds_is_priced_as_any_other_question() -> None:
    my = session()
    sql = "SELECT COUNT(*) FROM my"
    asked = my.sql(sql, max_rows=10)
    assert asked.price_with_bounds(1).terms == asked.price(1).terms  # type: ignore[union-attr]
    given = my.sql("SELECT AVG(days) FROM my", bounds={"days": (0, 5000)})
    assert lacking_bounds(given) == ()


@pytest.mark.long
def test_each_of_the_trial_bounds_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    my, calls, real = session(), list[Any](), pricing.compile_plan

    def counted(*given: Any, **more: Any) -> Any:
        calls.append(given)
        return real(*given, **more)

    monkeypatch.setattr(pricing, "compile_plan", counted)
    found = priced(my)
    assert len(calls) == len(TRIAL_BOUNDS) + 1
    found.release()
    assert len(calls) == len(TRIAL_BOUNDS) + 2


@pytest.mark.long
def test_both_fit_or_none_is_charged_and_the_refusal_is_of_the_bounds() -> None:
    my = session(1.5)
    priced(my).release()
    other = priced(my, "SELECT AVG(days) FROM my")
    assert not other.fits
    with pytest.raises(la.BudgetExceeded, match=r"Bounds and answer cost \(ε = 1\) together"):
        other.release()
    assert kinds(my)[4:] == [EntryKind.REFUSED]
    (refused,) = [entry for entry in my.ledger.entries("my") if entry.kind is EntryKind.REFUSED]
    assert refused.body["digest"] == other.purchases[0].terms.digest
    assert other.fits_into(la.Budget(1))
    assert not other.fits_into(la.Budget(0.9))


@pytest.mark.long  # test_bounds_that_were_paid_for_and_interrupted_are_gone_on_with stays
def test_who_spends_in_between_leaves_the_bounds_which_are_free_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    my = session(1.5)
    buy = PricedInSteps._find_bounds  # pyright: ignore[reportPrivateUsage]

    def and_then_somebody_else(found: PricedInSteps) -> Any:
        bounds = buy(found)
        my.sql("SELECT COUNT(*) FROM my", epsilon=1, max_rows=10)
        return bounds

    with monkeypatch.context() as patch:
        patch.setattr(PricedInSteps, "_find_bounds", and_then_somebody_else)
        with pytest.raises(la.BudgetExceeded, match="are found and kept") as refused:
            priced(my).release()
    assert refused.value.left is not None
    spent = my.spent.epsilon
    my.ledger.raise_budget("my", la.Budget(3))
    priced(my).release()
    assert my.spent.epsilon == spent + Fraction(4, 5)


def test_bounds_that_no_table_is_large_enough_for_are_not_bought() -> None:
    with pytest.raises(la.ParameterError) as refused:
        session().sql("SELECT AVG(amount) FROM my").price_with_bounds(0.01)
    assert refused.value.code is Code.BOUNDS_TOO_RISKY


def test_bounds_of_columns_do_not_help_a_quotient() -> None:
    with pytest.raises(la.ParameterError) as refused:
        session().sql("SELECT SUM(amount / days) FROM my").price_with_bounds(1)
    assert refused.value.code is Code.MISSING_EXPRESSION_BOUNDS


def test_bounds_that_are_too_close_are_widened_and_never_narrowed() -> None:
    close = {"x": (Fraction(0), Fraction(1, 1024)), "y": (Fraction(-8), Fraction(-4))}
    tried = list(bounds_purchase.wider_bounds(close))
    assert tried[0] == close
    assert tried[-1] == dict.fromkeys(close, WIDEST_BOUNDS)
    assert len(tried) < 100
    for before, after in pairwise(tried):
        for name in close:
            assert after[name][0] <= before[name][0] < before[name][1] <= after[name][1]


def test_all_that_is_missing_is_named_at_once() -> None:
    asked = session().sql("SELECT days, AVG(amount), SUM(days) FROM my GROUP BY days")
    codes = [one.code for one in asked.check()]
    assert codes == [Code.MISSING_EPSILON, Code.MISSING_BOUNDS, Code.MISSING_KEYS]
    assert [one.code for one in asked.check(1, delta=1e-6)] == [Code.MISSING_BOUNDS]
    assert asked.check(1, delta=1e-6, buy_bounds=True) == ()


@pytest.mark.long  # test_both_fit_or_none_is_charged_and_the_refusal_is_of_the_bounds stays
def test_bounds_are_not_bought_where_a_level_could_not_pay_for_the_answer() -> None:
    my = session(20)
    my.ledger.allow("my", la.Budget(10), purpose="research")
    my.ledger.allow("my", la.Budget(2), purpose="research", analyst="ann")
    found = my.on_behalf_of("ann", purpose="research").sql("SELECT AVG(amount) FROM my")
    for epsilon, fits in ((5, False), (2, True)):
        priced_at = found.price_with_bounds(epsilon)
        assert isinstance(priced_at, PricedInSteps)
        assert priced_at.fits == fits
        if not fits:
            with pytest.raises(la.BudgetExceeded):
                priced_at.release()
            assert my.spent.epsilon == 0


def test_what_is_frozen_does_not_fit() -> None:
    my = session()
    found = priced(my)
    my.ledger.fail(my.ledger.charge("my", la.PureDP(0.1), plan={}, digest="a"))
    assert not found.fits


def test_a_question_that_is_only_explained_buys_nothing() -> None:
    my = session()
    found = priced(my, "EXPLAIN SELECT AVG(amount) FROM my")
    with pytest.raises(la.ParameterError) as refused:
        found.release()
    assert refused.value.code is Code.ONLY_EXPLAINED
    with pytest.raises(la.ParameterError):
        found.answer.answer()
    assert my.spent.epsilon == 0


def test_bounds_that_were_paid_for_and_interrupted_are_gone_on_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All of the budget is for this question, so a second payment for its bounds would not fit."""
    my = session(1)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(DuckEngine, "measure", interrupted)
        with pytest.raises(KeyboardInterrupt):
            priced(my).release()
    assert my.spent.epsilon == Fraction(1, 5)
    priced(my).release()
    assert my.spent.epsilon == 1


def test_whether_both_charges_fit_takes_one_look_at_the_ledger(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    look, looks = Ledger.standing, list[str]()

    def count(ledger: Ledger, name: str, **asker: Any) -> Any:
        looks.append(name)
        return look(ledger, name, **asker)

    with session() as my:
        found = priced(my)
        monkeypatch.setattr(Ledger, "standing", count)
        monkeypatch.setattr(Ledger, "check_fits", None)
        assert found.fits
        assert len(found.trials) > 1
    assert looks == ["my"]


def test_every_answer_that_may_follow_must_fit_after_the_bounds() -> None:
    with session(budget=2) as my:
        found = priced(my)
        dear = my.agg(n=la.count()).price(1.9)
        assert dear.fits
        assert found.fits
        for place in range(len(found.trials)):
            trials = (*found.trials[:place], dear, *found.trials[place + 1 :])
            assert not replace(found, trials=trials).fits, place


@pytest.mark.long
def test_bounds_that_were_bought_feed_an_aggregate():
    session = opened()
    bought = session.private_bounds("cost", epsilon=5, rows=1000)
    lower, upper = bought.bounds
    assert (lower, upper) == (bought["bounds_lower"], bought["bounds_upper"])
    for made in (la.mean, la.sum, la.std, la.variance, la.median, la.min, la.max):
        asked = session.agg(m=made("cost", bounds=bought)).plan
        assert asked == session.agg(m=made("cost", lower=lower, upper=upper)).plan
    assert session.agg(m=la.mean("cost", bounds=(0, 9))).plan.aggregates[0][1].upper == 9


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"bounds": (0, 1), "lower": 0}, "given with lower= or upper="),
        ({"bounds": 3}, "must be a pair"),
        ({"bounds": (1, 2, 3)}, "must be a pair"),
    ],
)
def test_other_bounds_are_refused(given, words):
    with pytest.raises(la.ParameterError, match=words):
        la.mean("cost", **given)


def test_an_answer_that_is_no_bounds_is_refused_as_bounds():
    answer = opened().bound(max_rows=1).agg(n=la.count()).release(epsilon=1)
    with pytest.raises(la.ParameterError, match="has no bounds"):
        la.mean("cost", bounds=answer)
