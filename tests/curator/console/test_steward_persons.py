"""Persons in the data (G7): the id is in no address, every act is an entry with its reason."""

import re
from dataclasses import replace
from datetime import timedelta
from urllib.parse import quote

import pytest

from curator.makers import NAME, PASSWORD, SCHEMA, ask, put, registration, whats

ABOUT = {"subject": "p3", "why": "case 12"}
HERE = ABOUT | {"data_set": NAME}


def without_secrets(text):
    """Random letters may spell anything."""
    return re.sub(r"[\w-]{20,}", "", text)


def sent(browser, path, **fields):
    """The page that a form leads to."""
    answer = browser.send(path, **fields)
    return browser.follow(answer) if answer.status_code == 303 else answer


def rows(console):
    return console.curator.subjects.rows(NAME, "p3", by="stan", why="to compare")


def test_a_steward_learns_who_holds_a_person_and_sees_the_rows(console):
    stan = console.by("stan", elevated=True)
    stan.see("/persons")
    found = sent(stan, "/persons", **ABOUT)
    assert found.status_code == 200
    assert ">in the data<" in found.text
    assert ">not in the data<" in sent(stan, "/persons", subject="nobody", why="case 13").text
    text = sent(stan, "/persons/rows", **HERE).text
    for row in rows(console):
        assert f'name="was-cost" value="{row["cost"]}"' in text
    assert "diary" not in text


@pytest.mark.long  # curator/test_subjects.py without pages
def test_which_answers_a_person_was_in(fresh):
    ask(fresh.curator)
    stan = fresh.by("stan", elevated=True)
    stan.see("/persons")
    text = sent(stan, "/persons/answers", **HERE).text
    assert "count" in text
    assert "What was spent stays spent" in text


def test_nothing_is_shown_or_done_before_the_password_and_what_was_typed_is_kept(fresh):
    stan, before = fresh.by("stan"), len(fresh.curator.ledger)
    stan.see("/persons")
    fields = HERE | {"row": "0", "was-cost": "1", "value-cost": "77", "sure": "yes"}
    for act in ("", "/rows", "/answers", "/erasure", "/outcome", "/correction"):
        answer = sent(stan, f"/persons{act}", **fields)
        assert answer.status_code == 401, act
        assert 'name="was-ward"' not in answer.text, "no row is shown"
        kept = act == "/outcome" or ("case 12" in answer.text and 'value="p3"' in answer.text)
        assert kept, act
    assert len(fresh.curator.ledger) == before
    assert 'name="value-cost" value="77"' in answer.text
    answer = sent(stan, "/persons/correction", **fields, password_again=PASSWORD)
    assert "1 row of" in answer.text
    assert rows(fresh)[0]["cost"] == 77


def test_a_value_that_was_typed_over_is_corrected_and_no_other(fresh):
    stan, before = fresh.by("stan", elevated=True), rows(fresh)
    typed = {f"was-{name}": str(before[1][name]) for name in ("ward", "cost", "age")}
    typed |= {f"value-{name}": str(before[1][name]) for name in ("ward", "cost", "age")}
    stan.see("/persons")
    nothing = sent(stan, "/persons/correction", **HERE, row="1", **typed)
    assert nothing.status_code == 422
    assert "no value differs" in nothing.text
    done = sent(stan, "/persons/correction", **HERE, row="1", **typed | {"value-cost": "12.5"})
    assert "1 row of" in done.text
    assert rows(fresh) == [before[0], {**before[1], "cost": 12.5}, before[2]]
    assert "subject corrected" in whats(fresh.curator)


@pytest.mark.long  # test_a_value_that_was_typed_over_is_corrected_and_no_other
def test_an_empty_field_is_a_missing_value(fresh):
    stan = fresh.by("stan", elevated=True)
    stan.see("/persons")
    sent(stan, "/persons/correction", **HERE, row="0", **{"was-age": "3", "value-age": ""})
    assert rows(fresh)[0]["age"] is None


def test_a_correction_that_is_refused_shows_the_rows_with_what_was_typed(console):
    stan = console.by("stan", elevated=True)
    stan.see("/persons")
    typed = {"was-age": "3", "value-age": "three"}
    answer = sent(stan, "/persons/correction", **HERE, row="0", **typed)
    assert answer.status_code == 422
    assert "is no integer" in answer.text
    assert answer.text.count('value="three"') == 1


def test_erasing_needs_the_box_and_then_no_row_is_left(fresh):
    stan = fresh.by("stan", elevated=True)
    stan.see("/persons")
    assert sent(stan, "/persons/erasure", **HERE).status_code == 422
    assert len(rows(fresh)) == 3
    spent = fresh.curator.ledger.data_set(NAME).spent
    assert "3 rows of" in sent(stan, "/persons/erasure", **HERE, sure="yes").text
    assert rows(fresh) == []
    assert fresh.curator.ledger.data_set(NAME).spent == spent


def test_a_reason_that_names_the_person_is_refused(console):
    stan = console.by("stan", elevated=True)
    stan.see("/persons")
    answer = sent(stan, "/persons", subject="p3", why="p3 called")
    assert answer.status_code == 422
    assert "the ledger never forgets" in answer.text


