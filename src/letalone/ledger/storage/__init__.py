"""Where a ledger is kept: a file of SQLite, or PostgreSQL; one transaction for each act."""
