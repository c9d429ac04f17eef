"""The key of a ledger: Ed25519. It signs the head and receipts.

The private half lies in the ledger's own file, so a signature proves that something comes
from whoever holds that file, and nothing more. A fingerprint is the first 128 bits of
SHA-256 of the public half, short enough to be compared by eye.
"""

from dataclasses import dataclass
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from letalone.errors import FormatError
from letalone.exact.typed import refusal
from letalone.ledger.chain.canonical import canonical

PUBLIC_DIGITS, FINGERPRINT_DIGITS = 64, 32
GROUP = 4


@dataclass(frozen=True, slots=True, repr=False)
class SigningKey:
    """Both halves of a key; it is printed without the private one."""

    private: bytes
    public: str

    def sign(self, statement: object) -> str:
        """The signature of the canonical JSON, in hexadecimal."""
        key = Ed25519PrivateKey.from_private_bytes(self.private)
        return key.sign(canonical(statement).encode()).hex()

    def __repr__(self) -> str:
        return f"SigningKey({fingerprint(self.public)})"


def new_key() -> SigningKey:
    """A key from the operating system's random bits."""
    return key_of(Ed25519PrivateKey.generate().private_bytes_raw())


def key_of(private: bytes) -> SigningKey:
    """The key with this private half."""
    key = Ed25519PrivateKey.from_private_bytes(private)
    return SigningKey(private, key.public_key().public_bytes_raw().hex())


def is_signed(statement: object, *, signature: object, public: object) -> bool:
    """Whether the key with this public half signed the canonical JSON of a statement."""
    try:
        key = Ed25519PublicKey.from_public_bytes(_bytes(public))
        key.verify(_bytes(signature), canonical(statement).encode())
    except (InvalidSignature, ValueError):
        return False
    return True


def fingerprint(public: str) -> str:
    """What two people compare: 32 digits in groups of four."""
    digits = sha256(_bytes(public)).hexdigest()[:FINGERPRINT_DIGITS]
    return " ".join(digits[start : start + GROUP] for start in range(0, len(digits), GROUP))


def is_key(public: str, given: object) -> bool:
    """Whether what was given, a public key or a fingerprint, is that of this key."""
    digits = "".join(given.lower().split()) if isinstance(given, str) else ""
    hexadecimal = bool(digits) and set(digits) <= set("0123456789abcdef")
    if not hexadecimal or len(digits) not in (PUBLIC_DIGITS, FINGERPRINT_DIGITS):
        raise refusal(
            "public_key",
            given,
            f"a fingerprint of {FINGERPRINT_DIGITS} hexadecimal digits, or the whole key, "
            f"{PUBLIC_DIGITS}",
            "`letalone ledger show` prints the fingerprint.",
        )
    return digits in (public, fingerprint(public).replace(" ", ""))


def _bytes(digits: object) -> bytes:
    """The bytes that hexadecimal digits say, if they are written in the one way."""
    decoded = bytes.fromhex(digits) if isinstance(digits, str) else b""
    if not decoded or decoded.hex() != digits:
        raise FormatError("A key or a signature is damaged: it must be hexadecimal digits.")
    return decoded
