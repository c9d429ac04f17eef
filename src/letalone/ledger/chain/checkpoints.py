"""Checkpoints: signed statements of which entry was the last at a time, to be kept elsewhere.

Whoever holds the ledger can rewrite it and sign it anew, but cannot take back what others
have kept: a ledger that does not hold the entry of a checkpoint, with its hash, under its
number, was changed at or before that entry.

  Tested:   tests/ledger/test_checkpoints.py
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from letalone.errors import FormatError, LedgerDamaged, LetaloneError
from letalone.errors.codes import Code
from letalone.errors.problem import Spelled, problem
from letalone.errors.spelling import too_new
from letalone.ledger.chain.canonical import read_object
from letalone.ledger.chain.entries import Entry, EntryKind, damage_at, now
from letalone.ledger.chain.signing_key import SigningKey, fingerprint, is_key, is_signed
from letalone.ledger.storage.transaction import LedgerTransaction
from letalone.privacy.curve import Json

FORMAT = 1
KIND = "checkpoint"
FIELDS = {"format", "kind", "number", "hash", "time", "public_key", "signature"}


class KeptCheckpoint(NamedTuple):
    """What a checkpoint says: which entry has which hash."""

    number: int
    hash: str


def add_checkpoint(books: LedgerTransaction) -> Json:
    """Sign the last entry with the time, and write that down as an entry."""
    head, time = books.head(), now()
    statement = sign_checkpoint(books.key(), number=head.number, hashed=head.hash, time=time)
    books.append(EntryKind.CHECKPOINT, None, statement, time=time)
    return statement


def sign_checkpoint(key: SigningKey, *, number: int, hashed: str, time: str) -> Json:
    """The statement with its signature."""
    statement: Json = {
        "format": FORMAT,
        "kind": KIND,
        "number": number,
        "hash": hashed,
        "time": time,
        "public_key": key.public,
    }
    return {**statement, "signature": key.sign(statement)}


def check_checkpoint(entry: Entry, public: str) -> None:
    """Whether an entry is a checkpoint of the entry before it."""
    kept = read_checkpoint(entry.body, public)
    if kept != (entry.number - 1, entry.previous) or entry.body["time"] != entry.time:
        raise damage_at(entry, "it is not a checkpoint of the entry before it")


def read_checkpoint(stored: Json | str | bytes, public: str) -> KeptCheckpoint:
    """What a checkpoint says, if the key of this ledger signed it."""
    fields = read_object(stored, name="The checkpoint")
    _check_form(fields)
    if fields["public_key"] != public:
        which = _abbreviate(fields["public_key"])
        raise LedgerDamaged(
            f"The checkpoint is of another ledger, or this is not the ledger that it was: it is "
            f"signed by the key {which}, and the key of this ledger is {fingerprint(public)}."
        )
    statement = {field: fields[field] for field in FIELDS - {"signature"}}
    if not is_signed(statement, signature=fields["signature"], public=public):
        raise LedgerDamaged("The checkpoint was changed after it was signed: take another copy.")
    return KeptCheckpoint(cast("int", fields["number"]), cast("str", fields["hash"]))


def check_signed(stored: Json, *, public_key: str | None = None) -> str:
    """The fingerprint of who signed a checkpoint, if it is as it was; of the key that is given."""
    _check_form(stored)
    public = stored["public_key"]
    if not isinstance(public, str):
        raise FormatError("The checkpoint is damaged: it has no key.")
    read_checkpoint(stored, public)
    digits = fingerprint(public)
    if public_key is not None and not is_key(public, public_key):
        raise LedgerDamaged(
            f"The checkpoint is signed by the key {digits}, which is not the one that you gave."
        )
    return digits


def compare(hashes: Sequence[str], kept: Iterable[KeptCheckpoint]) -> None:
    """Refuse a ledger that differs from a checkpoint, and name where it begins to."""
    same = 0
    for checkpoint in sorted(kept):
        if checkpoint.number > len(hashes):
            raise LedgerDamaged(
                f"Entries {len(hashes) + 1} to {checkpoint.number} are missing: a checkpoint that "
                "was kept names them. This is an older copy, or its end was cut off. Answer "
                "nothing from it, and find the other one."
            )
        if hashes[checkpoint.number - 1] != checkpoint.hash:
            later = f"it, or a later one up to entry {checkpoint.number},"
            which = "it" if same + 1 == checkpoint.number else later
            raise damage_at(same + 1, f"{which} was changed, removed or moved, says a checkpoint")
        same = checkpoint.number


def _abbreviate(key: object) -> str:
    try:
        return fingerprint(cast("str", key))
    except (LetaloneError, TypeError, ValueError):
        return "of no known form"


def _check_form(fields: Json) -> None:
    written = fields.get("format")
    if type(written) is int and written > FORMAT:
        raise FormatError(too_new("The checkpoint", written, FORMAT))
    number = fields.get("number")
    well_formed = type(written) is int and type(number) is int and number > 0
    if fields.get("kind") != KIND or not well_formed or set(fields) != FIELDS:
        message = "This is not a checkpoint: it must be what"
        words = Spelled(
            f"{message} `ledger.checkpoint()` gives.",
            http=f"{message} POST /api/v1/ledger/checkpoint gives.",
        )
        raise FormatError(problem(Code.DAMAGED, words=words))
