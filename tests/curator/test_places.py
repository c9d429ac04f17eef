"""Where files may come from: nothing but a plain file below the import folder."""

import os

import pytest

from curator.makers import LINES, SECRET, put, registration
from letalone.curator.data_sets.file_places import place_of_import
from letalone.errors import ParameterError
from letalone.plans.schema import Column, Schema


@pytest.mark.parametrize(
    "name",
    [
        "../visits.csv",
        "a/../../visits.csv",
        "/etc/passwd",
        "//etc/passwd",
        "~/visits.csv",
        "..\\visits.csv",
        "C:\\visits.csv",
        "C:visits.csv",
        "\\\\host\\visits.csv",
        "visits*.csv",
        "visit[s].csv",
        "visits.csv\0.parquet",
        "visits\n.csv",
        "",
        ".",
        "..",
        None,
        7,
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(peopled, name):
    put(peopled)
    (peopled.settings.folder / "visits.csv").write_text("\n".join(LINES))
    with pytest.raises(ParameterError, match=r"within the import folder|There is no file"):
        place_of_import(peopled.settings, name)


def test_names_below_folders_are_fine(peopled):
    assert place_of_import(peopled.settings, put(peopled, "may/visits.csv")).is_file()


@pytest.mark.parametrize("how", ["file", "folder"])
def test_links_are_refused_wherever_they_lead(peopled, tmp_path, how):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "visits.csv").write_text("\n".join(LINES))
    imports = peopled.settings.imports_folder
    if how == "file":
        (imports / "visits.csv").symlink_to(outside / "visits.csv")
    else:
        (imports / "may").symlink_to(outside)
    name = "visits.csv" if how == "file" else "may/visits.csv"
    with pytest.raises(ParameterError, match="is a link"):
        peopled.data_sets.register(registration(), file=name, by="olga")
    assert not list(peopled.settings.data_folder.glob("*.parquet"))


def test_what_is_no_plain_file_is_not_there(peopled):
    imports = peopled.settings.imports_folder
    (imports / "folder.csv").mkdir()
    os.mkfifo(imports / "pipe.csv")
    for name in ("folder.csv", "pipe.csv", "none.csv"):
        with pytest.raises(ParameterError, match="There is no file"):
            place_of_import(peopled.settings, name)
    (imports / "visits.db").write_text("x")
    with pytest.raises(ParameterError, match="must end in one of"):
        place_of_import(peopled.settings, "visits.db")


def test_an_upload_lies_where_uploads_lie_and_stays_until_it_was_imported(peopled, tmp_path):
    elsewhere = tmp_path / "visits.csv"
    elsewhere.write_text("\n".join(LINES))
    with pytest.raises(ParameterError, match=r"where data_sets\.incoming"):
        peopled.data_sets.register(registration(), upload=elsewhere, by="olga")
    upload = peopled.data_sets.incoming("csv")
    upload.symlink_to(elsewhere)
    with pytest.raises(ParameterError, match=r"where data_sets\.incoming"):
        peopled.data_sets.register(registration(), upload=upload, by="olga")
    upload = peopled.data_sets.incoming("parquet")
    upload.write_text(f"no parquet, {SECRET}")
    with pytest.raises(ParameterError) as error:
        peopled.data_sets.register(registration(), upload=upload, by="olga")
    assert SECRET not in str(error.value)
    assert upload.name not in str(error.value)
    assert "the upload cannot be read" in str(error.value)
    upload.unlink()
    with pytest.raises(ParameterError, match="no such upload"):
        peopled.data_sets.register(registration(), upload=upload, by="olga")
    upload = peopled.data_sets.incoming("csv")
    upload.write_text("\n".join(LINES) + "\n")
    wrong = registration(schema=Schema("visits", (Column("cots", "number"),)))
    with pytest.raises(ParameterError, match="Did you mean 'cost'"):
        peopled.data_sets.register(wrong, upload=upload, by="olga")
    peopled.data_sets.register(registration(), upload=upload, by="olga")
    assert not upload.exists()
    with pytest.raises(ParameterError, match="must be one of: csv, parquet"):
        peopled.data_sets.incoming("../x")


def test_the_folders_are_for_their_user_alone(ready):
    settings = ready.settings
    for folder in (settings.folder, settings.data_folder, settings.incoming_folder):
        assert folder.stat().st_mode & 0o777 == 0o700
    (kept,) = settings.data_folder.glob("*.parquet")
    for file in (kept, settings.master_key_file, *settings.folder.glob("*.db*")):
        assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["v.csv.gz", "v.CSV.ZST", "v.ndjson", "v.feather", "v.xlsx"])
def test_a_file_whose_size_cannot_be_told_is_not_imported(name, peopled):
    with pytest.raises(ParameterError, match="are not imported"):
        place_of_import(peopled.settings, name)
