"""The template of fit: charged before data is seen, and nothing else becomes public."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import letalone as la
from letalone.learn.training import PrivateEstimator, column_of

SECRET = 31415.926


@dataclass(frozen=True)
class CountPlan:
    epsilon: float
    fails: bool

    @property
    def privacy(self) -> la.Privacy:
        return la.PureDP(self.epsilon)

    @property
    def words(self) -> tuple[str, ...]:
        return ("geometric noise",)

    def described(self) -> dict[str, object]:
        return {"model": "count"}

    def fitted(self, rows: Any, labels: Any, bits: Any) -> dict[str, object]:
        del labels
        if self.fails:
            raise ValueError(f"the value {rows[0, 0]} is odd")
        noise = la.Geometric(epsilon=self.epsilon, sensitivity=1)
        return {"rows_": int(noise.release(len(rows), bits=bits))}


class Counter(PrivateEstimator):
    def __init__(
        self, epsilon: float = 1.0, delta: float = 0, *, fails: bool = False, budget: Any = None
    ) -> None:
        self.epsilon, self.delta, self.fails = epsilon, delta, fails
        self._keep(budget)

    def _plan(self, width: int) -> CountPlan:
        del width
        return CountPlan(self.epsilon, self.fails)


ROWS = np.full((50, 2), SECRET)


def test_a_fit_is_charged_and_settled() -> None:
    account = la.learn.Account(la.Budget(1, 0))
    fitted = Counter(0.25, budget=account).fit(ROWS)
    assert account.spent == la.Budget(0.25, 0)
    assert account.ledger.unsettled() == []
    assert abs(fitted.rows_ - 50) < 200
    assert fitted.privacy_.epsilon(0) == 0.25


def test_only_what_the_plan_released_becomes_an_attribute() -> None:
    fitted = Counter().fit(ROWS)
    public = {name for name in vars(fitted) if name.endswith("_")}
    assert public == {"rows_", "privacy_", "release_", "n_features_in_"}


def test_clones_debit_the_same_budget_which_is_no_parameter() -> None:
    first = Counter(0.25, budget=la.Budget(1, 0))
    assert "budget" not in first.get_params()
    for _ in range(4):
        clone(first).fit(ROWS)
    with pytest.raises(la.BudgetExceeded):
        clone(first).fit(ROWS)
    assert first.budget is not None
    assert first.budget.fits == 4


def test_a_fit_over_budget_sees_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails, too, is contained, so that an error alone would not show that it was made."""
    made: list[object] = []
    monkeypatch.setattr(CountPlan, "fitted", lambda *given: made.append(given))
    with pytest.raises(la.BudgetExceeded):
        Counter(2, budget=la.Budget(1, 0)).fit(ROWS)
    assert made == []


def test_a_fit_that_fails_says_nothing_about_the_data_and_freezes_it() -> None:
    account = la.learn.Account(la.Budget(1, 0))
    with pytest.raises(la.DataSetFrozen) as caught:
        Counter(0.25, fails=True, budget=account).fit(ROWS)
    told: list[object] = [caught.value]
    while told[-1] is not None:
        assert str(SECRET) not in str(told[-1])
        told.append(told[-1].__cause__ or told[-1].__context__)  # pyright: ignore
    assert account.spent == la.Budget(0.25, 0)
    with pytest.raises(la.DataSetFrozen):
        Counter(0.25, budget=account).fit(ROWS)


def test_a_release_says_its_price_and_what_is_left() -> None:
    text = repr(Counter(0.25, budget=la.Budget(1, 0)).fit(ROWS).release_)
    assert "ε = 0.25" in text
    assert "geometric noise" in text
    assert "Left: about" in text
    assert "nobody adds up" in repr(Counter().fit(ROWS).release_)


def test_rows_that_are_not_finite_are_no_error() -> None:
    fitted = Counter().fit(np.array([[np.nan, np.inf], [-np.inf, 1e308]]))
    assert abs(fitted.rows_ - 2) < 200


def test_a_fit_without_a_budget_says_nothing_about_the_data_either() -> None:
    with pytest.raises(la.LetaloneError) as caught:
        Counter(fails=True).fit(ROWS)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert str(SECRET) not in str(caught.value)


def test_one_odd_label_in_a_list_changes_no_other_label() -> None:
    plain, odd = column_of([0, 1, 1], 3), column_of([0, 1, "x"], 3)
    assert plain[:2].tolist() == odd[:2].tolist() == [0, 1]
