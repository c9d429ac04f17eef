"""Subjects: pseudonyms that erasure makes meaningless, past imports, external sources."""

from contextlib import suppress
from shutil import copytree

import pytest
from sqlalchemy import func, select

from curator.makers import LINES, NAME, ask, grant, open_curator, put, registration
from letalone.curator.storage.master_key import read_master_key
from letalone.curator.storage.refusals import AlreadyDecided, NotThere, Retired
from letalone.curator.storage.tables import OWNER_TASKS, SUBJECT_KEYS
from letalone.errors import FormatError, ParameterError
from letalone.plans.schema import Schema

WHY = "case 12/2026"


def subjects_in(curator):
    found = [one.body.get("body", {}) for one in curator.ledger.entries(NAME)]
    return [one["subject"] for one in found if "subject" in one]


def keys_in(curator):
    with curator._shared.database.reading() as connection:
        return connection.execute(select(SUBJECT_KEYS.c.key)).scalars().all()


def everything(curator):
    return b"".join(one.read_bytes() for one in curator.settings.folder.rglob("*") if one.is_file())


def test_acts_about_one_person_have_one_pseudonym_and_the_id_stands_nowhere(ready):
    ready.subjects.rows(NAME, "p7", by="stan", why=WHY)
    ready.subjects.rows(NAME, "p7", by="stan", why=WHY)
    ready.subjects.rows(NAME, "p8", by="stan", why=WHY)
    first, second, third = subjects_in(ready)
    assert first == second != third
    ledger = ready.settings.folder.glob("ledger.db*")
    assert b'"p7"' not in b"".join(one.read_bytes() for one in ledger)


def test_erasure_destroys_the_key_so_that_nobody_can_link_what_was_done(ready):
    ready.subjects.rows(NAME, "p7", by="stan", why=WHY)
    (key,) = keys_in(ready)
    ready.subjects.erase(NAME, "p7", by="stan", why=WHY)
    assert keys_in(ready) == []
    assert key not in everything(ready)
    ready.subjects.rows(NAME, "p7", by="stan", why=WHY)
    before, erased, after = subjects_in(ready)
    assert before == erased != after
    assert ready.ledger.verify()


def test_a_reason_that_names_the_person_is_refused_since_the_ledger_never_forgets(ready):
    for why in ("erase p7 please", "P7", "mail of (p7)"):
        with pytest.raises(ParameterError, match="the ledger never forgets"):
            ready.subjects.erase(NAME, "p7", by="stan", why=why)
    assert ready.subjects.rows(NAME, "p7", by="stan", why="p77 is somebody else")


def test_releases_are_those_made_while_the_person_was_in(ready):
    ask(ready)
    ready.data_sets.renew(NAME, file=put(ready, lines=LINES[:11]), by="olga")  # p0 to p9 only
    ask(ready, epsilon=0.2)
    made = {
        who: [one.version for one in ready.subjects.releases(NAME, who, by="stan", why=WHY)]
        for who in ("p3", "p15", "nobody")
    }
    assert made == {"p3": [1, 2], "p15": [1], "nobody": []}
    held = ready.subjects.holdings("p15", by="stan", why=WHY)
    assert [one.held for one in held] == [False]
    assert ready.subjects.erase(NAME, "p15", by="stan", why=WHY).rows == 0
    assert ready.subjects.releases(NAME, "p15", by="stan", why=WHY) == []
    assert len(ready.subjects.releases(NAME, "p3", by="stan", why=WHY)) == 2


