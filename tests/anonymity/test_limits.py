"""The attacks on an anonymous table count whom they expose; a private release exposes no one."""

from math import e

import pyarrow as pa
import pytest

import letalone as la
from letalone.errors import ParameterError

PATIENTS = pa.table(
    {
        "zip": ["130**"] * 4 + ["148**"] * 4 + ["150**"] * 4,
        "ill": ["cancer"] * 4
        + ["heart", "heart", "flu", "flu"]
        + ["flu", "heart", "cancer", "flu"],
    }
)
ASKED = {"quasi_identifiers": ["zip"], "sensitive": ["ill"]}


def test_a2_k_anonymity_falls_to_homogeneity_and_background_knowledge() -> None:
    found = la.anonymity.limits(PATIENTS, **ASKED)
    assert found.anonymity.k == 4
    exposed = found.exposures["ill"]
    assert exposed.certain == 4, "everyone in 130** has cancer"
    assert exposed.known == (4, 8, 12), "in 148** who has no flu has a heart disease"
    assert exposed.ruled_out == pytest.approx((4 * 2 / 3 + 4 * 1 / 3) / 12)
    assert exposed.guessed == pytest.approx((4 + 2 + 2) / 12)
    assert exposed.guessed_before == pytest.approx(5 / 12)


def test_l_diversity_repairs_homogeneity_and_not_background_knowledge() -> None:
    made = la.anonymity.anonymize(PATIENTS, **ASKED, k=4, l=2)
    exposed = la.anonymity.limits(made.table, **ASKED).exposures["ill"]
    assert exposed.certain == 0
    assert exposed.guessed >= exposed.guessed_before


def test_a_private_release_bounds_the_odds_of_everyone() -> None:
    with la.open(PATIENTS, unit=la.ROW, budget=la.Budget(epsilon=1)) as session:
        keys = la.product(["130**", "148**", "150**"], ["cancer", "flu", "heart"])
        counts = session.group_by("zip", "ill", keys=keys).agg(n=la.count())
        release = counts.release(epsilon=1)
    beside = la.anonymity.limits(PATIENTS, **ASKED, release=release).beside
    assert len(beside.rows) == 9
    assert beside.odds >= e**2, "add or remove: a value is replaced in two steps"
    assert beside.odds == pytest.approx(e**2)
    assert beside.surest() == pytest.approx(e**2 / (1 + e**2))
    assert beside.surest(0.01) < 0.07


def test_neighbours_that_replace_pay_once() -> None:
    budget = la.Budget(epsilon=1)
    with la.open(PATIENTS, unit=la.ROW, neighbours=la.REPLACE, budget=budget) as session:
        release = session.group_by("ill", keys=["flu"]).agg(n=la.count()).release(epsilon=0.5)
    assert la.anonymity.limits(PATIENTS, **ASKED, release=release).beside.odds == pytest.approx(
        e**0.5
    )


def test_without_a_release_a_typical_one_is_spoken_of() -> None:
    found = la.anonymity.limits(PATIENTS, **ASKED, epsilon=0.1)
    assert found.beside.odds == pytest.approx(e**0.2)
    assert "not private" in str(found)
    assert la.anonymity.limits(PATIENTS, **ASKED, epsilon=10**6).beside.surest() == 1
    with pytest.raises(ParameterError, match="No sensitive column"):
        la.anonymity.limits(PATIENTS, quasi_identifiers=["zip"], sensitive=[])


def test_a_release_with_a_delta_has_no_bound_on_the_odds() -> None:
    with la.open(PATIENTS, unit=la.ROW, budget=la.Budget(epsilon=1, delta=1e-6)) as session:
        release = session.group_by("ill").agg(n=la.count()).release(epsilon=0.5, delta=1e-7)
    with pytest.raises(ParameterError, match="δ above 0"):
        la.anonymity.limits(PATIENTS, **ASKED, release=release)
