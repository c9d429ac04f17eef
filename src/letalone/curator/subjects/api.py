"""Routes for people in the data: held or not, rows, correction, erasure (G7).

The id of a person is in the body, never in an address: addresses end up in logs.
"""

from fastapi import APIRouter

from letalone.curator.people.access import ActingSteward, Context
from letalone.wire.bodies import AboutSubject, Correction, InDataSet, Outcome
from letalone.wire.json_values import Json, to_json

routes = APIRouter(prefix="/api/v1/subjects", tags=["people in the data"])


@routes.post("/holdings")
def holdings(body: AboutSubject, bearer: ActingSteward, service: Context) -> Json:
    """Which data sets hold a person of this id."""
    subjects, by = service.curator.subjects, bearer.name
    return {"holdings": to_json(subjects.holdings(**body.arguments(), by=by))}


@routes.post("/releases")
def releases(body: InDataSet, bearer: ActingSteward, service: Context) -> Json:
    """Which releases were made while the person's rows were in."""
    subjects, by = service.curator.subjects, bearer.name
    return {"releases": to_json(subjects.releases(**body.arguments(), by=by))}


@routes.post("/rows")
def rows(body: InDataSet, bearer: ActingSteward, service: Context) -> Json:
    """The person's rows, in order, for whoever handles the request."""
    subjects, by = service.curator.subjects, bearer.name
    return {"rows": to_json(subjects.rows(**body.arguments(), by=by))}


@routes.post("/corrections")
def correct(body: Correction, bearer: ActingSteward, service: Context) -> Json:
    """Change values of one of the person's rows."""
    return to_json(service.curator.subjects.correct(**body.arguments(), by=bearer.name))


@routes.post("/erasures")
def erase(body: InDataSet, bearer: ActingSteward, service: Context) -> Json:
    """Remove the person's rows and destroy their key; what was spent stays spent."""
    return to_json(service.curator.subjects.erase(**body.arguments(), by=bearer.name))


@routes.post("/outcomes")
def outcome(body: Outcome, bearer: ActingSteward, service: Context) -> Json:
    """Record what came of a statement that the owner of an external source was to run."""
    return to_json(service.curator.subjects.record_outcome(**body.arguments(), by=bearer.name))
