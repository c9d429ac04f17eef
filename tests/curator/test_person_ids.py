"""Ids: read by the unit's type, in one spelling everywhere; named in no reason; erased at once."""

from concurrent.futures import ThreadPoolExecutor
from time import sleep

import pytest
from sqlalchemy import select

from curator.makers import LINES, NAME, ask, open_curator, put, registration
from engines import on_postgres
from letalone.curator.storage import master_key
from letalone.curator.storage.tables import IMPORTS, SUBJECT_KEYS
from letalone.curator.subjects.person_ids import possible_ids
from letalone.curator.subjects.unit_rows import number_of_rows, spelled_id, unit_ids
from letalone.engines.core.failure import SourceUnreadable
from letalone.engines.postgres.postgres_person import number_of_one, spelled_at, units_at
from letalone.errors import ParameterError
from letalone.plans.schema import Column, Schema

WHY = "case 12/2026"
TYPED = [
    ("integer", "7", "007"),
    ("integer", "7", "7.0"),
    ("number", "1", "1.0"),
    ("number", "1e20", "100000000000000000000"),
    ("number", "-0.0", "0"),
    ("date", "2024-01-31", "2024-1-31"),
    ("boolean", "true", "True"),
]


def _with_unit(curator, kind, stored):
    schema = Schema(NAME, (Column("who", kind), Column("cost", "integer")), unit="who")
    file = put(curator, lines=["who,cost", f"{stored},1", f"{stored},2"])
    curator.data_sets.register(registration(schema=schema), file=file, by="olga")


def test_an_id_has_one_spelling_in_each_type(tmp_path):
    file = tmp_path / "t.csv"
    for kind, stored, typed in TYPED:
        file.write_text(f"who,cost\n{stored},1\n")
        schema = Schema("t", (Column("who", kind), Column("cost", "integer")), unit="who")
        assert unit_ids(file, schema) == [spelled_id(file, schema, typed)], (kind, stored)
        assert number_of_rows(file, schema, spelled_id(file, schema, stored)) == 1


def test_rows_marks_and_keys_go_by_the_one_spelling(peopled):
    """Rows of one person, then newer rows without them: a mark is all that is left."""
    _with_unit(peopled, "integer", "7")
    found = [len(peopled.subjects.rows(NAME, one, by="stan", why=WHY)) for one in ("7", "007")]
    assert found == [2, 2]
    assert peopled.subjects.holdings("007", by="stan", why=WHY)[0].held
    assert len(_keys(peopled)) == 1  # both are the same person
    peopled.data_sets.renew(NAME, file=put(peopled, lines=["who,cost"]), by="olga")
    assert len(_marks(peopled)) == 1
    assert peopled.subjects.erase(NAME, "007", by="stan", why=WHY).rows == 0
    assert _marks(peopled) == set()
    assert _keys(peopled) == []


def test_an_id_of_another_type_is_refused_in_words_and_held_nowhere(peopled):
    _with_unit(peopled, "integer", "7")
    with pytest.raises(ParameterError, match="The id is no integer, which 'who' of 'visits' is"):
        peopled.subjects.erase(NAME, "p7", by="stan", why=WHY)
    assert peopled.ledger.data_set(NAME).version == 1
    assert [one.held for one in peopled.subjects.holdings("p7", by="stan", why=WHY)] == [False]


AT_SERVER = {  # stored as, the id there, typed, and what can be no id
    "int": ("7", "007", "p7"),
    "float8": ("1e20", "100000000000000000000", "one"),
    "float4": ("-0", "0.0", "1e300"),
    "numeric": ("1.50", "1.5", "1,5"),
    "date": ("2024-01-31", "2024-1-31", "2024-02-31"),
    "bool": ("true", "True", "perhaps"),
    "uuid": ("00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000A", "a"),
    "text": ("007", "007", "\0"),
}


