"""The queries of fuzz_sql.py sent to the curator's service, over HTTP.

    python bench/fuzz_sql.py --http --queries 10000

Two services hold the table with planted secrets and the emptied table. For every query the
preview (an answer, or a problem) is the same from both, byte for byte; no answer, problem or line
of log holds a secret or an engine's words, and no line of log holds the query; nothing is answered
with a status of 500; no data set is frozen. A share of the questions is released by a third, so
that what an answer found with noise never decides one of the two that are compared.
"""

import runpy
import warnings
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from letalone.curator.curator import Curator
from letalone.curator.http.app import make_app
from letalone.curator.http.limits import RateLimits
from letalone.curator.http.logs import make_log
from letalone.curator.storage.service_records import Purpose, Registration
from letalone.curator.storage.settings import Settings
from letalone.privacy import Budget
from letalone.wire.records import Role

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # starlette would rather have another client
    from starlette.testclient import TestClient

SQL = runpy.run_path(str(Path(__file__).with_name("fuzz_sql.py")))
SECRETS, ENGINE, SCHEMA = SQL["SECRETS"], SQL["ENGINE"], SQL["SCHEMA"]
PASSWORD = "correct horse battery staple"
BUDGET = Budget(10**9, 0.5)
CITIES = {"ward": ["A", "B"], "region": ["N", "S"], "size": [1.0, 2.0]}
SHORTEST = 12  # a piece of SQL that is found in a log by chance is shorter


class Served:
    """A service about a table, and an analyst who may ask all of it."""

    def __init__(self, rows: Any, folder: Path) -> None:
        self.curator = Curator.open(
            Settings(folder=folder, password_memory_kib=8, time_step_seconds=0)
        )
        first = self.curator.people.first_owner("olga") or ""
        self.curator.people.change_password("olga", first, PASSWORD)
        once = self.curator.people.add("ann", [Role.ANALYST], by="olga")
        self.curator.people.change_password("ann", once, PASSWORD)
        self._register(rows)
        self.log = StringIO()
        rates = RateLimits(of_a_person=10**9)
        self.client = TestClient(make_app(self.curator, log=make_log(self.log), rates=rates))
        body = {"name": "ann", "password": PASSWORD}
        secret = self.client.post("/api/v1/tokens", json=body).json()["secret"]
        self.headers = {"Authorization": f"Bearer {secret}"}

    def _register(self, rows: Any) -> None:
        table = pa.Table.from_pandas(rows, preserve_index=False)
        kinds = {"integer": pa.int64(), "text": pa.string(), "number": pa.float64()}
        kinds |= {"date": pa.date32(), "timestamp": pa.timestamp("us"), "boolean": pa.bool_()}
        fields = [pa.field(one.name, kinds[one.type.value]) for one in SCHEMA.columns]
        pq.write_table(
            table.cast(pa.schema(fields)), self.curator.settings.imports_folder / "visits.parquet"
        )
        declared = Registration(SCHEMA, BUDGET, (Purpose("fuzz", BUDGET),))
        self.curator.data_sets.register(declared, file="visits.parquet", by="olga")
        names = [column.name for column in SCHEMA.columns]
        made = self.curator.requests.make(
            "visits", purpose="fuzz", columns=names, budget=BUDGET, why="fuzz", by="ann"
        )
        self.curator.requests.decide(made.id, grant=True, reason="fuzz", by="olga")

    def ask(self, what: str, sql: str) -> Any:
        """What the service answers."""
        body = {"data_set": "visits", "purpose": "fuzz", "sql": sql, "tables": {"cities": CITIES}}
        price = {"epsilon": 1, "delta": 1e-6}
        path = f"/api/v1/questions/{what}"
        return self.client.post(path, json={**body, **price}, headers=self.headers)

    def said(self) -> str:
        """The lines of log since the last time."""
        text = self.log.getvalue()
        self.log.seek(0)
        self.log.truncate()
        return text


@dataclass
class HttpFuzzer:
    """Asks both services, compares, and keeps what it finds."""

    full: Served
    empty: Served
    paid: Served  # the full table again, for answers
    findings: list[str] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)

    def check(self, sql: str, *, release: bool) -> None:
        """One query: its preview from both, and its release where it is wanted."""
        one, other = self.full.ask("preview", sql), self.empty.ask("preview", sql)
        same = (one.status_code, one.content) == (other.status_code, other.content)
        self._expect(same, "depends on data", sql, f"{one.text}\n{other.text}")
        self._quiet(sql, one)
        self.counted[str(one.status_code)] += 1
        if release and one.status_code == 200:
            answer = self.paid.ask("release", sql)
            self._quiet(sql, answer)
            self.counted["released"] += answer.status_code == 200
            self._expect(answer.status_code != 423, "an engine failed", sql, answer.text)

    def _quiet(self, sql: str, answer: Any) -> None:
        self._expect(answer.status_code < 500, "the service failed", sql, answer.text)
        log = self.full.said() + self.empty.said() + self.paid.said()
        for word in (*SECRETS, *ENGINE):
            told = word in answer.text + log and word not in sql
            self._expect(not told, f"{word!r} was said", sql, answer.text)
        pieces = [sql[n : n + SHORTEST] for n in range(0, len(sql) - SHORTEST, SHORTEST)]
        self._expect(not any(piece in log for piece in pieces), "SQL was logged", sql, log)

    def _expect(self, fine: bool, what: str, sql: str, more: str) -> None:
        if not fine:
            self.findings.append(f"{what} for {sql!r}: {more[:2000]}")


def http_fuzzer(stack: ExitStack) -> HttpFuzzer:
    """One with fresh services, about the table and about the emptied table."""
    rows, made = SQL["frame"](), list[Served]()
    for some in (rows, rows.iloc[:0], rows):
        made.append(Served(some, Path(stack.enter_context(TemporaryDirectory())) / "curator"))
        stack.callback(made[-1].curator.close)
    return HttpFuzzer(*made)
