"""A problem of the service is the error that a local table would raise."""

from fractions import Fraction

import pytest

from letalone import errors
from letalone.client.problems import read_error
from letalone.curator.http.problems import INTERNAL, KINDS, ProblemDocument, of_error
from letalone.curator.storage import refusals
from letalone.errors import BudgetExceeded, LetaloneError, ServiceUnavailable
from letalone.errors.codes import Code
from letalone.errors.problem import problem
from letalone.errors.remedies import Allow, Thaw
from letalone.privacy import Budget

OWN = [
    one
    for one in vars(errors).values()
    if isinstance(one, type) and issubclass(one, LetaloneError) and one is not LetaloneError
]


def back(error: LetaloneError) -> LetaloneError:
    problem = of_error(error)
    return read_error(problem.code, problem.to_json(), where="x")


@pytest.mark.parametrize("kind", OWN)
def test_every_error_of_letalone_comes_back_as_itself(kind):
    words = "What was wrong. What to do."
    found = back(kind(words))
    assert type(found) is kind
    assert str(found) == (found.code.value.served or words)
    assert found.code is kind(words).code


def test_an_exceeded_budget_has_its_exact_amounts_and_its_level():
    third = Budget(Fraction(1, 3), Fraction(1, 10**7))
    sent = BudgetExceeded("too much", spent=third, asked=Budget(2), left=Budget(0), level="'ann'")
    found = back(sent)
    assert isinstance(found, BudgetExceeded)
    assert (found.spent, found.asked, found.left) == (third, Budget(2), Budget(0))
    assert found.level == "'ann'"
    assert back(BudgetExceeded("too much")).spent is None


def test_facts_and_remedies_come_back_as_they_were():
    sent = errors.DataSetFrozen(
        problem(
            Code.WORK_FAILED,
            Thaw("visits"),
            Allow("visits", "care"),
            name="visits",
            columns=("age", "ward"),
            rows=7,
            budget=Budget(Fraction(1, 3)),
        )
    )
    found = back(sent)
    assert type(found) is errors.DataSetFrozen
    assert (found.code, found.remedies) == (sent.code, sent.remedies)
    assert found.facts == sent.facts
    assert str(found) == found.fact
    assert "POST /api/v1/data-sets/{name}/thaw" in str(found)


@pytest.mark.parametrize(
    "said",
    [
        {"code": "__class__", "facts": [], "remedies": {}},
        {"code": 7, "facts": {"spent": "much", "a b": 1, "x": {"y": {}}, "level": 3}},
        {"remedies": [None, {}, {"remedy": "Remedy"}, {"remedy": "dataclass"}, {"remedy": "Fact"}]},
        {"remedies": [{"remedy": "Thaw", "name": "\x1b[31m", "more": 1}, {"remedy": "Newer"}]},
        {"spent": 7, "left": {"epsilon": "1e999999999", "delta": 0}},
    ],
)
def test_what_a_service_should_not_send_is_left_out(said):
    document = {"detail": "No.", "error": "BudgetExceeded", "type": "/problems/parameter", **said}
    found = read_error(422, document, where="x")
    assert type(found) is BudgetExceeded
    assert str(found) == "No."
    assert (found.spent, found.asked, found.left, found.level) == (None, None, None, None)
    assert found.code is Code.BUDGET_EXCEEDED
    assert "\x1b" not in repr(found.remedies)


@pytest.mark.parametrize(
    ("refused", "kind"),
    [
        (refusals.NotRecognised("x"), errors.NotAllowed),
        (refusals.NotPermitted("x"), errors.NotAllowed),
        (refusals.NotThere("x"), errors.ParameterError),
        (refusals.AlreadyDecided("x"), errors.ParameterError),
        (refusals.TooManyTries("x", seconds=9), ServiceUnavailable),
    ],
)
def test_what_only_a_service_refuses_has_the_nearest_class(refused, kind):
    assert type(back(refused)) is kind


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_problem_is_an_error_with_its_words(kind):
    problem = ProblemDocument(kind, "In words.")
    found = read_error(problem.code, problem.to_json(), where="x", wait="7")
    assert isinstance(found, LetaloneError)
    assert str(found).startswith("In words.")


def test_a_failure_of_the_service_is_no_error_of_the_question():
    assert type(read_error(500, INTERNAL.to_json(), where="x")) is ServiceUnavailable


@pytest.mark.parametrize("said", [None, [], "no", {}, {"detail": 7}, {"detail": ""}])
def test_what_is_no_problem_is_told_with_its_status(said):
    with pytest.raises(ServiceUnavailable, match="https://x answered with the status 502"):
        raise read_error(502, said, where="https://x")


def test_no_other_class_and_no_letter_that_steers_a_terminal_comes_in():
    said = {"detail": "\x1b[31mred\x07", "error": "PrivacyWarning", "type": "/problems/parameter"}
    found = read_error(422, said, where="x")
    assert type(found) is ServiceUnavailable
    assert "\x1b" not in str(found)
    for name in ("TYPE_CHECKING", "LetaloneError", "__name__", "SystemExit"):
        assert type(read_error(422, {**said, "error": name}, where="x")) is ServiceUnavailable
