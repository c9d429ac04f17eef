"""k-means by noisy rounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

from letalone.errors import ParameterError
from letalone.learn.noisy_sums.clusters import KMeans, nearest, pack_centres
from letalone.learn.noisy_sums.wholes import product, within_bounds
from neighbours_of_learners import assert_within, rows_of
from seeded import SeededBits
from stages import pick

CENTRES = np.array([[0.0, 0.0], [6.0, 2.0], [-5.0, 5.0]])


def data(rows=3000, seed=0):
    generator = np.random.default_rng(seed)
    return CENTRES[generator.integers(0, 3, rows)] + 0.5 * generator.normal(size=(rows, 2))


def fitted(estimator, rows, seed=0):
    estimator._bits = SeededBits(seed)
    return estimator.fit(rows)


@given(rows=rows_of(3))
def test_a_row_moves_the_sums_of_a_round_by_no_more_than_the_measures_say(rows):
    """The clusters of all other rows stay the same, whichever row is left out."""
    places = within_bounds(rows, -np.ones(3), np.ones(3))
    centres = np.rint(pack_centres(4, 3, seed=1) * 2**17)
    plan = KMeans(4, bounds=(-1, 1))._plan(3)
    for left in range(len(rows)):
        kept = np.arange(len(rows)) != left
        for inside, measure in zip(
            (np.ones_like(places[:, :1]), places), plan.noise.measures, strict=True
        ):
            whole, without = (
                product((nearest(some, centres)[:, np.newaxis] == np.arange(4)) * 1.0, part)
                for some, part in ((places, inside), (places[kept], inside[kept]))
            )
            assert_within(whole - without, measure)


def test_the_cluster_of_a_row_does_not_depend_on_the_rows_beside_it():
    """BLAS may add up in another order where there are more rows: whole products are exact."""
    generator = np.random.default_rng(0)
    places = np.rint(generator.uniform(-1, 1, (300, 40)) * 2**17)
    twins = np.rint(generator.uniform(-1, 1, (2, 40)) * 2**17)
    centres = np.vstack([twins, twins[:, ::-1], -twins, twins])
    together = nearest(places, centres)
    assert [int(nearest(row[np.newaxis], centres)[0]) for row in places] == together.tolist()
    exact = [[sum((int(p) - int(c)) ** 2 for p, c in zip(row, centre, strict=True))
              for centre in centres] for row in places[:40]]  # fmt: skip
    assert [distances.index(min(distances)) for distances in exact] == together[:40].tolist()


def test_centres_are_whole_after_every_round():
    """Only then are the next round's distances exact."""
    plan = KMeans(3, 1, bounds=(-8, 8))._plan(2)
    places = within_bounds(data(200), np.full(2, -8.0), np.full(2, 8.0))
    centres, bits = np.rint(pack_centres(3, 2, seed=0) * 2**17), SeededBits(0)
    for _ in range(3):
        centres = plan._next(places, centres, bits)
        assert np.array_equal(centres, np.rint(centres))


def test_all_rounds_together_cost_what_was_asked():
    for delta in (0, 1e-6):
        plan = KMeans(3, 1, delta, bounds=(0, 1), n_iter=5)._plan(30)
        assert [one.times for one in plan.noise.measures] == [5, 5]
        assert plan.privacy.delta(1) <= delta


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize(("epsilon", "off"), [(1e4, 0.1), (2, 0.5)])
def test_centres_are_found(epsilon, off, delta):
    found = fitted(KMeans(3, epsilon, delta, bounds=(-8, 8), random_state=1), data())
    apart = np.linalg.norm(CENTRES[:, np.newaxis] - found.cluster_centers_, axis=2)
    assert np.all(apart.min(axis=1) < off)
    assert sorted(np.bincount(found.predict(data()))) == pytest.approx([1000] * 3, rel=0.1)


def test_bounds_can_be_bought():
    found = fitted(KMeans(3, 4, bounds="private", init=CENTRES + 1), data())
    assert found.lower_.tolist() == [-8, -2]
    assert found.privacy_.delta(4) == 0
    apart = np.linalg.norm(CENTRES - found.cluster_centers_, axis=1)
    assert np.all(apart < 0.5)


def test_neither_labels_nor_inertia_are_published_and_nothing_exact():
    """A rival publishes both, exactly."""
    found = fitted(KMeans(3, 1, bounds=(-8, 8)), data(50))
    learned = {name for name in vars(found) if name.endswith("_") and not name.startswith("_")}
    assert learned == {
        "cluster_centers_", "n_iter_", "lower_", "upper_", "middle_", "n_features_in_",
        "privacy_", "release_",
    }  # fmt: skip
    other = fitted(KMeans(3, 1, bounds=(-8, 8)), data(50), seed=1)
    assert np.any(found.cluster_centers_ != other.cluster_centers_)


def test_rounds_follow_from_public_numbers_alone():
    rounds = {
        (epsilon, rows): KMeans(5, epsilon, bounds=(0, 1), rows=rows)._plan(4).rounds
        for epsilon in (0.01, 1) for rows in (100, 3000, 10**6)
    }  # fmt: skip
    assert set(rounds.values()) <= set(range(2, 8))
    assert rounds[0.01, 100] == 2
    assert rounds[1, 10**6] == 7
    assert fitted(KMeans(2, 1, bounds=(0, 1), n_iter=3), data(10)).n_iter_ == 3


def test_first_centres_are_public_spread_and_the_same_each_time():
    centres = pack_centres(6, 2, seed=3)
    assert np.array_equal(centres, pack_centres(6, 2, seed=3))
    assert not np.array_equal(centres, pack_centres(6, 2, seed=4))
    assert np.all(np.abs(centres) < 1)
    apart = np.linalg.norm(centres[:, np.newaxis] - centres, axis=2)
    assert apart[np.triu_indices(6, 1)].min() > 0.4
    assert stats.uniform(-1, 2).cdf(centres).mean() == pytest.approx(0.5, abs=0.2)
    assert pack_centres(1, 3, seed=0).tolist() == [[0, 0, 0]]


@settings(max_examples=pick(12, 40))
@given(rows=rows_of(2))
def test_any_values_are_learned_from(rows):
    found = fitted(KMeans(2, 1, bounds=(0, 1)), rows)
    assert np.all((found.cluster_centers_ >= 0) & (found.cluster_centers_ <= 1))
    assert set(found.fit_predict(rows)) <= {0, 1}


def test_a_cluster_without_rows_keeps_its_centre():
    found = fitted(
        KMeans(2, 100, bounds=(0, 1), init=[[0.1, 0.1], [0.9, 0.9]]), np.full((500, 2), 0.2)
    )
    assert found.cluster_centers_[1] == pytest.approx(0.9, abs=1e-4)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_clusters": 0}, "n_clusters is 0"),
        ({"n_iter": 0}, "n_iter is 0"),
        ({"rows": 0}, "rows is 0"),
        ({"random_state": -1}, "random_state is -1"),
        ({"init": [[0, 0]]}, "a row for each of 3 clusters"),
        ({"init": np.full((3, 2), np.nan)}, "finite"),
        ({"bounds": None}, "bounds is missing"),
    ],
)
def test_wrong_parameters_are_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        KMeans(**{"n_clusters": 3, "bounds": (0, 1), **wrong}).fit(data(5))
