"""Noise of a key: the cipher's words, the law, the margins of floats, and that nothing repeats."""

import os
import pickle
from copy import deepcopy
from fractions import Fraction

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from mpmath import mp, mpf
from scipy.stats import kstest

from letalone.randomness.keyed import cipher, exact_sum, gaussians
from letalone.randomness.keyed.exact_sum import WordPair
from letalone.randomness.keyed.gaussians import add_keyed_gaussians, decide, float_sums
from letalone.randomness.keyed.law import TILE, KeyedLaw, place_of
from letalone.randomness.keyed.run_keys import NoiseKey, RunKeys
from seeded import SeededBits

ALPHA = 1e-6
KEY = NoiseKey([0xA3B1BAC6, 1, 2, 3, 0xFFFFFFFF, 5, 6, 0x80000000])
THREE = KeyedLaw(Fraction(3))


def block_of(key, place=0, tail=(0, 0), *, rounds):
    words = cipher.blocks(key, np.array([place], np.uint64), tail, rounds=rounds)[:, 0]
    return words.astype("<u4").tobytes().hex()


def test_words_are_those_of_the_published_vectors():
    """RFC 8439, 2.3.2; and ChaCha of 20 and 12 rounds with a key of zeros."""
    counting = np.frombuffer(bytes(range(32)), "<u4").tolist()
    rfc = block_of(counting, 1 | 0x09000000 << 32, (0x4A000000, 0), rounds=20)
    assert rfc.startswith("10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e")
    assert rfc.endswith("d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e")
    zeros = [0] * 8
    assert block_of(zeros, rounds=20).startswith("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1a")
    assert block_of(zeros, rounds=12) == (
        "9bf49a6a0755f953811fce125f2683d50429c3bb49e074147e0089a52eae155f"
        "0564f879d27ae3c02ce82834acfa8c793a629f2ca0de6919610be82f411326be"
    )


def test_words_are_those_of_another_program_wherever_the_block_lies():
    """OpenSSL's ChaCha20 on random input; places beyond 2^32, too."""
    generator = np.random.default_rng(3)
    for place in [0, 7, (1 << 32) - 1, 1 << 32, (1 << 63) + 5]:
        secret = generator.bytes(32)
        tail = tuple(generator.integers(0, 1 << 32, 2).tolist())
        nonce = place.to_bytes(8, "little") + b"".join(n.to_bytes(4, "little") for n in tail)
        theirs = Cipher(ChaCha20(secret, nonce), mode=None).encryptor().update(bytes(64))
        assert block_of(np.frombuffer(secret, "<u4"), place, tail, rounds=20) == theirs.hex()


@pytest.mark.parametrize("sigma", [Fraction(1, 300), Fraction(3), Fraction(2) ** 40])
def test_the_noise_has_its_law(sigma):
    """Kolmogorov–Smirnov, a false alarm for one key in 10^6; rejects 10 % more."""
    values = np.full(40_000, 0.3 * float(sigma))
    noise = (add_keyed_gaussians(values, KeyedLaw(sigma), KEY, 1) - values) / float(sigma)
    assert kstest(noise, "norm").pvalue > ALPHA
    assert kstest(noise / 1.1, "norm").pvalue < ALPHA, "too few draws"


def test_the_two_numbers_of_a_pair_are_independent():
    """Squares add up to an exponential law, angles are even; a false alarm for one in 10^6."""
    noise = add_keyed_gaussians(np.zeros(40 * TILE), THREE, KEY, 2).reshape(40, 4, 2, 256) / 3
    first, second = noise[:, :, 0].ravel(), noise[:, :, 1].ravel()
    assert kstest((first**2 + second**2) / 2, "expon").pvalue > ALPHA
    angle = np.arctan2(second, first) / (2 * np.pi) + 0.5
    assert kstest(angle, "uniform").pvalue > ALPHA
    assert kstest(angle * 8 % 1, "uniform").pvalue > ALPHA, "within the parts of the circle"
    assert abs(np.corrcoef(abs(first), abs(second))[0, 1]) < 5 / first.size**0.5


def test_a_number_s_noise_depends_on_key_step_and_place_alone():
    values = np.linspace(-4, 4, 5 * TILE + 77)
    whole = add_keyed_gaussians(values, THREE, KEY, 4)
    later = add_keyed_gaussians(values[3 * TILE :], THREE, KEY, 4, start=3 * TILE)
    assert np.array_equal(whole[3 * TILE :], later)
    for other in (
        add_keyed_gaussians(values, THREE, KEY, 5),
        add_keyed_gaussians(values, THREE, NoiseKey(range(8)), 4),
        add_keyed_gaussians(values, THREE, KEY, 4, start=8 * TILE),
    ):
        assert (whole != other).mean() > 0.999


