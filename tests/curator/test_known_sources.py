"""An external table has one budget: whatever it is called, and however its place is written."""

from threading import Barrier, Thread

import pytest

from curator.makers import LINES, NAME, SCHEMA, Clock, open_curator, put, registration
from curator.makers import with_people as add_people
from letalone.curator.data_sets import external_sources
from letalone.curator.http.problems import of_error
from letalone.curator.storage.refusals import AlreadyDecided
from letalone.errors import ParameterError
from letalone.plans.schema import Schema

HOST = "db.clinic"
PLACE = f"postgresql://ann@{HOST}/care/visits"
SAME_ON_SERVER = [
    f"postgresql://bob@{HOST}/care/visits",
    f"postgres://{HOST.upper()}:5432/care/public.visits",
    f"postgresql://{HOST}:05432/care/visits",
    f"postgresql:///care/%76isits?host={HOST}&sslmode=require",
]


def other_registration(name="other"):
    schema = Schema(name, SCHEMA.columns, unit=SCHEMA.unit)
    return registration(schema=schema)


def register(curator, registration, *, external=True, **source):
    return curator.data_sets.register(registration, by="olga", external=external, **source)


@pytest.fixture
def known(peopled):
    register(peopled, registration(), file=put(peopled))
    return peopled


@pytest.mark.parametrize(
    "file", ["visits.csv", "./visits.csv", "may/../visits.csv", ".//visits.csv"]
)
def test_one_file_under_a_second_name_is_refused_however_it_is_written(known, file):
    with pytest.raises((AlreadyDecided, ParameterError)) as caught:
        register(known, other_registration(), file=file)
    if ".." not in file:  # which is refused as it stands
        assert f"is the data set {NAME!r} already" in str(caught.value)
        assert of_error(caught.value).code == 409
    assert [record.name for record in known.data_sets.records()] == [NAME]
    assert "other" not in [entry.name for entry in known.ledger.data_sets()]


@pytest.mark.parametrize("external", [True, False])
def test_a_hard_link_is_the_same_file(known, external):
    imports = known.settings.imports_folder
    (imports / "second.csv").hardlink_to(imports / "visits.csv")
    with pytest.raises(AlreadyDecided, match="one budget"):
        register(known, other_registration(), file="second.csv", external=external)
    (imports / "visits.csv").unlink()  # then nothing tells
    assert register(known, other_registration(), file="second.csv", external=external)


def test_a_link_to_it_and_a_file_with_another_ending_are_refused_and_another_file_is_taken(known):
    imports = known.settings.imports_folder
    (imports / "link.csv").symlink_to("visits.csv")
    with pytest.raises(ParameterError, match="is a link"):
        register(known, other_registration(), file="link.csv")
    put(known, "visits.tsv", [line.replace(",", "\t") for line in LINES])
    with pytest.raises(AlreadyDecided, match="endings alone"):
        register(known, other_registration(), file="visits.tsv")
    assert register(known, other_registration(), file=put(known, "more/visits.csv")).external


def test_the_folder_may_be_a_link_meanwhile(known):
    imports = known.settings.imports_folder
    imports.rename(imports.with_name("elsewhere"))
    imports.symlink_to("elsewhere")
    with pytest.raises(AlreadyDecided):
        register(known, other_registration(), file="visits.csv")


def test_what_an_external_data_set_reads_is_not_imported_under_another_name(known):
    with pytest.raises(AlreadyDecided, match="a table has one budget"):
        register(known, other_registration(), file="visits.csv", external=False)
    register(known, other_registration(), file=put(known, "june.csv"), external=False)
    with pytest.raises(AlreadyDecided, match="a table has one budget"):
        known.data_sets.renew("other", by="olga", file="visits.csv")
    known.data_sets.renew("other", by="olga", file="june.csv")


def test_what_was_retired_still_counts(known):
    known.data_sets.retire(NAME, why="over", by="olga")
    with pytest.raises(AlreadyDecided, match="what was spent stays spent"):
        register(known, other_registration(), file="visits.csv")


def test_of_two_who_register_one_file_at_once_one_is_refused(peopled):
    file, both, outcomes = put(peopled), Barrier(2), []

    def act(name):
        both.wait()
        try:
            outcomes.append(register(peopled, other_registration(name), file=file).name)
        except AlreadyDecided:
            outcomes.append(None)

    threads = [Thread(target=act, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(None) == 1


@pytest.fixture
def on_servers(tmp_path, monkeypatch):
    """Tables elsewhere, which nobody connects to."""
    monkeypatch.setattr("letalone.curator.data_sets.service.check_table", lambda *_: None)
    allowed = {"source_hosts": (HOST,), "spark_schemas": ("lake.clinic", "Lake.Clinic")}
    with open_curator(tmp_path, clock=Clock(), **allowed) as found:
        add_people(found)
        yield found


@pytest.mark.parametrize("again", SAME_ON_SERVER)
def test_one_table_on_a_server_has_one_budget(on_servers, again):
    register(on_servers, registration(), address=PLACE)
    with pytest.raises(AlreadyDecided, match=f"is the data set '{NAME}' already"):
        register(on_servers, other_registration(), address=again)
    for number, other in enumerate(("care/old.visits", "Care/visits", "care/people")):
        address = f"postgresql://{HOST}/{other}"
        assert register(on_servers, other_registration(f"other{number}"), address=address).external


def test_one_table_on_spark_has_one_budget_and_spark_is_not_started(on_servers):
    register(on_servers, registration(), address="spark:lake.clinic.visits")
    with pytest.raises(AlreadyDecided, match=f"is the data set '{NAME}' already"):
        register(on_servers, other_registration(), address="spark:Lake.Clinic.`VISITS`")
    assert register(on_servers, other_registration(), address="spark:lake.clinic.people").external


def test_a_row_that_is_no_table_by_the_rules_of_today_stops_nobody(known, monkeypatch):
    real = external_sources.identify

    def identify(settings, file):
        if file == "visits.csv":
            raise ParameterError("no table")
        return real(settings, file)

    monkeypatch.setattr(external_sources, "identify", identify)
    assert register(known, other_registration(), file=put(known, "june.csv")).external
