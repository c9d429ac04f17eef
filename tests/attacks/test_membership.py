"""Membership in the data of a model: found in an ordinary one, within D6 in a private one."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from letalone import learn
from letalone.answers.promise import as_percent
from letalone.attacks import infer_membership
from letalone.attacks.confidence import confidence
from letalone.attacks.games import fitted_on, play
from letalone.attacks.training_people import people_of, people_of_arrays
from letalone.errors import ParameterError
from letalone.privacy import REPLACE, PureDP
from letalone.privacy.neighbours import is_replace
from seeded import SeededBits

QUICK: dict[str, Any] = {"models": 80, "shadows": 24}
GENERATOR = np.random.default_rng(3)
ROWS = GENERATOR.uniform(-1, 1, (60, 3))
LABELS = (ROWS[:, 0] + GENERATOR.normal(size=60) > 0).astype(int)


@pytest.fixture(scope="module")
def found() -> Any:
    return infer_membership(**QUICK, bits=SeededBits(1))


@pytest.mark.long
def test_a5_members_are_found_in_an_ordinary_model_and_a_private_one_keeps_d6(found: Any) -> None:
    """Over seeds, a private model that keeps its promise is accused at most once in 20."""
    ratio = found.ordinary[1]
    assert ratio.usual.detection > 0.7
    assert ratio.usual.false_alarm < 0.3
    assert found.ordinary_exceeds
    assert not found.exceeds
    assert found.most_allowed == pytest.approx(0.05 * np.e, rel=1e-6)
    assert found.private[0].usual.false_alarm > 0
    assert found.most_at_measured > found.most_allowed
    assert "which is within its promise" in found.words
    assert f"no more than {as_percent(found.most_at_measured)}" in found.words
    assert found.most_advantage == pytest.approx((np.e - 1) / (np.e + 1), rel=1e-6)


@pytest.mark.long  # test_a5_a_table_of_ones_own_a_model_and_a_loss
def test_a5_a_low_rate_of_false_alarms_is_where_the_likelihood_ratio_is_better(found: Any) -> None:
    """Carlini and others: a loss threshold finds hardly anybody there."""
    threshold, ratio = found.ordinary
    assert ratio.low.detection > threshold.low.detection + 0.2
    low, high = ratio.low.interval()
    assert low < ratio.low.detection < high
    assert min(threshold.advantage, ratio.advantage) > 0.5


def test_a5_a_private_model_that_lies_about_its_noise_is_accused() -> None:
    """Power: a model whose curve says ε = 1, and that adds no noise."""

    class Liar(LinearRegression):
        def fit(self, X: Any, y: Any) -> Any:  # noqa: N803
            self.privacy_ = PureDP(1)
            return super().fit(X, y)

    wide = (GENERATOR.normal(size=(60, 80)), GENERATOR.normal(size=60))
    found = infer_membership(wide, private=Liar(), **QUICK)
    assert found.exceeds
    assert "more than it promises" in found.words


def test_a5_members_by_coins_have_the_add_remove_bound_and_halves_that_of_replace() -> None:
    model = learn.GaussianNB(1, bounds=(-1, 1), classes=[0, 1])
    crowd = people_of_arrays(ROWS, LABELS, people=60, generator=GENERATOR)
    plays = [
        play(model, crowd, lambda _: np.zeros(60), models=30, generator=GENERATOR, fixed_size=half)
        for half in (False, True)
    ]
    sizes = [set(one.inside.sum(axis=1)) for one in plays]
    assert len(sizes[0]) > 1
    assert sizes[1] == {30}
    assert [one.privacy.epsilon(0) for one in plays] == [1, 2]
    assert [is_replace(one.privacy.neighbours) for one in plays] == [False, True]


def test_a5_a_promise_about_replaced_rows_is_not_held_against_coins() -> None:
    class Replaced(DecisionTreeClassifier):
        def fit(self, X: Any, y: Any) -> Any:  # noqa: N803
            self.privacy_ = PureDP(1).labelled(REPLACE)
            return super().fit(X, y)

    with pytest.raises(ParameterError, match="fixed_size=True"):
        infer_membership((ROWS, LABELS), private=Replaced(), models=20, shadows=8)
    found = infer_membership(
        (ROWS, LABELS), private=Replaced(), models=20, shadows=8, fixed_size=True
    )
    assert found.to_json()["neighbours"] == "replace"


def test_a5_a_model_without_a_promise_is_no_private_one() -> None:
    with pytest.raises(ParameterError, match="privacy_"):
        infer_membership((ROWS, LABELS), private=KNeighborsClassifier(), models=20, shadows=8)


def test_a5_a_table_of_ones_own_a_model_and_a_loss() -> None:
    table = pa.table(
        {
            "age": GENERATOR.integers(18, 90, 80),
            "town": GENERATOR.choice(["a", "b", "c"], 80),
            "name": [f"person {number}" for number in range(80)],
            "income": GENERATOR.choice(["high", "low", None], 80, p=[0.5, 0.45, 0.05]),
        }
    )
    found = infer_membership(
        table, target="income", model=DecisionTreeClassifier(), models=60, shadows=16
    )
    assert (found.features, found.models[0]) == (4, "DecisionTreeClassifier")  # without names
    assert found.ordinary[0].advantage > 0.2
    rows = (ROWS, GENERATOR.normal(size=60))
    by_loss = infer_membership(
        rows,
        model=LinearRegression(),
        loss=lambda model, x, y: abs(model.predict(x) - y),
        models=20,
        shadows=8,
    )
    assert by_loss.models == ("LinearRegression", "LinearRegression")


def test_the_same_seed_draws_the_same_people_in_any_order_of_the_table() -> None:
    table = pa.table({"a": ROWS[:, 0], "b": ROWS[:, 1], "y": LABELS})
    turned = table.take(pa.array(range(59, -1, -1)))
    asked: dict[str, Any] = {"target": "y", "features": (), "people": 30}
    one, other = (
        people_of(each, **asked, generator=np.random.default_rng(5)) for each in (table, turned)
    )
    assert np.array_equal(one.rows, other.rows)
    assert np.array_equal(one.labels, other.labels)
    assert np.abs(one.rows).max() <= 1


@pytest.mark.parametrize(
    "model",
    [
        learn.LogisticRegression(1000, data_norm=2, classes=[0, 1]),
        learn.LinearSVC(1000, data_norm=2, classes=[0, 1]),
        learn.LogisticRegression(1000, data_norm=2, classes=[0, 1, 2]),
    ],
)
def test_a_model_is_surer_of_the_label_that_it_was_taught(model: Any) -> None:
    model._bits = SeededBits(2)
    labels = (ROWS[:, 0] > 0).astype(int)
    fitted = model.fit(ROWS, labels)
    assert confidence(fitted, ROWS, labels).mean() > confidence(fitted, ROWS, 1 - labels).mean()


def test_what_cannot_be_attacked_is_refused_with_the_remedy() -> None:
    few = pa.table({"a": [1, 2], "y": ["u", "v"]})
    with pytest.raises(ParameterError, match="at least 20"):
        infer_membership(few, target="y")
    with pytest.raises(ParameterError, match="must be at least 8"):
        infer_membership((ROWS, LABELS), shadows=4)
    with pytest.raises(ParameterError, match="20 or more"):
        infer_membership((ROWS, LABELS), models=19)
    with pytest.raises(ParameterError, match="Give a loss"):
        confidence(object(), ROWS, LABELS)
    with pytest.raises(ParameterError, match="as many labels"):
        infer_membership((ROWS, LABELS[:5]))
    one = pa.table({"a": range(30), "y": ["u"] * 30})
    with pytest.raises(ParameterError, match="Name another target"):
        infer_membership(one, target="y")


class Constant(DecisionTreeClassifier):
    """Private and useless: always the same answer; a caller may break its promise."""

    promises: Any = staticmethod(lambda _: PureDP(1))

    def fit(self, X: Any, y: Any) -> Any:  # noqa: N803, ARG002
        self.privacy_ = self.promises(y)
        return super().fit([[0.0]] * 2, [0, 1])

    def predict_proba(self, X: Any) -> Any:  # noqa: N803
        return np.full((len(X), 2), 0.5)


def test_a5_a_private_model_is_never_replaced_by_an_exact_one() -> None:
    """Where a draw has one label, the model that always says it would tell that label."""
    labels = np.array([0] * 59 + [1])
    crowd = people_of_arrays(ROWS, labels, people=60, generator=GENERATOR)
    alike = crowd.taken(crowd.labels == 0)
    assert type(fitted_on(Constant(), alike)) is Constant
    assert type(fitted_on(Constant(), alike, ordinary=True)).__name__ == "DummyClassifier"
    found = infer_membership((ROWS, labels), private=Constant(), models=60, shadows=8)
    assert not found.exceeds
    assert max(one.advantage for one in found.private) == 0
    with pytest.raises(ParameterError, match="declare its classes"):
        fitted_on(Refusing(), alike)


class Refusing(Constant):
    def fit(self, X: Any, y: Any) -> Any:  # noqa: N803
        if len(np.unique(y)) < 2:
            raise ValueError("one class")
        return super().fit(X, y)


def test_a5_every_fit_is_asked_for_its_promise() -> None:
    class Turning(Constant):
        promises = staticmethod(lambda labels: PureDP(1 if len(labels) % 2 else 2))

    class Silent(Constant):
        promises = staticmethod(lambda labels: PureDP(1) if len(labels) % 2 else None)

    for model in (Turning(), Silent()):
        with pytest.raises(ParameterError, match="promise different things"):
            infer_membership((ROWS, LABELS), private=model, models=20, shadows=8)


@pytest.mark.parametrize("argument", ["model", "private"])
def test_what_cannot_be_trained_is_refused_in_words(argument: str) -> None:
    for given, said in (
        (object(), f"{argument} is object,"),
        (int, f"{argument} is the class int"),
    ):
        with pytest.raises(ParameterError, match=said):
            infer_membership(**{argument: given})
