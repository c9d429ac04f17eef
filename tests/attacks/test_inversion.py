"""Secrets guessed with a model, and rows of people found in its file."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from letalone import learn
from letalone.attacks import invert_model, rows_in_model
from letalone.attacks.rates import Rates
from letalone.errors import ParameterError
from letalone.privacy import PureDP
from seeded import SeededBits

GENERATOR = np.random.default_rng(4)
ROWS = GENERATOR.normal(size=(40, 5))
LABELS = (ROWS[:, 0] > 0).astype(int)


@pytest.fixture(scope="module")
def found() -> Any:
    return invert_model(models=80, bits=SeededBits(1))


@pytest.mark.long
def test_a5_an_ordinary_model_tells_the_secrets_of_members_and_a_private_one_keeps_d6(
    found: Any,
) -> None:
    """Over seeds, a private model that keeps its promise is accused at most once in 20."""
    assert found.ordinary.detection > 0.9 > 0.6 > found.baseline
    assert found.ordinary.false_alarm < 0.6
    assert found.ordinary.exceeds(found.privacy)
    assert not found.exceeds
    assert found.private.detection < found.most_allowed
    assert found.privacy.epsilon(0) == 1


def test_a5_what_holds_for_everybody_is_guessed_of_strangers_as_well() -> None:
    """Inversion of what the population has in common is no breach, and is shown as such."""
    gene = GENERATOR.integers(0, 2, 400)
    noise = GENERATOR.normal(size=400)
    table = pa.table({"gene": gene, "age": noise, "dose": 10 * gene + noise})
    found = invert_model(table, people=400, models=40, epsilon=8, bits=SeededBits(3))
    assert min(found.ordinary.false_alarm, found.private.false_alarm) > 0.9
    assert not found.exceeds
    assert not found.ordinary.exceeds(PureDP(8))


def test_a5_classes_are_inverted_as_well_as_numbers() -> None:
    found = invert_model(target="income", sensitive="gene", models=20)
    assert found.values == 3
    assert isinstance(found.ordinary, Rates)


@pytest.mark.long  # models tell: test_a5_classes_are_inverted_as_well_as_numbers
def test_a5_the_rows_of_people_are_in_the_file_of_a_kernel_machine(found: Any) -> None:
    assert found.stored > 0.9 * found.trained
    assert found.private_stored == 0
    machine = SVC().fit(ROWS, LABELS)
    inside = rows_in_model(machine, ROWS)
    assert np.array_equal(np.flatnonzero(inside), np.sort(machine.support_))
    assert not rows_in_model(machine, ROWS + 1e-9).any()


def test_a5_rows_are_found_wherever_a_model_keeps_them() -> None:
    assert rows_in_model(KNeighborsClassifier().fit(ROWS, LABELS), ROWS).all()
    assert rows_in_model(make_pipeline(SVC(C=1e-3)).fit(ROWS, LABELS), ROWS).sum() > 20
    assert not rows_in_model(LogisticRegression().fit(ROWS, LABELS), ROWS).any()


@pytest.mark.parametrize(
    "model",
    [
        learn.LinearSVC(1, data_norm=3, classes=[0, 1]),
        learn.KMeans(3, 1, bounds=(-4, 4)),
        learn.BoostedTreesClassifier(1, 1e-6, bounds=(-4, 4), classes=[0, 1]),
    ],
)
def test_a5_no_row_is_in_a_private_model(model: Any) -> None:
    assert not rows_in_model(model.fit(ROWS, LABELS), ROWS).any()


def test_a_secret_that_cannot_be_tried_is_refused() -> None:
    with pytest.raises(ParameterError, match="must be one of the features"):
        invert_model(sensitive="genes", models=20)
    table = pa.table({"x": GENERATOR.normal(size=60), "dose": GENERATOR.normal(size=60)})
    with pytest.raises(ParameterError, match="Name another"):
        invert_model(table, sensitive="x", models=20)


@pytest.mark.parametrize("model", [3, None, "model", {}])
def test_what_is_no_model_is_refused_in_words(model: object) -> None:
    with pytest.raises(ParameterError, match="must be one that was trained"):
        rows_in_model(model, [[1.0, 2.0]])
    with pytest.raises(ParameterError, match="one row for each person"):
        rows_in_model(SVC().fit([[0.0], [1.0]], [0, 1]), [1.0, 2.0])
