"""Sparse histories: the shares of a search in plain Python; a crowd of equals hides everybody."""

import numpy as np
import pyarrow as pa
import pytest

from letalone.attacks import single_out
from letalone.errors import ParameterError


def test_a1_the_share_with_all_points_known_is_that_of_plain_python() -> None:
    """With more points than anyone has, the draw of points no longer matters."""
    generator = np.random.default_rng(5)
    person, place = generator.integers(0, 60, 150), generator.integers(0, 6, 150)
    found = single_out(
        pa.table({"who": person, "at": place}), person="who", points="at", most=10, people=1000
    )
    sets = {p: set(place[person == p].tolist()) for p in set(person.tolist())}
    fits = [sum(own <= other for other in sets.values()) for own in sets.values()]
    assert (found.people, found.tried) == (len(sets), len(sets))
    (curve,) = found.curves
    assert curve.unique[-1] == pytest.approx(fits.count(1) / len(fits))
    assert curve.right[-1] == pytest.approx(sum(1 / n for n in fits) / len(fits))
    assert 0 < curve.unique[-1] < 1


def test_nobody_is_told_apart_where_all_histories_are_alike() -> None:
    table = pa.table({"person": [0] * 5 + [1] * 5, "film": [*range(5)] * 2, "month": [1] * 10})
    for curve in single_out(table).curves:
        assert curve.unique == (0.0,) * 6
        assert curve.right == (0.5,) * 6


def test_a1_a_handful_of_points_is_enough_and_more_points_never_hide() -> None:
    found = single_out(people=200)
    both, films = found.curves
    assert both.columns == ("film", "month")
    assert both.unique[3] > 0.95
    assert films.unique[0] < 0.05 < 0.9 < films.unique[5]
    for curve in found.curves:
        assert list(curve.unique) == sorted(curve.unique)
    assert "2 points suffice" in found.words


def test_missing_points_count_for_nobody() -> None:
    table = pa.table({"person": [0, 1, None], "film": [None, 7, 7]})
    found = single_out(table, points=["film"])
    assert (found.people, found.curves[0].unique[0]) == (1, 1.0)
    nobody = pa.table({"person": [0], "film": pa.array([None], pa.int64())})
    with pytest.raises(ParameterError, match="No row has a person and a point"):
        single_out(nobody, points=["film"])
