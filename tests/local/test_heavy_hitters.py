"""Frequent values of an unknown domain: hashing of chunks, found values, refusals."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.local import HeavyHitters, from_bytes, to_bytes
from letalone.local.frequencies.heavy_hitters import (
    PRIME,
    _extensions,
    _masks,
    cut_texts,
    even_collision,
    hash_chunks,
)
from seeded import SeededBits


@pytest.mark.parametrize(("prime", "hashes"), [(5, 2), (7, 3)])
def test_chunks_collide_as_often_as_stated(prime, hashes, monkeypatch):
    """Over all functions of a small field, for every kind of difference."""
    monkeypatch.setattr("letalone.local.frequencies.heavy_hitters.PRIME", prime)
    functions = np.array(list(product(range(prime), repeat=3)))
    for one, other in (((0, 0), (0, 1)), ((1, 2), (2, 2)), ((1, 2), (3, 4))):
        first, second = (hash_chunks(np.array([x]), functions) % hashes for x in (one, other))
        assert Fraction(int((first == second).sum()), len(functions)) == even_collision(
            prime, hashes
        )


def test_planted_values_are_found_and_their_intervals_cover():
    """Shares of 30, 20 and 12 % lie more than ten standard errors above what is kept."""
    oracle = HeavyHitters(epsilon=4, length=3, keep=8)
    values = ["sun"] * 9000 + ["moon"] * 6000 + ["né"] * 3600
    values += [f"{n:03d}" for n in range(1000) for _ in range(11)] + ["x"] * 400
    reports = oracle.privatize(values, bits=SeededBits(1))
    found = oracle.estimate(reports)
    assert found.values[:3] == ("sun", "moo", "né")
    assert np.all(found.shares.low[:3] <= [0.3, 0.2, 0.12])
    assert np.all(found.shares.high[:3] >= [0.3, 0.2, 0.12])
    assert np.array_equal(from_bytes(oracle, to_bytes(oracle, reports)), reports)
    assert 4 - 1e-9 < oracle.privacy.epsilon(0) <= 4


def test_texts_are_cut_and_extended_bit_by_bit():
    assert cut_texts(["\ud800"], 3).tolist() == [[0x3F0000]]  # no text of UTF-8: a question mark
    chunks = cut_texts(["ab", "abcdef"], 4)
    assert chunks.tolist() == [[0x616200, 0], [0x616263, 0x640000]]
    assert [hex(m) for m in _masks(28, 2)] == ["0xffffff", "0xf00000"]
    for done, prefix in ((0, 4), (20, 24), (24, 28)):
        ways = _extensions(done, prefix, 2)
        assert len(ways) == len({tuple(way) for way in ways.tolist()}) == 16
        new = np.array(_masks(prefix, 2)) ^ np.array(_masks(done, 2))
        assert np.array_equal(ways & new, ways)


def test_what_does_not_fit_is_refused():
    oracle = HeavyHitters(epsilon=1, length=2)
    assert oracle.prefixes == (4, 8, 12, 16)
    report = oracle.privatize("secret", bits=SeededBits(2))
    assert len(report) == oracle.report_bytes
    with pytest.raises(ParameterError, match="not a text"):
        oracle.privatize([1, 2])
    for place, byte in ((0, 4), (1, 255), (len(report) - 1, oracle.hashes)):
        wrong = report[:place] + bytes([byte]) + report[place + 1 :]
        wrong = wrong if place != 1 else report[:1] + PRIME.to_bytes(4, "big") + report[5:]
        with pytest.raises(ParameterError, match="not one of HeavyHitters"):
            oracle.estimate([wrong])
    with pytest.raises(ParameterError, match="group has no reports"):
        oracle.estimate([report])
    for parameters in ({"step_bits": 5}, {"length": 0}, {"length": 25}, {"keep": 0}):
        with pytest.raises(ParameterError):
            HeavyHitters(epsilon=1, **parameters)


def test_no_texts_are_no_reports_and_what_is_no_text_is_refused() -> None:
    oracle = HeavyHitters(epsilon=1, length=4)
    assert oracle.privatize([]).shape == (0, oracle.report_bytes)
    for values in (b"x", 7, None, [b"x"], ["x", 1], np.array([1, 2])):
        with pytest.raises(ParameterError, match="not a text"):
            oracle.privatize(values)
