"""Reconstruction: all comes back below √n, the formula fits, private answers keep D6's bound."""

from itertools import pairwise
from math import exp, sqrt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import ndtr

from letalone.attacks import reconstruct
from letalone.attacks.reconstruction import (
    Guesses,
    SubsetSums,
    draw_questions,
    predict_share,
    surest,
)
from letalone.errors import ParameterError
from letalone.mechanisms import Geometric
from seeded import SeededBits

ONE = SubsetSums(np.ones((1, 1), np.int64), np.ones((1, 1)))  # one bit, one question


def test_a4_errors_below_the_root_of_n_give_nearly_all_back_and_above_it_little() -> None:
    found = reconstruct(rows=64, trials=20)
    by_error = {one.error: one for one in found.plain}
    assert by_error[0].least_squares.share == by_error[0].linear_programme.share == 1
    assert by_error[2].least_squares.share > 0.97  # √n / 4
    assert by_error[2].linear_programme.share > 0.97
    assert by_error[64].least_squares.share < 0.6  # 8 √n
    shares = [one.least_squares.share for one in found.plain]
    assert all(later <= earlier + 0.03 for earlier, later in pairwise(shares))


@pytest.mark.parametrize("error", [1, 4, 12])
def test_a4_the_programme_finds_a_vector_within_the_error_of_the_answers(error: int) -> None:
    """The truth is within the error, so the vector whose largest error is smallest is, too."""
    generator = np.random.default_rng(error)
    sums = draw_questions(generator, people=24, questions=96)
    secret = sums.secret(generator, 0.5, 1)[:, 0]
    answers = sums.answers(secret) + generator.integers(-error, error + 1, 96)
    found = sums.linear_programme(answers)
    assert found.min() >= 0
    assert found.max() <= 1
    assert np.abs(sums.subsets @ found - answers).max() <= error + 1e-6


@pytest.mark.parametrize(("per_bit", "deviation"), [(4, 4.0), (4, 8.0), (8, 12.0)])
def test_a4_least_squares_recovers_what_the_formula_says(per_bit: int, deviation: float) -> None:
    """Within 0.02, which is five standard errors or more: over seeds a right formula fails less
    than once in 10^6. Power: √m in place of √(m - n) is told apart at m = 4 n."""
    people, generator = 64, np.random.default_rng(9)
    shares: list[float] = []
    for _ in range(12):
        sums = draw_questions(generator, people=people, questions=per_bit * people)
        secret = sums.secret(generator, 0.5, 100)
        noise = generator.normal(0, deviation, (sums.questions, 100))
        shares.append(Guesses.of(sums.least_squares(sums.answers(secret) + noise), secret).share)
    mean, spread = np.mean(shares), np.std(shares) / sqrt(len(shares))
    assert 5 * spread <= 0.02
    assert abs(mean - predict_share(people, per_bit * people, deviation)) < 0.02
    if (per_bit, deviation) == (4, 4.0):
        assert abs(mean - ndtr(sqrt(per_bit * people) / (4 * deviation))) > 0.02


def test_d6_private_answers_give_back_no_more_than_the_bound_which_one_bit_reaches() -> None:
    """Seeded; over seeds a correct release is accused at most once in 10^6. One bit and one
    question reach e^ε / (1 + e^ε), so a promise of 0.9 ε is seen to be broken."""
    noise = Geometric(epsilon=1, sensitivity=ONE.sensitivity)
    secret = ONE.secret(np.random.default_rng(2), 0.5, 60_000)
    given = noise.release(ONE.answers(secret), bits=SeededBits(2))
    guesses = Guesses.of(ONE.least_squares(given), secret)
    assert not guesses.exceeds(surest(1), confidence=1 - 1e-6)
    assert guesses.exceeds(surest(0.9), confidence=1 - 1e-6)
    assert surest(1) == pytest.approx(exp(1) / (1 + exp(1)), rel=1e-12)


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_a4_a_small_epsilon_stops_it_at_every_epsilon_within_the_bound(share: float) -> None:
    """Seeded; over seeds each of four is accused at most once in 10^6."""
    ill = np.arange(50) < 50 * share
    found = reconstruct(
        pa.table({"ill": ill}), column="ill", rows=48, questions=192, bits=SeededBits(3)
    )
    assert found.share == share
    for one in found.private:
        assert not one.least_squares.exceeds(one.allowed, confidence=1 - 1e-6)
    assert found.protected.epsilon == 1
    assert found.protected.least_squares.share < 0.56
    assert found.protected.allowed == surest(1, share)
    assert found.private[-1].least_squares.share > 0.8, "at a hundred times the ε it is not stopped"


