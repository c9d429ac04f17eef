"""Files that stay where they are: what their owner does to them costs nobody anything."""

import os

import pytest

from curator.makers import LINES, NAME, ask, grant, open_curator, put, registration
from letalone.curator.http.problems import of_error
from letalone.curator.storage.refusals import NotPermitted
from letalone.engines.core.failure import SourceUnreadable
from letalone.errors import ParameterError


@pytest.fixture
def external(peopled):
    peopled.data_sets.register(registration(), file=put(peopled), external=True, by="olga")
    return grant(peopled)


def place(curator):
    return curator.settings.imports_folder / "visits.csv"


def spent(curator):
    return curator.ledger.data_set(NAME).spent.epsilon


def test_a_file_that_was_touched_costs_nothing_until_its_owner_says_that_it_has_changed(external):
    ask(external, epsilon=0.5)
    os.utime(place(external), ns=(1, 1))
    with pytest.raises(SourceUnreadable, match="since it was opened") as caught:
        ask(external, epsilon=0.25)
    problem = of_error(caught.value)
    assert (problem.code, problem.kind) == (503, "data-unreadable")
    assert "POST /api/v1/data-sets/{name}/version" in problem.detail
    assert "la.open" not in problem.detail
    assert "Retry-After" not in problem.headers, "nobody knows when its owner acts"
    stands = external.ledger.data_set(NAME)
    assert (stands.frozen, float(stands.spent.epsilon)) == (False, 0.5)
    assert external.data_sets.raise_version(NAME, by="olga") == 2
    assert not ask(external, epsilon=0.5).repeated
    assert spent(external) == 1


def test_a_thaw_of_the_ledger_alone_charges_nothing_before_the_file_is_opened_anew(
    external, tmp_path
):
    ask(external, epsilon=0.5)
    put(external, lines=LINES[:31])
    external.ledger.freeze(NAME, "its file was changed while it was read")
    external.ledger.thaw(NAME, "by the command line")
    with pytest.raises(SourceUnreadable), open_curator(tmp_path):
        ask(external, epsilon=0.25)
    assert spent(external) == 0.5


def test_a_thaw_opens_an_external_file_anew_under_a_new_version(external):
    """What is in the file must not decide what is free, so that it is opened decides it."""
    ask(external, epsilon=0.5)
    external.ledger.freeze(NAME, "a test")
    put(external, lines=LINES[:31])
    external.data_sets.thaw(NAME, why="it was replaced", by="olga")
    assert external.ledger.data_set(NAME).version == 2
    assert not ask(external, epsilon=0.5).repeated, "the old answer is about other data"


def test_a_thaw_of_an_imported_table_leaves_its_version(ready):
    ready.ledger.freeze(NAME, "a test")
    ready.data_sets.thaw(NAME, why="looked", by="olga")
    assert ready.ledger.data_set(NAME).version == 1


def test_a_file_that_is_gone_is_told_as_that_to_its_owner_and_to_others_without_its_name(external):
    assert external.data_sets.troubles(by="olga") == {}
    place(external).unlink()
    with pytest.raises(SourceUnreadable, match="nothing was charged") as caught:
        ask(external)
    problem = of_error(caught.value)
    assert (problem.code, problem.to_json()["title"]) == (503, "The data cannot be read now")
    assert "visits.csv" not in problem.detail
    told = {NAME: "The file visits.csv is not in the import folder."}
    assert external.data_sets.troubles(by="olga") == told
    with pytest.raises(NotPermitted):
        external.data_sets.troubles(by="ann")
    assert not external.ledger.data_set(NAME).frozen


def test_a_link_in_the_place_of_a_file_is_told_to_its_owner(external):
    place(external).rename(place(external).with_name("x.csv"))
    place(external).symlink_to("x.csv")
    (words,) = external.data_sets.troubles(by="olga").values()
    assert "is a link" in words


def test_an_imported_table_whose_rows_are_gone_is_told_to_its_owner(ready):
    (kept,) = ready.settings.data_folder.glob("*.parquet")
    kept.unlink()
    (words,) = ready.data_sets.troubles(by="olga").values()
    assert words == f"The file {kept.name} is not in the data folder. Restore it."
    ready.data_sets.retire(NAME, why="lost", by="olga")
    assert ready.data_sets.troubles(by="olga") == {}


def test_a_file_that_cannot_be_read_as_declared_is_no_new_version(external):
    ask(external)
    put(external, lines=["patient,ward", "p1,A"])
    with pytest.raises(ParameterError, match="cost"):
        external.data_sets.raise_version(NAME, by="olga")
    place(external).unlink()
    with pytest.raises(ParameterError, match=r"no file .* in the import folder"):
        external.data_sets.thaw(NAME, why="x", by="olga")
    assert external.ledger.data_set(NAME).version == 1
