"""Errors are facts: a code, facts and remedies that every copy keeps, and words for each face."""

import pickle
from collections.abc import Callable, Iterator
from copy import copy, deepcopy
from dataclasses import fields

import pytest

from letalone import errors
from letalone.errors import (
    BudgetExceeded,
    DataSetFrozen,
    LetaloneError,
    ParameterError,
    UnsupportedQuery,
    remedies,
)
from letalone.errors.codes import Code
from letalone.errors.in_options import in_options
from letalone.errors.in_python import PYTHON
from letalone.errors.problem import Argument, Face, Problem, Remedy, Spelled, problem
from letalone.errors.problem import without_context as ended
from letalone.errors.remedies import AddBounds, BuyBounds, LeaveOut, NameKeys, Thaw, UseName
from letalone.privacy import Budget


def classes(root: type[LetaloneError] = LetaloneError) -> Iterator[type[LetaloneError]]:
    yield root
    for kind in root.__subclasses__():
        yield from classes(kind)


def pickled(error: LetaloneError) -> LetaloneError:
    return pickle.loads(pickle.dumps(error))


MISSING = problem(
    Code.MISSING_BOUNDS,
    AddBounds(("cost",)),
    BuyBounds(("cost",)),
    columns=("cost",),
    others=(problem(Code.MISSING_KEYS, NameKeys(("ward",)), columns=("ward",)),),
)


def test_a_finished_sentence_is_said_as_it_is_and_has_no_code_of_its_own() -> None:
    error = ParameterError("100 % of {nothing} is allowed.")
    assert str(error) == "100 % of {nothing} is allowed."
    assert (error.code, error.facts, error.remedies) == (Code.OTHER, {}, ())
    assert UnsupportedQuery("No.").code is Code.NO_PRIVATE_ANSWER


def test_an_error_has_the_code_facts_and_remedies_of_its_problem() -> None:
    error = ParameterError(MISSING)
    assert error.problem == MISSING
    assert error.code is Code.MISSING_BOUNDS
    assert error.facts == {"columns": ("cost",)}
    assert error.remedies == (AddBounds(("cost",)), BuyBounds(("cost",)))
    assert str(error) == PYTHON.say(MISSING)
    assert "cost" in str(error)
    assert "la.private_bounds" in str(error)
    assert "ward" in str(error), "what else is missing is said as well"


def test_a_fact_is_put_in_once_and_never_read_as_a_template() -> None:
    typed = problem(
        Code.VALUE_NOT_ALLOWED, name=Argument("unit"), value="{name} %s", allowed="a column"
    )
    assert PYTHON.say(typed) == "unit is {name} %s, but must be a column."


def test_a_face_spells_arguments_and_words_of_its_own() -> None:
    options = Face("options", lambda name: f"--{name.replace('_', '-')}", {})
    told = problem(
        Code.VALUE_NOT_ALLOWED,
        UseName("Y", "y"),
        name=Argument("max_rows"),
        value="Y",
        allowed=Spelled("True or False", http="true or false"),
    )
    assert PYTHON.say(told) == "max_rows is Y, but must be True or False. Did you mean 'y'?"
    assert options.say(told) == "--max-rows is Y, but must be True or False."
    http = Face("http", str, {UseName: "Send {meant}."})
    assert http.say(told) == "max_rows is Y, but must be true or false. Send y."


@pytest.mark.parametrize("again", [copy, deepcopy, pickled])
@pytest.mark.parametrize(
    "error",
    [
        ParameterError("Words."),
        ParameterError(MISSING),
        BudgetExceeded("No.", spent=Budget(1), asked=Budget(2), left=Budget(0), level="research"),
        BudgetExceeded(problem(Code.BUDGET_EXCEEDED, left=Budget(1)), level="research"),
        DataSetFrozen("It is frozen.", remedy="Thaw it."),
        DataSetFrozen(problem(Code.DATA_SET_FROZEN, Thaw("visits"), name="visits")),
    ],
)
def test_copies_and_pickles_keep_every_field(
    error: LetaloneError, again: Callable[[LetaloneError], LetaloneError]
) -> None:
    other = again(error)
    assert type(other) is type(error)
    assert (str(other), other.args) == (str(error), error.args)
    assert other.problem == error.problem
    assert other.__dict__ == error.__dict__


