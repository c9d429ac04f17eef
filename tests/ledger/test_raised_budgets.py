"""What a smaller budget let through, a larger one lets through too: the proof's first step."""

from random import Random

import pytest

from behind import PATIENTS
from letalone.errors import BudgetExceeded
from letalone.ledger.acts import Charge, after_charge, point_of, with_larger_budget
from letalone.ledger.data_sets import DataSet, new_data_set
from letalone.privacy import ZCDP, ApproxDP, Budget, GaussianDP, Privacy, PureDP
from letalone.privacy.bank import USUAL_SHARES


def opened(budget: Budget) -> DataSet:
    return new_data_set("t", budget, neighbours=PATIENTS, version=1, shares=USUAL_SHARES)


def some_release(chance: Random) -> Privacy:
    size = chance.choice([0.01, 0.05, 0.2, 0.5])
    kinds = (PureDP(size), GaussianDP(size), ZCDP(size**2 / 2), ApproxDP(size, 1e-8))
    return chance.choice(kinds)


def spend(before: DataSet, chance: Random) -> tuple[DataSet, list[Charge]]:
    """Ask until thirty questions were refused."""
    charges: list[Charge] = []
    refused = 0
    while refused < 30:
        privacy = some_release(chance)
        try:
            at = point_of(before, None)
            before = after_charge(before, privacy, None)
        except BudgetExceeded:
            refused += 1
        else:
            charges.append((privacy, at))
    return before, charges


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_no_raise_is_refused_and_each_leaves_at_least_as_much(seed: int) -> None:
    """Paths end where questions are refused, so most accounts are near or over their limit."""
    chance = Random(seed)
    first = Budget(chance.choice([0.5, 1, 2]), chance.choice([0, 1e-6, 1e-5]))
    before, charges = spend(opened(first), chance)
    assert charges
    for more in (Budget(0), Budget(0.001), Budget(0, 1e-7), Budget(1, 1e-6)):
        after = with_larger_budget(before, first + more, charges)
        assert after.releases == before.releases
        assert after.state.leak == before.state.leak
        alive = {(one.notion, one.order) for one in before.state.accounts if one.live}
        assert alive <= {(one.notion, one.order) for one in after.state.accounts if one.live}
        for privacy in (PureDP(0.01), ApproxDP(0.01, 1e-9)):
            assert after.how_many_more(privacy, delta=1e-9) >= before.how_many_more(
                privacy, delta=1e-9
            )


@pytest.mark.parametrize("seed", range(3))
def test_raising_twice_is_raising_once(seed: int) -> None:
    before, charges = spend(opened(Budget(1, 1e-6)), Random(seed))
    once = with_larger_budget(before, Budget(3, 1e-5), charges)
    assert (
        with_larger_budget(
            with_larger_budget(before, Budget(2, 1e-6), charges), Budget(3, 1e-5), charges
        )
        == once
    )
