"""Rows are removed after a day's notice, which no jump of a clock can shorten."""

from datetime import date, timedelta
from random import Random
from shutil import copytree

import pytest

from curator.makers import NAME, Clock, Machine, ask, grant, open_curator, registered, whats
from letalone.curator.storage.dependencies import since_start
from letalone.curator.storage.stored_values import write_time
from letalone.errors import LedgerUnavailable
from letalone.ledger import Ledger


@pytest.fixture
def machine():
    return Machine()


@pytest.fixture
def kept(made_once, tmp_path, clock, machine, monkeypatch):
    """A data set that is kept for 30 days more; one clock for the ledger and the service."""
    monkeypatch.setattr("letalone.ledger.storage.transaction.now", lambda: write_time(clock()))
    copytree(made_once[0], tmp_path, dirs_exist_ok=True)
    with open_curator(tmp_path, clock=clock, machine=machine) as curator:
        yield grant(registered(curator, retention=date.today() + timedelta(days=30)))


def passed(clock, machine, **length):
    """Time that really passes: both clocks move."""
    clock.passed += timedelta(**length)
    machine.hours += timedelta(**length).total_seconds() / 3600


def rows(curator):
    return list(curator.settings.data_folder.glob("*.parquet"))


def test_a_clock_that_is_a_year_ahead_for_hours_removes_nothing(kept, clock, machine):
    clock.passed += timedelta(days=365)
    for _ in range(23):
        assert kept.data_sets.retire_overdue() == []
        passed(clock, machine, hours=1)
    assert kept.data_sets.record(NAME).removal is not None
    clock.passed -= timedelta(days=365)
    assert kept.data_sets.retire_overdue() == []
    assert whats(kept)[-2:] == ["removal announced", "removal called off"]
    assert kept.data_sets.record(NAME).removal is None
    assert rows(kept)
    assert ask(kept)


def test_a_service_that_is_started_with_a_clock_a_year_ahead_removes_nothing(
    kept, clock, machine, tmp_path
):
    for _ in range(3):
        with open_curator(tmp_path, clock=Clock(days=365), machine=machine) as other:
            assert rows(other)
    assert whats(kept).count("removal announced") == 1


def test_after_a_day_of_notice_the_rows_go_also_over_starts_of_the_service(
    kept, clock, machine, tmp_path
):
    passed(clock, machine, days=31)
    assert kept.data_sets.retire_overdue() == []
    passed(clock, machine, hours=23, minutes=59)
    with open_curator(tmp_path, clock=clock, machine=machine):
        assert rows(kept)
    passed(clock, machine, minutes=2)
    with open_curator(tmp_path, clock=clock, machine=machine):
        assert not rows(kept)
    assert whats(kept)[-2:] == ["removal announced", "retired"]
    assert kept.data_sets.record(NAME).removal is None


def test_a_jump_while_the_notice_stands_begins_the_day_anew(kept, clock, machine):
    passed(clock, machine, days=31)
    assert kept.data_sets.retire_overdue() == []
    clock.passed += timedelta(days=2)  # by the clock, the day is over
    assert kept.data_sets.retire_overdue() == []
    passed(clock, machine, hours=23)
    assert kept.data_sets.retire_overdue() == []
    passed(clock, machine, hours=1, minutes=1)
    assert kept.data_sets.retire_overdue() == [NAME]


def test_a_machine_that_was_started_anew_begins_the_day_anew(kept, clock, machine):
    passed(clock, machine, days=31)
    kept.data_sets.retire_overdue()
    machine.start = "second"
    passed(clock, machine, days=2)
    assert kept.data_sets.retire_overdue() == []
    assert whats(kept).count("removal announced") == 1
    passed(clock, machine, days=1, seconds=2)
    assert kept.data_sets.retire_overdue() == [NAME]


def test_a_clock_that_is_wrong_twice_for_a_moment_removes_nothing(kept, clock, machine):
    """A look with the right clock, when the ledger is ahead of it, calls the removal off."""
    clock.passed += timedelta(days=365)
    kept.data_sets.retire_overdue()
    passed(clock, machine, minutes=5)
    clock.passed -= timedelta(days=365)
    for _ in range(24):
        passed(clock, machine, hours=1)
        assert kept.data_sets.retire_overdue() == []
    assert whats(kept)[-2:] == ["removal announced", "removal called off"]
    clock.passed += timedelta(days=365)
    assert kept.data_sets.retire_overdue() == []
    assert rows(kept)


@pytest.mark.parametrize("seed", [0, 5, 6])
def test_whatever_clocks_do_rows_are_removed_only_as_the_theorem_says(kept, clock, machine, seed):
    """Where a look before which the ledger is ahead leaves notices as they are, each walk fails."""
    rng, looks = Random(seed), []
    for _ in range(300):
        passed(clock, machine, hours=rng.uniform(0, 6))
        if rng.random() < 0.4:  # a clock is right, or off by a year
            clock.passed = timedelta(hours=machine.hours - 100, days=rng.choice([0, 0, 365]))
        now = clock()
        looks.append((3600 * machine.hours, now, now.date() > date.today() + timedelta(days=30)))
        if kept.data_sets.retire_overdue():
            break
    else:
        raise AssertionError("Nothing was ever removed: the walk shows nothing.")
    steady, last, _ = looks[-1]
    first = max(n for n, look in enumerate(looks) if steady - look[0] >= 24 * 3600)
    for seconds, now, over in looks[first:]:
        assert over
        assert abs((last - now).total_seconds() - (steady - seconds)) <= 2 * 600


def test_what_the_ledger_could_not_announce_is_announced_later(kept, clock, machine, monkeypatch):
    """Else the day would run without anybody knowing."""

    def away(*_, **__):
        raise LedgerUnavailable("no room")

    passed(clock, machine, days=31)
    with monkeypatch.context() as moment:
        moment.setattr(Ledger, "administer", away)
        with pytest.raises(LedgerUnavailable):
            kept.data_sets.retire_overdue()
    passed(clock, machine, days=2)
    assert kept.data_sets.retire_overdue() == []
    assert whats(kept)[-1] == "removal announced"


def test_nothing_is_announced_while_the_ledger_is_ahead_of_the_clock(kept, clock, monkeypatch):
    with monkeypatch.context() as ahead:
        ahead.setattr("letalone.ledger.storage.transaction.now", lambda: "2999-01-01T00:00:00Z")
        kept.ledger.note("written by a machine whose clock is ahead")
    clock.passed += timedelta(days=31)
    assert kept.data_sets.retire_overdue() == []
    assert "removal announced" not in whats(kept)


def test_an_owner_need_not_wait(kept, clock, machine):
    passed(clock, machine, days=31)
    kept.data_sets.retire_overdue()
    kept.data_sets.retire(NAME, why="its time is over", by="olga")
    assert not rows(kept)
    assert kept.data_sets.retire_overdue() == []


def test_the_steady_clock_is_one_for_all_and_goes_on():
    first, second = since_start(), since_start()
    assert first.start == second.start
    assert 0 <= second.seconds - first.seconds < 60
