"""What a fit will do, decided from public facts alone; and what it published, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from letalone.exact.typed import Number
from letalone.learn.account import Account
from letalone.privacy import ADD_REMOVE, ApproxDP, Budget, Privacy, PureDP
from letalone.privacy.budget import brief
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource

Floats = NDArray[np.float64]
Labels = NDArray[Any]
Released = Mapping[str, object]


class PrivatePlan(Protocol):
    """What will be done, decided from public facts alone."""

    @property
    def privacy(self) -> Privacy:
        """What is revealed: its delta at the stated epsilon is at most the stated."""
        ...

    @property
    def words(self) -> tuple[str, ...]: ...  # how it is done, a line for each fact that matters

    def described(self) -> Json:
        """All that decides the law of what is made: text and whole numbers."""
        ...


class FitPlan(PrivatePlan, Protocol):
    """The plan of a fit."""

    def fitted(self, rows: Floats, labels: Labels | None, bits: BitSource) -> Released:
        """What may be published, by attribute; sees data, so it must succeed for any values."""
        ...


def stated_promise(epsilon: Fraction, delta: Fraction) -> Privacy:
    """What is claimed of parts composed by basic composition (P3): the stated pair, no more."""
    if not delta:
        return PureDP(epsilon, neighbours=ADD_REMOVE)
    return ApproxDP(epsilon, delta, neighbours=ADD_REMOVE)


@dataclass(frozen=True, slots=True, repr=False)
class FitRecord:
    """What was published by a fit, in words: `estimator.release_`.

    `receipt` is what the ledger signed, where there was one.
    """

    model: str
    epsilon: Number
    delta: Number
    privacy: Privacy
    words: tuple[str, ...]
    plan: Json
    receipt: Json | None = None
    account: Account | None = None
    left: str | None = None

    def __repr__(self) -> str:
        price = str(Budget(self.epsilon, self.delta))
        lines = [f"{self.model}: ({price}), {self.privacy.neighbours or ADD_REMOVE}"]
        lines += [f"  {line}" for line in self.words]
        lines.append(f"  {self.left or _budget_words(self.account)}")
        return "\n".join(lines)


def _budget_words(account: Account | None) -> str:
    if account is None:
        return "No budget was given: nobody adds up what several fits reveal together."
    if account.is_elsewhere:
        return "Its budget lived in another process."
    remaining = brief(account.remaining, up=False)
    whose = "" if account.ledger.durable else " It serves whatever is given this very account."
    return f"Left: about ({remaining}) of ({account.budget}) of {account.name!r}.{whose}"
