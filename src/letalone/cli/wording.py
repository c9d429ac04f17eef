"""Words of refusals that speak of Python, said again for whoever types SQL and options."""

import re

SAID = [
    (re.compile(r"the unit is 'the row'\. Write la\.count_distinct\(\)"),
     "the unit is the row. Write COUNT(*)"),
    (re.compile(r"the unit is '([^']*)'\. Write la\.count_distinct\(\)"),
     r"the unit is '\1'. Write COUNT(DISTINCT \1)"),
    (re.compile(r"Check the path, or give a frame\."), "Check the path."),
    (re.compile(r"Write True or False\."), "Write TRUE or FALSE."),
    (re.compile(r"Name one with table=\."), "Name one with --table."),
    (re.compile(r"Write a date as datetime\.date\([^)]*\)"), "Write a date as '2024-01-31'"),
    (re.compile(r"Write a time as datetime\.datetime\([^)]*\)"),
     "Write a time as '2024-01-31 14:30:00'"),
    (re.compile(r"use ==, != or \.isin\(\[…\]\) here"), "use =, <> or IN (…) here"),
    (re.compile(r"Only \.is_null\(\) works"), "Only IS NULL works"),
]  # fmt: skip


def in_terminal_words(message: str) -> str:
    """The message with SQL and options in place of Python."""
    for python, terminal in SAID:
        message = python.sub(terminal, message)
    return message
