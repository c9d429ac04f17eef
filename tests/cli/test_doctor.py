"""`letalone doctor`: it sees a broken source of bits and a missing package."""

from collections.abc import Callable

import numpy as np
import pytest

from letalone.cli.trust import doctor
from letalone.errors.installing import how_to_install
from letalone.randomness.bits import SYSTEM
from seeded import SeededBits

Letalone = Callable[..., "object"]


class Changed:
    """A source of words that has been tampered with."""

    word_size = 64

    def __init__(self, change: Callable[[np.ndarray], None]) -> None:
        self._sound, self._change = SeededBits(5), change

    def word(self) -> int:
        return self._sound.word()

    def fill(self, out: np.ndarray) -> None:
        self._sound.fill(out)
        self._change(out)


def stuck(out: np.ndarray) -> None:
    out[:] = out[0]


def repeating(out: np.ndarray) -> None:
    out[-1] = out[0]


def with_one_bit_always_set(out: np.ndarray) -> None:
    out |= np.uint64(1)


def test_the_real_source_and_a_sound_one_pass() -> None:
    """A sound source fails once in 3·10^10 runs."""
    assert doctor.looks_uniform(SYSTEM)
    assert doctor.looks_uniform(SeededBits(1))


@pytest.mark.parametrize("change", [stuck, repeating, with_one_bit_always_set])
def test_a_broken_source_fails(change: Callable[[np.ndarray], None]) -> None:
    assert not doctor.looks_uniform(Changed(change))


def test_a_broken_source_makes_the_command_fail(
    letalone: Letalone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "SYSTEM", Changed(stuck))
    shown = letalone("doctor")
    assert shown.code == 1
    assert "must not be used" in shown.err
    assert '"healthy": false' in letalone("doctor", "--json").out


@pytest.mark.parametrize("java", [True, False])
def test_extras_are_named_with_their_versions_and_spark_with_its_java(
    letalone: Letalone, monkeypatch: pytest.MonkeyPatch, java: bool
) -> None:
    monkeypatch.setattr(doctor, "_version", lambda package: f"{len(package)}.0")
    monkeypatch.setattr(doctor, "has_java", lambda: java)
    words = " ".join(letalone("doctor").out.split())
    assert f"spark (pyspark 7.0, {'with Java' if java else 'but there is no Java'})" in words
    assert "postgres (psycopg 7.0)" in words
    found = letalone("doctor", "--json").json()
    assert (found["java"], found["extras"]["learn"]) == (java, "12.0")


def test_a_missing_package_makes_the_command_fail_and_a_missing_extra_does_not(
    letalone: Letalone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "EXTRAS", {"plot": "no-such-package-there"})
    shown = letalone("doctor")
    assert shown.code == 0
    words = " ".join(shown.out.split())
    assert how_to_install("plot") in words
    monkeypatch.setattr(doctor, "REQUIRED", ("no-such-package-there",))
    assert letalone("doctor").code == 1
