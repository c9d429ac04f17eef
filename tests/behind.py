"""What tests of the ledger share: its neighbours, and hands behind its back."""

import json
import sqlite3
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from letalone.ledger.chain.canonical import canonical
from letalone.ledger.chain.checkpoints import sign_checkpoint
from letalone.ledger.chain.signing_key import SigningKey, key_of
from letalone.privacy import ADD_REMOVE

PATIENTS = ADD_REMOVE.of("patient")


def execute(path: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    """Do something to the file behind the ledger's back."""
    with sqlite3.connect(path) as connection:
        found = connection.execute(statement, values).fetchall()
    connection.close()
    return found


def forge(
    path: Path,
    number: int,
    change: Callable[[dict[str, Any]], None],
    *,
    checkpoint: dict[str, Any] | None = None,
) -> None:
    """Rewrite an entry as whoever holds the file can: every later hash and the signed head too.

    Checkpoints are signed anew; where they shall lie, `checkpoint` says how.
    """
    previous = None
    for place, text in execute(path, "SELECT number, text FROM entries ORDER BY number"):
        entry = json.loads(str(text))
        if place == number:
            change(entry)
        entry["previous"] = previous or entry["previous"]
        if entry["kind"] == "checkpoint":
            entry["body"] = _checkpoint(path, entry, checkpoint or {})
        written = canonical(entry)
        previous = sha256(written.encode()).hexdigest()
        columns = (entry["name"], entry["kind"], written, previous, place)
        words = "UPDATE entries SET name = ?, kind = ?, text = ?, hash = ? WHERE number = ?"
        execute(path, words, *columns)
    sign(path)


def _checkpoint(path: Path, entry: dict[str, Any], lie: dict[str, Any]) -> dict[str, Any]:
    true = {"number": entry["number"] - 1, "hash": entry["previous"], "time": entry["time"]}
    said = {**true, **lie}
    return sign_checkpoint(
        _key(path), number=said["number"], hashed=said["hash"], time=said["time"]
    )


def _key(path: Path) -> SigningKey:
    ((private,),) = execute(path, "SELECT private FROM keys")
    return key_of(private)  # pyright: ignore[reportArgumentType]


def sign(path: Path) -> None:
    """Make the last entry the signed head."""
    ((number, last),) = execute(
        path, "SELECT number, hash FROM entries ORDER BY number DESC LIMIT 1"
    )
    signature = _key(path).sign({"format": 1, "kind": "head", "number": number, "hash": last})
    execute(path, "UPDATE head SET number = ?, hash = ?, signed = ?", number, last, signature)
