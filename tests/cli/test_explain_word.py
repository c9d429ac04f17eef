"""`letalone explain WORD` knows the words that users meet, and helps with those it does not."""

import json

import pytest

from letalone.cli.app import run
from letalone.cli.noise.explain_word import find_term, read_terms

MET = (
    "delta unit sensitivity budget noise bounds group ledger receipt clamp keys purpose grant"
    " frozen interval median ε δ curator neighbors max_rows dry-run"
    " --max-rows Row-Limit budgets epsilon"
)


@pytest.mark.parametrize("word", MET.split())
def test_a_word_that_users_meet_is_explained(word: str) -> None:
    assert find_term(word).text.endswith(".")


def test_every_term_and_every_other_word_for_it_is_found() -> None:
    for term in read_terms():
        assert all(find_term(word) == term for word in (term.name, *term.also))


def test_two_words_are_one_term(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "row", "limit"]) == 0
    assert capsys.readouterr().out.startswith("row limit: The most rows per person")


def test_a_word_that_is_spelled_wrong_is_helped(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "sensitivty"]) == 2
    said = capsys.readouterr().err
    assert "Did you mean 'sensitivity'?" in said
    assert "letalone explain word" in said


def test_as_json_a_term_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "delta", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["command"] == "explain word"
    assert said["term"] == "delta"
    assert said["page"] == "explanation/epsilon.md"


def test_without_a_word_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "word"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert all(term.name in said for term in read_terms())


def test_numbers_and_receipts_are_explained_as_before(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "epsilon", "1"]) == 0
    assert "73.2 %" in capsys.readouterr().out
    assert run(["explain", "nothing_there.json"]) != 0
    assert "glossary" not in capsys.readouterr().err