@pytest.mark.parametrize("sigma", [Fraction(1, 300), Fraction(3), Fraction(10**9, 7)])
def test_what_balls_decide_is_what_floats_gave(sigma):
    """At the first 96 places of a tile, all lanes but one, and at a far place."""
    law, values = KeyedLaw(sigma), np.linspace(-9, 9, TILE) * float(sigma)
    places = np.arange(0, TILE, 23)
    for start in (0, TILE << 33):
        floats = add_keyed_gaussians(values, law, KEY, 9, start=start)
        assert np.array_equal(floats[places], decide(values[places], places + start, law, KEY, 9))


def test_what_is_left_open_is_decided_with_the_same_numbers(monkeypatch):
    """A margin of one hundredth of a step leaves one number in fifty open."""
    values = np.random.default_rng(5).normal(0, 9, TILE + 300)
    expected = add_keyed_gaussians(values, THREE, KEY, 3)
    asked = []
    monkeypatch.setattr(gaussians, "_margin", lambda u, *_: np.full_like(u, 0.01))
    monkeypatch.setattr(
        gaussians, "exact_sum", lambda *given: asked.append(given) or exact_sum.exact_sum(*given)
    )
    assert np.array_equal(add_keyed_gaussians(values, THREE, KEY, 3), expected)
    assert 20 < len(asked) < 90


def words_with(uniforms, angles):
    """Words of the cipher in which these are the numbers U and the angle's word."""
    count = len(uniforms)
    words = np.zeros((4, 4, 1, count), np.uint32)
    for i, (uniform, angle) in enumerate(zip(uniforms, angles, strict=True)):
        halves = uniform >> 32, uniform & 0xFFFFFFFF, angle >> 32, angle & 0xFFFFFFFF
        words[0, :, 0, i] = halves
    return words


def ideal(uniform, angle, *, unread):
    """The two Gaussians in 60 digits, with the bits not read all 0 or (nearly) all 1."""
    radius = mp.sqrt(-2 * mp.log((mpf(uniform) + unread) / 2**64))
    turn = (mpf(angle & ((1 << 61) - 1)) + unread) * mp.pi / 2**63
    lines = [mp.cos(turn), mp.sin(turn)][:: -1 if angle >> 63 else 1]
    signs = 1 - 2 * (angle >> 62 & 1), 1 - 2 * (angle >> 61 & 1)
    return [radius * line * sign for line, sign in zip(lines, signs, strict=True)]


def test_floats_are_off_by_less_than_half_of_their_margin():
    """Random words and the odd ones: tiny U, U next to 1, angles at the ends of their part."""
    generator = np.random.default_rng(6)
    ends = [1, 2, 3, 1000, 1 << 20, 1 << 40, (1 << 53) + 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 999]
    uniforms = ends * 8 + generator.integers(1, 1 << 64, 150, dtype=np.uint64).tolist()
    parts = [part << 61 | low for part in range(8) for low in (0, (1 << 61) - 1)]
    angles = (parts * 5) + generator.integers(0, 1 << 64, 150, dtype=np.uint64).tolist()
    words, constants = words_with(uniforms, angles), KeyedLaw(Fraction(131071)).constants
    uniform = gaussians._doubles(words[0, 0], words[0, 1]) * 2.0**-64
    with np.errstate(all="ignore"):
        radius = np.abs(np.sqrt(-2 * np.log(uniform)))
        margin = gaussians._margin(uniform, radius, constants)[0]
    lines = gaussians._lines(words[0, 2], words[0, 3], constants[3])
    noise = (constants[0] * radius * lines)[:, 0]
    for i, (u, angle) in enumerate(zip(uniforms, angles, strict=True)):
        for unread in (mpf(2) ** -60, 1 - mpf(2) ** -60):
            for lane, number in enumerate(ideal(u, angle, unread=unread)):
                if np.isfinite(margin[i]):
                    off = abs(mpf(float(noise[lane, i])) - number * mpf(float(constants[0])))
                    assert off < 0.5 * margin[i]


def test_what_floats_cannot_know_is_left_open():
    """U = 0, U that rounds to 1, values that are odd or too large; and the middle is not."""
    uniforms = [0, (1 << 64) - 1, 1, 1 << 63, 1 << 63, 1 << 63, 1 << 63]
    values = np.array([0.0, 0, 0, np.nan, np.inf, 1e308, 0])
    lanes = np.broadcast_to(values, (8, 1, 7)).copy()
    words = np.repeat(words_with(uniforms, [5 << 40] * 7)[:1], 4, axis=0)
    with np.errstate(all="ignore"):
        results = float_sums(lanes, words, KeyedLaw(Fraction(3)).constants)[0, 0]
    assert np.isnan(results).tolist() == [True, True, True, True, True, True, False]


