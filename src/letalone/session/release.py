"""The answer to a question, with its signed receipt.

Tested:   tests/session/test_receipts.py
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json import dumps
from os import PathLike
from pathlib import Path
from typing import cast

from letalone.answers.release import FORMAT, ReleaseRecord, Standing, check_format
from letalone.errors import FormatError, ParameterError
from letalone.ledger.chain.canonical import as_object, read_object
from letalone.ledger.chain.receipts import Receipt, verify_receipt
from letalone.privacy.curve import Json

BATCH = "batch"
Place = str | PathLike[str]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Release(ReleaseRecord):
    """An answer: values with their intervals, its price, and where it came from.

    `float(r)` is its number where there is one, `r["n"]` a column, and a loop goes over its rows;
    `.rows()`, `.to_pandas()`, `.to_polars()` and `.to_arrow()` give the values; `.explain()`
    says what was done and what is promised to whom; `.save("x.json")` writes a signed receipt.
    """

    def save(self, path: Place) -> Path:
        """Writes the signed receipt; `Release.load` and `letalone verify` check it offline.

        The receipt of an answer from a batch holds the whole batch.
        """
        if self.standing.receipt is None:
            raise ParameterError(
                "This release has no receipt: it was not made by a session. Receipts are signed by"
                " the ledger that the answer was charged to."
            )
        text = dumps(self.standing.receipt, ensure_ascii=False, indent=1)
        target = Path(path)
        try:
            target.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise ParameterError(f"{target} cannot be written: {error.strerror}.") from None
        return target

    @classmethod
    def load(cls, path: Place, *, public_key: str | None = None) -> "Release":
        """The release in a receipt, if it is unchanged since it was signed.

        `public_key` is the key of the ledger's owner, or its fingerprint; without it, compare
        the fingerprint that is shown.
        """
        releases = cls.load_all(path, public_key=public_key)
        if len(releases) != 1:
            raise FormatError(
                f"{path} is the receipt of a batch of {len(releases)} answers."
                " Release.load_all(path) gives all of them."
            )
        return releases[0]

    @classmethod
    def load_all(cls, path: Place, *, public_key: str | None = None) -> "list[Release]":
        """The releases in a receipt: one, or those of a batch."""
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise ParameterError(f"{path} cannot be read: {error.strerror}.") from None
        receipt = verify_receipt(content, public_key=public_key)
        signed = read_object(content, name="The receipt")
        stored = as_object(receipt.body["release"], name="The release")
        return releases_from(stored, Standing(remark=_trust(receipt), receipt=signed))


def batch_to_json(releases: Sequence[ReleaseRecord]) -> Json:
    """Several releases that were charged together, as they are stored."""
    return {
        "format": FORMAT,
        "kind": BATCH,
        "releases": [release.to_json() for release in releases],
    }


def releases_from(stored: Mapping[str, object], standing: Standing) -> list[Release]:
    """The releases that were stored together."""
    if stored.get("kind") != BATCH:
        return [Release.from_json(stored, standing=standing)]
    check_format(stored, BATCH, {"format", "kind", "releases"})
    listed = cast("list[Mapping[str, object]]", stored["releases"])
    return [Release.from_json(release, standing=standing) for release in listed]


def _trust(receipt: Receipt) -> str:
    if receipt.compared:
        return f"Signed by the key that was given, {receipt.fingerprint}."
    return (
        f"Unchanged since it was signed by the key {receipt.fingerprint}: compare it with the"
        " owner's."
    )
