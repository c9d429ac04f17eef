"""A table is looked at before it is registered: prices are shown, and nothing is written."""

from pathlib import Path

import pytest

import letalone as la
from letalone.errors.codes import Code
from letalone.session.opening import OpeningCall, look_at
from session.makers import write_parquet


@pytest.fixture
def call(tmp_path: Path) -> OpeningCall:
    path = write_parquet(tmp_path / "visits.parquet")
    return OpeningCall(path, unit="patient_id", ledger=tmp_path / "book.db")


def test_a_look_prices_questions_and_makes_no_ledger(call: OpeningCall, tmp_path: Path) -> None:
    with look_at(call) as look:
        session = look.session()
        priced = session.agg(n=la.count()).price(0.5)
        assert priced.remaining is None
        assert priced.fits_into(la.Budget(0.5))
        assert not priced.fits_into(la.Budget(0.4))
        assert "No budget is named yet" in str(priced.preview())
        assert "count" in priced.explain()
        for answer in (priced.release, priced.how_many_more):
            with pytest.raises(la.ParameterError) as refused:
                answer()
            assert refused.value.code is Code.MISSING_BUDGET
        with pytest.raises(la.ParameterError):
            session.batch([session.agg(n=la.count())], epsilon=0.5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["visits.parquet"]


def test_what_was_priced_before_is_answered_once_it_is_registered(call: OpeningCall) -> None:
    with look_at(call) as look:
        priced = look.session().agg(n=la.count()).price(0.5)
        session = look.register(la.Budget(1))
        release = priced.release()
        assert session.spent == la.Budget(0.5)
        assert session.agg(n=la.count()).release(0.5).to_json() == release.to_json()


def test_a_look_at_what_is_known_shows_what_is_left_and_writes_nothing(call: OpeningCall) -> None:
    assert call.ledger is not None
    with la.open(call.source, unit="patient_id", budget=1, ledger=call.ledger) as session:
        session.ledger.raise_version("visits")
    with la.open(call.source, ledger=call.ledger) as session:
        digest = session.bound(max_rows=10).agg(n=la.count()).release(0.25).asked.digest
        entries = len(session.ledger)
    with look_at(OpeningCall(call.source, ledger=call.ledger)) as look:
        assert look.unit == "patient_id"
        priced = look.session().bound(max_rows=10).agg(n=la.count()).price(0.25)
        assert priced.fits
        assert priced.how_many_more() == 3
        assert (priced.terms.version, priced.terms.digest) == (2, digest)
        assert look.ledger is not None
        assert len(look.ledger) == entries
        look.register()
        assert priced.release().repeated


@pytest.mark.parametrize("given", [{}, {"unit": "patient_id"}, {"unit": "nobody", "budget": 1}])
def test_a_refused_call_makes_no_ledger(
    given: dict[str, object], call: OpeningCall, tmp_path: Path
) -> None:
    with pytest.raises(la.ParameterError):
        la.open(call.source, ledger=call.ledger, **given)  # pyright: ignore[reportArgumentType]
    assert not (tmp_path / "book.db").exists()
