"""Field elements and seeds from a seed: TurboSHAKE128 with a tag for each use.

  Tested:   against the draft's vectors

XofTurboShake128 of draft-irtf-cfrg-vdaf-18, section 6.2.1, on TurboSHAKE128 of RFC 9861.
"""

from typing import Any

from letalone.errors import ParameterError
from letalone.errors.installing import not_installed
from letalone.local.split.fields import Field, Vector

SEED_SIZE = 32


def expand(field: Field, seed: bytes, tag: bytes, binder: bytes, length: int) -> Vector:
    """So many field elements, each uniform: bytes that are no element are passed over."""
    stream, vector = _stream(seed, tag, binder), Vector()
    while len(vector) < length:
        element = int.from_bytes(stream.read(field.size), "little")
        if element < field.modulus:
            vector.append(element)
    return vector


def derive_seed(seed: bytes, tag: bytes, binder: bytes) -> bytes:
    """A new seed for one use."""
    return _stream(seed, tag, binder).read(SEED_SIZE)


def _stream(seed: bytes, tag: bytes, binder: bytes) -> Any:
    stream = _load().new(domain=1)
    stream.update(len(tag).to_bytes(2, "little") + tag + bytes([len(seed)]) + seed + binder)
    return stream


def _load() -> Any:
    try:
        from Cryptodome.Hash import TurboSHAKE128
    except ModuleNotFoundError:
        raise ParameterError(not_installed("Split reports", "pycryptodomex", "counters")) from None
    return TurboSHAKE128
