"""The pages of surveys: made by a form, answered without a cookie, read with charts."""

import re
from datetime import timedelta
from html import unescape

import pytest

QUESTIONS = {
    "text-0": "Do you smoke?",
    "kind-0": "yes_no",
    "text-1": "Which floor?",
    "kind-1": "one_of",
    "options-1": "first, second, third",
    "text-2": "Hours of sleep?",
    "kind-2": "number",
    "lower-2": "0",
    "upper-2": "12",
}


def make(fresh, **changes):
    stan = fresh.by("stan", elevated=True)
    stan.see("/surveys/new")
    ends = (fresh.clock() + timedelta(days=3)).date().isoformat()
    fields = {"name": "mood", "title": "How are we?", "purpose": "To plan.", "epsilon": "3"}
    return stan, stan.send("/surveys/new", **(fields | {"ends": ends} | QUESTIONS | changes))


def invite(stan, number="2"):
    stan.see("/surveys/mood")
    text = stan.send("/surveys/mood/invitations", number=number).text
    return re.findall(r"/survey/mood#([\w-]+)", text)


def test_a_survey_is_made_answered_and_read(fresh):
    stan, answer = make(fresh)
    assert "The survey was made" in stan.follow(answer).text
    first, second = invite(stan)
    anybody = fresh.anybody()
    page = anybody.see("/survey/mood")
    assert page.status_code == 200
    assert "set-cookie" not in page.headers
    assert "at most 20.1 times surer" in page.text, "e^3 = 20.0855, rounded up"
    assert first not in page.text
    sent = {"token": first, "reports": ["80", "20", "40"]}
    at = "/api/v1/surveys/mood/reports"
    assert anybody.client.post(at, json=sent).status_code == 204
    assert anybody.client.post(at, json=sent).status_code == 409
    text = stan.see("/surveys/mood").text
    assert "1 of 2 invited people have answered" in text
    assert text.count("<svg") == 3
    assert "more answers are needed" in text
    assert "too few answers to say" in text
    assert text.count("chart-unknown") == 6, "no bar of a value beyond its scale"
    lines = stan.see("/surveys/mood/csv").text.splitlines()
    assert lines[0] == "question,choice,estimate,low,high,people,confidence,more_needed"
    assert len(lines) == 1 + 2 + 3 + 1
    assert anybody.client.post(at, json=sent | {"token": second, "true": "yes"}).status_code == 422
    stan.send("/surveys/mood/close")
    assert anybody.client.post(at, json=sent | {"token": second}).status_code == 404
    assert anybody.see("/survey/mood").status_code == 404


def test_what_cannot_be_a_survey_is_told_and_what_was_typed_is_kept(fresh):
    stan, answer = make(fresh, **{"options-1": "only one"})
    assert answer.status_code == 422
    assert "from 2 to 64" in answer.text
    assert "Do you smoke?" in answer.text
    assert stan.see("/surveys/mood").status_code == 404


def why(text, field):
    """What is said below a field, which must be marked and refer to it."""
    assert re.search(rf'name="{field}"[^>]*aria-invalid="true"[^>]*describedby="{field}-why', text)
    return re.search(rf'id="{field}-why">([^<]*)<', text)[1]


@pytest.mark.parametrize(
    ("field", "typed", "words"),
    [
        ("name", "Mood!", "must be a lower-case letter, then letters"),
        ("title", "x" * 501, "from 1 to 500 characters"),
        ("purpose", "two\r\nlines", "on one line"),
        ("epsilon", "much", "must be a positive number"),
        ("epsilon", "49", "must be at most 16"),
        ("ends", "soon", "ends must be a day"),
        ("text-1", "x" * 501, "from 1 to 500 characters"),
        ("options-1", ", ".join(map(str, range(65))), "has 65 options, but must have from 2 to 64"),
        ("options-1", "a, a", "occurs twice"),
        ("lower-2", "none", "Write a number such as 0.5."),
        ("upper-2", "0", "lower must be below upper"),
        ("measure-2", "x" * 501, "from 1 to 500 characters"),
    ],
)
@pytest.mark.long  # tests of one field stay
def test_what_is_wrong_with_a_field_is_told_at_that_field_and_nothing_is_made(
    fresh, field, typed, words
):
    stan, answer = make(fresh, **{field: typed})
    assert answer.status_code == 422
    assert words in unescape(why(answer.text, field))
    assert answer.text.count('aria-invalid="true"') == 1
    assert "1 field to change" in answer.text
    assert stan.see("/surveys/mood").status_code == 404


