"""The list of faults for tests/mutants.py cannot rot unseen."""

from faults import bottom, upper


def test_every_fault_can_be_put_in_and_its_tests_exist():
    faults = bottom.FAULTS + upper.FAULTS
    assert [(fault.name, fault.stale) for fault in faults if fault.stale] == []
    assert len({fault.name for fault in faults}) == len(faults)
