"""The how-to page of the service: its addresses exist, and its example is accepted."""

import re
from json import loads
from pathlib import Path
from typing import Any

from letalone.curator.http.problems import KINDS
from letalone.curator.storage.service_records import Registration
from letalone.wire import bodies as wire_bodies
from letalone.wire.bodies import NewDataSet

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "serve.md").read_text("utf-8")
PAGE = PAGE.replace("$id", "{id}")
BODY = re.compile(r"\$at(/[a-z/{}-]+) [^\n]*?-d '(\{.*?\})'$", re.S | re.M)
Service = Any


def test_the_example_of_a_data_set_is_accepted() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.S)
    declared = Registration.of_body(NewDataSet.model_validate(loads(example)))
    assert declared.schema.unit == "patient_id"


def test_every_address_on_the_page_exists(bare: Service) -> None:
    paths = bare.client.get("/api/v1/openapi.json").json()["paths"]
    known = {re.sub(r"{.*?}", "{id}", path.removeprefix("/api/v1")) for path in paths}
    found = re.findall(r"(?:\$at|`(?:POST )?)(/[a-z/{}-]+)", PAGE)
    named = {re.sub(r"{.*?}", "{id}", path) for path in found}
    assert len(named) > 12
    assert {path for path in named if path not in known} <= {"/api/v", "/subjects"}


def test_every_body_on_the_page_has_the_form_that_its_address_takes(bare: Service) -> None:
    paths = bare.client.get("/api/v1/openapi.json").json()["paths"]
    known = {
        re.sub(r"{.*?}", "{id}", path.removeprefix("/api/v1")): one for path, one in paths.items()
    }
    bodies = BODY.findall(PAGE)
    assert len(bodies) > 10
    for path, body in bodies:
        one = next(found for found in known[path].values() if "requestBody" in found)
        form = one["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        getattr(wire_bodies, form.rpartition("/")[2]).model_validate(loads(body))


def test_every_status_of_a_problem_is_in_the_table_or_said_elsewhere() -> None:
    told = set(map(int, re.findall(r"\b(4\d\d)\b", PAGE)))
    assert {kind.status for kind in KINDS.values() if kind.status < 500} - told <= {400, 405}
