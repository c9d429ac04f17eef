"""One analyst fills neither memory nor disk, however little each question costs."""

from dataclasses import replace
from datetime import timedelta

import pytest

from curator.makers import NAME, PURPOSE, ask, open_curator
from letalone.curator.asking import answer_cache
from letalone.curator.asking import service as asking
from letalone.curator.asking.answer_cache import AnswerCache
from letalone.curator.storage.refusals import TooManyTries
from letalone.curator.storage.service_records import DataSetQuestion, QuestionPrice
from letalone.errors import ParameterError

GROUPED = f"SELECT ward, SUM(cost) AS a, COUNT(*) AS b FROM {NAME} GROUP BY ward"


def test_answers_that_would_be_too_large_are_refused_before_the_charge(ready, tmp_path):
    keys = [f"w{n}" for n in range(4001)]
    columns = ", ".join(f"SUM(cost + {n}) AS c{n}" for n in range(5))
    sql = f"SELECT ward, {columns} FROM {NAME} GROUP BY ward"
    large = DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=sql, keys=keys)
    for ask_it in (ready.asking.preview, ready.asking.release):
        with pytest.raises(ParameterError, match=r"20,005 values \(4,001 groups, 5 in each\)"):
            ask_it(large, QuestionPrice(epsilon=0.1), by="ann")
    assert not ready.ledger.data_set(NAME).spent.epsilon
    with open_curator(tmp_path, most_cells=3) as strict:
        with pytest.raises(ParameterError, match="may have 3 here"):
            ask(strict, GROUPED)
        assert ask(strict)


def test_what_is_stored_for_one_person_in_a_day_has_an_end(ready, clock, monkeypatch):
    monkeypatch.setattr(
        "letalone.curator.asking.daily_quota.MEGABYTE", 20
    )  # 4,000 letters: about two answers
    given, told = 0, None
    for number in range(1, 9):
        try:
            ask(ready, epsilon=number / 1000)
            given += 1
        except TooManyTries as error:
            told = error
    assert 1 <= given < 8
    assert told is not None
    assert 0 < told.seconds <= 86_400
    assert "Nothing was charged" in str(told)
    assert ask(ready, epsilon=0.001).repeated  # what is stored already
    spent = ready.ledger.data_set(NAME).spent.epsilon
    refused = [one for one in ready.ledger.entries(NAME) if one.kind.value == "refused"]
    assert [one.body["reason"] for one in refused] == ["TooManyTries"] * (8 - given)
    clock.passed += timedelta(days=1)
    ask(ready, epsilon=0.1)
    assert ready.ledger.data_set(NAME).spent.epsilon > spent


def test_what_is_remembered_is_bounded_by_its_size(ready, monkeypatch):
    answer = ready.asking.answer(
        DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=GROUPED),
        QuestionPrice(epsilon=0.1),
        by="ann",
    )
    monkeypatch.setattr(answer_cache, "MAX_CACHED_LETTERS", 1000)
    found = AnswerCache()
    for number in range(5):
        found.put(number, answer, letters=400)
        found.put(number, replace(answer), letters=400)  # again: it counts once
    assert [found.get(number) is not None for number in range(5)] == [False] * 3 + [True] * 2
    found.put("large", answer, letters=1001)
    assert found.get("large") is None


def test_what_nobody_foresaw_is_written_down_as_a_refusal(ready, monkeypatch):
    def broken(*_):
        raise RecursionError

    monkeypatch.setattr(asking, "check_size", broken)
    with pytest.raises(RecursionError):
        ask(ready)
    (last,) = [one for one in ready.ledger.entries(NAME) if one.kind.value == "refused"]
    assert last.body["reason"] == "LetaloneError"
    assert not ready.ledger.data_set(NAME).spent.epsilon
