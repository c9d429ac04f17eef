"""A school behind one address can answer at once, and one counter may ask for everybody."""

from datetime import date

from curator.http.conftest import Making
from letalone.curator.http.limits import RateLimits
from letalone.curator.surveys.counters import SECOND
from letalone.local.questionnaires.questions import QuestionKind, Questionnaire, SurveyQuestion

QUESTION = SurveyQuestion("Do you smoke?", QuestionKind.YES_NO)
SURVEY = Questionnaire("mood", "How?", "To plan.", 1, (QUESTION,), date(2099, 1, 1), True)  # type: ignore[arg-type]
CHECKS = "/api/v1/counters/mood/checks"


def test_the_first_counter_asks_as_often_as_people_answer(making: Making) -> None:
    service = making(data=False, rates=RateLimits(of_an_address=3))
    counters = service.curator.surveys.counters
    counters.join({"format": 1, "survey": SURVEY.to_json(), "key": "ab" * 32})
    known = {"Authorization": f"Bearer {counters.part('mood', SECOND).bearer}"}
    made_up = {"Authorization": "Bearer made-up"}
    body = {"nonce": "00" * 16, "told": ["00"]}
    for headers in (made_up, {}, made_up):
        assert service.client.post(CHECKS, json=body, headers=headers).status_code == 401
    assert service.client.post(CHECKS, json=body, headers=made_up).status_code == 429
    for _ in range(5):
        answer = service.client.post(CHECKS, json=body, headers=known)
        assert answer.status_code == 404
        assert "has not come" in answer.text
    elsewhere = CHECKS.replace("mood", "other")
    assert service.client.post(elsewhere, json=body, headers=known).status_code == 429


def test_people_who_answer_are_counted_apart_from_others(making: Making) -> None:
    rates = RateLimits(of_an_address=1, surveys_of_an_address=4)
    client = making(data=False, rates=rates).client
    body = {"token": "x", "reports": ["80"]}
    report = "/api/v1/surveys/mood/reports"
    asked = [client.get("/survey/mood"), client.get("/survey/mood")]
    asked += [client.post(report, json=body) for _ in range(3)]
    assert [answer.status_code for answer in asked] == [404, 404, 404, 404, 429]
    assert client.get("/api/v1/open").status_code == 200