def test_a_border_between_the_first_bits_is_decided_by_further_ones(monkeypatch):
    """Noise of half a step, known to 2^-46, on values 2^-50 about a border: both sides occur."""
    words = exact_sum.words_at

    def first_words(key, place, tail):
        return [1 << 31, 0, 0, 1 << 12] * 4 if tail[1] == 0 else words(key, place, tail)

    monkeypatch.setattr(exact_sum, "words_at", first_words)
    law = KeyedLaw(Fraction(1 << 16))
    first, sums = ideal(1 << 63, 1 << 12, unread=mpf(0))[1] * 2**16, []
    for k in range(-40, 40):
        value = float(mpf(1) / 2 - first - k * mpf(2) ** -51)
        real = WordPair(KEY, 7, 0)
        for _ in range(3):
            real.refine()
        exact = mpf(value) + mpf(float(real.gaussian(1).mid())) * 2**16
        sums.append(exact_sum.exact_sum(value, law, KEY, 7, 256))
        if abs(exact - mpf(1) / 2) > mpf(2) ** -46:
            assert sums[-1] == mp.floor(exact + mpf(1) / 2)
    assert set(sums) == {0.0, 1.0}


def test_no_block_of_the_cipher_is_read_for_two_purposes(monkeypatch):
    """Steps, places, radii and angles with as many further words as nobody will ever need."""
    owners, purpose = {}, []

    def noted(_, places, tail, **__):
        for place in places.tolist():
            assert owners.setdefault((place, *tail), tuple(purpose)) == tuple(purpose)
        return np.zeros((16, places.size), np.uint32)

    monkeypatch.setattr(gaussians, "blocks", noted)
    monkeypatch.setattr(exact_sum, "blocks", noted)
    monkeypatch.setattr(gaussians, "decide", lambda values, *_: values)
    for step in (1, 2, (1 << 32) - 1):
        for start in (0, 9 * TILE, TILE << 40):
            purpose[:] = "first words", step, start
            add_keyed_gaussians(np.zeros(9 * TILE), THREE, KEY, step, start=start)
        for pair in (0, 1, 2, 3, 4, (TILE << 40) // 2):
            for kind in (exact_sum.RADIUS, exact_sum.ANGLE):
                purpose[:] = "further", step, pair, kind
                further = exact_sum.FurtherBits(KEY, step, pair, kind)
                for _ in range(3 * exact_sum.WORDS_A_BLOCK):
                    further.word()
    assert len(owners) == 3 * (3 * 9 * 256 + 6 * 2 * 3)
    assert all(0 <= place < 1 << 64 and max(tail) < 1 << 32 for place, *tail in owners)


def test_no_two_numbers_share_a_block_and_a_lane():
    for start in (0, (TILE << 50) - TILE):
        places = {place_of(index) for index in range(start, start + 3 * TILE)}
        assert len(places) == 3 * TILE
        assert {lane for _, lane in places} == set(range(8))
        assert all(start // 8 <= block < start // 8 + 3 * 256 for block, _ in places)


def test_a_step_has_the_key_once():
    keys = RunKeys(SeededBits(1))
    first = keys.claim(1)
    assert keys.claim(2) is first
    for step in (2, 1, 0, -1, 1 << 32):
        with pytest.raises(RuntimeError, match="steps must rise and stay below 2\\^32"):
            keys.claim(step)
    assert keys.claim((1 << 32) - 1) is first


def test_each_run_has_a_key_of_its_own_and_so_has_each_process(monkeypatch):
    bits = SeededBits(1)
    keys = RunKeys(bits)
    words = [keys.claim(1).words, RunKeys(bits).claim(1).words]
    monkeypatch.setattr(os, "getpid", lambda: -7)
    words.append(keys.claim(2).words)
    assert len(set(words)) == 3
    assert all(len(key) == 8 and max(key) < 1 << 32 for key in words)
    assert len({half for key in words for half in key}) == 24


@pytest.mark.parametrize("copied", [pickle.dumps, deepcopy])
def test_a_key_is_not_stored_or_copied_and_does_not_show(copied):
    keys = RunKeys(SeededBits(1))
    key = keys.claim(1)
    for holder in (key, keys, {"key": key}):
        with pytest.raises(TypeError, match="neither stored nor copied"):
            copied(holder)
    assert str(key.words[0]) not in repr(key)
