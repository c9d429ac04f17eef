"""What makes a ledger tamper-evident: chained entries, signatures, receipts, verification."""
