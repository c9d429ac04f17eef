"""What every aggregate keeps, over all of FACTS: a new one is held to it by being registered."""

import json
from collections.abc import Iterator

import pytest

import letalone as la
from letalone.answers.shown import as_shown, title_of
from letalone.plans.aggregates.facts import FACTS, REQUESTED, AggregateRequest, Needs, facts_of
from letalone.plans.aggregates.formulas import Aggregate
from letalone.plans.plan import Plan
from letalone.plans.records import STORED_NAMES
from letalone.plans.stored_plans import plan_from_json
from letalone.plans.types import Type
from letalone.session.notes import notes_of
from letalone.session.outputs import slots_of
from letalone.tables.compiled import compile_plan
from plans.test_digests import plans


def examples() -> Iterator[tuple[str, str, Plan]]:
    """Plans of one aggregate each, by its stored name."""
    for name, plan in plans().items():
        if len(plan.aggregates) == 1:
            yield STORED_NAMES[type(plan.aggregates[0][1])], name, plan


EXAMPLES = list(examples())
PLANS = pytest.mark.parametrize("plan", [pytest.param(p, id=n) for _, n, p in EXAMPLES])


def test_every_aggregate_is_a_member_of_the_union_and_has_an_example() -> None:
    classes: tuple[type, ...] = Aggregate.__args__
    assert {STORED_NAMES[kind] for kind in classes} == set(FACTS)
    assert {stored for stored, _, _ in EXAMPLES} == set(FACTS)


def test_every_word_is_a_public_function_and_can_be_resolved() -> None:
    for word, facts in REQUESTED.items():
        assert callable(getattr(la, word))
        assert facts.resolve is not None
        assert AggregateRequest(word).facts is facts


@PLANS
def test_it_is_stored_restored_and_described(plan: Plan) -> None:
    ((_, aggregate),) = plan.aggregates
    again = plan_from_json(json.loads(json.dumps(plan.to_json())))
    assert again == plan
    assert again.digest() == plan.digest()
    words = facts_of(aggregate).describe(aggregate)
    assert words
    assert words in plan.in_words()


@PLANS
def test_its_columns_have_names_and_types_of_their_own(plan: Plan) -> None:
    slots = slots_of(plan)
    names = [name for slot in slots for name in slot.names]
    assert len(set(names)) == len(names) > 0
    assert all(isinstance(slot.column.type, Type) for slot in slots)
    ((_, aggregate),) = plan.aggregates
    facts = facts_of(aggregate)
    if facts.is_single(aggregate):
        assert len(slots) == 1


@PLANS
def test_its_title_range_and_note_are_those_of_its_facts(plan: Plan) -> None:
    ((name, aggregate),) = plan.aggregates
    facts, stored = facts_of(aggregate), plan.to_json()
    assert title_of(stored, []).split()[0] == facts.title_of(stored["aggregates"][0][1]).split()[0]
    assert as_shown(stored, ()) == ()
    if facts.known_range is not None:
        assert facts.needs is Needs.BOUNDS
        least, most = facts.known_range(float(aggregate.lower), float(aggregate.upper))
        assert least < most
    notes = [note for note in notes_of(plan) if note.startswith(f"{name} ")]
    assert len(notes) == (facts.note is not None)


@PLANS
def test_it_has_a_part_that_answers_it_for_no_more_than_its_price(plan: Plan) -> None:
    priced = compile_plan(plan, epsilon=1)
    assert priced.privacy.epsilon(0) <= 1
    assert priced.measures
    assert all(part.words for part in priced.parts)
