"""Two workers of one service: what one of them does holds in the other."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from curator.makers import LINES, NAME, ask, grant, open_curator, put, registration
from letalone.curator.data_sets import service as data_sets
from letalone.curator.storage.refusals import AlreadyDecided
from letalone.engines.core.failure import SourceUnreadable
from letalone.plans.schema import Schema


@pytest.mark.long  # one worker: test_external_files.py
def test_all_workers_read_an_external_file_as_it_is_when_its_owner_has_said_so(peopled, tmp_path):
    peopled.data_sets.register(registration(), file=put(peopled), external=True, by="olga")
    grant(peopled)
    with open_curator(tmp_path) as other:
        ask(peopled, epsilon=0.1)
        ask(other, epsilon=0.11)
        put(peopled, lines=LINES[:31])
        for one in (peopled, other):
            with pytest.raises(SourceUnreadable):
                ask(one, epsilon=0.12)
        peopled.data_sets.raise_version(NAME, why="it was replaced", by="olga")
        ask(peopled, epsilon=0.13)
        ask(other, epsilon=0.14)


ENDS = {
    "a thaw": lambda other: other.data_sets.thaw(NAME, why="looked", by="olga"),
    "a version": lambda other: other.data_sets.raise_version(NAME, by="olga"),
    "newer rows": lambda other: other.data_sets.renew(NAME, file=put(other), by="olga"),
    "an erasure": lambda other: other.subjects.erase(NAME, "p1", by="stan", why="case 1"),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.long  # others of this file stay
def test_an_open_session_is_kept_until_another_worker_changes_or_renews_its_rows(
    ready, tmp_path, end
):
    def asked(epsilon):
        ask(ready, epsilon=epsilon)
        return ready.data_sets.store._sessions._open[NAME][1]

    first = asked(0.1)
    assert asked(0.2) is first
    if end == "a thaw":
        ready.ledger.freeze(NAME, "a test")
    with open_curator(tmp_path) as other:
        ENDS[end](other)
    assert asked(0.3) is not first


def test_of_names_that_look_the_same_one_is_registered(peopled, tmp_path, monkeypatch):
    """Both have looked before either writes, unless they wait for each other."""
    file, columns = put(peopled), registration().schema.columns
    inside = []

    def register(curator, name):
        schema = Schema(name, columns, unit="patient")
        try:
            curator.data_sets.register(registration(schema=schema), file=file, by="olga")
        except AlreadyDecided:
            return None
        return name

    copy = data_sets.copy_declared

    def watched(*given):
        inside.append(1)
        assert len(inside) == 1
        return copy(*given)

    monkeypatch.setattr(data_sets, "copy_declared", watched)
    with open_curator(tmp_path) as other, ThreadPoolExecutor(2) as pool:
        made = list(pool.map(register, (peopled, other), ("Visits", "visits")))
    assert sorted(map(str, made))[0] == "None"
    assert len(peopled.data_sets.records()) == 1


def test_a_renewal_and_what_its_rules_touched_are_one_step(ready, monkeypatch):
    """Once its version can be seen, its counts can be."""
    seen = []
    raised = ready.ledger.raise_version

    def watched(*given, **more):
        seen.append(ready.data_sets.affected(NAME, by="olga").version)
        return raised(*given, **more)

    monkeypatch.setattr(type(ready.ledger), "raise_version", lambda _, *g, **m: watched(*g, **m))
    ready.data_sets.renew(NAME, file=put(ready, lines=LINES[:11]), by="olga")
    assert seen == [2]
    assert ready.data_sets.affected(NAME, by="olga").rows_read == 10
