"""Uniform random bits: AES-256 in counter mode, keyed by the operating system.

  Proven:   nothing; it is the standard construction of NIST SP 800-90A without its
            reseeding schedule, re-keyed after every 64 MiB
  Tested:   no word repeats across threads, forks and processes; bit balance
  Assumed:  AES-256 looks random to anyone without its key; os.urandom is secret

A word is an integer of 64 uniform bits. A test may use shorter words: samplers read
`word_size` and keep their law at any size.
"""

import os
from threading import Lock
from typing import Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray

POOL_WORDS = 256  # single words wait here: small, so that one scalar draw is cheap
BLOCK_BYTES = 1 << 20  # the cipher is fastest in blocks of about this size
KEY_LIFETIME_BYTES = 1 << 26  # a key that leaks betrays at most this much of the past

Words = NDArray[np.uint64]


class BitSource(Protocol):
    """A stream of independent uniform words."""

    @property
    def word_size(self) -> int:
        """How many bits a word has."""
        ...

    def word(self) -> int:
        """The next word."""
        ...

    def fill(self, out: Words) -> None:
        """Overwrites a contiguous array with the next words."""
        ...


class SystemBits:
    """Secure bits; safe to share between threads and to carry across a fork."""

    word_size = 64

    def __init__(self) -> None:
        self._start()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._start)

    def __repr__(self) -> str:
        return "SYSTEM"  # as it is imported; signatures print it

    def word(self) -> int:
        with self._lock:
            if self._process != os.getpid():
                self._new_key()
            if not self._pool:
                pool = np.empty(POOL_WORDS, np.uint64)
                self._encrypt_zeros(_bytes_of(pool))
                self._pool = pool.tolist()
            return self._pool.pop()

    def fill(self, out: Words) -> None:
        target = _bytes_of(out)
        with self._lock:
            if self._process != os.getpid():
                self._new_key()
            for start in range(0, len(target), BLOCK_BYTES):
                self._encrypt_zeros(target[start : start + BLOCK_BYTES])

    def _start(self) -> None:
        # In a child the parent's lock may be held by a thread that no longer exists.
        self._lock = Lock()
        self._new_key()

    def _new_key(self) -> None:
        self._process = os.getpid()
        self._pool: list[int] = []
        self._left = KEY_LIFETIME_BYTES
        cipher = Cipher(AES(os.urandom(32)), CTR(bytes(16)))
        self._stream: CipherContext = cipher.encryptor()

    def _encrypt_zeros(self, target: memoryview) -> None:
        if self._left < len(target):
            self._new_key()
        self._left -= len(target)
        self._stream.update_into(_ZEROS[: len(target)], target)


def _bytes_of(words: Words) -> memoryview:
    return words.data.cast("B") if words.size else memoryview(b"")


_ZEROS = memoryview(bytes(BLOCK_BYTES))

SYSTEM = SystemBits()
