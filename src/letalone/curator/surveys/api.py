"""Routes of surveys: owners make and read them, anybody with an invitation answers."""

from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field

from letalone.curator.people.access import SURVEYED, ActingSteward, Context, Overseer
from letalone.curator.surveys.counters import HalfReport
from letalone.curator.surveys.service import SurveyRecord
from letalone.local.questionnaires.questions import read_questionnaire
from letalone.wire.bodies import NewInvitations, NewSurvey, SentFirstHalf, SentReports
from letalone.wire.json_values import Json

routes = APIRouter(prefix="/api/v1/surveys", tags=["surveys"])
Margin = Annotated[float, Field(gt=0, lt=1)]


@routes.post("")
def make(body: NewSurvey, bearer: ActingSteward, service: Context) -> Json:
    """A new survey; its questions and its ε stay as they are."""
    survey = read_questionnaire(body.model_dump())
    return survey_json(service.curator.surveys.make(survey, by=bearer.name))


@routes.get("")
def surveys(bearer: Overseer, service: Context) -> Json:
    """All surveys, the newest first."""
    records = service.curator.surveys.records(by=bearer.name)
    return {"surveys": [survey_json(record) for record in records]}


@routes.post("/{name}/invitations")
def invite(name: str, body: NewInvitations, bearer: ActingSteward, service: Context) -> Json:
    """New invitations, told once. Each belongs behind the # of the survey's address."""
    secrets = service.curator.surveys.invite(name, body.number, by=bearer.name)
    return {"invitations": secrets, "at": f"/survey/{name}#"}


@routes.post("/{name}/reports", dependencies=[SURVEYED], status_code=204)
def report(name: str, body: SentReports, service: Context) -> Response:
    """The random answers of one person, made in their browser. An invitation counts once."""
    service.curator.surveys.take(name, body.token, body.reports)
    return Response(status_code=204)


@routes.post("/{name}/halves", dependencies=[SURVEYED], status_code=204)
def half(name: str, body: SentFirstHalf, service: Context) -> Response:
    """One half of a person's report, where two counters add up. An invitation counts once."""
    read = HalfReport.read(body.nonce, body.public, body.shares)
    service.curator.surveys.take_half(name, body.token, read)
    return Response(status_code=204)


@routes.get("/{name}/results")
def results(name: str, bearer: Overseer, service: Context, margin: Margin = 0.02) -> Json:
    """Estimates with intervals, and how many more answers bring them within the margin."""
    results = service.curator.surveys.results(name, by=bearer.name, margin=margin)
    return {"questions": [result.to_json() for result in results], "margin": margin}


@routes.post("/{name}/close")
def close(name: str, bearer: ActingSteward, service: Context) -> Json:
    """No answers are taken any more."""
    return survey_json(service.curator.surveys.close(name, by=bearer.name))


def survey_json(record: SurveyRecord) -> dict[str, Any]:
    """A survey and how it stands."""
    return record.survey.to_json() | {
        "made": record.made,
        "made_by": record.made_by,
        "closed": record.closed,
        "invited": record.invited,
        "people": record.people,
        "two_counters": record.survey.two_counters,
    }
