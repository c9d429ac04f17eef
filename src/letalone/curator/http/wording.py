"""Words of refusals that speak of Python, said again for whoever sends JSON."""

import re

SAID = [
    (re.compile(r"again: letalone ledger why LEDGER .* --why '…'\."),
     "again: POST /api/v1/data-sets/{name}/thaw."),
    (re.compile(r"have changed: ledger\.raise_version\(.*\), then la\.open\(…\) again\."),
     "have changed: in the console, or POST /api/v1/data-sets/{name}/version."),
    (re.compile(r"The owner of the data can allow it: ledger\.allow\([^)]*\)\."),
     "Request a grant: POST /api/v1/requests."),
    (re.compile(r"Allow it first: ledger\.allow\([^)]*\)\."), "An owner can add a purpose."),
    (re.compile(r"Raise it with ledger\.raise_level"), "Propose a larger one"),
    (re.compile(r": ?ledger\.raise_budget\([^)]*\)"), ": POST /api/v1/proposals"),
    (re.compile(r"la\.Budget\(epsilon=([^,)]*), delta=([^)]*)\)"),
     r'{"epsilon": \1, "delta": \2}'),
    (re.compile(r"`ledger\.checkpoint\(\)` gives"), "POST /api/v1/ledger/checkpoint gives"),
    (re.compile(r", as ledger\.head gives it"), ", as GET /api/v1/ledger gives it"),
    (re.compile(r"An upload must lie where data_sets\.incoming\(kind\) says\."),
     "There is no such upload: POST /api/v1/uploads gives its id."),
    (re.compile(r"give unit=la\.ROW"), "leave unit out"),
    (re.compile(r"\bTrue or False\b"), "true or false"),
]  # fmt: skip


def in_plain_words(message: str) -> str:
    """The message with addresses and JSON in place of Python."""
    for python, plain in SAID:
        message = python.sub(plain, message)
    return message
