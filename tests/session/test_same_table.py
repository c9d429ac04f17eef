"""Two tables on Spark with one last name do not share a budget in one ledger by accident."""

import pytest

from letalone.errors import ParameterError
from letalone.ledger import Ledger
from letalone.privacy import ADD_REMOVE, Budget
from letalone.session.same_table import NOWHERE, WHAT, check_same_table, remember_table

HERE, THERE, VIEW = "lake.clinic.visits", "lake.archive.visits", f"visits{NOWHERE}"


@pytest.fixture
def ledger():
    found = Ledger.in_memory()
    found.register("visits", Budget(2), neighbours=ADD_REMOVE.of("patient"))
    return found


def test_the_first_table_keeps_the_name_and_another_one_is_refused(ledger):
    check_same_table(ledger, "visits", HERE)
    remember_table(ledger, "visits", HERE)
    check_same_table(ledger, "visits", HERE)
    with pytest.raises(ParameterError, match=r"lake\.clinic\.visits.*lake\.archive\.visits.*name="):
        check_same_table(ledger, "visits", THERE)
    check_same_table(None, "visits", THERE)
    ledger.verify()


def test_it_is_written_down_once_and_anew_when_the_table_moves(ledger):
    before = len(ledger.entries("visits"))
    for _ in range(3):
        remember_table(ledger, "visits", HERE)
    assert len(ledger.entries("visits")) == before + 1
    ledger.administer("visits", "something else", {"table": "other"})
    remember_table(ledger, "visits", THERE)
    check_same_table(ledger, "visits", THERE)
    with pytest.raises(ParameterError, match=r"belongs to the table lake\.archive"):
        check_same_table(ledger, "visits", HERE)


def test_what_is_no_table_is_refused_under_a_tables_name_and_a_table_under_a_views(ledger):
    remember_table(ledger, "visits", None)
    check_same_table(ledger, "visits", HERE)
    remember_table(ledger, "visits", VIEW)
    with pytest.raises(ParameterError, match="of no catalogue"):
        check_same_table(ledger, "visits", HERE)
    remember_table(ledger, "visits", HERE)
    for other in (VIEW, None):
        remember_table(ledger, "visits", other)
        with pytest.raises(ParameterError, match=r"belongs to the table lake\.clinic"):
            check_same_table(ledger, "visits", other)
    check_same_table(ledger, "visits", HERE)


def test_a_place_is_known_however_many_other_acts_came_after_it(ledger):
    remember_table(ledger, "visits", HERE)
    for number in range(60):
        ledger.administer("visits", "a note", {"what": WHAT, "number": number})
    with pytest.raises(ParameterError, match=r"belongs to the table lake\.clinic"):
        check_same_table(ledger, "visits", THERE)
