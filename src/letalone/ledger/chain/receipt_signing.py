"""Makes the signed receipt of a release that a ledger has settled; `receipts` checks it.

Tested:   tests/ledger/test_receipts.py
"""

from fractions import Fraction
from math import isinf
from typing import cast

from letalone.errors import ParameterError
from letalone.ledger.acts import charge_of
from letalone.ledger.chain.canonical import as_object, canonical, read_object
from letalone.ledger.chain.entries import Entry
from letalone.ledger.chain.receipts import receipt_statement
from letalone.ledger.data_sets import DataSet
from letalone.ledger.storage.transaction import LedgerTransaction
from letalone.privacy.curve import Json, Privacy


def receipt(
    books: LedgerTransaction, release: Json, *, name: str | None = None
) -> tuple[Json, DataSet | None]:
    """The signed receipt of a release that this ledger has settled; and how a data set stands by
    then, where one is named."""
    text = canonical(release, name="release")
    answer, key, data_set = books.released(text, name)
    if answer is None:
        raise ParameterError(
            "This release is not in the ledger, so there is no receipt for it. Give the JSON that "
            "was settled, unchanged."
        )
    body = _body(answer.reserved, answer.settled, read_object(text, name="The release"))
    statement = receipt_statement(body, key.public)
    return {**statement, "signature": key.sign(statement)}, data_set


def _body(reserved: Entry, settled: Entry, release: Json) -> Json:
    privacy, at = charge_of(reserved)
    epsilon, delta = _point(privacy, at)
    after = as_object(reserved.body["after"], name="The record")
    state = as_object(after["state"], name="The record")
    return {
        "data_set": cast("str", reserved.name),
        "version": reserved.body["version"],
        "neighbours": state["neighbours"],
        "plan": reserved.body["plan"],
        "digest": reserved.body["digest"],
        "privacy": reserved.body["privacy"],
        "epsilon": epsilon,
        "delta": delta,
        "versions": reserved.body["versions"],
        "time": settled.time,
        "entry": settled.number,
        "ledger_hash": settled.hash,
        "release": release,
    }


def _point(privacy: Privacy, at: Fraction) -> tuple[str, str]:
    """One point of the curve as text, rounded up: at a delta of 0 where it can be."""
    pure = privacy.epsilon(0)
    if not isinf(pure):
        return repr(pure), "0"
    return repr(privacy.epsilon(at)), str(at)
