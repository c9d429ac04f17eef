"""Requests made from the OpenAPI description, valid and not: every answer is as described."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

from letalone.curator.http.problems import MEDIA_TYPE

Service = Any
EXAMPLES = 3  # for each address, twice


@pytest.fixture(scope="module")
def operations(bare: Service) -> dict[str, Any]:
    import schemathesis  # a second, of the second stage alone

    described = bare.client.get("/api/v1/openapi.json").json()
    schema = schemathesis.openapi.from_dict(described)
    found = [result.ok() for result in schema.get_all_operations()]
    return {operation.label: operation for operation in found}


def sent(service: Service, case: Any, by: str) -> Any:
    """The request that a case describes, with the token of a person."""
    bodiless = type(case.body).__name__ == "NotSet"
    return service.client.request(
        case.method,
        case.formatted_path,
        params={name: str(value) for name, value in (case.query or {}).items()},
        content=b"" if bodiless else json.dumps(case.body, default=str).encode(),
        headers={
            "Authorization": f"Bearer {service.token(by)}",
            "Content-Type": "application/json",
        },
    )


def described(service: Service, case: Any) -> None:
    """Whoever sends it: an owner whose acts are elevated, or an analyst."""
    for by in ("olga", "ann"):
        answer = sent(service, case, by)
        assert answer.status_code < 500, (case.method, case.path, case.body, answer.text)
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == MEDIA_TYPE
            assert answer.json()["status"] == answer.status_code


@pytest.mark.long
@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
def test_no_request_makes_the_service_fail(
    bare: Service, operations: dict[str, Any], mode: str
) -> None:
    """A few requests to every address, as it is described, and nearly so."""
    from schemathesis import GenerationMode

    few = settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    for operation in operations.values():
        cases = operation.as_strategy(generation_mode=GenerationMode[mode])

        @few
        @given(case=cases)
        def ask(case: Any) -> None:
            described(bare, case)

        with suppress(Unsatisfiable):  # nothing about it can be wrong
            ask()