def test_other_words_keep_the_class_and_every_field() -> None:
    error = BudgetExceeded("No.", spent=Budget(1), left=Budget(2), level="research")
    other = error.with_words("No, and the bounds are kept.")
    assert type(other) is BudgetExceeded
    assert str(other) == "No, and the bounds are kept."
    assert (other.spent, other.asked, other.left) == (Budget(1), None, Budget(2))
    assert (
        other.facts == error.facts == {"spent": Budget(1), "left": Budget(2), "level": "research"}
    )


def test_facts_of_a_problem_are_the_fields_of_its_class() -> None:
    error = BudgetExceeded(problem(Code.BUDGET_EXCEEDED, spent=Budget(1)), left=Budget(2))
    assert (error.spent, error.left, error.level) == (Budget(1), Budget(2), None)
    assert error.facts == {"spent": Budget(1), "left": Budget(2)}
    frozen = DataSetFrozen(problem(Code.DATA_SET_FROZEN, Thaw("visits"), name="visits"))
    assert str(frozen) == f"{frozen.fact} {frozen.remedy}"
    assert frozen.remedy.startswith("Its owner can see why")


@pytest.mark.parametrize("kind", list(classes()), ids=lambda kind: kind.__name__)
def test_every_class_names_a_code_that_is_there(kind: type[LetaloneError]) -> None:
    assert Code[kind.default_code] is Code.OTHER or getattr(errors, Code[kind.default_code].error)


@pytest.mark.parametrize("code", list(Code), ids=lambda code: code.name)
def test_a_code_says_when_it_comes_and_what_to_do(code: Code) -> None:
    entry = code.value
    assert entry.when.endswith(".")
    assert entry.what_to_do.endswith(".")
    assert issubclass(getattr(errors, code.error), LetaloneError)
    assert not entry.served_as or Code[entry.served_as].value.served
    assert PYTHON.say(Problem(code)) is not None
    assert pickle.loads(pickle.dumps(code)) is code


EXAMPLES = {
    "name": "visits",
    "by_name": False,
    "columns": ("age", "cost"),
    "span": (7, 11),
    "names": ("a", "b"),
}
NUMBERS = {"epsilon": 0.5, "delta": 1e-6, "rows": 3, "seconds": 5, "types": ("integer", "text")}
FLAGS = {"by_name": False}


def examples() -> list[Remedy]:
    """One of each class of remedy."""
    kinds = [kind for kind in vars(remedies).values() if isinstance(kind, type)]
    found = [kind for kind in kinds if issubclass(kind, Remedy) and kind is not Remedy]
    given = {**EXAMPLES, **NUMBERS, **FLAGS}
    return [kind(*(given.get(one.name, "x") for one in fields(kind))) for kind in found]


@pytest.mark.parametrize("remedy", examples(), ids=lambda remedy: type(remedy).__name__)
def test_python_and_options_word_every_remedy(remedy: Remedy) -> None:
    typed = in_options(Problem(Code.OTHER, remedies=(remedy,)), str)
    for words in (PYTHON.advise(remedy), typed):
        assert words
        assert "{" not in words.replace("{…}", "").replace("{'age': […], 'cost': […]}", "")
    assert "la." not in typed
    assert "=…" not in typed


def test_options_spell_the_arguments_of_python() -> None:
    words = in_options(
        problem(Code.MISSING_EPSILON, LeaveOut(Argument("unit")), name=Argument("epsilon")),
        lambda name: f"--{name}",
    )
    assert words.startswith("--epsilon is missing")
    assert words.endswith("Leave --unit out.")


def test_nothing_of_what_was_caught_goes_on() -> None:
    def fail() -> None:
        raise KeyError("a private value")

    with pytest.raises(ParameterError) as told:
        ended(fail, LookupError, error=ParameterError("It cannot be read."))
    assert told.value.__context__ is None
    assert told.value.__cause__ is None

    with pytest.raises(ParameterError, match="KeyError") as told:
        ended(fail, KeyError, error=lambda caught: ParameterError(type(caught).__name__))
    assert told.value.__context__ is None
    with pytest.raises(KeyError):
        ended(fail, OSError, error=ParameterError("It cannot be read."))
    assert ended(lambda: 3, Exception, error=ParameterError("No.")) == 3
