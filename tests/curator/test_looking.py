"""What would come of asking: told from the own history and budgets, and from nobody else's."""

from dataclasses import asdict

import pytest

from curator.makers import COUNT, NAME, OTHER, PURPOSE, ask, grant, put
from letalone.curator.storage.service_records import DataSetQuestion, QuestionPrice
from letalone.errors import LetaloneError


def look(curator, by="ann", epsilon=0.1, purpose=PURPOSE, sql=COUNT):
    question = DataSetQuestion(data_set=NAME, purpose=purpose, sql=sql)
    return curator.asking.look(question, QuestionPrice(epsilon=epsilon), by=by)


def told(curator, **more):
    found = asdict(look(curator, **more))
    return {name: found[name] for name in ("mine", "older", "why_not", "over")}


def test_own_answers_are_free_and_those_of_older_data_cost_again(ready):
    assert told(ready) == {"mine": None, "older": False, "why_not": None, "over": None}
    ask(ready)
    (mine,) = ready.asking.history(by="ann")
    assert look(ready).mine == mine.id
    assert look(ready, sql=f"{COUNT} WHERE ward = 'A'").mine is None
    for number in range(3):
        ready.data_sets.renew(NAME, file=put(ready, f"newer{number}.csv"), by="olga")
        assert (look(ready).mine, look(ready).older) == (None, True)
        assert not look(ready, epsilon=0.2).older
    ask(ready)
    assert (look(ready).mine is None, look(ready).older) == (False, False)


def test_the_answers_of_others_and_for_other_purposes_change_nothing_that_is_told(ready):
    grant(ready, "ben")
    grant(ready, "ann", purpose=OTHER)
    before = [told(ready, by="ben"), told(ready, purpose=OTHER)]
    ask(ready)
    assert [told(ready, by="ben"), told(ready, purpose=OTHER)] == before
    ready.data_sets.renew(NAME, file=put(ready, "newer.csv"), by="olga")
    assert [told(ready, by="ben"), told(ready, purpose=OTHER)] == before


@pytest.mark.parametrize("epsilon", [1.9, 2, 2.1, 6])
def test_what_is_told_to_be_refused_is_refused_and_all_else_is_answered(ready, epsilon):
    entries, found = len(ready.ledger), look(ready, epsilon=epsilon)
    assert len(ready.ledger) == entries
    try:
        ask(ready, epsilon=epsilon)
        refused = False
    except LetaloneError:
        refused = True
    told = (bool(found.why_not), found.over is not None)
    assert told == (refused, refused) == (epsilon > 2, epsilon > 2)
