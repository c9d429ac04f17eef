"""Other ways to write the same question, as trees of SQL: nothing is translated here."""
