"""Secure bits: no word twice, whatever threads and forks do."""

import os
import pickle
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from letalone.randomness import bits as bits_module
from letalone.randomness.bits import SYSTEM, SystemBits


def words_of(source: SystemBits, count: int) -> list[int]:
    out = np.empty(count, np.uint64)
    source.fill(out)
    return out.tolist()


def test_words_do_not_repeat_within_or_between_sources():
    """A correct source fails once in 10^10 runs: 300,000 words of 64 bits (birthdays)."""
    one, other = SystemBits(), SystemBits()
    words = words_of(one, 100_000) + words_of(other, 100_000)
    words += [one.word() for _ in range(50_000)] + [other.word() for _ in range(50_000)]
    assert len(set(words)) == len(words)


def test_threads_never_share_a_word():
    """Would fail if the pool or the counter were used without the lock."""
    source = SystemBits()
    with ThreadPoolExecutor(8) as threads:
        jobs = [threads.submit(lambda: [source.word() for _ in range(5000)]) for _ in range(16)]
        words = [word for job in jobs for word in job.result()]
    assert len(set(words)) == len(words)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_process_draws_other_words_than_its_parent():
    source = SystemBits()
    source.word()  # the pool is full: a child that kept it would repeat the parent
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, pickle.dumps(([source.word() for _ in range(50)], words_of(source, 50))))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        pooled, filled = pickle.loads(stream.read())
    os.waitpid(child, 0)
    mine = [source.word() for _ in range(50)] + words_of(source, 50)
    assert not set(mine) & set(pooled + filled)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_does_not_wait_for_a_lock_that_died_with_its_parents_thread():
    source = SystemBits()
    with source._lock:
        child = os.fork()
        if child == 0:
            signal.alarm(10)
            source.word()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0


def test_a_process_with_another_number_gets_another_key(monkeypatch: pytest.MonkeyPatch):
    """Where no fork hook runs, the process number tells."""
    source = SystemBits()
    source.word()
    stream = source._stream
    monkeypatch.setattr(bits_module.os, "getpid", lambda: -1)
    source.word()
    assert source._stream is not stream
    stream = source._stream
    source._process = 5
    source.fill(np.empty(3, np.uint64))
    assert source._stream is not stream


def test_a_key_does_not_outlive_its_share(monkeypatch: pytest.MonkeyPatch):
    source = SystemBits()
    source._left = 1000
    stream = source._stream
    source.fill(np.empty(200, np.uint64))
    assert source._stream is not stream


def test_a_key_is_renewed_again_and_again(monkeypatch: pytest.MonkeyPatch):
    """Arrays use 48 KiB of it and single words 16 KiB, at 4 KiB a key."""
    monkeypatch.setattr(bits_module, "KEY_LIFETIME_BYTES", 4096)
    source, streams = SystemBits(), []
    for _ in range(48):
        source.fill(np.empty(128, np.uint64))
        streams.append(source._stream)
    for _ in range(2048):
        source.word()
        streams.append(source._stream)
    assert len({id(stream) for stream in streams}) >= (16 + 48) // 4


def test_nothing_is_encrypted_without_the_lock(monkeypatch: pytest.MonkeyPatch):
    """Two threads within one stream could be given the same words."""
    held: list[bool] = []
    source = SystemBits()
    encrypt = source._encrypt_zeros
    monkeypatch.setattr(
        source, "_encrypt_zeros", lambda to: held.append(source._lock.locked()) or encrypt(to)
    )
    source.word()
    source.fill(np.empty(10, np.uint64))
    assert held == [True, True]


@pytest.mark.parametrize("size", [0, 1, 5, 131_072, 131_073, 300_000])
def test_every_word_of_a_buffer_is_overwritten(size: int):
    """A correct source leaves a zero word once in 10^14 runs."""
    out = np.zeros(size, np.uint64)
    SYSTEM.fill(out)
    assert np.count_nonzero(out) == size


def test_each_of_the_64_bits_is_balanced():
    """Two-sided at 6 standard deviations for 64 bits: a correct source fails 1 in 10^7 runs.

    Power: a bit that is set with probability 0.51 is 12 deviations off.
    """
    out = np.empty(400_000, np.uint64)
    SYSTEM.fill(out)
    ones = [int(np.count_nonzero(out & np.uint64(1 << k))) for k in range(64)]
    assert max(abs(n - 200_000) for n in ones) < 6 * 316.3