@pytest.mark.long  # test_an_id_has_one_spelling_in_each_type stays
def test_on_a_server_an_id_is_spelled_as_the_server_does():
    row = [stored for stored, _, _ in AT_SERVER.values()]
    table = on_postgres.stored({kind: kind for kind in AT_SERVER}, [row, row])
    address = on_postgres.address(table)
    declared = {"int": "integer", "bool": "boolean", "date": "date", "text": "text", "uuid": "text"}
    for kind, (_, typed, other) in AT_SERVER.items():
        schema = Schema("t", (Column(kind, declared.get(kind, "number")),), unit=kind)
        spelled = spelled_at(address, schema, typed)
        assert units_at(address, schema) == [spelled], kind
        assert number_of_one(address, schema, spelled) == 2
        assert spelled_at(address, schema, other) is None


def _keys(curator):
    with curator._shared.database.reading() as connection:
        return connection.execute(select(SUBJECT_KEYS.c.key)).scalars().all()


def _marks(curator):
    with curator._shared.database.reading() as connection:
        files = connection.execute(select(IMPORTS.c.members)).scalars().all()
    places = [curator.settings.data_folder / one for one in files if one is not None]
    return set[bytes]().union(*(master_key._read_marks(one) for one in places))


@pytest.mark.long  # one at a time: test_rows_marks_and_keys_go_by_the_one_spelling
def test_erasures_at_once_leave_no_mark_of_anybody(ready, tmp_path, monkeypatch):
    """Two curators, as two workers; the write is slow, so that an unlocked one would be undone."""
    ready.data_sets.renew(NAME, file=put(ready, lines=LINES[:2]), by="olga")
    before, people = _marks(ready), [f"p{n}" for n in range(1, 7)]
    write = master_key._write
    monkeypatch.setattr(master_key, "_write", lambda *given: (sleep(0.02), write(*given)))
    with open_curator(tmp_path) as other, ThreadPoolExecutor(6) as pool:
        workers = [ready, other] * 3
        erased = [
            pool.submit(one.subjects.erase, NAME, who, by="stan", why=WHY)
            for one, who in zip(workers, people, strict=True)
        ]
        assert [one.result().rows for one in erased] == [0] * 6
    gone = {ready.subjects._master.member(NAME, one) for one in people}
    assert _marks(ready) == before - gone
    assert not list(ready.settings.data_folder.glob("*.new"))


@pytest.mark.parametrize("why", ["mail of ANNA  schmidt", "Anna\nSchmidt", "(anna schmidt)"])
def test_no_reason_names_the_person_whatever_blanks_and_case(ready, why):
    with pytest.raises(ParameterError, match="never forgets"):
        ready.subjects.rows(NAME, "Anna Schmidt", by="stan", why=why)
    assert ready.subjects.rows(NAME, "Anna Schmidt", by="stan", why="Annas case") == []


def test_no_outcome_names_the_person_in_several_words(peopled):
    lines = ["patient,ward,cost,age,diary", "Anna Schmidt,A,1,1,x", "A/7,B,1,1,x"]
    file = put(peopled, lines=lines)
    peopled.data_sets.register(registration(), file=file, external=True, by="olga")
    for who, said in [
        ("Anna Schmidt", "done for ANNA   SCHMIDT."),
        ("Anna Schmidt", "wrote to anna schmidt, done"),
        ("A/7", "row a/7 is gone"),
    ]:
        act = peopled.subjects.erase(NAME, who, by="stan", why=WHY).act
        with pytest.raises(ParameterError, match="never forgets"):
            peopled.subjects.record_outcome(act, done=False, words=said, by="stan")
        peopled.subjects.record_outcome(act, done=False, words="not yet, Anna is ill", by="stan")


def test_long_words_are_looked_through_in_little_time():
    assert sum(1 for _ in possible_ids("a " * 1000)) < 60_000


def test_a_source_that_is_gone_is_told_for_itself_and_no_other(ready):
    schema = Schema("elsewhere", registration().schema.columns, unit="patient")
    file = put(ready, "away.csv")
    ready.data_sets.register(registration(schema=schema), file=file, external=True, by="olga")
    (ready.settings.imports_folder / file).unlink()
    held = {one.data_set: one.held for one in ready.subjects.holdings("p7", by="stan", why=WHY)}
    assert held == {"elsewhere": None, NAME: True}
    assert ask(ready)
    with pytest.raises(SourceUnreadable) as told, ready.data_sets.store.opened("elsewhere"):
        pass
    assert "away" not in str(told.value)  # analysts are not told which file it is
