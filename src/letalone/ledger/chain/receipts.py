"""Checks receipts: what was asked, what it cost and what came out, signed.

A receipt is checked offline, by anyone, and any change to it is found. It proves that the
holder of one key signed it. Whose key that is, it cannot prove: compare the fingerprint
with the one that the owner of the data gives (`letalone ledger show` prints it). No ledger is
needed for it, and none is loaded: `receipt_signing` makes receipts.

  Tested:   every byte of a receipt changed; keys exchanged; receipts of newer letalones
"""

from dataclasses import dataclass

from letalone.errors import FormatError, LedgerDamaged
from letalone.errors.spelling import too_new
from letalone.ledger.chain.canonical import as_object, read_object
from letalone.ledger.chain.signing_key import fingerprint, is_key, is_signed
from letalone.privacy.curve import Json

FORMAT = 1
KIND = "receipt"
FIELDS = {"format", "kind", "body", "public_key", "signature"}
BODY = {
    "data_set", "version", "neighbours", "plan", "digest", "privacy", "epsilon", "delta",
    "versions", "time", "entry", "ledger_hash", "release",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt that is unchanged since it was signed; `compared`: by the key that was given."""

    body: Json
    public_key: str
    compared: bool

    @property
    def fingerprint(self) -> str:
        """The digits to compare with those that the owner of the data gives."""
        return fingerprint(self.public_key)

    def __str__(self) -> str:
        trust = "as given" if self.compared else "which is for you to compare with the owner's"
        return (
            f"Receipt for {self.body['data_set']!r}, entry {self.body['entry']}: unchanged since "
            f"it was signed by the key {self.fingerprint}, {trust}."
        )


def verify_receipt(stored: Json | str | bytes, *, public_key: str | None = None) -> Receipt:
    """The receipt, if it is unchanged; `public_key` is the owner's key or its fingerprint.

    Without `public_key` any key will do, also one that was made to forge this receipt:
    compare `.fingerprint` with the owner's.
    """
    name = "The receipt"
    fields = read_object(stored, name=name)
    _check_form(fields)
    body, public = as_object(fields["body"], name=name), fields["public_key"]
    if not isinstance(public, str) or not _holds(body, public, fields["signature"]):
        raise LedgerDamaged(
            "The receipt was changed after it was signed, or its signature was. Do not rely on "
            "it, and ask for a new one."
        )
    if public_key is not None and not is_key(public, public_key):
        raise LedgerDamaged(
            f"The receipt is signed by another key than the one given: by {fingerprint(public)}. "
            "Do not rely on it."
        )
    return Receipt(body, public, compared=public_key is not None)


def _check_form(fields: Json) -> None:
    written = fields.get("format")
    if type(written) is int and written > FORMAT:
        raise FormatError(too_new("The receipt", written, FORMAT))
    is_format = type(written) is int and written == FORMAT  # True == 1, but is no format
    if fields.get("kind") != KIND or not is_format or set(fields) != FIELDS:
        raise FormatError(
            "This is not a receipt: it must be a JSON object of kind 'receipt', with a body, a "
            "public key and a signature and nothing else."
        )


def _holds(body: Json, public: str, signature: object) -> bool:
    return set(body) == BODY and is_signed(
        receipt_statement(body, public), signature=signature, public=public
    )


def receipt_statement(body: Json, public: str) -> Json:
    """What is signed: everything but the signature."""
    return {"format": FORMAT, "kind": KIND, "body": body, "public_key": public}
