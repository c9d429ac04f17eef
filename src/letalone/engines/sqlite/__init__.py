"""The engine on an SQLite file: a connection that only reads, a dialect, functions in Python."""
