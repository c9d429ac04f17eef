"""Budgets that outlive the process: a ledger of every charge, release and refusal.

from letalone.ledger import Ledger, verify_receipt
Ledger.open("budget.db").verify()
"""

from letalone.ledger.acts import Reservation
from letalone.ledger.canonical import canonical, digest_of
from letalone.ledger.data_sets import DataSet
from letalone.ledger.entries import Entry, EntryKind
from letalone.ledger.export import verify_export
from letalone.ledger.ledger import Ledger
from letalone.ledger.levels import Level
from letalone.ledger.receipts import Receipt, verify_receipt
from letalone.ledger.verification import Verified

__all__ = [
    "DataSet",
    "Entry",
    "EntryKind",
    "Ledger",
    "Level",
    "Receipt",
    "Reservation",
    "Verified",
    "canonical",
    "digest_of",
    "verify_export",
    "verify_receipt",
]
