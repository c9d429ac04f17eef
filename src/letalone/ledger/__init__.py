"""Budgets that outlive the process: a ledger of every charge, release and refusal.

from letalone.ledger import Ledger, verify_receipt
Ledger.open("budget.db").verify()

A name is fetched when it is first used: who checks a receipt loads no database.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from letalone.ledger.acts import Reservation as Reservation
    from letalone.ledger.chain.canonical import canonical as canonical
    from letalone.ledger.chain.canonical import digest_of as digest_of
    from letalone.ledger.chain.entries import Entry as Entry
    from letalone.ledger.chain.entries import EntryKind as EntryKind
    from letalone.ledger.chain.export import verify_export as verify_export
    from letalone.ledger.chain.receipts import Receipt as Receipt
    from letalone.ledger.chain.receipts import verify_receipt as verify_receipt
    from letalone.ledger.chain.verification import Verified as Verified
    from letalone.ledger.data_sets import DataSet as DataSet
    from letalone.ledger.ledger import Ledger as Ledger
    from letalone.ledger.levels import Level as Level

_HOMES = {
    "DataSet": "data_sets",
    "Entry": "chain.entries",
    "EntryKind": "chain.entries",
    "Ledger": "ledger",
    "Level": "levels",
    "Receipt": "chain.receipts",
    "Reservation": "acts",
    "Verified": "chain.verification",
    "canonical": "chain.canonical",
    "digest_of": "chain.canonical",
    "verify_export": "chain.export",
    "verify_receipt": "chain.receipts",
}
__all__ = sorted(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'letalone.ledger' has no attribute {name!r}")
    return getattr(import_module(f"letalone.ledger.{_HOMES[name]}"), name)
