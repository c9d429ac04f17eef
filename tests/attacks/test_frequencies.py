"""Homer: found in exact frequencies, within D6 in private ones; noise too small is seen."""

import numpy as np
import pyarrow as pa
import pytest

from letalone.attacks import trace_member
from letalone.attacks.frequencies import draw_pools, pools_of_table
from letalone.attacks.rates import judge_scores
from letalone.errors import ParameterError
from letalone.mechanisms import Geometric
from letalone.privacy import PureDP
from seeded import SeededBits


def test_a3_participants_are_found_in_exact_frequencies_and_more_so_with_more_attributes() -> None:
    found = trace_member(people=50, attributes=800, trials=600)
    assert found.ratio.detection > 0.95
    assert found.homer.detection > 0.85
    assert found.ratio.exceeds(PureDP(1))
    few, *_, many = [one for one in found.power if one.people == 50]
    assert few.rates.detection < many.rates.detection
    larger = [one for one in found.power if one.people == 200][-1]
    assert larger.rates.detection < many.rates.detection


def test_d6_private_frequencies_stay_within_the_curve() -> None:
    """A study of one, whose counts hide nobody but for the noise. Seeded; over seeds a correct
    release is accused at most once in 10^6."""
    found = trace_member(people=1, attributes=30, trials=4_000, bits=SeededBits(4))
    assert not found.private.exceeds(PureDP(1), confidence=1 - 1e-6)
    assert found.ratio.detection > 0.99, "without noise they are found"
    assert found.most_allowed == pytest.approx(0.05 * np.e, rel=1e-6)


def test_d6_noise_that_forgets_the_number_of_attributes_is_seen() -> None:
    """Power: sensitivity 1 instead of 400, at the same ε, is beyond D6."""
    pools = draw_pools(np.random.default_rng(3), people=50, attributes=400, trials=800)
    noise = Geometric(epsilon=1, sensitivity=1)
    bits = SeededBits(5)
    hidden = pools.released(lambda counts: noise.release(counts, bits=bits))
    towards = hidden.target - hidden.population

    def score(counts: np.ndarray) -> np.ndarray:
        return (towards * counts).sum(axis=1)

    base = 50 * (towards * hidden.population).sum(axis=1)
    rates = judge_scores(
        score(hidden.with_target) - base, score(hidden.without_target) - base, 0.05
    )
    assert rates.exceeds(PureDP(1), confidence=1 - 1e-6)


def test_the_two_worlds_of_a_trial_differ_in_one_person() -> None:
    generator = np.random.default_rng(7)
    table = pa.table({f"q{n}": generator.integers(0, 2, 40) for n in range(6)})
    for pools in (
        draw_pools(generator, people=10, attributes=6, trials=50),
        pools_of_table(generator, table, table.column_names, people=10, trials=50),
    ):
        change = pools.with_target - pools.without_target
        assert (change.min(), change.max()) == (-1, 1)
        # Where the counts differ, the target is on the side of the study that has them.
        assert ((change == 0) | ((change > 0) == (pools.target > 0))).all()
        assert pools.with_target.max() <= 10
        assert pools.with_target.min() >= 0


def test_a3_a_table_of_ones_own_is_attacked() -> None:
    generator = np.random.default_rng(8)
    share = generator.random(300)
    answers = generator.random((400, 300)) < share
    table = pa.table({f"q{n}": answers[:, n] for n in range(300)})
    found = trace_member(table, columns=table.column_names, people=30, trials=300)
    assert found.attributes == 300
    assert found.ratio.detection > 0.8


def test_columns_that_are_not_yes_or_no_and_studies_too_large_are_refused() -> None:
    with pytest.raises(ParameterError, match="'age' must hold 0 and 1"):
        trace_member(pa.table({"age": [1, 2]}), columns=["age"], people=1)
    with pytest.raises(ParameterError, match="at least two rows more than a study"):
        trace_member(pa.table({"ill": [0, 1, 1]}), columns=["ill"], people=2)
    with pytest.raises(ParameterError, match="columns must be a list"):
        trace_member(pa.table({"ill": [0, 1, 1]}))


def test_one_trial_is_refused_in_words() -> None:
    with pytest.raises(ParameterError, match="Half of the trials set the threshold"):
        trace_member(trials=1, attributes=10, people=5)


def test_a3_the_words_do_not_contradict_themselves() -> None:
    """Detections and false alarms are counted both: a bound at the false alarms that were meant
    is passed by chance, which is no breach, in some of these runs of an honest release."""
    runs = [
        trace_member(
            people=20, attributes=10, epsilon=0.1, trials=400, seed=seed, bits=SeededBits(seed)
        )
        for seed in range(20)
    ]
    assert any(one.private.detection > one.most_allowed for one in runs)
    for one in runs:
        assert one.exceeds == (one.private.interval()[0] > one.most_at_measured)
        assert ("within the promise" in one.words) != one.exceeds
        assert "(95 % confidence)" in one.words
