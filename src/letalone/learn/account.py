"""A budget that fits debit: one data set of a ledger, passed around by reference.

    account = Account(la.Budget(epsilon=3, delta=1e-6), ledger="budget.db", name="adult")
    LogisticRegression(epsilon=1, delta=1e-6, data_norm=4, classes=[0, 1], budget=account)

What is typed adds up: three fits at (1, 1e-6) cost (3, 3e-6), and a fit may cost the whole budget.
Copies, clones, grid searches and other processes debit the same budget: an account is never
copied, and one that lives in a ledger's file is opened again where it is unpickled. One that
lives in this process alone cannot be debited elsewhere: there it refuses.

  Tested:   tests/learn/test_account.py, test_manners.py
"""

import os
from itertools import count
from secrets import token_hex
from typing import Self

from letalone.errors import ParameterError
from letalone.exact.typed import Number, as_typed
from letalone.ledger import Ledger
from letalone.ledger.acts import Reservation
from letalone.ledger.chain.canonical import digest_of
from letalone.ledger.charging import Charge, Payer
from letalone.privacy import ADD_REMOVE, ApproxDP, Budget, Neighbours, Privacy
from letalone.privacy.bank import Shares
from letalone.privacy.budget import brief
from letalone.privacy.curve import Json

Path = str | os.PathLike[str]
CURVE = "curve"
ADDED_UP = Shares(leak=1)  # all of delta is for fits with a delta of their own, which add up
_NUMBERS = count(1)


class Account:
    """The budget of one data set, which every fit that is given it debits."""

    __slots__ = ("_ledger", "name")

    def __init__(
        self,
        budget: Budget,
        *,
        name: str = "data",
        ledger: Ledger | Path | None = None,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        self.name = name
        self._ledger: Ledger | None = _open_ledger(ledger)
        known = name in [data_set.name for data_set in self._ledger.data_sets()]
        shares = None if known else ADDED_UP
        self._ledger.register(name, budget, neighbours=neighbours, shares=shares)

    @property
    def ledger(self) -> Ledger:
        """The ledger that is charged."""
        if self._ledger is None:
            raise ParameterError(
                "The budget of this estimator lived in another process, so nothing can be debited"
                " from here. Give the account a ledger's file: Account(budget, ledger='budget.db')."
            )
        return self._ledger

    def check_reached(self, processes: int) -> None:
        """Refuses work in other processes, before it is sent there, that could not debit it."""
        if processes > 1 and self._ledger is not None and not self._ledger.durable:
            raise ParameterError(
                f"n_jobs={processes} fits in other processes, and they cannot debit a budget that"
                " lives in this one. Keep it in a file, la.learn.Account(budget,"
                " ledger='budget.db'), or leave n_jobs out. Nothing was fitted."
            )

    @property
    def is_elsewhere(self) -> bool:
        """Whether it lived in another process and cannot be debited from here."""
        return self._ledger is None

    @property
    def budget(self) -> Budget:
        """What all fits together may reveal."""
        return self.ledger.data_set(self.name).budget

    @property
    def spent(self) -> Budget:
        """About what was spent: an estimate, the budget is the guarantee."""
        return self.ledger.data_set(self.name).spent

    @property
    def remaining(self) -> Budget:
        """About what is left: an estimate, the budget is the guarantee."""
        return self.ledger.data_set(self.name).remaining

    @property
    def fits(self) -> int:
        """How many fits were charged."""
        return self.ledger.data_set(self.name).releases

    @property
    def payer(self) -> Payer:
        """The data set as it is charged; the curve of a fit says itself what it protects."""
        return Payer(self.ledger, self.name)

    def price(
        self,
        privacy: Privacy,
        *,
        plan: Json,
        epsilon: Number,
        delta: Number,
        run: str | None = None,
    ) -> Charge:
        """What one fit is charged. Fits of arrays are never repeats; a run goes on with its own."""
        plan = {**plan, CURVE: privacy.labelled(None).to_json()}  # signed, whatever is charged
        once = digest_of({"plan": plan, "fit": run or token_hex(16)}, name="The fit")
        adds_up = self.ledger.data_set(self.name).shares == ADDED_UP
        return Charge(
            what=f"The fit costs ({Budget(epsilon, delta)})",
            privacy=_pair(privacy, epsilon, delta) if adds_up else privacy,
            plan=plan,
            digest=once,
            delta=delta or None,
            advice="Fit with a smaller epsilon, or a smaller delta if that is what is spent.",
            advice_on_delta="",
        )

    def charge(
        self, privacy: Privacy, *, plan: Json, epsilon: Number, delta: Number
    ) -> Reservation:
        """Pays for one fit before its data is touched."""
        charge = self.price(privacy, plan=plan, epsilon=epsilon, delta=delta)
        return self.payer.pay(charge, run=None)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[object, tuple[str, str | None]]:
        return type(self).again, (self.name, None if self._ledger is None else self._ledger.path)

    @classmethod
    def again(cls, name: str, path: str | None) -> Self:
        """The account of this name, elsewhere; without a file it cannot be debited from there."""
        account = cls.__new__(cls)
        account.name = name
        account._ledger = None if path is None else Ledger.open(path, create=False)
        return account

    def __repr__(self) -> str:
        if self._ledger is None:
            return f"Account({self.name!r}, which lived in another process)"
        return (
            f"Account({self.name!r}: {brief(self.spent)} of ({self.budget}) spent on {self.fits}"
            f" fit{'s' * (self.fits != 1)})"
        )


def _pair(privacy: Privacy, epsilon: Number, delta: Number) -> Privacy:
    """The price as it was typed, where the curve keeps it."""
    keeps = as_typed(privacy.delta(epsilon)) <= as_typed(delta)
    if not keeps or as_typed(epsilon) == 0 or as_typed(delta) == 0:
        return privacy
    return ApproxDP(epsilon, delta, neighbours=privacy.neighbours)


def account_of(budget: Budget | Account | None) -> Account | None:
    """The account itself, or a new one in this process with that budget."""
    if budget is None or isinstance(budget, Account):
        return budget
    if isinstance(budget, Budget):  # pyright: ignore[reportUnnecessaryIsInstance]
        return Account(budget, name=f"data {next(_NUMBERS)}")
    kind = type(budget).__name__
    raise ParameterError(f"budget is {kind}, but must be la.Budget(…) or la.learn.Account(…).")


def _open_ledger(ledger: Ledger | Path | None) -> Ledger:
    if ledger is None:
        return Ledger.in_memory()
    return ledger if isinstance(ledger, Ledger) else Ledger.open(ledger)
