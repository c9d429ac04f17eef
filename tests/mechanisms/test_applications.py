"""Prices, votes and itemsets: sensitivities by brute force, laws by enumeration."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product
from math import comb, log

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT
from letalone.mechanisms.applications import (
    _buyers_at,
    best_option,
    frequent_itemsets,
    private_price,
)
from letalone.mechanisms.itemsets import count_itemsets, itemset_at
from letalone.privacy import ADD_REMOVE
from mechanisms.frequencies import FALSE_ALARM, exponential_law, fit
from seeded import SeededBits

PRICES = [9, 10, 11, 400, 500]


def revenue(valuations, price):
    return price * sum(v >= price for v in valuations)


@pytest.mark.long
def test_m7_prices_follow_the_exponential_law_with_the_largest_price_as_sensitivity():
    """Buyers of 10, 10 and 500. False-positive rate over seeds: 1e-6."""
    bits, buyers = SeededBits(90), [10, 10, 500]
    draws = [private_price(buyers, prices=PRICES, epsilon=4, bits=bits) for _ in range(10_000)]

    def stated(sensitivity):
        utilities = [revenue(buyers, price) for price in PRICES]
        law = exponential_law(utilities, 4 / (2 * sensitivity))
        return dict(zip(PRICES, map(float, law), strict=True))

    assert fit(draws, stated(500)) > FALSE_ALARM
    assert fit(draws, stated(400)) < FALSE_ALARM, "too few draws to see a wrong sensitivity"


def test_m7_one_buyer_moves_the_revenue_by_at_most_the_largest_price():
    values = [0, 10, 300, 1000]
    worst = max(
        abs(revenue((*rest, one), price) - revenue((*rest, other), price))
        for rest in product(values, repeat=2)
        for one, other in product(values, repeat=2)
        for price in PRICES
    )
    assert worst == max(PRICES)


def test_m7_a_good_price_is_found_where_noise_on_the_price_would_earn_nothing():
    """200 buyers who pay 10: asking 10.01 earns nothing."""
    bits, buyers = SeededBits(91), [10.0] * 2000 + [500.0] * 10
    prices = [1, 5, 9.99, 10, 10.01, 20, 500]
    chosen = Counter(private_price(buyers, prices=prices, epsilon=1, bits=bits) for _ in range(200))
    assert chosen[9.99] + chosen[10] > 190


def test_prices_mean_what_was_typed_and_a_valuation_equal_to_a_price_buys():
    assert private_price([0.1] * 1000, prices=[0.1, 0.2], epsilon=100, bits=SeededBits(92)) == 0.1
    awkward = [Fraction(1, 3), 1e-9, 12345.678912345]
    assert private_price([1e6] * 50, prices=awkward, epsilon=100, bits=SeededBits(92)) == awkward[2]


@pytest.mark.long  # monotone utilities: test_selection.py
def test_m7_adding_buyers_only_raises_revenue_so_add_remove_needs_half_the_noise():
    """False-positive rate over seeds: 1e-6."""
    bits, buyers = SeededBits(93), [10, 10, 500]
    draws = [
        private_price(buyers, prices=PRICES, epsilon=2, neighbours=ADD_REMOVE, bits=bits)
        for _ in range(10_000)
    ]
    utilities = [revenue(buyers, price) for price in PRICES]
    law = dict(zip(PRICES, map(float, exponential_law(utilities, 2 / 500)), strict=True))
    assert fit(draws, law) > FALSE_ALARM


def test_valuations_that_are_not_numbers_buy_nothing_and_raise_nothing():
    """An error that depends on one buyer would be an exact answer about that buyer."""
    buyers = [float("nan"), None, float("inf"), -float("inf"), 12]
    assert private_price(buyers, prices=[5], epsilon=1) == 5
    assert private_price([], prices=[5], epsilon=1) == 5


@pytest.mark.parametrize("price", [0, -1, float("nan"), float("inf"), None, "x"])
def test_bad_prices_are_refused(price):
    with pytest.raises(ParameterError, match="a price is"):
        private_price([1], prices=[5, price], epsilon=1)


def test_empty_and_repeated_lists_are_refused():
    with pytest.raises(ParameterError, match="no price"):
        private_price([1], prices=[], epsilon=1)
    with pytest.raises(ParameterError, match="There are no options"):
        best_option(["A"], options=[], epsilon=1)
    with pytest.raises(ParameterError, match="One of the options is listed twice"):
        best_option(["A"], options=["A", "A"], epsilon=1)


@pytest.mark.long
def test_m7_vaccine_a_or_b_follows_the_law_and_drops_other_votes():
    """False-positive rate over seeds: 1e-6."""
    votes, bits = ["A"] * 5 + ["B"] * 3 + ["C", None, ["A"]], SeededBits(94)
    draws = [best_option(votes, options=["A", "B"], epsilon=1, bits=bits) for _ in range(10_000)]

    def stated(factor):
        return dict(zip("AB", map(float, exponential_law([5, 3], factor)), strict=True))

    assert fit(draws, stated(0.5)) > FALSE_ALARM
    assert fit(draws, stated(1.0)) < FALSE_ALARM
    draws = [
        best_option(votes, options=["A", "B"], epsilon=1, neighbours=ADD_REMOVE, bits=bits)
        for _ in range(10_000)
    ]
    assert fit(draws, stated(1.0)) > FALSE_ALARM


def all_itemsets(items, max_size):
    return [s for size in range(1, max_size + 1) for s in combinations(items, size)]


@pytest.mark.parametrize(("items", "max_size"), [(1, 1), (4, 2), (5, 5), (7, 3)])
def test_the_numbering_of_itemsets_is_a_bijection(items, max_size):
    total = count_itemsets(items, max_size)
    numbered = [itemset_at(number, items) for number in range(total)]
    assert sorted(numbered) == sorted(all_itemsets(range(items), max_size))


BASKETS = [("a", "b"), ("a", "b"), ("a", "c", "x"), ("a", "a")]


def itemset_law(items, max_size, support, factor, k):
    """The law of k rounds of the exponential mechanism over every candidate."""
    law = {(): 1.0}
    candidates = all_itemsets(items, max_size)
    for _ in range(k):
        longer = {}
        for order, likely in law.items():
            left = [s for s in candidates if s not in order]
            weights = exponential_law([support(s) for s in left], factor)
            longer |= {(*order, s): likely * float(w) for s, w in zip(left, weights, strict=True)}
        law = longer
    return law


def transactions_with(itemset):
    return sum(set(itemset) <= set(basket) for basket in BASKETS)


@pytest.mark.long
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("items", ["abcd", "abcdefgh"])
def test_m7_itemsets_follow_the_law_of_a_full_enumeration(items, k):
    """Unseen ones included, with few and with many of them. False-positive rate: 1e-6."""
    bits = SeededBits(95)
    draws = [
        tuple(frequent_itemsets(BASKETS, items=items, k=k, max_size=2, epsilon=2 * k, bits=bits))
        for _ in range(12_000)
    ]
    assert fit(draws, itemset_law(items, 2, transactions_with, 1.0, k)) > FALSE_ALARM
    assert fit(draws, itemset_law(items, 2, transactions_with, 1.15, k)) < FALSE_ALARM

    def seen_only(itemset):
        return transactions_with(itemset) or -50

    assert fit(draws, itemset_law(items, 2, seen_only, 1.0, k)) < FALSE_ALARM, "unseen ones count"


def test_m7_unseen_itemsets_keep_every_outcome_possible():
    """Dropping unseen candidates would make an itemset impossible that a neighbour allows."""
    with_it = itemset_law("abc", 2, lambda s: float(s == ("c",)), 0.5, 1)
    without = itemset_law("abc", 2, lambda _: 0.0, 0.5, 1)
    assert max(abs(log(with_it[s] / without[s])) for s in with_it) <= 1


@pytest.mark.long
def test_users_count_once_or_are_cut_to_their_first_transactions():
    """False-positive rate over seeds: 1e-6 each."""
    baskets = [("a",), ("a",), ("b",), ("a",), ("b", "c")]
    user, bits = ["u", "u", "u", "v", "v"], SeededBits(96)

    def draws(**arguments):
        return [
            tuple(
                frequent_itemsets(
                    baskets,
                    items="abc",
                    k=1,
                    max_size=1,
                    epsilon=2,
                    user=user,
                    bits=bits,
                    **arguments,
                )
            )
            for _ in range(8000)
        ]

    def law(a, b, c, factor):
        supports = {("a",): a, ("b",): b, ("c",): c}
        return itemset_law("abc", 1, supports.__getitem__, factor, 1)

    once, first_two = draws(), draws(max_transactions=2)
    assert fit(once, law(2, 2, 1, 1.0)) > FALSE_ALARM
    assert fit(once, law(3, 2, 1, 1.0)) < FALSE_ALARM, "transactions instead of users"
    assert fit(first_two, law(3, 1, 1, 0.5)) > FALSE_ALARM
    assert fit(first_two, law(3, 2, 1, 0.5)) < FALSE_ALARM, "a third one is kept"
    assert fit(first_two, law(3, 1, 1, 1.0)) < FALSE_ALARM, "sensitivity 1"


def test_a_huge_universe_needs_no_enumeration_and_unseen_sets_can_win():
    items = [f"item {number}" for number in range(1000)]
    assert count_itemsets(1000, 3) == 1000 + comb(1000, 2) + comb(1000, 3)
    chosen = frequent_itemsets(
        [items[:3]] * 5, items=items, k=5, max_size=3, epsilon=0.1, bits=SeededBits(97)
    )
    assert len(set(chosen)) == 5
    assert all(1 <= len(itemset) <= 3 for itemset in chosen)
    assert not any(set(itemset) <= set(items[:3]) for itemset in chosen), "5 in 10^8 at small ε"
    sure = frequent_itemsets(
        [items[:2]] * 500, items=items, k=3, max_size=3, epsilon=30, bits=SeededBits(97)
    )
    assert set(sure) == {(items[0],), (items[1],), (items[0], items[1])}


def test_every_itemset_comes_out_once_when_all_are_asked_for():
    for seed in range(20):
        everything = frequent_itemsets(
            BASKETS, items="abcd", k=10, max_size=2, epsilon=5, bits=SeededBits(seed)
        )
        assert sorted(everything) == sorted(all_itemsets("abcd", 2))


def test_a_delta_buys_more_accurate_rounds():
    baskets = [("a",)] * 60 + [("b",)] * 40
    hits = [
        sum(
            ("a",)
            in frequent_itemsets(
                baskets,
                items=[*"ab", *range(200)],
                k=40,
                max_size=1,
                epsilon=2,
                delta=delta,
                bits=SeededBits(seed),
            )[:1]
            for seed in range(60)
        )
        for delta in (0, 1e-5)
    ]
    assert hits[1] > hits[0]


def test_wrong_arguments_are_refused():
    def attempt(**changes):
        arguments = {"items": "abc", "k": 1, "max_size": 1, "epsilon": 1} | changes
        return frequent_itemsets(BASKETS, **arguments)

    for changes, words in [
        ({"items": []}, "There are no items"),
        ({"items": "aa"}, "listed twice"),
        ({"k": 0}, "k is 0"),
        ({"k": 4}, "choice of only 3 itemsets"),
        ({"items": "a", "k": 4}, "choice of only 1 itemset\\."),
        ({"max_size": 0}, "max_size is 0"),
        ({"epsilon": 0}, "epsilon is 0"),
        ({"delta": 1}, "delta is 1"),
        ({"max_transactions": 2}, "no user is given"),
        ({"user": ["u"]}, "not as many users as transactions"),
        ({"user": list("uuvv"), "max_transactions": 0}, "max_transactions is 0"),
        ({"items": range(10**6), "max_size": 9}, "fewer than 2\\^62"),
    ]:
        with pytest.raises(ParameterError, match=words):
            attempt(**changes)


def test_transactions_may_be_empty_and_hold_anything_else():
    odd = [[], ["a", None, ["b"], 3.5], ("zzz",)]
    assert frequent_itemsets(
        odd, items="ab", k=1, max_size=9, epsilon=100, bits=SeededBits(98)
    ) == [("a",)]
    assert len(frequent_itemsets([], items="ab", k=3, max_size=2, epsilon=1)) == 3


WRONG_ENTRIES = [{"A": 3}, {"A", "B"}, "AB", b"AB", 5, None, np.array(5)]
WRONG_LISTS = [{"A": 3}, {"A", "B"}, iter("AB"), 5, None, b"AB", np.zeros((1, 1))]


@pytest.mark.parametrize("entries", WRONG_ENTRIES)
def test_private_entries_in_a_wrong_container_are_refused_by_its_type(entries):
    for call in (
        lambda: best_option(entries, options="AB", epsilon=1),
        lambda: frequent_itemsets(entries, items="AB", k=1, max_size=1, epsilon=1),
    ):
        with pytest.raises(ParameterError, match=r"have the type .* but must be a list"):
            call()
    with pytest.raises(ParameterError, match="list"):
        private_price(entries, prices=[5], epsilon=1)


@pytest.mark.parametrize("public", WRONG_LISTS)
def test_public_lists_in_a_wrong_container_are_refused(public):
    for name, call in (
        ("options", lambda: best_option(["A"], options=public, epsilon=1)),
        ("items", lambda: frequent_itemsets([], items=public, k=1, max_size=1, epsilon=1)),
        ("prices", lambda: private_price([1], prices=public, epsilon=1)),
    ):
        with pytest.raises(ParameterError, match=f"{name} is .* but must be a list"):
            call()


def test_options_that_can_change_are_refused():
    with pytest.raises(ParameterError, match="One of the options is a list"):
        best_option(["A"], options=[["A"]], epsilon=1)
    with pytest.raises(ParameterError, match="One of the items is a list"):
        frequent_itemsets([], items=[["A"]], k=1, max_size=1, epsilon=1)


def test_arrays_and_streams_are_read():
    assert best_option(iter("AAAB"), options=np.array(["A", "B"]), epsilon=100) == "A"
    assert private_price(np.ones(9), prices=np.array([1.0, 2.0]), epsilon=100) == 1.0
    baskets = (basket for basket in [("a",)] * 50)
    assert frequent_itemsets(baskets, items="ab", k=1, max_size=1, epsilon=100) == [("a",)]


class Hostile:
    """A vote, an item, a user, a transaction that raises whatever it is asked."""

    def __hash__(self):
        raise RuntimeError("secret")

    def __iter__(self):
        yield "b"
        raise ZeroDivisionError("secret")


UNREADABLE = [None, float("nan"), np.float64("nan"), "b", b"b", 5, {"b": 1}, True, Hostile()]


@pytest.mark.parametrize("one", UNREADABLE, ids=lambda one: type(one).__name__)
def test_unreadable_transactions_are_empty_and_raise_nothing(one):
    """An error that depends on one person would be an exact answer about that person."""
    baskets = [*[one] * 60, *[("a",)] * 20]
    chosen = frequent_itemsets(
        baskets, items="ab", k=1, max_size=1, epsilon=100, bits=SeededBits(100)
    )
    assert chosen == [("a",)]


def test_votes_items_and_users_that_raise_are_dropped():
    hostile = [Hostile()] * 30
    assert best_option([*hostile, *"AAAAAAAAA"], options="AB", epsilon=100) == "A"
    baskets = [("a", Hostile())] * 9 + [("b",)] * 30
    chosen = frequent_itemsets(
        baskets, items="ab", k=1, max_size=1, epsilon=100, user=[*range(9), *hostile]
    )
    assert chosen == [("a",)]


def test_a_mismatch_of_users_does_not_tell_how_many_transactions_there_are():
    with pytest.raises(ParameterError) as refusal:
        frequent_itemsets([("a",)] * 4321, items="a", k=1, max_size=1, epsilon=1, user=["u"])
    assert not any(letter.isdigit() for letter in str(refusal.value))


@pytest.mark.long
def test_a_wide_basket_is_cut_to_its_first_items_in_the_order_of_the_universe():
    """A basket of 10^5 items would have 10^15 subsets of three."""
    items = range(100_000)
    wide = list(reversed(items))
    chosen = frequent_itemsets(
        [wide] * 40, items=items, k=50, max_size=1, epsilon=5000, bits=SeededBits(101)
    )
    assert sorted(chosen) == [(item,) for item in range(50)]
    three = frequent_itemsets(
        [wide] * 200, items=items, k=3, max_size=3, epsilon=100, max_items=2, bits=SeededBits(102)
    )
    assert set(three) == {(0,), (1,), (0, 1)}


def test_max_items_is_a_count_whose_subsets_can_be_listed():
    arguments = {"items": range(60), "k": 1, "epsilon": 1}
    for wrong in COUNT.refused:
        with pytest.raises(ParameterError, match=r"max_items is .*, but must be"):
            frequent_itemsets([], max_size=1, max_items=wrong, **arguments)
    with pytest.raises(ParameterError, match=r"max_items is 50, but must be lower"):
        frequent_itemsets([], max_size=6, **arguments)
    assert len(frequent_itemsets([], max_size=6, max_items=24, **arguments)) == 1
    assert len(frequent_itemsets([], max_size=5, **arguments)) == 1


BUYERS = [10**400, Fraction(10**400), Decimal("1e400"), np.longdouble(7), float("inf"), 7, 7.5]
NOBODY = [
    -(10**400),
    Decimal("sNaN"),
    None,
    "7",
    "abc",
    True,
    np.True_,
    [7],
    float("nan"),
    object(),
]


def test_every_valuation_is_read_by_a_total_rule():
    """Huge ones saturate, unreadable ones buy nothing, whoever else is in the list."""
    limits = np.array([5.0])
    assert [_buyers_at([one], limits) for one in BUYERS] == [[1]] * len(BUYERS)
    assert [_buyers_at([one], limits) for one in NOBODY] == [[0]] * len(NOBODY)
    assert _buyers_at([*NOBODY, *BUYERS], limits) == [len(BUYERS)]
    assert private_price([3, 10**400], prices=[5], epsilon=1) == 5
    masked = np.ma.masked_array([9.0, 9.0], mask=[True, False])
    assert _buyers_at(masked, limits) == _buyers_at(np.array([9, 1], np.int8), limits) == [1]
    with pytest.raises(ParameterError, match="must be one row"):
        private_price(np.ones((3, 2)), prices=[5], epsilon=1)


def test_transactions_without_a_user_are_dropped():
    """As many NaN as transactions would count one person as often: 50 a against one b."""
    nameless = [None, ["u"], *np.full(48, np.nan)]
    chosen = frequent_itemsets(
        [("a",)] * 50 + [("b",)] * 9,
        items="ab",
        k=1,
        max_size=1,
        epsilon=100,
        user=[*nameless, *range(9)],
        bits=SeededBits(99),
    )
    assert chosen == [("b",)]
    with pytest.raises(ParameterError, match="The users have the type str"):
        frequent_itemsets([("a",)], items="ab", k=1, max_size=1, epsilon=1, user="u")


@pytest.mark.parametrize("wrong", ["banana", "replace", ADD_REMOVE.relation, None, 1])
def test_neighbours_are_one_of_the_two(wrong):
    for call in (
        lambda: best_option(["A"], options="AB", epsilon=1, neighbours=wrong),
        lambda: private_price([1], prices=[5], epsilon=1, neighbours=wrong),
        lambda: frequent_itemsets([], items="a", k=1, max_size=1, epsilon=1, neighbours=wrong),
    ):
        with pytest.raises(ParameterError, match=r"must be la.ADD_REMOVE or la.REPLACE"):
            call()
