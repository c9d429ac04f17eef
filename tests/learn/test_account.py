"""An account is one budget, wherever it is carried."""

import copy
import pickle
from pathlib import Path

import pytest

import letalone as la
from letalone.errors import BudgetExceeded, ParameterError
from letalone.learn.account import Account, account_of
from letalone.learn.convex.linear import LogisticRegression
from seeded import SeededBits


def _spend(account: Account, epsilon: float) -> None:
    paid = account.charge(la.PureDP(epsilon), plan={"model": "x"}, epsilon=epsilon, delta=0)
    account.ledger.settle(paid, {"format": 1})


def test_copies_debit_the_same_budget() -> None:
    account = Account(la.Budget(1, 0))
    _spend(copy.deepcopy(account), 0.25)
    _spend(copy.copy(account), 0.25)
    assert account.spent == la.Budget(0.5, 0)
    assert account.fits == 2


def test_the_same_fit_twice_is_charged_twice() -> None:
    account = Account(la.Budget(1, 0))
    _spend(account, 0.5)
    _spend(account, 0.5)
    with pytest.raises(BudgetExceeded):
        _spend(account, 0.1)


def test_an_account_in_a_file_goes_on_where_it_is_unpickled(tmp_path: Path) -> None:
    account = Account(la.Budget(1, 0), ledger=tmp_path / "budget.db", name="adult")
    _spend(pickle.loads(pickle.dumps(account)), 0.75)
    assert account.spent == la.Budget(0.75, 0)


def test_an_account_of_another_process_refuses_to_be_debited_here() -> None:
    lost = pickle.loads(pickle.dumps(Account(la.Budget(1, 0))))
    assert "another process" in repr(lost)
    with pytest.raises(ParameterError, match=r"budget\.db"):
        _spend(lost, 0.1)


def test_a_budget_makes_an_account_of_its_own() -> None:
    one, other = account_of(la.Budget(1, 0)), account_of(la.Budget(1, 0))
    assert one is not None
    assert other is not None
    _spend(one, 1)
    assert other.spent == la.Budget(0, 0)
    assert account_of(None) is None
    assert account_of(one) is one


def test_what_is_no_budget_is_refused() -> None:
    with pytest.raises(ParameterError, match="budget is int"):
        account_of(3)  # pyright: ignore[reportArgumentType]


def test_an_account_says_what_is_spent() -> None:
    account = Account(la.Budget(2, 0), name="adult")
    _spend(account, 0.5)
    assert repr(account).startswith("Account('adult': ")
    assert "1 fit)" in repr(account)


def test_what_is_typed_adds_up_to_the_whole_budget() -> None:
    account = Account(la.Budget(3, 3e-6))
    for curve in (la.GaussianDP(0.1), la.ApproxDP(1, 1e-6), la.GaussianDP(0.2)):
        paid = account.charge(curve, plan={}, epsilon=1, delta=1e-6)
        account.ledger.settle(paid, {"format": 1})
    assert account.spent == la.Budget(3, 3e-6)
    with pytest.raises(BudgetExceeded, match=r"The fit costs \(ε = 0\.1, δ = 1e-9\)"):
        account.charge(la.GaussianDP(0.001), plan={}, epsilon=0.1, delta=1e-9)


def test_a_curve_above_the_price_that_was_typed_is_charged_as_it_is() -> None:
    account = Account(la.Budget(1, 1e-6))
    with pytest.raises(BudgetExceeded):
        account.charge(la.ApproxDP(2, 1e-6), plan={}, epsilon=1, delta=1e-6)


def test_a_data_set_that_the_ledger_knows_goes_on_with_its_own_shares(tmp_path: Path) -> None:
    with la.Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.register("adult", la.Budget(1, 1e-6), neighbours=la.ADD_REMOVE)
        account = Account(la.Budget(1, 1e-6), ledger=ledger, name="adult")
        paid = account.charge(la.GaussianDP(0.1), plan={}, epsilon=0.5, delta=1e-7)
        ledger.settle(paid, {"format": 1})
        assert account.fits == 1


def test_a_fit_may_cost_the_whole_budget() -> None:
    model = LogisticRegression(1, 1e-6, data_norm=1, classes=[0, 1], budget=la.Budget(1, 1e-6))
    model._bits = SeededBits(1)
    assert model.fit([[1.0]], [1]).budget.remaining.epsilon == 0
