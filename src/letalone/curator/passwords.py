"""Passwords: Argon2id, at one cost for everybody, whether there is such a person or not.

Tested:   tests/curator/test_people.py: an unknown name is checked at the same cost
Assumed:  Argon2id of `cryptography`; OWASP's least cost (46 MiB, one pass) is enough
"""

from dataclasses import dataclass
from secrets import choice, token_bytes
from threading import BoundedSemaphore

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from letalone.curator.settings import Settings
from letalone.errors import ParameterError

LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"  # none that looks like another
GROUPS, GROUP = 5, 5  # 25 letters of 31: 123 bits
LONGEST = 1024
AT_ONCE = BoundedSemaphore(4)  # each takes its whole memory


@dataclass(frozen=True, slots=True)
class Passwords:
    """Hashes of passwords, as text with their salt and their cost."""

    memory_kib: int
    passes: int
    lanes: int
    shortest: int
    nobody: str

    def hashed(self, password: str) -> str:
        """What is kept of a password."""
        return _hashed(password, self.memory_kib, self.passes, self.lanes)

    def is_right(self, password: str, kept: str | None) -> bool:
        """Whether this is the password; takes as long where there is none."""
        there = kept is not None
        try:
            with AT_ONCE:
                Argon2id.verify_phc_encoded(_bytes(password), self.nobody if kept is None else kept)
        except InvalidKey:
            return False
        return there

    def check_new(self, password: str, *, name: str) -> None:
        """Refuses what is short, too long, or the name."""
        if not self.shortest <= len(password) <= LONGEST:
            raise ParameterError(
                f"The new password has {len(password)} letters, but must have from {self.shortest}"
                f" to {LONGEST}. Four words that have nothing to do with each other are good."
            )
        if name.casefold() in password.casefold() or len(set(password)) < 5:
            raise ParameterError(
                "The new password has the name in it, or fewer than five different letters. Choose"
                " another."
            )


def passwords_of(settings: Settings) -> Passwords:
    """Passwords at the cost that the settings say."""
    memory, passes = settings.password_memory_kib, settings.password_passes
    lanes = settings.password_lanes
    nobody = _hashed(token_bytes(32).hex(), memory, passes, lanes)
    return Passwords(memory, passes, lanes, settings.shortest_password, nobody)


def one_time_password() -> str:
    """A password that nobody can guess, easy to type: it must be changed at the first log-in."""
    return "-".join("".join(choice(LETTERS) for _ in range(GROUP)) for _ in range(GROUPS))


def _hashed(password: str, memory: int, passes: int, lanes: int) -> str:
    kind = Argon2id(
        salt=token_bytes(16), length=32, iterations=passes, lanes=lanes, memory_cost=memory
    )
    with AT_ONCE:
        return kind.derive_phc_encoded(_bytes(password))


def _bytes(password: str) -> bytes:
    """At most so many letters: the cost must not grow with what a stranger sends."""
    return password[: LONGEST + 1].encode("utf-8", "surrogatepass")
