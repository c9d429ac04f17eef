"""The smallest private classifier: noisy counts of labels. For tests of what all models share."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

import letalone as la
from letalone.learn.features.classes import need_declared
from letalone.learn.scikit import fitted_rows
from letalone.learn.training import PrivateEstimator


@dataclass(frozen=True)
class MajorityPlan:
    epsilon: float
    delta: float
    classes: tuple[Any, ...]
    fails: bool

    @property
    def noise(self) -> Any:
        if self.delta:
            return la.Gaussian(epsilon=self.epsilon, delta=self.delta, sensitivity=1)
        return la.Geometric(epsilon=self.epsilon, sensitivity=1)

    @property
    def privacy(self) -> la.Privacy:
        if self.delta:
            return self.noise.privacy.with_neighbours(la.ADD_REMOVE)
        return la.PureDP(self.epsilon, neighbours=la.ADD_REMOVE)

    @property
    def words(self) -> tuple[str, ...]:
        return ("geometric noise on the number of rows of each class",)

    def described(self) -> dict[str, object]:
        return {
            "model": "majority",
            "epsilon": str(self.epsilon),
            "classes": [str(one) for one in self.classes],
        }

    def fitted(self, rows: Any, labels: Any, bits: Any) -> dict[str, object]:
        if self.fails:
            raise ValueError(f"the value {rows[0, 0]} is odd")
        counts = np.array([int(np.sum(labels == one)) for one in self.classes])
        noisy = self.noise.release(counts, bits=bits)
        return {"counts_": np.asarray(noisy), "classes_": np.array(self.classes)}


class Majority(ClassifierMixin, PrivateEstimator):
    """Predicts the most frequent label; `worst=True` the rarest."""

    _needs_labels = True

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0,
        *,
        classes: Any = None,
        worst: bool = False,
        fails: bool = False,
        budget: Any = None,
    ) -> None:
        self.epsilon, self.delta, self.classes = epsilon, delta, classes
        self.worst, self.fails = worst, fails
        self._keep(budget)

    def _plan(self, width: int) -> MajorityPlan:
        del width
        classes: Any = need_declared("classes", self.classes, example="[0, 1]")
        return MajorityPlan(self.epsilon, self.delta, tuple(classes), self.fails)

    def predict(self, X: Any) -> Any:  # noqa: N803
        rows = fitted_rows(self, X)
        place = np.argmin(self.counts_) if self.worst else np.argmax(self.counts_)
        return np.full(len(rows), self.classes_[place])
