"""Engines: exact, bounded aggregates of a table, as whole numbers.

  core             the road from a plan to statements and to integers; what an engine must provide
  frames           tables in memory, as Arrow tables
  duckdb, sqlite   files and frames, in this process
  postgres, spark  tables elsewhere
  public_tables    public tables of joins, read in this process whichever engine they go to
  opening          which engine opens a source; catalogue looks names up for `letalone.sources`.
                   These two alone know all engines

`core` knows no engine, and engines do not know each other (contracts in pyproject.toml). How to add
one: docs/contributing/new-engine.md.
"""
