"""Registration in two steps: a file is one person's for an hour; only what is declared is kept."""

import os
import re
from time import time
from urllib.parse import parse_qs

import pytest

from curator.console.conftest import SAME, Console
from curator.makers import LINES, NAME, SECRET, Clock, open_curator, put, with_people
from engines import on_postgres
from letalone.plans.types import Type
from letalone.privacy import Budget

pytestmark = pytest.mark.long  # browser/test_journeys.py registers a table

CSV = "\n".join([*LINES, "p1,C,9000,x,more"]).encode()
FORM = {
    "name": "winter",
    "use": ["0", "1", "2", "3"],
    "column-0": "patient", "type-0": "text",
    "column-1": "ward", "type-1": "text", "keys-1": "A\r\nB\r\n",
    "column-2": "cost", "type-2": "number", "lower-2": "0", "upper-2": "500",
    "column-3": "age", "type-3": "integer", "lower-3": "0", "upper-3": "100",
    "column-4": "diary", "type-4": "text",
    "unit": "patient", "neighbours": "add/remove", "epsilon": "3", "delta": "0",
    "purpose-1": "planning", "purpose-epsilon-1": "2", "purpose-until-1": "2999-01-31",
    "purpose-for-1": "Staffing.", "description": "Visits in winter.", "retention": "2999-12-31",
}  # fmt: skip


def sent(browser, content=CSV, *, name="visits.csv", csrf=None, more=""):
    """A file as a browser sends it."""
    at = f"/uploads?csrf={browser.csrf if csrf is None else csrf}{more}"
    return browser.client.post(at, files={"rows": (name, content)}, headers=SAME)


def owner(console, name="olga"):
    browser = console.by(name, elevated=True)
    assert browser.see("/register").status_code == 200
    return browser


def incoming(console):
    return sorted(console.curator.settings.incoming_folder.iterdir())


def test_a_file_is_declared_checked_and_registered(fresh):
    olga = owner(fresh)
    at = sent(olga).headers["location"]
    page = olga.see(at).text
    assert [one.stat().st_mode & 0o077 for one in incoming(fresh) if one.suffix == ".csv"] == [0]
    assert re.findall(r'name="column-\d" value="(\w+)"', page) == LINES[0].split(",")
    led = olga.send(at, **FORM, act="check")
    checked = olga.follow(led)
    assert olga.see(led.headers["location"]).text == checked.text, "it can be reloaded"
    assert checked.status_code == 200
    assert ">61<" in checked.text, "rows read"
    assert re.search(r"ward</th>\s*(<td[^>]*>0</td>){2}<td[^>]*>1</td>", checked.text)
    assert "winter" not in [one.name for one in fresh.curator.data_sets.records()]
    done = olga.send(at, **FORM, act="register")
    assert "winter is registered" in olga.follow(done).text
    record = fresh.curator.data_sets.record("winter")
    assert record.schema.unit == "patient"
    assert record.schema.column("ward").keys == ("A", "B")
    assert record.schema.column("cost").upper == 500
    assert str(record.retention) == "2999-12-31"
    assert (record.purposes[0].budget, record.purposes[0].description) == (Budget(2), "Staffing.")
    assert incoming(fresh) == [], "the file went when it was imported"
    kept = b"".join(one.read_bytes() for one in fresh.curator.settings.data_folder.iterdir())
    assert SECRET.encode() not in kept


@pytest.mark.long  # test_a_refused_form_keeps_all_that_was_typed
def test_a_field_that_is_wrong_is_marked_and_called_as_the_form_calls_it(console):
    olga = owner(console)
    at = sent(olga).headers["location"]
    wrong = {
        "epsilon": "Budget, ε: Write a number such as 0.5",
        "purpose-epsilon-1": "Purpose 1, may spend, ε: Write a number such as 0.5",
        "lower-2": "cost, from: Write a number such as 0.5",
    }
    for field, words in wrong.items():
        page = olga.follow(olga.send(at, **FORM | {field: "much"}, act="check"))
        assert words in page.text, field
        assert re.search(rf'<input id="{field}"[^>]*aria-invalid="true"', page.text), field


def test_a_refused_form_keeps_all_that_was_typed(console):
    olga = owner(console)
    at = sent(olga).headers["location"]
    for wrong, words in (
        ({"unit": "?"}, "Say whose privacy is protected"),
        ({"name": NAME}, "There is a data set"),
        ({"lower-3": "200"}, "lower must be below upper"),
        ({"purpose-epsilon-1": "9"}, "more than the whole data set"),
        ({"epsilon": "much"}, "Budget, ε: Write a number"),
        ({"type-0": "integer", "keys-0": "one"}, "ey"),
        ({"use": []}, "Tick the columns"),
    ):
        answer = olga.follow(olga.send(at, **FORM | wrong, act="register"))
        assert answer.status_code in (409, 422), wrong
        assert words in answer.text, wrong
        typed = FORM | wrong
        for name in ("name", "upper-2", "purpose-1", "purpose-until-1", "retention", "epsilon"):
            assert f'value="{typed[name]}"' in answer.text, name
        assert answer.text.count('name="use" value="1" checked') == ("1" in typed["use"])
    assert "winter" not in [one.name for one in console.curator.data_sets.records()]


