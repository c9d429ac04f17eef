"""Above ε = 10 a fit debits a budget on purpose only."""

import numpy as np
import pandas as pd
import pytest

import letalone as la
from letalone.errors.codes import Code

pytestmark = pytest.mark.guarded
ROWS, LABELS = np.zeros((20, 2)), np.array([0, 1] * 10)


def test_an_account_is_debited_with_a_second_word_only():
    account = la.learn.Account(la.Budget(epsilon=100))
    model = la.learn.GaussianNB(epsilon=20, bounds=(0, 1), classes=[0, 1], budget=account)
    with pytest.raises(la.ParameterError, match="confirm=True") as told:
        model.fit(ROWS, LABELS)
    assert told.value.code is Code.NOT_CONFIRMED
    assert account.spent.epsilon == 0
    model.fit(ROWS, LABELS, confirm=True)
    assert account.spent.epsilon == 20


def test_a_table_is_debited_with_a_second_word_only_and_the_same_again_is_free():
    frame = pd.DataFrame({"x": np.arange(20.0), "y": [0, 1] * 10})
    columns = (
        la.Column("x", "number", lower=0, upper=20),
        la.Column("y", "integer", keys=(0, 1)),
    )
    table = la.open(frame, schema=la.Schema("rows", columns), budget=la.Budget(epsilon=100))
    model = la.learn.GaussianNB(epsilon=20)
    with pytest.raises(la.ParameterError, match="confirm=True"):
        model.fit(table, target="y")
    assert table.spent.epsilon == 0
    model.fit(table, target="y", confirm=True)
    model.fit(table, target="y")
    assert table.spent.epsilon == 20
