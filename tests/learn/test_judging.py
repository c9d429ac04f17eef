"""What judges the candidates of a search is total, and no row decides the score of another."""

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

import letalone as la
from learn.majority import Majority
from letalone.learn.searching.judging import BLOCK_ROWS, STEPS_PER_ROW, Blocks, Score
from letalone.learn.searching.search import PrivateSearchCV
from letalone.learn.searching.search_plan import Candidate
from seeded import SeededBits

RANDOM = np.random.default_rng(5)
ROWS = RANDOM.normal(size=(40, 2))
LABELS = (ROWS[:, 0] > 0).astype(int)


class Odd:
    """A cell that cannot be hashed, compared or read."""

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        raise ValueError("secret")

    def __float__(self) -> float:
        raise ValueError("secret")


ODD_CELLS = [pd.NA, np.array([1, 2]), Decimal("sNaN"), 10**400, Odd(), None, [1], "secret", 1j]


def cells(*given: object) -> np.ndarray:
    column = np.empty(len(given), object)
    column[:] = given
    return column


def classifier(**options: object) -> la.learn.LogisticRegression:
    return la.learn.LogisticRegression(**{"data_norm": 3, "classes": [0, 1]} | options)


def search(estimator: Any, seed: int = 3, **options: Any) -> PrivateSearchCV:
    grid = {"fit_intercept": [True, False]}
    given = {"param_grid": grid, "epsilon": 1, "delta": 1e-6, "method": "every"} | options
    made = PrivateSearchCV(estimator, **given)
    made._bits = SeededBits(seed)
    return made


# Any cell.


@pytest.mark.parametrize("odd", ODD_CELLS, ids=lambda odd: type(odd).__name__)
def test_a_label_of_any_kind_counts_as_wrong_and_others_as_they_are(odd: object) -> None:
    assert Score(None).counted(np.array([1, 1, 0]), cells(1, odd, 0)) == (2, 1)
    assert Score(None).counted(np.array(["a", "b"]), cells(odd, "b")) == (1, 1)
    numbers = Score((0.0, 1.0)).counted(np.array([0.25, 1.0]), cells(odd, 1.0))
    assert numbers == (STEPS_PER_ROW, STEPS_PER_ROW)


def test_labels_of_columns_that_hold_no_numbers_count_as_wrong() -> None:
    score = Score((0.0, 1.0))
    assert score.counted(np.array([0.5]), np.array(["0.5"])) == (0, STEPS_PER_ROW)
    assert score.counted(np.array([0.5]), np.array([0.5 + 0j])) == (0, STEPS_PER_ROW)


@pytest.mark.parametrize(
    ("classes", "label"),
    [([0, 1], 1.0), ([0, 1], True), ([False, True], 1), ([0, 1], Decimal(1)), (["a", "b"], "b")],
)
def test_a_label_is_the_class_that_training_reads_it_as(
    classes: list[object], label: object
) -> None:
    assert Score(None).counted(np.array(classes)[[1, 0]], cells(label, label)) == (1, 1)


@pytest.mark.parametrize("odd", ODD_CELLS, ids=lambda odd: type(odd).__name__)
def test_a_search_ends_whatever_labels_are(odd: object) -> None:
    """Twenty such labels: with none of them among the rows to judge by once in 80 runs."""
    labels = cells(*LABELS.tolist())
    for place in range(20):
        labels[place] = odd
    account = la.learn.Account(la.Budget(10, 1e-3))
    search(classifier(), budget=account).fit(ROWS, labels)
    line = la.learn.LinearRegression(data_norm=3, target_bounds=(0, 1))
    search(line, budget=account).fit(ROWS, labels)
    assert account.fits == 2


def test_columns_of_text_are_refused_by_their_type_before_a_charge() -> None:
    account = la.learn.Account(la.Budget(10, 1e-3))
    line = la.learn.LinearRegression(data_norm=3, target_bounds=(0, 1))
    with pytest.raises(la.ParameterError, match="y must be numbers"):
        search(line, budget=account).fit(ROWS, LABELS.astype(str))
    assert account.fits == 0


# Any rows, also none.


@pytest.mark.parametrize("rows", [0, 1, 2, 40])
def test_a_model_without_classes_scores_nothing_and_makes_no_error(rows: int) -> None:
    """At this price no label of so few rows is ever published (once in 10^6), with rows or none."""
    bought = classifier(classes="private")
    for seed in range(4):
        found = search(bought, seed, epsilon=0.1).fit(ROWS[:rows], LABELS[:rows])
        assert len(found.classes_) == 0
        plan = found._plan(2)
        blocks = Blocks.of(ROWS[:rows], np.arange(rows))
        model = {"classes_": found.classes_}
        predicted = plan.candidates[0].predictions(model, blocks)
        assert plan.score.counted(predicted, LABELS[:rows]) == (0, rows)


class Silent(Majority):
    """A model that cannot predict."""

    def predict(self, X: Any) -> Any:  # noqa: ARG002, N803
        raise ValueError("never")