@pytest.mark.long  # curator/test_subjects.py without pages
def test_what_an_external_source_is_to_do_is_shown_once_and_its_outcome_recorded(fresh):
    outside = registration(schema=replace(SCHEMA, name="outside"))
    file = put(fresh.curator, "outside.csv")
    fresh.curator.data_sets.register(outside, file=file, by="olga", external=True)
    stan = fresh.by("stan", elevated=True)
    stan.see("/persons")
    done = sent(stan, "/persons/erasure", **ABOUT, data_set="outside", sure="yes")
    assert "<pre>" in done.text
    act = re.search(r"/persons/outcome\?act=([0-9a-f]+)", done.text)[1]
    assert "asked to erase rows" in stan.see("/").text
    assert "p3" not in without_secrets(stan.see(f"/persons/outcome?act={act}").text)
    fields = {"act": act, "done": "true", "words": "done by mail"}
    still = sent(stan, "/persons/outcome", **fields)
    assert still.status_code == 422
    assert "still has rows of this person" in still.text
    assert "done by mail</textarea>" in still.text
    answer = sent(stan, "/persons/outcome", **fields | {"done": "false"})
    assert "Recorded: not carried out" in answer.text
    assert fresh.curator.subjects.waiting(by="stan") == []


def test_no_id_of_a_person_is_in_an_address(console):
    """Also not in those of forms and links on the pages that name the person."""
    stan = console.by("stan", elevated=True)
    stan.see("/persons")
    for path in ("/persons", "/persons/rows", "/persons/answers"):
        text = sent(stan, path, **HERE | {"subject": "p4"}).text
        assert "p4" in text
        assert not re.search(r'(?:href|action|src)="[^"]*p4', text)


@pytest.mark.long  # test_a_value_that_was_typed_over_is_corrected_and_no_other
def test_a_value_that_the_rules_would_change_is_confirmed_first(fresh):
    """Otherwise an age of 400 would be kept as 100 at once, which nobody typed."""
    stan, before = fresh.by("stan", elevated=True), len(fresh.curator.ledger)
    stan.see("/persons")
    typed = HERE | {"row": "0", "was-age": "3", "value-age": "400"}
    asked = sent(stan, "/persons/correction", **typed)
    assert "&#39;age&#39; is kept as 100" in asked.text
    assert len(fresh.curator.ledger) == before
    assert rows(fresh)[0]["age"] != 100
    done = sent(stan, "/persons/correction", **typed, sure="yes")
    assert "1 row of" in done.text
    assert rows(fresh)[0]["age"] == 100
    back = done.text.partition('action="/persons/rows"')[2]
    assert 'name="subject" value="p3"' in back
    assert 'name="why" value="case 12"' in back


@pytest.mark.long  # words; test_erasing_needs_the_box stays
def test_words_about_the_imports_folder_only_where_a_file_lies_there(fresh):
    stan = fresh.by("stan", elevated=True)
    stan.see("/persons")
    for number in (1, 2):
        typed = {"row": "0", "was-age": "3", "value-age": str(number)}
        done = sent(stan, "/persons/correction", **HERE, **typed)
        assert ("imports folder" in done.text) == (number == 1)
        for one in fresh.curator.settings.imports_folder.rglob("*.csv"):
            one.unlink()


def test_where_nobody_is_held_only_what_is_kept_of_earlier_rows_can_be_erased(console):
    stan = console.by("stan", elevated=True)
    stan.see("/persons")
    assert "Erase…" in sent(stan, "/persons", **ABOUT).text
    found = sent(stan, "/persons", subject="nobody", why="case 13").text
    assert "Erase what is kept of earlier rows…" in found
    assert "Erase…" not in found


@pytest.mark.long  # test_no_id_of_a_person_is_in_an_address
def test_each_page_about_a_person_can_be_reloaded_and_its_address_does_not_name_them(fresh):
    stan = fresh.by("stan", elevated=True)
    stan.see("/persons")
    looks = {
        "/persons": ">in the data<",
        "/persons/rows": "was-cost",
        "/persons/answers": "stays spent",
    }
    for path, words in looks.items():
        before, answer = len(fresh.curator.ledger), stan.send(path, **HERE)
        at = answer.headers["location"]
        assert "p3" not in without_secrets(at)
        assert len(fresh.curator.ledger) == before, "the look comes with the page"
        for number in (1, 2):
            assert words in stan.see(at).text
            assert len(fresh.curator.ledger) == before + number, "each is an entry"
        assert fresh.by("olga", elevated=True).see(at).status_code == 404, "another's draft"
    for file in fresh.curator.settings.folder.glob("*.db*"):
        assert b"case 12" not in file.read_bytes() or "ledger" in file.name


@pytest.mark.long  # test_erasing_needs_the_box_and_then_no_row_is_left
def test_a_reload_of_what_was_done_does_it_once(fresh):
    stan = fresh.by("stan", elevated=True)
    stan.see("/persons")
    fields = HERE | {"row": "0", "was-cost": "1", "value-cost": "77"}
    done = stan.send("/persons/correction", **fields).headers["location"]
    found = stan.send("/persons", **ABOUT).headers["location"]
    erased = stan.send("/persons/erasure", **HERE, sure="yes").headers["location"]
    before = len(fresh.curator.ledger)
    for _ in range(2):
        assert "3 rows of" in stan.see(erased).text
    for gone in (done, found):
        assert stan.see(gone).status_code == 404, "nothing of an erased person is kept"
    assert len(fresh.curator.ledger) == before


def test_a_page_about_a_person_asks_for_the_password_that_is_over_and_goes_on(fresh):
    stan = fresh.by("stan", elevated=True)
    stan.see("/persons")
    at = stan.send("/persons/rows", **HERE).headers["location"]
    fresh.clock.passed += timedelta(minutes=11)
    before = len(fresh.curator.ledger)
    led = stan.see(at)
    assert led.headers["location"] == f"/again?next={quote(at, safe='')}"
    assert len(fresh.curator.ledger) == before
    stan.follow(led)
    back = stan.send("/again", password=PASSWORD, next=at)
    assert "was-cost" in stan.follow(back).text
