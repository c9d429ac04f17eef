"""Routes for people in the data: held or not, rows, correction, erasure (G7).

The id of a person is in the body, never in an address: addresses end up in logs.
"""

from fastapi import APIRouter

from letalone.curator.http.as_json import Json, to_json
from letalone.curator.http.shapes import AboutSubject, Correction, InDataSet, Outcome
from letalone.curator.http.who import ActingSteward, Served

routes = APIRouter(prefix="/api/v1/subjects", tags=["people in the data"])


@routes.post("/holdings")
def holdings(body: AboutSubject, bearer: ActingSteward, service: Served) -> Json:
    """Which data sets hold a person of this id."""
    found = service.curator.subjects.holdings(body.subject, by=bearer.person.name, why=body.why)
    return {"holdings": to_json(found)}


@routes.post("/releases")
def releases(body: InDataSet, bearer: ActingSteward, service: Served) -> Json:
    """Which releases were made while the person's rows were in."""
    found = service.curator.subjects.releases(
        body.data_set, body.subject, by=bearer.person.name, why=body.why
    )
    return {"releases": to_json(found)}


@routes.post("/rows")
def rows(body: InDataSet, bearer: ActingSteward, service: Served) -> Json:
    """The person's rows, in order, for whoever handles the request."""
    found = service.curator.subjects.rows(
        body.data_set, body.subject, by=bearer.person.name, why=body.why
    )
    return {"rows": to_json(found)}


@routes.post("/corrections")
def correct(body: Correction, bearer: ActingSteward, service: Served) -> Json:
    """Change values of one of the person's rows."""
    found = service.curator.subjects.correct(
        body.data_set,
        body.subject,
        row=body.row,
        changes=body.changes,
        by=bearer.person.name,
        why=body.why,
    )
    return to_json(found)


@routes.post("/erasures")
def erase(body: InDataSet, bearer: ActingSteward, service: Served) -> Json:
    """Remove the person's rows and destroy their key; what was spent stays spent."""
    found = service.curator.subjects.erase(
        body.data_set, body.subject, by=bearer.person.name, why=body.why
    )
    return to_json(found)


@routes.post("/outcomes")
def outcome(body: Outcome, bearer: ActingSteward, service: Served) -> Json:
    """Record what came of a statement that the owner of an external source was to run."""
    found = service.curator.subjects.record_outcome(
        body.act, done=body.done, words=body.words, by=bearer.person.name
    )
    return to_json(found)
