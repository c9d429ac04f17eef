"""A file elsewhere has one identity, however its address is written, and no secret in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letalone.errors import ParameterError
from letalone.sources.remote_address import read_remote
from sources.spelled import read

FILES = [("db.example", "a b/visits"), ("db.example", "visits"), ("other.example:8443", "visits")]
ENDINGS = (".csv", ".csv.gz", ".parquet", ".ndjson")


@st.composite
def addresses(draw, host, path):
    """Ways to write the address of a file."""
    name, _, port = host.partition(":")
    name = draw(st.sampled_from([name, name.upper(), name.title(), f"{name}."]))
    port = f":{port}" if port else draw(st.sampled_from(["", ":443"]))
    some = draw(st.lists(st.booleans(), min_size=len(path), max_size=len(path)))
    signs = [
        f"%{ord(sign):02x}" if sign != "/" and (hide or sign == " ") else sign
        for sign, hide in zip(path, some, strict=True)
    ]
    return f"https://{name}{port}/{''.join(signs)}{draw(st.sampled_from(ENDINGS))}"


@given(st.data())
def test_one_file_has_one_identity_name_schema_file_and_ledger(data):
    host, path = data.draw(st.sampled_from(FILES))
    one, other = (read(data.draw(addresses(host, path))) for _ in range(2))
    for fact in ("identity", "name", "recorded_as", "schema_file", "ledger_file"):
        assert getattr(one, fact) == getattr(other, fact)


@given(st.lists(st.sampled_from(FILES), min_size=2, max_size=2, unique=True), st.data())
def test_two_files_have_two_identities(files, data):
    one, other = (read(data.draw(addresses(*file))) for file in files)
    assert one.identity != other.identity
    assert one.recorded_as != other.recorded_as


def test_buckets_have_one_spelling_and_a_ledger_of_their_own():
    one, other = read("s3://clinic/data/visits.parquet"), read("s3a://clinic/data/visits.csv")
    assert one.identity == other.identity != read("gs://clinic/data/visits.csv").identity
    assert read("gs://clinic/v.csv").identity == read("gcs://clinic/v.csv").identity
    assert one.ledger_file is not None
    assert one.ledger_file.name == "s3.clinic.letalone.db"
    assert read("s3://clinic/data/v%69sits.csv").identity != one.identity  # a key of its own


@pytest.mark.parametrize(
    "address",
    [
        "https://ann:secret@host/visits.csv",
        "https://host/visits.csv?token=secret",
        "https://host/visits.csv#secret",
        "http://host/visits.csv",
        "https:///visits.csv",
        "https://host/",
        "https://host",
        "https://host//visits.csv",
        "https://host/a/../visits.csv",
        "https://host/a/%2e%2e/visits.csv",
        "https://host:secret/visits.csv",
        "https://host/visits.db",
        "https://host/visits",
        "s3:///visits.csv",
        "s3://bucket",
        "s3://key:secret@bucket/visits.csv",
        "s3://bucket/a//visits.csv",
        "s3://bucket/visits.csv?versionId=secret",
    ],
)
def test_an_address_that_could_be_written_otherwise_or_holds_a_secret_is_refused(address):
    with pytest.raises(ParameterError) as refused:
        read_remote(address)
    assert "secret" not in str(refused.value).replace("may be a secret", "").replace(
        "without a secret", ""
    )
