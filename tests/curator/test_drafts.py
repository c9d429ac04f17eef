"""Drafts: for their own person, for a while, and unreadable to whoever has the database."""

from datetime import timedelta

from sqlalchemy import select, update

from letalone.curator.people.browser_sessions import MAX_DRAFTS
from letalone.curator.storage.tables import DRAFTS

TYPED = [("subject", "p3-of-ward-9"), ("why", "case 12"), ("by", "a"), ("by", "b")]


def rows(curator):
    with curator._shared.database.reading() as connection:
        return connection.execute(select(DRAFTS)).all()


def test_a_draft_is_found_by_its_own_person_alone_and_for_as_long_as_a_visit(ready, clock):
    name = ready.drafts.keep(TYPED, by="stan")
    assert ready.drafts.kept(name, by="stan") == TYPED
    assert len(name) == 32, "192 bits"
    for other, by in ((name, "ann"), (name[:-1] + "!", "stan"), ("", "stan"), ("\ud800", "stan")):
        assert ready.drafts.kept(other, by=by) is None
    clock.passed += timedelta(hours=12, seconds=1)
    assert ready.drafts.kept(name, by="stan") is None
    assert len(rows(ready)) == 1
    ready.sweep()
    assert rows(ready) == [], "what is over is deleted, each hour"


def test_the_database_alone_does_not_say_what_was_typed(ready):
    name = ready.drafts.keep(TYPED, by="stan")
    for file in ready.settings.folder.rglob("*.db*"):
        assert b"p3-of-ward-9" not in file.read_bytes()
        assert name.encode() not in file.read_bytes()
    changed = rows(ready)[0].body[:-1] + b"x"
    with ready._shared.database.writing() as connection:
        connection.execute(update(DRAFTS).values(body=changed))
    assert ready.drafts.kept(name, by="stan") is None


def test_of_one_person_the_newest_are_kept_and_nobody_elses_are_dropped_for_them(ready):
    first = ready.drafts.keep(TYPED, by="ann")
    names = [ready.drafts.keep([("n", str(number))], by="stan") for number in range(MAX_DRAFTS + 3)]
    kept = [ready.drafts.kept(name, by="stan") for name in names]
    assert kept == [None] * 3 + [[("n", str(number))] for number in range(3, MAX_DRAFTS + 3)]
    assert ready.drafts.kept(first, by="ann") == TYPED
    ready.drafts.forget(by="stan")
    assert [ready.drafts.kept(name, by="stan") for name in names] == [None] * (MAX_DRAFTS + 3)
    assert ready.drafts.kept(first, by="ann") == TYPED