def test_corrections_keep_the_rules_and_the_rest(ready):
    before = ready.subjects.rows(NAME, "p5", by="stan", why=WHY)
    ready.subjects.correct(
        NAME, "p5", row=0, changes={"cost": 9999, "age": None}, by="stan", why=WHY
    )
    after = ready.subjects.rows(NAME, "p5", by="stan", why=WHY)
    assert after == [before[0] | {"cost": 500.0, "age": None}, *before[1:]]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cost": 9999}, "'cost' is kept as 500.0: the declared bounds are 0 and 500"),
        ({"ward": "Z"}, "The new value of 'ward' is none of the declared keys"),
        ({"cost": 500, "ward": "A"}, None),
    ],
)
def test_a_correction_says_what_the_rules_made_of_it(ready, changes, words):
    said = ready.subjects.correct(NAME, "p5", row=0, changes=changes, by="stan", why=WHY).words
    assert words in said if words else "kept as" not in said and "keys" not in said


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"row": -1}, "no such row"),
        ({"changes": {}}, "changes is empty"),
        ({"changes": {"patient": "p9"}}, "id itself is not corrected"),
        ({"changes": {"diary": "x"}}, "Column 'diary' is not in table"),
        ({"changes": {"age": "old"}}, "The new value of 'age' is no integer"),
        ({"changes": {"age": [1]}}, "must be a text, a number or missing"),
        ({"changes": {"ward": "'; DELETE FROM letalone_kept; --"}}, None),
    ],
)
def test_what_cannot_be_corrected_changes_nothing_else(ready, more, words):
    given = {"row": 0, "changes": {"age": 5}} | more
    rows = ready.subjects.rows(NAME, "p6", by="stan", why=WHY)
    if words is None:
        ready.subjects.correct(NAME, "p5", by="stan", why=WHY, **given)
        (first, *_) = ready.subjects.rows(NAME, "p5", by="stan", why=WHY)
        assert first["ward"] == given["changes"]["ward"]
    else:
        with pytest.raises(ParameterError, match=words):
            ready.subjects.correct(NAME, "p5", by="stan", why=WHY, **given)
        assert ready.ledger.data_set(NAME).version == 1
    assert ready.subjects.rows(NAME, "p6", by="stan", why=WHY) == rows
    assert len(list(ready.settings.data_folder.glob("*.parquet"))) == 1


@pytest.mark.parametrize("unit_id", ["' OR 1=1 --", "p1' OR 'a'='a", "P1", "p1 "])
def test_an_id_is_compared_and_never_run(ready, unit_id):
    assert ready.subjects.rows(NAME, unit_id, by="stan", why=WHY) == []


@pytest.mark.parametrize("unit_id", ["", "x" * 2000])
def test_an_id_that_can_be_none_is_refused(ready, unit_id):
    with pytest.raises(ParameterError, match="1 to 1000 letters"):
        ready.subjects.rows(NAME, unit_id, by="stan", why=WHY)


def test_of_an_external_source_the_statement_is_written_and_the_outcome_recorded(peopled):
    peopled.data_sets.register(registration(), file=put(peopled), external=True, by="olga")
    grant(peopled)
    done = peopled.subjects.erase(NAME, "p7", by="stan", why=WHY)
    assert done.rows == 3
    assert done.statement == (
        "In the file 'visits.csv', remove every row in which 'patient' is 'p7': 3 rows."
    )
    assert len(peopled.subjects.rows(NAME, "p7", by="stan", why=WHY)) == 3
    with pytest.raises(ParameterError, match="never forgets"):
        peopled.subjects.record_outcome(done.act, done=True, words="p7 is gone", by="stan")
    with pytest.raises(ParameterError, match="still has rows of this person"):
        peopled.subjects.record_outcome(done.act, done=True, words="gone", by="stan")
    assert len(keys_in(peopled)) == 1
    put(peopled, lines=[one for one in LINES if not one.startswith("p7,")])
    after = peopled.subjects.record_outcome(done.act, done=True, words="gone", by="stan")
    assert after.version == 2
    assert keys_in(peopled) == []
    assert ask(peopled).asked.version == 2
    with pytest.raises(AlreadyDecided):
        peopled.subjects.record_outcome(done.act, done=True, words="gone", by="stan")
    with pytest.raises(NotThere):
        peopled.subjects.record_outcome("x", done=True, words="gone", by="stan")


@pytest.mark.long  # test_of_an_external_source_the_statement_is_written
def test_an_outcome_that_was_not_carried_out_changes_nothing(peopled):
    peopled.data_sets.register(registration(), file=put(peopled), external=True, by="olga")
    done = peopled.subjects.correct(NAME, "p7", row=0, changes={"age": 5}, by="stan", why=WHY)
    assert done.statement == (
        "In the file 'visits.csv', find the row in which 'patient' is 'p7', 'ward' is 'B', 'cost'"
        " is 70, 'age' is 7 (number 1 of the 3 rows of this person, from the top). Write 5 into"
        " 'age'. Leave all other rows as they are."
    )
    none = peopled.subjects.correct(NAME, "p7", row=3, changes={"age": 5}, by="stan", why=WHY)
    assert (none.rows, "no such row" in none.statement) == (0, True)
    with pytest.raises(ParameterError, match="is no integer"):
        peopled.subjects.correct(NAME, "p7", row=0, changes={"age": "4.5"}, by="stan", why=WHY)
    after = peopled.subjects.record_outcome(done.act, done=False, words="refused", by="stan")
    assert (after.version, "not carried out" in after.words) == (1, True)
    assert len(keys_in(peopled)) == 1
    with peopled._shared.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(OWNER_TASKS)).scalar_one() == 2


