"""Rows whose retention date is over are removed while the service runs."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from letalone.curator.http.app import run_hourly
from letalone.curator.http.logs import make_log

Service = Any


def kept_for_a_moment(service: Service) -> None:
    async def moment() -> None:
        shared = asyncio.create_task(run_hourly(service.curator, make_log(service.log), 0.01))
        await asyncio.sleep(0.2)
        shared.cancel()

    asyncio.run(moment())


@pytest.mark.long
def test_overdue_rows_are_removed_and_a_failure_is_told_without_words(
    bare: Service, monkeypatch: Any
) -> None:
    imports = bare.curator.settings.imports_folder
    (imports / "old.csv").write_text("ward\nA\n")
    body = {
        "name": "old",
        "columns": {"ward": {"type": "text"}},
        "budget": {"epsilon": 1},
        "purposes": [{"name": "care", "budget": {"epsilon": 1}}],
        "retention": "2099-12-31",
        "file": "old.csv",
    }
    assert bare.ask("POST", "/data-sets", by="olga", json=body).status_code == 201
    kept_for_a_moment(bare)
    assert bare.curator.data_sets.record("old").retired is False
    bare.clock.passed = timedelta(days=100 * 366)
    kept_for_a_moment(bare)
    shown = bare.curator.data_sets.record("old")
    assert (shown.retired, shown.removal is None) == (False, False), "a day's notice"
    monkeypatch.setattr("letalone.curator.storage.notices.NOTICE", timedelta(seconds=-1))
    kept_for_a_moment(bare)
    bare.clock.passed = timedelta()
    assert bare.curator.data_sets.record("old").retired is True

    def fail(_: object) -> None:
        raise OSError("/secret/path is full")

    monkeypatch.setattr(type(bare.curator.data_sets), "retire_overdue", fail)
    kept_for_a_moment(bare)
    assert '"failure": "OSError"' in bare.log.getvalue()
    assert "/secret/path" not in bare.log.getvalue()
