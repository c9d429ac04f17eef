"""The service: its OpenAPI document, every problem document, and the tables of its database."""

import json
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import letalone as la
from golden.inside import PROBLEM_KINDS, open_service
from golden.keeping import as_json, check

with warnings.catch_warnings():
    # Starlette would rather have httpx2, which the client of letalone does not use.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, Path]]:
    folder = tmp_path_factory.mktemp("service")
    _, app = open_service(folder)
    with TestClient(app, base_url="http://localhost") as client:
        yield client, folder


def test_openapi(service: tuple[TestClient, Path]) -> None:
    text = service[0].get("/api/v1/openapi.json").text
    found = json.loads(text.replace(f'"version":"{la.__version__}"', '"version":"VERSION"'))
    check("service/openapi.json", json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True))


def test_problems(service: tuple[TestClient, Path]) -> None:
    found: dict[str, Any] = {}
    for kind in sorted(PROBLEM_KINDS):
        answer = service[0].get(f"/problems/{kind}")
        assert answer.status_code == 200
        found[kind] = answer.json()
    check("service/problems.json", as_json(found))


def test_tables_of_the_database(service: tuple[TestClient, Path]) -> None:
    (path,) = service[1].glob("curator.db")
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name"
        ).fetchall()
    check("service/curator.sql", ";\n\n".join(sql for (sql,) in rows))
