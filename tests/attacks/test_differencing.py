"""Differencing: always right on exact answers, bounded by D6 on private ones."""

from contextlib import closing
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sqlglot import exp

import letalone as la
from letalone.answers.promise import most_caught
from letalone.attacks import stage, subtract
from letalone.attacks.differencing import _simulate_test
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


@pytest.mark.long  # test_subtracting_exact_answers_is_always_right
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
    rates, curve = _simulate_test(noise, 40_000, SeededBits(6))
    assert not rates.exceeds(noise.privacy * 2, confidence=1 - 1e-6)
    assert rates.exceeds(PureDP(0.4), confidence=1 - 1e-6), "too few draws to see a broken promise"
    both = noise.privacy * 2
    for alarms, caught in curve[::5]:
        assert caught <= 1 - both.tradeoff(alarms) + 0.02


def test_the_noise_that_is_simulated_is_that_of_the_session() -> None:
    source = stage.make_town(200, patients=50).hospital
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


def people(**columns: object) -> pd.DataFrame:
    return pd.DataFrame({"p": range(1, 4), "d": ["x", "x", "y"], "z": ["a", "b", "c"]} | columns)


def asked_about(table: pd.DataFrame, **more: Any) -> Any:
    return subtract(table, person="p", sensitive="d", known=["z"], trials=100, **more)


def test_a_budget_that_no_float_halves_is_spent_to_the_end() -> None:
    """Half of 1/3 as a float is dearer than half of the exact number that was typed."""
    assert asked_about(people(), epsilon=1 / 3).targets == 3


def test_infinite_facts_are_left_out_and_no_value_is_quoted() -> None:
    """Text of the engine would quote the whole question."""
    assert asked_about(people(z=[0.25, 0.5, np.inf])).targets == 2
    with pytest.raises(ParameterError, match="all of it finite"):
        asked_about(people(z=[np.inf, -np.inf, np.nan]))
    assert asked_about(people(d=[np.inf, np.inf, 2.5])).questions[0].endswith("= 2.5")


@pytest.mark.parametrize("secret", [[np.inf] * 3, pd.Series([None] * 3, dtype="string")])
def test_a_secret_without_a_value_is_refused_in_words(secret: object) -> None:
    with pytest.raises(ParameterError, match="holds no value that could be asked for"):
        asked_about(people(d=secret))


def test_an_engine_that_fails_says_nothing_of_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = exp.select("secret").from_("data")
    monkeypatch.setattr("letalone.attacks.differencing._in_sql", lambda *_: (wrong, wrong))
    with pytest.raises(ParameterError, match="Name other columns") as raised:
        asked_about(people())
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None


def test_what_is_allowed_is_stated_at_the_upper_end_of_the_alarms() -> None:
    """With epsilon near 0 the counts are two fair coins: half of the time the detections are
    above what D6 allows at the alarms that were counted, which would be no breach."""
    noise = Geometric(epsilon=Fraction(1, 200), sensitivity=1)
    rates = [_simulate_test(noise, 2000, SeededBits(seed))[0] for seed in range(40)]
    curve = PureDP(Fraction(1, 100))
    assert sum(one.detection > most_caught(curve, one.false_alarm) for one in rates) > 5
    assert not any(one.exceeds(curve, 0.999) for one in rates)
    assert all(one.interval()[0] <= one.allowed(curve) or one.exceeds(curve) for one in rates)
