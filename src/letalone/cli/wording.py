"""Words of refusals that speak of Python, said again for whoever types SQL and options."""

import re
from collections.abc import Mapping

SAID = [
    (re.compile(r"the unit is 'the row'\. Write la\.count_distinct\(\)"),
     "the unit is the row. Write COUNT(*)"),
    (re.compile(r"the unit is '([^']*)'\. Write la\.count_distinct\(\)"),
     r"the unit is '\1'. Write COUNT(DISTINCT \1)"),
    (re.compile(r"Check the path, or give a frame\."), "Check the path."),
    (re.compile(r"Write True or False\."), "Write TRUE or FALSE."),
    (re.compile(r"Name one with table=\."), "Name one with --table."),
    (re.compile(r"and so does table=\."), "and so does --table."),
    (re.compile(r"Write a date as datetime\.date\([^)]*\)"), "Write a date as '2024-01-31'"),
    (re.compile(r"Write a time as datetime\.datetime\([^)]*\)"),
     "Write a time as '2024-01-31 14:30:00'"),
    (re.compile(r"use ==, != or \.isin\(\[…\]\) here"), "use =, <> or IN (…) here"),
    (re.compile(r"such as 8, or None"), "such as 8"),
    (re.compile(r"Only \.is_null\(\) works"), "Only IS NULL works"),
]  # fmt: skip


ARGUMENT = re.compile(r"^(\w+)(?= (is|has|names|must)\b)")
LISTED = re.compile(r"\b(\w+)=\[((?:'[^']*'(?:, )?)+)\]")
SWITCH = re.compile(r"\b(\w+)=True\b")


def in_terminal_words(message: str, options: Mapping[str, str] | None = None) -> str:
    """The message with SQL and options in place of Python.

    `options` are those of a command, by the names of its arguments.
    """
    for python, terminal in SAID:
        message = python.sub(terminal, message)
    return _with_options(message, options) if options else message


def _with_options(message: str, options: Mapping[str, str]) -> str:
    """`max_cells is 0` becomes `--max-cells is 0`, and `on=['zip', 'age']` `--on zip,age`."""

    def typed(found: re.Match[str]) -> str:
        names = found[2].replace("'", "").replace(", ", ",")
        return f"{options[found[1]]} {names}" if found[1] in options else found[0]

    message = ARGUMENT.sub(lambda found: options.get(found[1], found[1]), message)
    message = SWITCH.sub(lambda found: options.get(found[1], found[0]), message)
    return LISTED.sub(typed, message)