def test_a_file_is_for_the_person_who_sent_it(console):
    at = sent(owner(console)).headers["location"]
    other = owner(console, "oskar")
    answer = other.see(at)
    assert answer.status_code == 404
    assert "There is no such file of yours" in answer.text
    assert other.send(at, **FORM, act="register").status_code == 404
    assert "winter" not in [one.name for one in console.curator.data_sets.records()]


def test_a_file_is_over_after_an_hour_and_swept(fresh):
    olga = owner(fresh)
    at = sent(olga).headers["location"]
    for one in incoming(fresh):
        os.utime(one, (time() - 3601, time() - 3601))
    assert olga.see(at).status_code == 404
    assert len(fresh.curator.sweep()) == 2
    assert incoming(fresh) == []
    place = fresh.curator.data_sets.incoming("csv")  # of the API: for a day
    place.write_bytes(CSV)
    os.utime(place, (time() - 3601, time() - 3601))
    assert fresh.curator.sweep() == []


@pytest.mark.parametrize(
    "upload", ["../master.key", "..%2Fcurator.db", "a" * 32 + ".csv", "%2e%2e/x.csv", "x.whose"]
)
def test_no_other_file_of_the_machine_is_meant_by_an_id(console, upload):
    assert owner(console).see(f"/register/declare?upload={upload}").status_code == 404


def test_nothing_is_kept_without_the_secret_the_role_or_the_password(fresh):
    olga = fresh.by("olga")
    olga.see("/")
    assert olga.see("/register").headers["location"] == "/again?next=%2Fregister"
    assert sent(olga).headers["location"] == "/again?next=%2Fregister"
    assert sent(owner(fresh), csrf="0" * 64).status_code == 403
    stan = fresh.by("stan", elevated=True)
    stan.see("/persons")
    assert sent(stan).status_code == 403
    assert incoming(fresh) == []


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("visits.exe", CSV, "Choose a file whose name ends in"),
        ("visits.csv", b"", "the file"),
        ("visits.csv", b"a,b,a\n1,2,3\n", "a"),
        ("visits.csv", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\n", "a PDF"),
        ("visits.csv", b"PK\x03\x04 and more", "Excel"),
        ("visits.parquet", b"no table\n", "damaged"),
    ],
)
def test_a_file_that_cannot_be_read_leads_back_with_the_words_and_is_not_kept(
    console, name, content, words
):
    """And the address that follows has no secret of a form in it."""
    before, olga = incoming(console), owner(console)
    answer = sent(olga, content, name=name)
    page = olga.follow(answer)
    assert answer.headers["location"].startswith("/register?refused=")
    assert "csrf" not in answer.headers["location"]
    box = page.text.partition('role="alert"')[2].partition("</div>")[0]
    assert words in box
    assert "Or name what is there" in page.text
    assert incoming(console) == before
    forged = answer.headers["location"].replace("refused=", "refused=Forged")
    assert 'role="alert"' not in olga.see(forged).text


def test_types_are_suggested_without_losing_what_was_typed(console):
    olga = owner(console)
    at = sent(olga).headers["location"]
    typed = FORM | {f"type-{n}": "text" for n in range(5)} | {"type-0": "number", "use": ["0", "2"]}
    page = olga.follow(olga.send(at, **typed, act="look")).text
    assert f'value="{FORM["name"]}"' in page
    assert [f'name="use" value="{n}" checked' in page for n in "012"] == [True, False, True]
    chosen = re.findall(r'<option value="(\w+)" selected>', page)
    assert chosen[0] == "number", "which somebody chose"
    assert "integer" in chosen, "where nobody did"


def test_only_names_and_stored_types_are_suggested_unless_the_owner_asks(console):
    """No value of the file is on the page in either case."""
    olga = owner(console)
    at = sent(olga).headers["location"]
    plain, looked = olga.see(at).text, olga.see(f"{at}&look=yes").text
    chosen = re.compile(r'<option value="(\w+)" selected>')
    assert set(chosen.findall(plain)) == {"text"}
    assert "integer" in chosen.findall(looked)
    for text in (plain, looked):
        assert SECRET not in text
        assert not re.search(r'name="(lower|upper)-\d"[^>]* value="[^"]', text)


@pytest.mark.long  # curator/test_data_sets.py: an external table stays
def test_a_file_that_stays_where_it_is_is_named_and_not_copied(fresh):
    olga = owner(fresh)
    answer = olga.send("/register", file=put(fresh.curator, "stays.csv"), external="yes")
    at = answer.headers["location"]
    assert "external=yes" in at
    assert "Check what" not in olga.see(at).text
    olga.send(at, **FORM, act="register")
    record = fresh.curator.data_sets.record("winter")
    assert record.external
    assert record.schema.column("age").type is Type.INTEGER