def test_where_each_row_is_a_person_rows_cannot_be_found_by_an_id(peopled):
    columns = registration().schema.columns[1:]
    one = registration(schema=Schema(NAME, columns))
    peopled.data_sets.register(one, file=put(peopled), by="olga")
    assert peopled.subjects.holdings("p1", by="stan", why=WHY) == []
    with pytest.raises(ParameterError, match="each row is a different person"):
        peopled.subjects.rows(NAME, "p1", by="stan", why=WHY)


def test_the_master_key_is_made_once_and_a_damaged_one_is_refused(tmp_path):
    place = tmp_path / "master.key"
    assert read_master_key(place) == read_master_key(place)
    assert "MasterKey(…)" in repr(read_master_key(place))
    place.write_bytes(b"short")
    with pytest.raises(FormatError, match="must hold 32 bytes"):
        read_master_key(place)


def shape_of(curator):
    """What others can see of the acts: the version, kinds of entries, and what these name."""
    found = curator.ledger.entries(NAME)
    names = [(one.kind, one.body.get("what"), sorted(one.body.get("body", {}))) for one in found]
    return curator.ledger.data_set(NAME).version, names


@pytest.mark.few("erase")
@pytest.mark.parametrize("act", ["erase", "correct"])
def test_version_and_entries_do_not_tell_whether_somebody_was_held(made_once, tmp_path, act):
    said = []
    for who in ("p5", "nobody"):
        folder = tmp_path / who
        copytree(made_once[1], folder)
        with open_curator(folder) as curator:
            if act == "erase":
                curator.subjects.erase(NAME, who, by="stan", why=WHY)
            else:
                more = {"row": 0, "changes": {"age": 5}}
                with suppress(NotThere):
                    curator.subjects.correct(NAME, who, by="stan", why=WHY, **more)
            said.append(shape_of(curator))
    assert said[0] == said[1]
    assert said[0][0] == 2


def test_a_correction_of_a_row_that_is_not_there_changes_no_row(ready):
    before = ready.subjects.rows(NAME, "p5", by="stan", why=WHY)
    with pytest.raises(NotThere, match="no such row"):
        ready.subjects.correct(NAME, "p5", row=3, changes={"age": 5}, by="stan", why=WHY)
    assert ready.subjects.rows(NAME, "p5", by="stan", why=WHY) == before


def test_no_errand_tells_whose_it_was_when_the_key_is_gone(peopled):
    peopled.data_sets.register(registration(), file=put(peopled), external=True, by="olga")
    peopled.subjects.correct(NAME, "p7", row=0, changes={"age": 5}, by="stan", why=WHY)
    other = peopled.subjects.correct(NAME, "p8", row=0, changes={"age": 5}, by="stan", why=WHY)
    done = peopled.subjects.erase(NAME, "p7", by="stan", why=WHY)
    put(peopled, lines=[one for one in LINES if not one.startswith("p7,")])
    peopled.subjects.record_outcome(done.act, done=True, words="gone", by="stan")
    with peopled._shared.database.reading() as connection:
        rows = connection.execute(select(OWNER_TASKS)).all()
    named = [row.id for row in rows if row.finder or row.subject]
    assert (len(rows), named) == (3, [other.act])


def test_after_retirement_it_is_said_that_nobody_knows_who_was_in(ready):
    ask(ready)
    assert ready.subjects.releases(NAME, "p7", by="stan", why=WHY)
    ready.data_sets.retire(NAME, why="over", by="olga")
    with pytest.raises(Retired, match="marks of who was in it are gone"):
        ready.subjects.releases(NAME, "p7", by="stan", why=WHY)


def test_a_log_that_is_busy_is_told(ready, monkeypatch):
    monkeypatch.setattr("letalone.curator.storage.database.OVERWRITE_TRIES", 2)
    monkeypatch.setattr("letalone.curator.storage.database.OVERWRITE_MILLISECONDS", 10)
    database = ready._shared.database
    with database.reading() as connection:
        connection.execute(select(func.count()).select_from(OWNER_TASKS)).scalar_one()
        done = ready.subjects.erase(NAME, "p5", by="stan", why=WHY)
    assert "log could not be emptied" in done.words
    quiet = ready.subjects.erase(NAME, "p6", by="stan", why=WHY)
    assert "log could not be emptied" not in quiet.words
    assert "is still in the imports folder" in quiet.words
