"""Differencing: always right on exact answers, bounded by D6 on private ones."""

from contextlib import closing

import pyarrow as pa
import pytest

import letalone as la
from letalone.attacks import stage, subtract
from letalone.attacks.differencing import _simulated
from letalone.errors import ParameterError
from letalone.mechanisms import Geometric
from letalone.privacy import PureDP
from seeded import SeededBits

TABLE = pa.table(
    {
        "who": [1, 1, 2, 3, 4, 5, 5],
        "age": [30, 30, 31, 32, 33, 33, 34],
        "ill": ["flu", "gout", "flu", "o'k", "flu", "gout", None],
    }
)


def test_subtracting_exact_answers_is_always_right() -> None:
    found = subtract(targets=6)
    assert found.exact_right == found.targets == 6
    assert found.privacy.epsilon(0) == 1
    assert "AND NOT" in found.questions[1]
    assert found.questions[1].startswith(found.questions[0])


def test_the_attack_reaches_the_session_and_is_right_where_there_is_no_noise_to_speak_of() -> None:
    """Power: at ε = 400 the noise is 0 except once in e^200 times."""
    found = subtract(targets=6, epsilon=400)
    assert found.private_right == found.targets


def test_only_people_who_are_alone_with_what_is_known_are_attacked() -> None:
    for value in ("flu", "o'k"):
        found = subtract(
            TABLE, person="who", sensitive="ill", value=value, known=["age"], epsilon=400
        )
        # 4 and 5 share an age, and 5 has two.
        assert (found.targets, found.exact_right, found.private_right) == (3, 3, 3)


def test_d6_the_difference_of_private_answers_stays_within_the_curve() -> None:
    """Seeded; over seeds a correct pair is accused at most once in 10^6."""
    noise = Geometric(epsilon=1, sensitivity=1)
    rates, curve = _simulated(noise, 40_000, SeededBits(6))
    assert not rates.exceeds(noise.privacy * 2, confidence=1 - 1e-6)
    assert rates.exceeds(PureDP(0.4), confidence=1 - 1e-6), "too few draws to see a broken promise"
    both = noise.privacy * 2
    for alarms, caught in curve[::5]:
        assert caught <= 1 - both.tradeoff(alarms) + 0.02


def test_the_noise_that_is_simulated_is_that_of_the_session() -> None:
    source = stage.town(200, patients=50).hospital
    with closing(la.open(source, unit="patient_id", budget=1)) as table:
        answer = table.where(la.col("diagnosis") == "asthma").agg(n=la.count_distinct())
        privacy = answer.release(epsilon=0.5).privacy
    simulated = Geometric(epsilon=0.5, sensitivity=1).privacy
    assert privacy.delta(0.1) == simulated.delta(0.1)


def test_a_value_that_nobody_has_and_people_who_are_all_alike_are_refused() -> None:
    with pytest.raises(ParameterError, match="Nobody has this value of 'ill'"):
        subtract(TABLE, person="who", sensitive="ill", value="cold", known=["age"])
    alike = pa.table({"who": [1, 2], "age": [30, 30], "ill": ["flu", "flu"]})
    with pytest.raises(ParameterError, match="Nobody is alone"):
        subtract(alike, person="who", sensitive="ill", known=["age"])
