"""Every learner from statistics before the auditor, on a pair of neighbours.

Each is fitted without and with one row that moves its sums as far as a row may. An honest claim
is accused by one seed in 20 at most. Power: the same learner planned for an epsilon of 60 is
accused of more than 1.
"""

import numpy as np
import pytest

from letalone.audit import Verdict, audit
from letalone.learn.noisy_sums.clusters import KMeans
from letalone.learn.noisy_sums.components import PCA
from letalone.learn.noisy_sums.linear_regression import LinearRegression
from letalone.learn.noisy_sums.naive_bayes import GaussianNB
from letalone.learn.noisy_sums.scaling import MinMaxScaler, StandardScaler
from seeded import SeededBits

ROWS = np.array([[0.0, 0.5], [1.0, 1.0]])
LABELS = np.array([0.0, 1.0])


def _line(epsilon):
    ends = {"data_norm": 1, "target_bounds": (0, 1)}
    return LinearRegression(epsilon, **ends, fit_intercept=False)


LEARNERS = {
    "bayes": (lambda e: GaussianNB(e, bounds=(0, 1), classes=[0, 1]), "class_count_"),
    "line": (lambda e: _line(e), "coef_"),
    "components": (lambda e: PCA(1, e, data_norm=1, center=0), "explained_variance_"),
    "clusters": (lambda e: KMeans(1, e, bounds=(0, 1), n_iter=1), "cluster_centers_"),
    "scaler": (lambda e: StandardScaler(e, bounds=(0, 1)), "mean_"),
    "bounds": (lambda e: MinMaxScaler(e, bounds="private"), "data_max_"),
}


@pytest.mark.long
@pytest.mark.parametrize("learner", LEARNERS)
def test_an_honest_learner_is_not_accused_and_one_with_less_noise_is(learner):
    make, attribute = LEARNERS[learner]
    verdicts = [_audited(make(planned)._plan(2), attribute) for planned in (1, 60)]
    assert verdicts == [Verdict.CONSISTENT, Verdict.ACCUSED]


def _audited(plan, attribute):
    bits = SeededBits(7)

    def mechanism(size):
        found = plan.fitted(ROWS[:size], LABELS[:size], bits)[attribute]
        return float(np.sum(found))

    return audit(mechanism, 1, 2, claimed_epsilon=1, samples=200).verdict
