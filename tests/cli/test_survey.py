"""`letalone survey`: from a file to results, in a terminal, on the folder of a service."""

import json
import tomllib
from datetime import UTC, datetime

import pytest

from curator.makers import open_curator, with_people
from letalone.cli.app import run
from letalone.cli.trust.survey_commands import example
from letalone.local.questionnaires.questions import read_questionnaire


@pytest.fixture
def place(tmp_path):
    with open_curator(tmp_path / "curator") as curator:
        with_people(curator)
        folder = curator.settings.folder
    file = tmp_path / "mood.toml"
    file.write_text(example(), encoding="utf-8")
    return file, ["--folder", str(folder), "--by", "olga"]


def test_a_survey_goes_from_a_file_to_results(place, capsys):
    file, where = place
    assert run(["survey", "new", str(file), *where]) == 0
    told = capsys.readouterr()
    (next_one,) = [line for line in told.out.splitlines() if "survey open mood" in line]
    assert next_one.startswith("  letalone survey open mood --people 200 --address https://")
    assert f" --folder {where[1]}" in next_one, "in one line, so that it can be copied"
    assert "With 200 people a share is known to about ± " in told.err.replace("\n", " ")
    assert run(["survey", "open", "mood", "--people", "3", *where, "--json"]) == 0
    links = json.loads(capsys.readouterr().out)["links"]
    assert len(set(links)) == 3
    assert links[0].startswith("http://127.0.0.1:8400/survey/mood#")
    assert run(["survey", "results", "mood", *where]) == 0
    assert "more answers for ± 2 % of the range)" in capsys.readouterr().out
    with open_curator(file.parent / "curator") as curator:
        curator.surveys.take("mood", links[0].partition("#")[2], ["80", "40", "80"])
    assert run(["survey", "results", "mood", "--csv", *where]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 2 + 3 + 1
    assert run(["survey", "results", "mood", *where]) == 0
    assert "mean  too few answers to say" in capsys.readouterr().out
    assert run(["survey", "close", "mood", *where]) == 0
    assert "with 1 answer." in capsys.readouterr().out
    assert run(["survey", "open", "mood", "--people", "1", *where]) != 0


@pytest.mark.long  # others of this file stay
def test_a_sampled_survey_takes_one_report_a_person_and_says_how_many_people_are_needed(
    place, capsys
):
    file, where = place
    file.write_text('how = "sample"\n' + file.read_text())
    assert run(["survey", "new", str(file), *where]) == 0
    assert "how =" not in capsys.readouterr().err, "it is more exact already"
    run(["survey", "open", "mood", "--people", "1", *where, "--json"])
    token = json.loads(capsys.readouterr().out)["links"][0].partition("#")[2]
    with open_curator(file.parent / "curator") as curator:
        curator.surveys.take("mood", token, ["", "40", ""])
    assert run(["survey", "results", "mood", *where]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "(1 person; about" in told
    assert "more people, for ± 2 %" in told
    assert run(["survey", "results", "mood", "--margin", "0.05", "--json", *where]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["margin"] == 0.05
    assert [each["people"] for each in found["questions"]] == [0, 1, 0]
    assert all(each["more_people"] == 3 * each["more_needed"] for each in found["questions"])


def test_who_splits_is_told_when_one_question_a_person_would_be_more_exact(place, capsys):
    file, where = place
    run(["survey", "new", str(file), *where])
    assert 'drawn at random (how = "sample"), it is about' in " ".join(
        capsys.readouterr().err.split()
    )


def test_invitations_tell_how_exact_all_that_are_invited_can_be_beside_the_links(place, capsys):
    file, where = place
    run(["survey", "new", str(file), *where])
    capsys.readouterr()
    for invited in (25, 50):
        assert run(["survey", "open", "mood", "--people", "25", *where]) == 0
        told = capsys.readouterr()
        assert all("/survey/mood#" in line for line in told.out.splitlines())
        assert f"With {invited} people a share is known to about ± " in told.err.replace("\n", " ")


def test_a_word_for_epsilon_is_refused_in_words(place, capsys):
    file, where = place
    file.write_text(file.read_text().replace("epsilon = 2 ", 'epsilon = "viel" '))
    assert run(["survey", "new", str(file), *where]) == 2
    assert "epsilon is 'viel', but must be a positive number" in capsys.readouterr().err


@pytest.mark.long  # curator/test_counters.py stays
def test_a_survey_with_two_counters_is_made_shared_and_joined(place, tmp_path, capsys):
    file, where = place
    file.write_text("two_counters = true\n" + file.read_text())
    assert run(["survey", "new", str(file), *where]) != 0
    assert "--other-counter" in capsys.readouterr().err
    other = ["--other-counter", "https://counter.example.org"]
    assert run(["survey", "new", str(file), *other, *where]) == 0
    shared = tmp_path / "mood.json"
    told = " ".join(capsys.readouterr().out.split())
    assert "letalone survey share mood mood.counter.json" in told, "nobody can answer before"
    assert run(["survey", "results", "mood", *where]) == 0
    told = capsys.readouterr().out
    assert told.count("two counters tell their totals when it is closed") == 3
    assert "enough" not in told
    assert run(["survey", "share", "mood", str(shared), *where[:2]]) == 0
    assert run(["survey", "join", str(shared), *where[:2]]) != 0, "both halves in one store"
    assert "is the first counter of 'mood'" in " ".join(capsys.readouterr().err.split())
    assert run(["survey", "share", "mood", str(shared), *where[:2]]) != 0, "nothing is overwritten"
    assert "cannot be written" in capsys.readouterr().err
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000)
    assert run(["survey", "join", str(deep), *where[:2]]) != 0
    with open_curator(tmp_path / "second") as curator:
        folder = str(curator.settings.folder)
    capsys.readouterr()
    assert run(["survey", "join", str(shared), "--folder", folder]) == 0
    told = capsys.readouterr().out
    assert "ε = 2" in told
    assert "Have you felt exhausted this month?" in told
    assert run(["survey", "close", "mood", *where]) == 0
    assert run(["survey", "results", "mood", *other, *where]) == 0


def test_a_missing_file_shows_how_one_could_begin_and_a_missing_folder_is_told(place, capsys):
    file, where = place
    assert run(["survey", "new", str(file.with_name("none.toml")), *where]) == 2
    assert "[[questions]]" in capsys.readouterr().err
    assert run(["survey", "results", "mood", "--folder", str(file.with_name("none"))]) == 2
    assert "No service has been started in" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["name = ", "name = 'x'", "\udcff"])
def test_a_file_that_is_no_survey_is_refused(place, text, capsys):
    file, where = place
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert run(["survey", "new", str(file), *where]) == 2


@pytest.mark.long  # others of this file stay
def test_a_wrong_name_is_told_which_surveys_there_are(place, capsys):
    file, where = place
    assert run(["survey", "close", "mood", *where]) != 0
    assert "There is no survey 'mood'. None was made yet." in capsys.readouterr().err
    run(["survey", "new", str(file), *where])
    for command in (["results", "moood"], ["close", "moood"], ["open", "moood", "--people", "2"]):
        capsys.readouterr()
        assert run(["survey", *command, *where]) != 0
        told = " ".join(capsys.readouterr().err.split())
        assert "There is no survey 'moood'. There are: mood. Did you mean 'mood'?" in told


@pytest.mark.parametrize(
    "address", ["survey.example.org", "ftp://a", "https://", "https://a/#b", "http://[", "a b"]
)
@pytest.mark.long  # others of this file stay
def test_links_that_no_browser_opens_are_not_made(place, address, capsys):
    """A link is shown once: its invitation would be lost."""
    file, where = place
    run(["survey", "new", str(file), *where])
    told = run(["survey", "open", "mood", "--people", "2", "--address", address, *where])
    assert told == 2
    assert "such as https://survey.example.org" in " ".join(capsys.readouterr().err.split())
    with open_curator(file.parent / "curator") as curator:
        assert curator.surveys.record("mood", by="olga").invited == 0


@pytest.mark.long  # others of this file stay
def test_links_that_open_here_alone_are_said_to_be_so_beside_them(place, capsys):
    file, where = place
    run(["survey", "new", str(file), *where])
    here = ([], ["--address", "http://localhost:8400"], ["--address", "https://[::1]/"])
    for address in here:
        capsys.readouterr()
        assert run(["survey", "open", "mood", "--people", "1", *address, *where]) == 0
        assert "on this machine only" in capsys.readouterr().err
    there = ["--address", "https://survey.example.org/"]
    assert run(["survey", "open", "mood", "--people", "1", *there, *where]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("https://survey.example.org/survey/mood#")
    assert "on this machine only" not in told.err


def test_the_example_can_be_made_whatever_day_it_is():
    assert read_questionnaire(tomllib.loads(example())).ends > datetime.now(UTC).date()


def test_a_file_without_a_field_is_told_all_that_it_needs(place, capsys):
    file, where = place
    file.write_text(file.read_text().replace("epsilon = 2 ", "# "))
    assert run(["survey", "new", str(file), *where]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "A survey lacks epsilon. It needs: name, " in told


def test_a_word_without_quotes_is_told_how_texts_and_days_are_written(place, capsys):
    file, where = place
    file.write_text(file.read_text().replace('"mood"', "mood"))
    assert run(["survey", "new", str(file), *where]) == 2
    assert "Texts stand in straight quotes" in " ".join(capsys.readouterr().err.split())