def test_all_fields_that_are_wrong_are_told_at_once_and_an_empty_form_asks_for_a_question(fresh):
    empty = {f"text-{at}": "" for at in range(3)}
    _, answer = make(fresh, name="", title="", **empty)
    assert {field for field in ("name", "title", "text-0") if why(answer.text, field)}
    assert "3 fields to change" in answer.text


def test_there_is_room_for_as_many_questions_as_a_survey_may_have_and_all_is_kept(fresh):
    stan = fresh.by("stan", elevated=True)
    stan.see("/surveys/new")
    room = dict(QUESTIONS, places="5")
    for wanted in (10, 15, 20):
        text = stan.send("/surveys/new/more", **room).text
        assert len(re.findall(r'name="text-\d+"', text)) == wanted
        assert "Do you smoke?" in text
        room["places"] = str(wanted)
    assert "Room for more" not in text
    _, answer = make(fresh, places="20", **{"text-19": "Last?", "kind-19": "yes_no"})
    assert answer.status_code == 303
    assert len(stan.see("/surveys/mood").text.split('<section class="card"')) == 1 + 4


def test_the_form_lets_a_browser_check_what_it_can(fresh):
    text = fresh.by("stan", elevated=True).see("/surveys/new").text
    for name, most in (("name", 60), ("title", 500), ("purpose", 500), ("text-0", 500)):
        assert re.search(rf'name="{name}"[^>]* maxlength="{most}"', text), name
    assert re.search(r'name="ends"[^>]* min="\d{4}-\d\d-\d\d" max="\d{4}-\d\d-\d\d"', text)
    assert 'pattern="[a-z][a-z0-9\\-]*"' in text
    stan, _ = make(fresh)
    assert re.search(r'name="number"[^>]* min="1" max="100000"', stan.see("/surveys/mood").text)


def test_a_survey_that_asks_one_question_a_person_says_so_to_who_answers_and_who_reads(fresh):
    stan, answer = make(fresh, how="sample")
    assert "The survey was made" in stan.follow(answer).text
    first, _ = invite(stan)
    page = fresh.anybody().see("/survey/mood").text
    assert "You are asked one of 3 questions." in page
    assert len(re.findall(r'class="card asked" hidden', page)) == 3, "until the script draws one"
    assert "for the one answer" in page
    at, browser = "/api/v1/surveys/mood/reports", fresh.anybody().client
    for reports in (["80", "20", "40"], ["", "", ""]):
        assert browser.post(at, json={"token": first, "reports": reports}).status_code == 422
    sent = {"token": first, "reports": ["", "80", ""]}
    assert browser.post(at, json=sent).status_code == 204
    assert browser.post(at, json=sent).status_code == 409
    text = stan.see("/surveys/mood").text
    assert "Each person answers one question, which their browser draws." in text
    assert "Answers to this question: 1." in text
    assert re.search(r"about [\d,]+ more answers are needed, from about [\d,]+ more people", text)


def test_results_come_as_a_document_too(fresh):
    stan, _ = make(fresh)
    answer = stan.see("/surveys/mood/json")
    assert answer.headers["content-type"].startswith("application/json")
    assert 'filename="mood.json"' in answer.headers["content-disposition"]
    found = answer.json()
    assert found["margin"] == 0.02
    assert [each["people"] for each in found["questions"]] == [0, 0, 0]
    assert all(each["more_needed"] > 1000 for each in found["questions"])


