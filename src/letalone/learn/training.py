"""How every estimator is fitted: a plan is made from shapes and paid for, then data is seen.

A plan is made from the constructor's parameters and the number of features alone. It knows its
privacy before any value is looked at, and gives back what may be published; nothing else becomes
an attribute.

  Tested:   tests/learn/test_training.py, test_manners.py
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from letalone.errors import DataSetFrozen, ParameterError
from letalone.exact.typed import Number
from letalone.learn.account import Account, account_of
from letalone.learn.scikit import copy_of, rows_of
from letalone.learn.stored import to_json
from letalone.privacy import ADD_REMOVE, Budget, Privacy
from letalone.privacy.curve import Json
from letalone.privacy.filters import brief
from letalone.randomness.bits import SYSTEM, BitSource

Floats = NDArray[np.float64]
Labels = NDArray[Any]
Released = Mapping[str, object]
OUTSIDE_PARAMETERS = ("budget",)


class Plan(Protocol):
    """What a fit will do, decided from public facts alone."""

    @property
    def privacy(self) -> Privacy:
        """What the fitted model reveals: its delta at the stated epsilon is at most the stated."""
        ...

    @property
    def words(self) -> tuple[str, ...]:
        """How it is done, a line for each fact that matters."""
        ...

    def described(self) -> Json:
        """All that decides the law of the model: text and whole numbers."""
        ...

    def fitted(self, rows: Floats, labels: Labels | None, bits: BitSource) -> Released:
        """What may be published, by attribute; sees data, so it must succeed for any values."""
        ...


class PrivateTable(Protocol):
    """A table with a budget of its own that models can be trained on: `la.open` gives one."""

    def train(self, job: "Job") -> Released:
        """Charges, fetches rows, fits and settles; or gives back what the same job gave before."""
        ...


class Job(Protocol):
    """What a table needs to know to train a model."""

    features: Sequence[str]
    target: str | None
    epsilon: Number
    delta: Number
    plan: Callable[[int], Plan]


class PrivateEstimator(BaseEstimator):
    """A scikit-learn estimator whose fit is paid for; `privacy_` says what it reveals."""

    epsilon: Number
    delta: Number
    _account: Account | None
    _bits: BitSource = SYSTEM
    _needs_labels = False

    privacy_: Privacy
    release_: "Fit"

    @abstractmethod
    def _plan(self, width: int) -> Plan:
        """The plan for so many features; ParameterError where parameters do not fit."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803
        """Learns from rows, one for each person; charges the budget first."""
        rows, labels = self._read(X, y)
        plan = self._plan(rows.shape[1])
        released = self._paid(plan, lambda: plan.fitted(rows, labels, self._bits))
        self._publish(plan, released)
        return self

    @property
    def budget(self) -> Account | None:
        """The account that fits debit: one object, shared with all clones."""
        return self._account

    def _keep(self, budget: Budget | Account | None) -> None:
        """For constructors: the account is a reference beside the parameters, not one of them."""
        self._account = account_of(budget)

    def _read(self, X: Any, y: Any) -> tuple[Floats, Labels | None]:  # noqa: N803
        """Rows as doubles and labels as they are: only shapes and types are looked at."""
        if y is None and self._needs_labels:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but it is None.")
        rows = rows_of(self, X, fitting=True)
        labels = None if y is None else column_of(y, len(rows))
        return rows, labels

    def _paid(self, plan: Plan, work: Callable[[], Released]) -> Released:
        """The work, after it was charged; whatever stops it, its words are not passed on."""
        if self._account is None:
            return work()
        ledger = self._account.ledger
        paid = self._account.charge(plan.privacy, plan=plan.described(), delta=self.delta)
        try:
            released: Released | None = work()
        except Exception:
            released = None  # its words, cause and context could hold a private value
        if released is None:
            ledger.fail(paid)
            raise DataSetFrozen(
                f"The fit could not be finished, and the data set {paid.name!r} is frozen. What was"
                " charged stays spent. Its owner can look at the data and allow fits again:"
                f" ledger.thaw({paid.name!r}, 'why')."
            )
        ledger.settle(paid, {"format": 1, "kind": "model", **to_json(released)})
        return released

    def _publish(self, plan: Plan, released: Released) -> None:
        for name, value in released.items():
            setattr(self, name, value)
        self.privacy_ = plan.privacy
        self.release_ = Fit(type(self).__name__, plan, self.epsilon, self.delta, self._account)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        names = cast("list[str]", super()._get_param_names())
        return [name for name in names if name not in OUTSIDE_PARAMETERS]

    def __sklearn_clone__(self) -> Self:
        parameters = cast("dict[str, Any]", self.get_params(deep=False))
        copied = {name: copy_of(value) for name, value in parameters.items()}
        twin = cast("Callable[..., Self]", type(self))(**copied, budget=self._account)
        for name in ("_metadata_request", "_sklearn_output_config", "_skl_callbacks", "_bits"):
            if name in self.__dict__:
                setattr(twin, name, self.__dict__[name])
        return twin

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("_bits", None)
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        return tags


class Fit:
    """What was published by a fit, in words: `estimator.release_`."""

    __slots__ = ("account", "delta", "epsilon", "model", "plan")

    def __init__(
        self, model: str, plan: Plan, epsilon: Number, delta: Number, account: Account | None
    ) -> None:
        self.model, self.plan, self.account = model, plan, account
        self.epsilon, self.delta = epsilon, delta

    @property
    def privacy(self) -> Privacy:
        """What the model reveals."""
        return self.plan.privacy

    def __repr__(self) -> str:
        price = str(Budget(self.epsilon, self.delta))
        lines = [f"{self.model}: ({price}), {self.privacy.neighbours or ADD_REMOVE}"]
        lines += [f"  {line}" for line in self.plan.words]
        lines.append(f"  {_left(self.account)}")
        return "\n".join(lines)


def column_of(labels: object, rows: int) -> Labels:
    """Labels as a column; only their shape is looked at."""
    column = np.asarray(labels)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1 or len(column) != rows:
        raise ValueError(
            f"y has the shape {np.shape(column)}, but must be one column of {rows} labels, one for"
            " each row of X."
        )
    return column


def declared(name: str, value: object, *, example: str) -> object:
    """A parameter that must be declared: it is never read off the data in silence."""
    if value is None:
        raise ParameterError(
            f"{name} is missing: it is never read off the data in silence, which would reveal it."
            f" Declare it, such as {name}={example}, or buy it: {name}='private'."
        )
    return value


def _left(account: Account | None) -> str:
    if account is None:
        return "No budget was given: nobody adds up what several fits reveal together."
    left = brief(account.remaining, up=False)
    return f"Left: about ({left}) of ({account.budget}) of {account.name!r}."
