"""Neighbours: two relations, read from their words, and nothing else."""

import pytest

from letalone.errors import ParameterError
from letalone.privacy import ADD_REMOVE, REPLACE, Neighbours, PureDP, Relation, unify
from letalone.privacy.neighbours import is_replace, read_label, read_neighbours

WRONG = ["banana", "replace", Relation.REPLACE, 1, ["replace"]]


@pytest.mark.parametrize("relation", Relation)
def test_a_relation_is_read_from_its_word(relation):
    worded = Neighbours(relation.value, "patient")
    assert worded == Neighbours(relation, "patient")
    assert worded.relation is relation


@pytest.mark.parametrize("relation", ["banana", "add_remove", None, 1, ["replace"]])
def test_any_other_word_is_refused(relation):
    with pytest.raises(ParameterError, match=r"relation is .* must be 'add/remove' or 'replace'"):
        Neighbours(relation)


@pytest.mark.parametrize("unit", ["", " ", 5, ["patient"]])
def test_a_unit_is_a_word(unit):
    for name in (lambda: ADD_REMOVE.of(unit), lambda: Neighbours(Relation.REPLACE, unit)):
        with pytest.raises(ParameterError, match=r"unit is .* but must be a word"):
            name()


def test_both_relations_are_told_apart():
    assert is_replace(REPLACE)
    assert not is_replace(ADD_REMOVE.of("patient"))
    assert str(Neighbours("replace")) == "replace one unit"
    assert str(ADD_REMOVE.of("patient")) == "add or remove one patient"


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize(
    "call",
    [
        read_neighbours,
        read_label,
        is_replace,
        lambda wrong: unify(wrong, None),
        lambda wrong: unify(ADD_REMOVE, wrong),
        lambda wrong: PureDP(1).with_neighbours(wrong),
        lambda wrong: PureDP(1).with_neighbours(REPLACE).with_neighbours(wrong),
    ],
)
def test_what_is_not_neighbours_is_refused_with_the_remedy(call, wrong):
    with pytest.raises(ParameterError, match=r"neighbours is .* must be la.ADD_REMOVE or la.REPL"):
        call(wrong)


def test_unset_neighbours_are_a_label_and_not_a_relation():
    assert read_label(None) is None
    with pytest.raises(ParameterError, match="neighbours is None"):
        read_neighbours(None)


def test_an_unset_label_takes_on_the_other():
    assert unify(None, REPLACE) == unify(REPLACE, None) == REPLACE
    assert unify(None, None) is None
