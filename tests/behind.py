"""What tests of the ledger share: its neighbours, and hands behind its back."""

import json
import sqlite3
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from letalone.ledger.canonical import canonical
from letalone.ledger.keys import key_of
from letalone.privacy import ADD_REMOVE

PATIENTS = ADD_REMOVE.of("patient")


def execute(path: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    """Do something to the file behind the ledger's back."""
    with sqlite3.connect(path) as connection:
        found = connection.execute(statement, values).fetchall()
    connection.close()
    return found


def forge(path: Path, number: int, change: Callable[[dict[str, Any]], None]) -> None:
    """Rewrite an entry as whoever holds the file can: every later hash and the signed head too."""
    previous = None
    for place, text in execute(path, "SELECT number, text FROM entries ORDER BY number"):
        entry = json.loads(str(text))
        if place == number:
            change(entry)
        entry["previous"] = previous or entry["previous"]
        written = canonical(entry)
        previous = sha256(written.encode()).hexdigest()
        columns = (entry["name"], entry["kind"], written, previous, place)
        words = "UPDATE entries SET name = ?, kind = ?, text = ?, hash = ? WHERE number = ?"
        execute(path, words, *columns)
    sign(path)


def sign(path: Path) -> None:
    """Make the last entry the signed head."""
    ((private,),) = execute(path, "SELECT private FROM keys")
    ((number, last),) = execute(
        path, "SELECT number, hash FROM entries ORDER BY number DESC LIMIT 1"
    )
    key = key_of(private)  # pyright: ignore[reportArgumentType]
    signature = key.sign({"format": 1, "kind": "head", "number": number, "hash": last})
    execute(path, "UPDATE head SET number = ?, hash = ?, signature = ?", number, last, signature)