def test_d6_noise_that_forgets_the_number_of_questions_is_seen() -> None:
    """Power: sensitivity 1 in place of that of all questions, at the same ε, is beyond D6."""
    generator = np.random.default_rng(4)
    sums = draw_questions(generator, people=32, questions=256)
    secret = sums.secret(generator, 0.5, 40)
    forgetful = Geometric(epsilon=1, sensitivity=1).release(
        sums.answers(secret), bits=SeededBits(4)
    )
    guesses = Guesses.of(sums.least_squares(forgetful), secret)
    assert guesses.exceeds(surest(1), confidence=1 - 1e-6)


def test_replacing_one_bit_moves_the_answers_by_no_more_than_the_sensitivity() -> None:
    sums = draw_questions(np.random.default_rng(5), people=12, questions=40)
    moved = []
    for person in range(12):
        secret = np.zeros((12, 1), np.int64)
        without = sums.answers(secret)
        secret[person] = 1
        moved.append(int(np.abs(sums.answers(secret) - without).sum()))
    assert max(moved) == sums.sensitivity
    assert len(set(moved)) > 1


def test_d6_how_sure_one_can_be_is_bayes_rule_for_any_share() -> None:
    for epsilon in (0.1, 1, 5):
        for share in (0.5, 0.9, 0.02):
            likely = max(share, 1 - share)
            exact = likely * exp(epsilon) / (likely * exp(epsilon) + 1 - likely)
            assert exact <= surest(epsilon, share) <= exact * (1 + 1e-12)
    assert surest(1000) == 1


def test_a4_a_column_of_a_file_becomes_bits(tmp_path: Path) -> None:
    path = tmp_path / "clinic.csv"
    path.write_text("sick\n" + "yes\n" * 30 + "no\n" * 60 + '""\n' * 10)
    found = reconstruct(str(path), column="sick", equals="yes", rows=16, trials=5)
    assert (found.people, found.questions) == (16, 64)
    assert found.share == 0.3
    assert found.blind == 0.7
    assert found.plain[0].linear_programme.share == 1
    assert "16 people" in found.words


def test_columns_that_give_no_bits_are_refused_with_the_remedy() -> None:
    table = pa.table({"sick": ["yes", "no"]})
    with pytest.raises(ParameterError, match="Name the column whose values"):
        reconstruct(table)
    with pytest.raises(ParameterError, match="'sick' must hold 0 and 1"):
        reconstruct(table, column="sick")
    with pytest.raises(ParameterError, match="all alike: there is nothing to find out"):
        reconstruct(table, column="sick", equals="perhaps")
    with pytest.raises(ParameterError, match="rows is 0, but must be a whole number"):
        reconstruct(rows=0)


def test_the_deviation_of_very_much_noise_is_that_of_the_formula() -> None:
    """√2 scale, where 1 - e^(-1/scale) is 0 as a float."""
    found = reconstruct(rows=5, trials=3, epsilon=1e-18)
    noise = Geometric(epsilon=1e-18, sensitivity=1)
    assert found.protected.deviation >= sqrt(2) * noise.scale * (1 - 1e-9)
