"""Canaries: an ordinary model tells them, a private one is within D6; too little noise is seen."""

from itertools import product
from math import e, log2
from pathlib import Path

import numpy as np
import pytest

from letalone.answers.promise import most_caught
from letalone.attacks import extract_secrets, stage
from letalone.attacks.canaries import Pattern, beam_search, exposure, most_exposed
from letalone.attacks.characters import (
    ALPHABET_SIZE,
    END,
    SIGNS,
    Reading,
    encode_text,
    train_model,
    train_privately,
)
from letalone.attacks.reconstruction import Guesses
from letalone.errors import ParameterError
from letalone.mechanisms import Geometric
from seeded import SeededBits

NOTES = stage.notes(300)
PIN = Pattern("pin #")
SHORT = Reading(context=1, length=6)  # "pin 7" and its end


def test_a5_an_ordinary_model_tells_a_secret_of_one_line_and_a_private_one_does_not() -> None:
    """Seeded; over seeds a private model tells one of 4 secrets with probability 4 e / 10^4."""
    found = extract_secrets(
        stage.notes(3_000),
        pattern="the code is ####",
        repetitions=[1, 4_000],
        secrets=4,
        bits=SeededBits(1),
    )
    once, often = found.ordinary
    assert once.extracted == often.extracted == 4
    assert min(once.exposures) == log2(10**4)
    private, shared = found.private
    assert private.extracted == 0
    assert private.usual < found.most_exposed(1) < found.most_exposed(2) < log2(10**4)
    assert found.most_exposed(4_000) == log2(10**4)
    assert shared.extracted >= 3, "what thousands of lines share is learned"
    assert found.most_guessed == pytest.approx(e / 10**4, rel=1e-6)
    assert found.fit[0] < found.fit[1] < log2(ALPHABET_SIZE), (
        "the private model says something of the text"
    )


def _guessed(noise: Geometric, trials: int, bits: SeededBits) -> Guesses:
    """The guess "it is the likeliest pin", each time of a pin planted in an empty text."""
    right = 0
    for secret in np.random.default_rng(11).integers(0, PIN.size, trials).tolist():
        counts = SHORT.counts([PIN.number(secret)])
        model = train_privately(counts, noise, bits=bits, threshold=0)
        right += exposure(model, PIN, secret) >= log2(PIN.size) - 1e-9
    return Guesses(right, trials)


def test_a5_the_private_model_is_within_d6_and_noise_for_a_sign_not_a_line_is_beyond() -> None:
    """Seeded; over seeds a correct model is accused at most once in 10^6. Power: sensitivity 1
    in place of 6 at the same ε is beyond the curve."""
    noise = SHORT.noise(1)
    allowed = most_caught(noise.privacy, 1 / PIN.size)
    assert allowed == pytest.approx(e / 10, rel=1e-6)
    assert not _guessed(noise, 1_500, SeededBits(5)).exceeds(allowed, confidence=1 - 1e-6)
    forgetful = Geometric(epsilon=1, sensitivity=1)
    assert _guessed(forgetful, 1_500, SeededBits(6)).exceeds(allowed, confidence=1 - 1e-6)


@pytest.mark.parametrize("context", [1, 2])
def test_no_line_moves_the_table_by_more_than_the_sensitivity(context: int) -> None:
    reading = Reading(context=context, length=7)
    base = reading.counts(NOTES)
    lines = [
        "",
        "a",
        "abcdef",
        "abcdefg",
        "aaaaaaaaaaaaaaaa",
        "Ä€\U0001f600" * 9,
        "a\nb\nc\nd\ne",
        "İİİİİİİİ",
    ]
    moved = [int(np.abs(reading.counts([*NOTES, line]) - base).sum()) for line in lines]
    assert moved == [1, 2, 7, 7, 7, 7, 7, 7]
    assert reading.noise(1).sensitivity == 7
    assert reading.noise(2).privacy.epsilon(0) == 2


