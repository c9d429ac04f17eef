"""What each curve is in the terms of other notions, as exact rationals that never change.

`curve_terms.json` was written when one function dispatched over the types of all curves. A
curve that describes itself must say the same: filters add these numbers up.
"""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from letalone.privacy import from_json
from letalone.privacy.bank import USUAL_SHARES, open_accounts, price_of
from letalone.privacy.curve import KINDS

ROWS = json.loads(Path(__file__).with_name("curve_terms.json").read_text())
ORDERS = (Fraction(3, 2), Fraction(2), Fraction(3), Fraction(17, 2), Fraction(96))
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row["curve"]["kind"])


def text(number):
    return None if number is None else str(number)


def names(orders):
    return None if orders is None else [type(losses).__name__ for losses in orders]


def test_no_kind_of_the_list_is_lost():
    """A kind that came later needs no row: it was never said by another function."""
    assert {row["curve"]["kind"] for row in ROWS} <= set(KINDS)


@every_row
def test_a_curve_is_the_same_rational_in_each_notion_as_ever(row):
    curve = from_json(row["curve"])
    assert text(curve.pure_epsilon()) == row["pure_epsilon"]
    assert text(curve.gdp_mu_squared()) == row["mu_squared"]
    assert text(curve.zcdp_rho()) == row["rho"]
    assert [text(curve.renyi_divergence(order)) for order in ORDERS] == row["divergences"]


@every_row
def test_a_curve_has_the_loss_distributions_that_it_ever_had(row):
    curve = from_json(row["curve"])
    assert curve.directions() == row["directions"]
    assert names(curve.losses()) == row["losses"]
    assert names(curve.reached()) == (row["reached"] or [])


@every_row
def test_a_filter_adds_the_same_amounts_as_ever(row):
    accounts = open_accounts(Fraction(1, 10**6), USUAL_SHARES)
    price = price_of(from_json(row["curve"]).labelled(None), accounts, delta=Fraction(1, 10**9))
    amounts = [[text(amount), text(leak)] for amount, leak in price.amounts]
    assert [text(price.leak), *amounts] == row["price"]
