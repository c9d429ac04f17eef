"""What all engines share: the road from a plan to statements, bounding, and what an engine says.

A plan becomes a scope and measures (measures.py), these a tree of SQL in DuckDB's words
(statements.py, over rows.py, emitting.py, amounts.py, bounding.py), the tree a text in the words of
an engine (dialect.py, rewriting.py), and its result whole numbers (sql_engine.py). An engine is a
folder that provides:

A dialect, `Dialect` (dialect.py):
  read, unit       a stored cell as a value of its declared type, or as a unit: total, whatever the
                   cell holds (stored_types.py has the types and the shared pieces,
                   texts/text_grammar.py what text stands for); a type that cannot be read so is
                   OTHER
  text, hashed     a unit as text, and SHA-256 in small hexadecimal digits
  printed          a tree in the engine's words, by rules for kinds of nodes (rewriting.py)
  and what differs of arithmetic, offset, whole, weighed, guess, scaled, total, narrow, double_of,
  level, read_rows, quotient, digest, spell, has_first: each says in a sentence what it promises

An engine, `Engine` (sql_engine.py), most of which `ServerEngine` (server_engine.py) has for those
whose statements go to a connection:
  check            refuses rows that are made of several people's, from metadata alone
  reach            whether the source is there, before a question is charged
  place            where statements run: tables of one place can be joined
  borrowing        one state of the table, with what other tables lend, until the end of a block
  add_public, forget_public     public tables of joins (public_tables.py reads them)
  close
  _tables, _built  what statements read, looked at again in the transaction that reads it
  _lend            one row of each unit for a table of the same place: a query, or its rows
  _run, _all_rows  the rows of a statement's result; nothing of an engine's own errors goes on
                   (`hide_engine_errors`)

and a function that opens it, which reads the catalogue alone and checks the columns. It is then
named in opening.py and in tests/engines/makers.py, and these laws run on it: test_engine_laws.py,
test_odd_tables.py, test_hostile_names.py (tests/engines), conformance/test_golden.py.
"""
