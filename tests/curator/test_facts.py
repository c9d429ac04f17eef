"""Who answers for the data is kept, and shown wherever the public and auditors look."""

import pytest

from curator.makers import open_curator, whats
from letalone.curator.record.service import ControllerContact
from letalone.curator.storage.refusals import NotPermitted
from letalone.errors import ParameterError


def test_who_answers_for_the_data_outlives_the_process_and_is_shown(ready, tmp_path):
    ready.facts.say(controller="St. Mary's", contact="privacy@example.org", by="olga")
    ready.facts.say(controller="St. Mary's Hospital", by=None)
    assert whats(ready)[-2:] == ["answerable", "answerable"]
    with open_curator(tmp_path) as again:
        said = ControllerContact("St. Mary's Hospital", "privacy@example.org")
        assert again.facts.answerable == said
        for shown in (again.openness.page(), again.processing.record(by="aud")):
            assert (shown["controller"], shown["contact"]) == (said.controller, said.contact)
        for text in (again.openness.markdown(), again.processing.markdown(by="aud")):
            assert "St. Mary's Hospital" in text


def test_nobody_but_owners_says_it_and_it_is_not_empty(ready):
    for who in ("stan", "ann", "aud"):
        with pytest.raises(NotPermitted):
            ready.facts.say(controller="me", by=who)
    with pytest.raises(ParameterError, match="contact"):
        ready.facts.say(contact=" ", by="olga")
    assert ready.facts.answerable == ControllerContact("not named", "not given")