def test_what_changes_while_answers_come_is_a_page_of_its_own_and_ends_with_the_survey(fresh):
    stan, _ = make(fresh)
    first, _ = invite(stan)
    whole = stan.see("/surveys/mood").text
    assert 'data-live="/surveys/mood/live"' in whole
    before = stan.see("/surveys/mood/live").text
    assert before.strip() in whole
    assert "<form" not in before
    sent = {"token": first, "reports": ["80", "20", "40"]}
    fresh.anybody().client.post("/api/v1/surveys/mood/reports", json=sent)
    assert "1 of 2 invited people" in stan.see("/surveys/mood/live").text
    stan.send("/surveys/mood/close")
    assert "data-live" not in stan.see("/surveys/mood/live").text
    for nobody in (fresh.by("ann"), fresh.anybody()):
        assert nobody.see("/surveys/mood/live").status_code in (303, 403)
        assert nobody.see("/surveys/mood/json").status_code in (303, 403)


def test_coins_on_paper_have_the_same_estimator(fresh):
    stan = fresh.by("stan")
    text = stan.see("/surveys/coins?yes=60&no=40").text
    assert "About 70.0 % would truly say yes" in text, "(0.6 − 1/4) / (1/2)"
    one = stan.see("/surveys/coins?yes=1&no=0").text
    assert "Too few answers to say" in one
    assert "150" not in one, "no share is beyond its scale"
    assert "Type two whole numbers" in stan.see("/surveys/coins?yes=x&no=1").text
    assert "a million together" in stan.see("/surveys/coins?yes=5000000&no=1000000").text
    assert "at most 3 times surer" in stan.see("/surveys/coins").text


def test_whoever_watches_the_coins_sees_two_throws_whatever_is_told(fresh):
    """One throw for the truth and two for a lie would tell which it is: ε would be infinite."""
    text = fresh.by("stan").see("/surveys/coins").text
    assert "Throw it twice in any case" in text
    assert "throw it again" not in text


@pytest.mark.parametrize("typed", ["1.5", "1,5"])
def test_an_epsilon_with_a_point_or_a_comma_is_taken_as_it_was_typed(fresh, typed):
    _, answer = make(fresh, epsilon=typed)
    assert answer.status_code == 303, answer.text
    assert fresh.by("stan").see("/surveys/mood").text.count("ε = 1.5 per person") == 1


def test_an_epsilon_is_shown_rounded_up(fresh):
    stan, _ = make(fresh, epsilon="1.00000001")
    invite(stan)
    for path in ("/surveys", "/surveys/mood", "/survey/mood"):
        text = unescape(stan.see(path).text)
        assert "1.00001" in text, f"{path} says that it is 1"


def test_a_chart_says_what_its_numbers_are(fresh):
    stan, _ = make(fresh, **{"measure-2": "hours"})
    (token, _) = invite(stan)
    reports = {"token": token, "reports": ["80", "80", "80"]}
    stan.client.post("/api/v1/surveys/mood/reports", json=reports)
    text = unescape(stan.see("/surveys/mood").text)
    assert text.count("In percent. Lines are") >= 2
    assert "In hours. Lines are" in text


def test_analysts_have_no_surveys(fresh):
    ann = fresh.by("ann")
    assert ann.see("/surveys").status_code == 403
    assert "/surveys" not in ann.see("/").text


def test_ends_of_a_number_may_have_a_point_or_a_comma(fresh):
    _, answer = make(fresh, **{"lower-2": "-0.5", "upper-2": "12,25"})
    assert answer.status_code == 303, answer.text
    text = unescape(fresh.anybody().see("/survey/mood").text)
    assert "from -0.5 to 12.25" in text