@pytest.mark.parametrize("wrong", [{"file": "../x.csv"}, {"file": "none.csv"},
                                   {"address": "postgresql://u@elsewhere/d/t"}])  # fmt: skip
def test_what_cannot_be_read_is_refused_in_the_first_step(console, wrong):
    answer = owner(console).send("/register", **wrong)
    assert answer.status_code == 422
    assert next(iter(wrong.values())) in answer.text or "address" in wrong


@pytest.mark.long  # curator/test_sources_on_servers.py without pages
def test_a_table_on_a_server_is_declared_from_its_catalogue_and_stays_there(tmp_path):
    table = on_postgres.stored({"patient": "text", "age": "int"}, [["p1", "3"]])
    address = on_postgres.address(table)
    host = parse_qs(address.partition("?")[2])["host"][0]
    with open_curator(tmp_path, source_hosts=(host,)) as curator:
        olga = owner(Console(with_people(curator), Clock()))
        at = olga.send("/register", address=address).headers["location"]
        page = olga.see(at).text
        assert re.findall(r'name="column-\d" value="(\w+)"', page) == ["patient", "age"]
        assert '<option value="integer" selected>' in page
        assert f'name="name" type="text" autocomplete="off" value="{table}"' in page
        columns = {"use": ["0"], "column-0": "patient", "type-0": "text"}
        assert olga.send(at, **FORM | columns, act="register").status_code == 303
        assert curator.data_sets.record("winter").external


@pytest.mark.long  # curator/test_sources_on_servers.py without pages
def test_the_form_asks_for_addresses_of_the_kinds_that_are_allowed(tmp_path):
    lists = {"source_hosts": ["db.example"], "spark_schemas": ["lake.clinic"]}
    for more in ({}, {"spark_schemas": ["lake.clinic"]}, lists):
        with open_curator(tmp_path / str(len(more)), **more) as curator:
            page = owner(Console(with_people(curator), Clock())).see("/register").text
        assert ("spark:catalog.schema.table. Schemas: lake.clinic." in page) == bool(more)
        assert ("Hosts: db.example." in page) == ("source_hosts" in more)
        assert ('name="address"' in page) == bool(more)


@pytest.mark.long  # curator/test_data_sets.py: newer data go on with the budget
def test_newer_rows_take_the_place_of_the_old_under_the_same_budget(fresh):
    olga = owner(fresh)
    before = fresh.curator.ledger.data_set(NAME)
    at = sent(olga, more=f"&renew={NAME}").headers["location"]
    assert "visits.csv" in olga.see(at).text
    upload = at.rpartition("=")[2]
    answer = olga.send(f"/data-sets/{NAME}/renewal", upload=upload)
    assert ">61<" in olga.follow(answer).text
    after = fresh.curator.ledger.data_set(NAME)
    assert (after.budget, after.version) == (before.budget, before.version + 1)
    assert incoming(fresh) == []


@pytest.mark.long  # curator/test_data_sets.py without pages
def test_purposes_are_added_and_end_and_a_data_set_is_retired_with_a_reason(fresh):
    olga = owner(fresh)
    fields = {"purpose": "quality", "purpose-epsilon": "1", "purpose-for": "Audits."}
    olga.send(f"/data-sets/{NAME}/purposes", **fields)
    names = [one.name for one in fresh.curator.data_sets.record(NAME).purposes]
    assert "quality" in names
    at = f"/data-sets/{NAME}/purposes/withdrawal"
    assert 'name="purpose" value="quality"' in olga.see(f"{at}?purpose=quality").text
    assert olga.send(at, purpose="quality", why="").status_code == 422
    assert olga.send(at, purpose="quality", why="done").status_code == 303
    names = [one.name for one in fresh.curator.data_sets.record(NAME).purposes]
    assert "quality" not in names
    assert olga.send(f"/data-sets/{NAME}/retirement", why="it is over").status_code == 303
    assert fresh.curator.data_sets.record(NAME).retired


def test_an_owner_thaws_what_was_frozen(fresh):
    fresh.curator.ledger.freeze(NAME, "the engine failed")
    entry = len(fresh.curator.ledger)
    olga = owner(fresh)
    assert "An owner has to check it first" in olga.see("/").text
    shown = olga.see(f"/data-sets/{NAME}").text
    assert "the engine failed" in shown
    assert f'href="/ledger/{entry}"' in shown
    assert f'href="/data-sets/{NAME}/thaw"' in shown
    assert "the engine failed" not in fresh.by("ann").see(f"/data-sets/{NAME}").text
    assert olga.send(f"/data-sets/{NAME}/thaw", why="the disk was full").status_code == 303
    assert not fresh.curator.ledger.data_set(NAME).frozen
