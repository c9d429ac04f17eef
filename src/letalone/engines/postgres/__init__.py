"""The engine on a PostgreSQL server: a connection, a dialect, and how its tables are made."""
