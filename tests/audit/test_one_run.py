"""One fit, audited by canaries: honest ones pass, those with too little noise do not.

The system's coins are replaced by seeded ones. At 95 % a correct fit is accused by one seed in
twenty at most; the claims here are far from being reached, so that in fact none is.
"""

from typing import Any

import numpy as np
import pytest

from letalone.audit import TrainingAudit, Verdict, audit_training
from letalone.errors import ParameterError
from letalone.learn import LinearSVC, LogisticRegression, Ridge
from letalone.learn.training import PrivateEstimator
from seeded import SeededBits

GENERATOR = np.random.default_rng(1)
ROWS = GENERATOR.normal(size=(200, 3))
LABELS = (ROWS[:, 0] > 0).astype(int)


@pytest.fixture(autouse=True)
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PrivateEstimator, "_bits", SeededBits(1))


def audited(estimator: Any, **options: Any) -> TrainingAudit:
    return audit_training(
        estimator, ROWS, LABELS, claimed_epsilon=1, coins=SeededBits(2), **options
    )


@pytest.mark.long
@pytest.mark.parametrize("method", ["gradient", "objective", "output"])
@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC])
def test_an_honest_fit_passes_and_one_with_less_noise_is_accused(kind: Any, method: str) -> None:
    verdicts = [
        audited(
            kind(epsilon, 1e-5, data_norm=1, classes=[0, 1], method=method), canaries=800
        ).verdict
        for epsilon in (1, 200)
    ]
    assert verdicts == [Verdict.CONSISTENT, Verdict.ACCUSED]


def test_classes_in_any_order_and_more_than_two_are_read_right() -> None:
    """With next to no noise nearly every guess is right; a label read wrong would halve that."""
    for classes in ([1, 0], [0, 1], [2, 0, 1]):
        loud = LogisticRegression(1000, 1e-5, data_norm=1, classes=classes, method="gradient")
        found = audited(loud, canaries=60, guesses=30)
        assert found.guesses.right >= 28


def test_a_regression_is_audited_by_its_target_bounds() -> None:
    loud = Ridge(1000, 1e-5, data_norm=1, target_bounds=(-1, 1))
    found = audited(loud, canaries=100)
    assert found.verdict is Verdict.ACCUSED


class Keeps:
    """Publishes its rows."""

    def __init__(self, keeps: bool = True) -> None:
        self.keeps = keeps

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        del deep
        return {"keeps": self.keeps}

    def fit(self, rows: Any, labels: Any) -> "Keeps":
        del labels
        self.rows = {tuple(row) for row in rows} if self.keeps else set()
        return self


def test_any_estimator_with_rows_and_a_score_of_ones_own() -> None:
    rows = GENERATOR.normal(size=(100, 3))

    def seen(model: Keeps, made: Any, marks: Any) -> Any:
        return [float(tuple(row) in model.rows) for row in made]

    options: dict[str, Any] = {"canaries": (rows, np.zeros(100)), "score": seen}
    found = audited(Keeps(), **options)
    assert found.guesses.right == found.guesses.made
    assert found.verdict is Verdict.ACCUSED
    assert "ACCUSED: of " in found.in_words
    assert audited(Keeps(keeps=False), **options).verdict is Verdict.CONSISTENT


def test_blind_guesses_are_wrong_about_epsilon_no_oftener_than_promised() -> None:
    """A model that knows nothing, at a claim of 0: over 200 seeds at most 1 in 20 is expected.

    An audit that was wrong in 15 % of runs would pass this with probability below 1e-4.
    """
    rows = GENERATOR.normal(size=(60, 3))
    options: dict[str, Any] = {"canaries": (rows, np.zeros(60)), "claimed_epsilon": 0}
    generator = np.random.default_rng(3)

    def blind(model: Keeps, made: Any, marks: Any) -> Any:
        return generator.random(len(made))

    accused = 0
    for seed in range(200):
        found = audit_training(
            Keeps(keeps=False),
            ROWS,
            LABELS,
            score=blind,
            coins=SeededBits(seed),
            **options,
        )
        accused += found.verdict is Verdict.ACCUSED
    assert accused <= 14


def test_the_estimator_that_was_given_stays_as_it_was() -> None:
    given = LogisticRegression(1, 1e-5, data_norm=1, classes=[0, 1], method="gradient")
    audited(given, canaries=20)
    assert not hasattr(given, "coef_")


@pytest.mark.parametrize(
    ("estimator", "options", "said"),
    [
        (Keeps(), {}, "a number as data_norm"),
        (LogisticRegression(data_norm="private", classes=[0, 1]), {}, "a number as data_norm"),
        (LogisticRegression(data_norm=1, classes="private"), {}, "need labels"),
        (Keeps(), {"canaries": (np.zeros((3, 2)), np.zeros(3))}, "rows of 3 columns"),
        (LogisticRegression(data_norm=1, classes=[0, 1]), {"guesses": 500}, "from 1 to 200"),
        (Keeps(), {"claimed_epsilon": None}, "its claim is not known"),
    ],
)
def test_what_cannot_be_audited_is_refused_before_a_fit(
    estimator: Any, options: Any, said: str
) -> None:
    with pytest.raises(ParameterError, match=said):
        audit_training(estimator, ROWS, LABELS, **{"claimed_epsilon": 1, **options})
