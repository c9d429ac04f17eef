"""The embedded engine: files and frames through DuckDB, locked down to what it was given."""
