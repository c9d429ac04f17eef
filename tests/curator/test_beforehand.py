"""Before a data set is registered: columns from metadata, counts that keep nothing, owners only."""

from dataclasses import replace

import pytest

from curator.makers import LINES, NAME, SCHEMA, put, registration
from letalone.curator.storage.refusals import AlreadyDecided, NotPermitted
from letalone.errors import ParameterError
from letalone.plans.types import Type

NEW = registration(schema=replace(SCHEMA, name="new"))


def test_columns_of_a_csv_file_are_text_unless_one_looks(ready):
    put(ready, "new.csv")
    plain = ready.beforehand.columns(by="olga", file="new.csv")
    assert [one.name for one in plain] == LINES[0].split(",")
    assert {one.type for one in plain} == {Type.TEXT}
    looked = ready.beforehand.columns(by="olga", file="new.csv", look=True)
    assert [one.type for one in looked].count(Type.INTEGER) == 2
    assert all(one.keys is one.lower is one.upper is None for one in [*plain, *looked])


def test_what_is_counted_beforehand_is_what_registering_counts_and_nothing_is_kept(ready):
    put(ready, "new.csv", [*LINES, "p1,C,9000,x,y", ",A,1,1,1"])
    before = (len(ready.ledger), sorted(ready.settings.data_folder.iterdir()))
    found = ready.beforehand.affected(NEW, by="olga", file="new.csv")
    assert (found.rows_read, found.rows_kept, found.rows_without_unit) == (62, 61, 1)
    assert (len(ready.ledger), sorted(ready.settings.data_folder.iterdir())) == before
    ready.data_sets.register(NEW, file="new.csv", by="olga")
    assert replace(ready.data_sets.affected("new", by="olga"), version=None) == found


def test_what_registering_would_refuse_is_refused_beforehand(ready):
    put(ready, "new.csv")
    with pytest.raises(AlreadyDecided, match="There is a data set"):
        ready.beforehand.affected(registration(), by="olga", file="new.csv")
    put(ready, "other.csv", ["a,b", "1,2"])
    with pytest.raises(ParameterError, match="Column 'patient' is not in"):
        ready.beforehand.affected(NEW, by="olga", file="other.csv")


@pytest.mark.parametrize("by", ["stan", "ann", "aud"])
def test_only_owners_look_beforehand(ready, by):
    with pytest.raises(NotPermitted):
        ready.beforehand.columns(by=by, file="visits.csv")
    with pytest.raises(NotPermitted):
        ready.beforehand.affected(NEW, by=by, file="visits.csv")


def test_the_words_of_a_refusal_do_not_name_the_place_of_an_upload(ready):
    place = ready.data_sets.incoming("parquet")
    place.write_text("no Parquet")
    with pytest.raises(ParameterError) as found:
        ready.beforehand.columns(by="olga", upload=place)
    assert place.stem not in str(found.value)
    assert NAME not in str(found.value)