@pytest.mark.parametrize("rows", [0, 1, 600])
def test_whether_there_are_rows_to_judge_by_decides_no_error(rows: int) -> None:
    made = search(Silent(classes=[0, 1]), param_grid={"worst": [True]})
    with pytest.raises(la.errors.LetaloneError, match="could not be finished"):
        made.fit(np.ones((rows, 2)), np.zeros(rows))


@pytest.mark.parametrize("huge", [1e200, 1e308, np.inf, np.nan])
def test_rows_of_any_size_are_judged_without_a_word(huge: float) -> None:
    """Warnings are errors here, so one that depended on a row would freeze the data set."""
    rows = ROWS.copy()
    rows[:20] = huge
    line = la.learn.LinearRegression(data_norm=0.001, target_bounds=(0, 1), method="objective")
    for model in (
        classifier(data_norm=0.01),
        classifier(data_norm=0.01, classes=[0, 1, 2]),
        line,
    ):
        plan = search(model)._plan(2)
        found = plan.fitted(rows, LABELS, SeededBits(4))  # past those who hold back words, too
        assert found["best_index_"] in (0, 1)
        assert 0 <= found["best_score_"] <= 1
        assert np.isfinite(found["best_model_"]["coef_"]).all()


# One row, one score.


def by_place(block: np.ndarray) -> np.ndarray:
    """As a product of matrices may round: by the place of a row, and by how many there are."""
    return block[:, 0] + np.arange(len(block)) / 2.0**20 + len(block)


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(0, 12), st.integers(0, 3))
def test_one_row_more_moves_no_other_prediction(places: list[int], at: int, place: int) -> None:
    at = min(at, len(places))
    rows = np.arange(1.0, len(places) + 1)[:, np.newaxis]
    before = Blocks.of(rows, np.array(places, np.int64)).predicted(by_place)
    more = Blocks.of(np.insert(rows, at, 99.0, axis=0), np.insert(np.array(places, int), at, place))
    after = more.predicted(by_place)
    assert np.delete(after, at).tolist() == before.tolist()
    assert after[at] == 99.0 + place / 2.0**20 + BLOCK_ROWS
    padded = by_place(np.insert(rows, 0, 99.0, axis=0))[1:]
    assert not len(places) or padded.tolist() != before.tolist(), "rows in the order given"


MODELS = [
    classifier(),
    classifier(classes=[0, 1, 2]),
    la.learn.LinearSVC(data_norm=3, classes=[0, 1]),
    la.learn.GaussianNB(bounds=(-3, 3), classes=[0, 1]),
    la.learn.BoostedTreesClassifier(delta=1e-6, bounds=(-3, 3), classes=[0, 1], rounds=2),
    la.learn.LinearRegression(data_norm=3, target_bounds=(0, 1)),
    la.learn.Ridge(data_norm=3, target_bounds=(0, 1)),
    la.learn.BoostedTreesRegressor(delta=1e-6, bounds=(-3, 3), target_bounds=(0, 1), rounds=2),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_what_a_model_says_at_a_place_reads_that_row_alone(model: Any) -> None:
    """The assumption of the proof, bit by bit, with other rows and without."""
    width = 7
    rows = np.random.default_rng(6).normal(size=(BLOCK_ROWS, width))
    model.fit(rows, rows[:, 0] > 0)
    said = getattr(model, "predict_log_proba", getattr(model, "decision_function", model.predict))
    whole = said(rows)
    for place in (0, 1, 100, BLOCK_ROWS - 2, BLOCK_ROWS - 1):
        alone = np.zeros((BLOCK_ROWS, width))
        alone[place] = rows[place]
        assert np.array_equal(said(alone)[place], whole[place])


def test_a_search_predicts_in_blocks_of_one_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes: list[tuple[int, ...]] = []
    fitted = Candidate.fitted

    def watched(self: Candidate, released: Any, width: int) -> Any:
        model = fitted(self, released, width)
        predict = model.predict
        model.predict = lambda rows: (shapes.append(rows.shape), predict(rows))[1]
        return model

    monkeypatch.setattr(Candidate, "fitted", watched)
    made = search(Majority(classes=[0, 1]), param_grid={"worst": [True, False]})
    made.fit(np.ones((3000, 2)), np.zeros(3000))
    assert set(shapes) == {(BLOCK_ROWS, 2)}
    assert len(shapes) > 4, "two candidates, and more blocks than one for each"


def test_places_are_coins_and_not_the_order_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded. Over seeds, fair coins would fail once in 10^6."""
    seen: list[np.ndarray] = []
    whole = Blocks.of
    monkeypatch.setattr(
        Blocks, "of", lambda rows, places: (seen.append(places), whole(rows, places))[1]
    )
    made = search(Majority(classes=[0, 1]), param_grid={"worst": [True]})
    made.fit(np.ones((8000, 2)), np.zeros(8000))

    def is_fair(places: np.ndarray) -> bool:
        rising = float(np.mean(np.diff(places) > 0))
        evenly = float(chisquare(np.bincount(places, minlength=BLOCK_ROWS)).pvalue)
        return abs(rising - 0.5) < 0.05 and evenly > 5e-7

    assert is_fair(seen[0])
    assert not is_fair(np.sort(seen[0]))
    assert not is_fair(np.arange(len(seen[0])) % BLOCK_ROWS)
    assert not is_fair(seen[0] % 2)
