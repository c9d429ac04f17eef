"""A server that cannot be reached has shown no row: nothing is frozen, and nothing is lost."""

import psycopg
import pytest

import letalone as la
from black_hole import black_hole
from engines import on_postgres
from letalone.engines.core.failure import SourceAway
from letalone.errors import DataSetFrozen, ServiceUnavailable
from letalone.ledger import charging
from letalone.ledger.storage import connecting, patience
from letalone.session import pricing, training
from letalone.session.query import Query
from postgres import shared

ROWS = [[f"p{number}", float(number)] for number in range(40)]


@pytest.fixture
def hole_and_session(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(patience, "LOOK_SECONDS", 0.15)
    monkeypatch.setattr(patience, "STATEMENT_SECONDS", 0.3)
    monkeypatch.setattr(patience, "BELIEVED_SECONDS", 0.0)
    monkeypatch.setattr("psycopg.connection.timeout_from_conninfo", lambda _: 0.3)
    connecting._silent_until.clear()
    table = on_postgres.stored({"patient": "text", "cost": "float8"}, ROWS)
    with black_hole(shared()) as (hole, address):
        place = f"{address}/{table.replace(' ', '%20')}"
        with la.open(place, unit="patient", budget=10.0, ledger="memory") as session:
            yield hole, session


def asked(session, most=1):
    return session.agg(n=la.count()).bound(max_rows=most)


def test_a_source_that_is_away_is_told_before_the_charge_and_freezes_nothing(hole_and_session):
    hole, session = hole_and_session
    asked(session).release(epsilon=1)
    for stop in (hole.cut, hole.swallow):
        stop()
        with pytest.raises(ServiceUnavailable, match="Nothing was charged") as caught:
            asked(session).release(epsilon=2)
        assert "127.0.0.1" not in str(caught.value)
        assert caught.value.__context__ is None
        assert session.spent.epsilon == 1
        hole.open()
    hole.swallow_old()
    assert asked(session).release(epsilon=2), "new connections work"
    assert session.spent.epsilon == 3


def test_one_that_goes_away_behind_the_charge_leaves_it_open(hole_and_session, monkeypatch):
    hole, session = hole_and_session
    charged = charging._charge_all

    def charge_then_cut(*given, **how):
        paid = charged(*given, **how)
        hole.cut()
        return paid

    monkeypatch.setattr(charging, "_charge_all", charge_then_cut)
    with pytest.raises(ServiceUnavailable, match="nothing more is charged"):
        asked(session).release(epsilon=1)
    assert len(session.ledger.unsettled()) == 1
    hole.open()
    monkeypatch.setattr(charging, "_charge_all", charged)
    assert asked(session).release(epsilon=1), "nothing is frozen"


def test_one_that_goes_away_when_rows_were_read_freezes_as_every_failure_does(
    hole_and_session, monkeypatch
):
    """The first question of a batch has read rows, which may be why the server is gone."""
    hole, session = hole_and_session
    measured = pricing._draw

    def measure_then_cut(*given):
        found = measured(*given)
        hole.cut()
        return found

    monkeypatch.setattr(pricing, "_draw", measure_then_cut)
    with pytest.raises(DataSetFrozen):
        session.batch([asked(session), asked(session, 2)], epsilon=1)
    hole.open()
    with pytest.raises(DataSetFrozen):
        asked(session).release(epsilon=1)


CHANGES = [
    ('ALTER TABLE "{0}" RENAME TO "old {0}"', 'ALTER TABLE "old {0}" RENAME TO "{0}"'),
    ('ALTER TABLE "{0}" ALTER cost TYPE float4', 'ALTER TABLE "{0}" ALTER cost TYPE float8'),
]


def test_a_table_that_is_not_what_was_opened_is_told_before_the_charge_and_freezes_nothing(
    hole_and_session,
):
    """The catalogue tells it, and no row."""
    _, session = hole_and_session
    name = session._table.engine._relation.name
    for number, (change, back) in enumerate(CHANGES, start=1):
        on_postgres.run(change.format(name))
        with pytest.raises(SourceAway, match=r"is not what it was\. Nothing was charged"):
            asked(session).release(epsilon=number)
        on_postgres.run(back.format(name))
        assert asked(session).release(epsilon=number)
    assert session.spent.epsilon == 3


@pytest.mark.parametrize("kind", ["TABLE", "MATERIALIZED VIEW"])
def test_a_table_that_its_keeper_has_locked_is_told_before_the_charge_and_freezes_nothing(
    tmp_path, monkeypatch, kind
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(patience, "LOOK_SECONDS", 0.15)
    table = on_postgres.stored({"patient": "text", "cost": "float8"}, ROWS)
    if kind != "TABLE":
        on_postgres.run(f'CREATE MATERIALIZED VIEW "seen {table}" AS SELECT * FROM "{table}"')
        table = f"seen {table}"
    given = {"unit": "patient", "budget": 10.0, "ledger": "memory"}
    with la.open(on_postgres.address(table), **given) as session:
        with psycopg.connect(shared()) as keeper:
            keeper.execute(f'ALTER {kind} "{table}" RENAME cost TO price')
            with pytest.raises(SourceAway, match=r"is locked, .* Nothing was charged"):
                asked(session).release(epsilon=1)
            keeper.rollback()
        assert asked(session).release(epsilon=1)
        assert session.spent.epsilon == 1


class Job:
    """A model of one column that is a constant."""

    features, target, epsilon, delta = ("cost",), None, 1.0, 0
    privacy, per_unit, goes_on = la.PureDP(1.0), None, True

    def described(self):
        return {"kind": "a constant"}

    def fit(self, columns):
        assert len(columns["cost"]) > 0
        return {"value": 1}


def test_a_training_whose_source_is_away_is_told_so_too(hole_and_session):
    hole, session = hole_and_session
    hole.cut()
    job = Job()
    job.privacy = la.PureDP(1.0, neighbours=session.schema.neighbours)
    with pytest.raises(SourceAway, match="Nothing was charged"):
        training.train(Query(session._table), job)
    assert session.spent.epsilon == 0
