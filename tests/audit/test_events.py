"""Events are fixed sets of outputs, and those chosen tell the inputs apart."""

from fractions import Fraction

import numpy as np
import pytest

from letalone.audit.events import Event, best_event
from letalone.audit.outputs import Layout, Outputs, read
from letalone.audit.views import learn

GENERATOR = np.random.default_rng(20)
SIZE = 4000


def laplace(scale: float, *shape: int) -> np.ndarray:
    """Noise on a grid: numpy's own floats tell inputs apart by their low-order bits."""
    return np.rint(GENERATOR.laplace(0, scale, shape) * 1024) / 1024


def chosen(
    one: object, other: object, width: int, delta: str = "0"
) -> tuple[Event, Outputs, Outputs]:
    mine, theirs = read(one, Layout(width)), read(other, Layout(width))
    return best_event(mine, theirs, delta=Fraction(delta))[1], mine, theirs


def test_a_score_depends_on_the_output_and_not_on_its_place_in_a_batch() -> None:
    rows = laplace(1, SIZE, 9)
    rows[5] = np.nan
    one, other = read(rows, Layout(9)), read(rows + 0.3, Layout(9))
    for view in learn(one, other):
        whole = view.score(one)
        for first, last in ((0, 1), (5, 6), (17, 100), (SIZE - 3, SIZE)):
            np.testing.assert_array_equal(view.score(one.part(first, last)), whole[first:last])


def test_a_shift_is_told_by_a_threshold_near_the_kink() -> None:
    noise = laplace(1, 2, SIZE)
    event, one, other = chosen(noise[0], noise[1] + 1, 1)
    counts = event.counts(one, other)
    assert counts.often / counts.seldom > 2.2
    assert "the output" in str(event)


def test_a_difference_in_spread_is_told_by_a_union_of_ranges() -> None:
    """No single threshold sees it well: both tails are needed."""
    wide = laplace(4, SIZE)
    event, one, other = chosen(laplace(1, SIZE), wide, 1)
    counts = event.counts(one, other)
    one_sided = max(np.mean(wide > t) / max(np.mean(one.numbers > t), 4 / SIZE) for t in (2, 3, 4))
    assert counts.often / max(counts.seldom, 4) > one_sided
    assert str(event).count(" in (") >= 2


def test_a_parity_is_told_by_the_lowest_bit() -> None:
    even = 2 * GENERATOR.integers(-5000, 5000, (2, SIZE))
    event, one, other = chosen(even[0], even[1] + 1, 1)
    assert event.counts(one, other).often >= 0.99 * SIZE
    assert event.counts(one, other).seldom == 0
    assert "lowest set bit" in str(event) or "zero bits" in str(event)


def test_a_category_is_told_by_name() -> None:
    labels = np.array(["a", "b", "c"])
    one, other = (
        labels[GENERATOR.choice(3, SIZE, p=p)] for p in ([0.2, 0.4, 0.4], [0.6, 0.2, 0.2])
    )
    event, *outputs = chosen(one, other, 0)
    assert "'a'" in str(event)
    assert "more often under `other` than under `one`" in str(event)
    assert event.counts(*outputs).often / event.counts(*outputs).seldom > 2.5


def test_a_direction_is_told_that_no_coordinate_shows() -> None:
    shared = GENERATOR.normal(0, 100, (2, SIZE, 1))
    own = GENERATOR.normal(0, 1, (2, SIZE, 2))
    one, other = shared + own
    event, *outputs = chosen(one, other + np.array([2.0, -2.0]), 2)
    counts = event.counts(*outputs)
    assert counts.often / max(counts.seldom, 4) > 5
    assert "weights" in str(event)


def test_many_small_shifts_are_told_together() -> None:
    noise = laplace(1, 2, SIZE, 16)
    event, *outputs = chosen(noise[0], noise[1] + 0.25, 16)
    counts = event.counts(*outputs)
    alone = np.exp(0.25)
    assert counts.often / counts.seldom > 1.5 * alone


def test_what_is_not_a_number_can_be_the_event() -> None:
    one, other = laplace(1, 2, SIZE)
    other[::3] = np.nan
    event, *outputs = chosen(one, other, 1)
    assert event.counts(*outputs).often > 0.9 * SIZE / 3
    assert event.counts(*outputs).seldom < SIZE / 100


def test_with_a_delta_the_event_is_one_that_can_spare_it() -> None:
    """A rare event of huge ratio is worth nothing if delta may explain it."""
    one, other = laplace(1, 2, SIZE)
    one[::25] = 50.0
    rare, *outputs = chosen(one, other + 1, 1)
    assert rare.counts(*outputs).often <= SIZE / 20
    common, *outputs = chosen(one, other + 1, 1, delta="0.05")
    assert common.counts(*outputs).often > SIZE / 5


@pytest.mark.parametrize(
    "outputs", [np.zeros(100), np.full((100, 3), np.nan), np.full(100, np.inf)]
)
def test_outputs_that_tell_nothing_still_give_an_event(outputs: np.ndarray) -> None:
    width = outputs.shape[1] if outputs.ndim == 2 else 1
    event, one, other = chosen(outputs, outputs, width)
    counts = event.counts(one, other)
    assert counts.often == counts.seldom
