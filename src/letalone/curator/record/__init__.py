"""The record: the ledger as people see it, processing, and what is published."""