def test_counts_are_those_of_a_slow_count() -> None:
    lines = ["Abba 1", "ab!", "abcdefghij"]
    found = Reading(context=2, length=6).counts(lines)
    slow = np.zeros((ALPHABET_SIZE,) * 3, np.int64)
    for line in ("abba ", "ab?\n", "abcde"):
        text = END * 2 + (line if len(line) < 5 else line + END)
        for place in range(2, len(text)):
            slow[tuple(SIGNS.index(sign) for sign in text[place - 2 : place + 1])] += 1
    assert (found == slow).all()


def test_probabilities_sum_to_one_and_fall_back_on_fewer_signs() -> None:
    model = train_model(Reading(context=2, length=48).counts(NOTES))
    assert np.allclose((2**model.scores).sum(axis=-1), 1)
    never = tuple(encode_text("zz"))
    assert model.scores[(*never, SIGNS.index("a"))] > model.scores[(*never, SIGNS.index("?"))]


def test_the_search_finds_what_trying_all_finds() -> None:
    """A beam as wide as the space is a search of all of it."""
    form = Pattern("id @#x#")
    counts = Reading(context=2, length=20).counts([*NOTES, "id k4x2", "id k4x2", "id q9x1"])
    model = train_model(counts)
    texts = ["".join(one) for one in product(*form.choices)]
    assert [form.number(place) for place in range(form.size)] == texts
    padded = np.stack([encode_text(END * 2 + one + END) for one in texts])
    scores = model.of_texts(padded, 2)
    order = [texts[place] for place in np.argsort(-scores, kind="stable")]
    assert beam_search(model, form, form.size)[:5] == order[:5]
    assert order[0] == "id k4x2"
    for place in (0, 700, texts.index("id q9x1")):
        rank = (scores >= scores[place] - 1e-9).sum()
        assert exposure(model, form, place) == pytest.approx(log2(form.size / rank))


def test_a_tie_counts_against_the_attacker_so_a_model_of_nothing_exposes_nothing() -> None:
    nothing = train_model(np.zeros((ALPHABET_SIZE,) * 3, np.int64))
    assert exposure(nothing, Pattern("pin ###"), 123) == 0
    model = train_model(Reading().counts(NOTES))
    exposures = np.array([exposure(model, Pattern("at ##"), place) for place in range(100)])
    for bits in (1, 2, 3, 5):
        assert (exposures >= bits).mean() <= 2.0**-bits


def test_d6_the_bound_on_exposure_is_that_of_a_group_of_lines() -> None:
    assert most_exposed(1, 10**6) == pytest.approx(log2(20 * e))
    assert most_exposed(4, 10**6) == pytest.approx(log2(20 * e**4))
    assert most_exposed(1_000, 10**6) == log2(10**6)


def test_a5_secrets_that_are_in_a_text_of_ones_own_are_found(tmp_path: Path) -> None:
    path = tmp_path / "mails.txt"
    path.write_text("\n".join([*NOTES, "My PIN is 4711", "", "so my pin is 0815 now"]), "utf-8")
    found = extract_secrets(path, pattern="My pin is ####", repetitions=1, secrets=1)
    assert (found.lines_of_text, found.own, found.own_found[0]) == (302, 2, 2)
    assert "2 of 2" in [one for _, one, _ in found.lines()]
    assert ("no limit", "at most once in 3,678") in [tuple(pair) for _, *pair in found.lines()]
    assert "at most once in 3,678 (blindly: once in 10,000)" in found.words
    assert extract_secrets(str(path), pattern="x@", secrets=1, repetitions=[1]).own == 0


def test_patterns_and_texts_that_cannot_be_are_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="has 1 values, but must have 2 to 1,000,000"):
        extract_secrets(NOTES, pattern="no secret")
    with pytest.raises(ParameterError, match="Write # for a digit"):
        extract_secrets(NOTES, pattern="#######")
    with pytest.raises(ParameterError, match="lines are cut to 9"):
        extract_secrets(NOTES, pattern="the pin is #", length=10)
    with pytest.raises(ParameterError, match="cannot be read"):
        extract_secrets(tmp_path / "none.txt")
    with pytest.raises(ParameterError, match="The text has no lines"):
        extract_secrets(["", " "])
    with pytest.raises(ParameterError, match="or a list of lines"):
        extract_secrets([1, 2])
    with pytest.raises(ParameterError, match="repetitions is empty"):
        extract_secrets(NOTES, repetitions=[])
