"""Who erases or corrects rows does not wait for a preview, however long it takes."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

from curator.makers import COUNT, NAME, PURPOSE
from letalone.curator.asking.service import AskingService
from letalone.curator.data_sets import locks
from letalone.curator.storage.service_records import DataSetQuestion, QuestionPrice

QUESTION = DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=COUNT)
PRICE = QuestionPrice(epsilon=0.1)


def test_rows_are_changed_while_a_price_is_computed_which_is_then_right(ready, monkeypatch):
    """The first look at each is held up; meanwhile the rows are opened anew, which closes them."""
    usual, began, go_on = AskingService._epsilon, Event(), Event()

    def held(*given):
        began.set()
        assert go_on.wait(20)
        return usual(*given)

    looks = {
        "preview": PRICE,
        "explain": PRICE,
        "how_many_more": PRICE,
        "epsilon_for": QuestionPrice(error=9),
    }
    monkeypatch.setattr(locks, "WAIT_SECONDS", 1)
    for name, price in looks.items():
        look, entries = getattr(ready.asking, name), len(ready.ledger)
        before = look(QUESTION, price, by="ann")
        began.clear()
        go_on.clear()
        monkeypatch.setattr(AskingService, "_epsilon", held)
        with ThreadPoolExecutor(1) as other:
            found = other.submit(look, QUESTION, price, by="ann")
            assert began.wait(20)
            try:
                ready.data_sets.store.open_anew(NAME)  # LedgerUnavailable where it has to wait
            finally:
                go_on.set()
            assert str(found.result()) == str(before), name
        monkeypatch.setattr(AskingService, "_epsilon", usual)
        assert len(ready.ledger) == entries, "that it was looked at twice is no refusal"
