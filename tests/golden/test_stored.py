"""A sample of each format that is stored. README.md says which samples lie elsewhere."""

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import letalone as la
from golden.keeping import as_json, check, check_random
from golden.kept_entries import charged_in
from learn.manners import MAKERS

STEP = la.privacy.between([1 / 2, 1 / 2], [1 / 3, 2 / 3])
GAUSSIAN = la.GaussianDP(0.5)
CURVES: tuple[la.Privacy, ...] = (
    la.PureDP(1, neighbours=la.ADD_REMOVE.of("patient")),
    la.ApproxDP(0.1, 1e-6, neighbours=la.REPLACE),
    la.ZCDP(0.125),
    GAUSSIAN,
    la.privacy.BoundedRange(0.5),
    la.privacy.DiscreteGaussianPrivacy(sensitivity=1, sigma=3),
    STEP,
    la.privacy.FiniteGroup(STEP, 2),
    la.privacy.GeometricPrivacy(sensitivity=2, scale=3),
    la.privacy.Grouped(la.ZCDP(0.1).sampled(0.1), 3),
    la.privacy.LaplacePrivacy(0.1),
    la.privacy.NoPrivacy(),
    la.privacy.OptimalComposition([(1, 1e-6, 2), (0.5, 0, 3)]),
    la.privacy.RandomizedResponsePrivacy(truth=0.75, categories=4),
    la.privacy.RenyiDP(order=8, epsilon=0.5),
    la.privacy.Sampled(GAUSSIAN, 0.01),
    la.privacy.SampledGroup(GAUSSIAN, 0.01, size=3),
    la.privacy.Shuffled(la.PureDP(0.5), 1000),
    la.compose(GAUSSIAN, la.privacy.LaplacePrivacy(0.1) * 1000),
)
ELSEWHERE = {"perturbed_objective"}  # stored/models.json has it, of a LogisticRegression
RANDOM = np.random.default_rng(5)
ROWS = RANDOM.normal(size=(80, 3))
LABELS = (ROWS[:, 0] > 0).astype(int)
SCHEMA = la.Schema(
    "visits",
    (
        la.Column("patient", "text"),
        la.Column("ward", "text", keys=("A", "B", None)),
        la.Column("cost", "number", lower=0, upper=Fraction(1, 3)),
        la.Column("age", "integer", lower=0, upper=120),
        la.Column("smokes", "boolean"),
        la.Column("day", "date"),
        la.Column("seen", "timestamp"),
        la.Column("note", "other"),
    ),
    unit="patient",
    version=2,
    neighbours=la.REPLACE,
)


def test_every_kind_of_curve() -> None:
    stored = [curve.to_json() for curve in CURVES]
    for curve, one in zip(CURVES, stored, strict=True):
        assert la.privacy.from_json(json.loads(json.dumps(one))) == curve
    with pytest.raises(la.FormatError, match="known kinds") as refused:
        la.privacy.from_json({"format": 1, "kind": "magic"})
    kinds = str(refused.value).partition("known kinds are: ")[2].rstrip(".").split(", ")
    assert set(kinds) == {one["kind"] for one in stored} | ELSEWHERE
    check("stored/curves.json", as_json({"kinds": sorted(kinds), "curves": stored}))


def test_the_state_of_a_filter() -> None:
    filtered = la.Filter(la.Budget(2, 1e-6))
    filtered.charge(la.ZCDP(0.01))
    filtered.charge(la.PureDP(0.5))
    check("stored/filter.json", as_json(la.privacy.state_to_json(filtered.state)))


def test_schema_files() -> None:
    assert la.Schema.from_toml(SCHEMA.to_toml()) == SCHEMA
    by_rows = la.Schema("rows", (la.Column("x", "number"),), unit=None)
    texts = [SCHEMA.to_toml(), by_rows.to_toml({"x": "a remark"})]
    check("stored/schemas.toml", "\n# ----\n\n".join(texts))


def receipts(folder: Path) -> Any:
    path = folder / "ledger.db"
    path.unlink(missing_ok=True)
    frame = {"id": list(range(90)), "x": list(range(90))}
    table = pytest.importorskip("pyarrow").table(frame)
    with la.open(table, unit="id", budget=la.Budget(9, 1e-6), ledger=path, name="rows") as session:
        count = session.bound(max_rows=10).agg(n=la.count())
        answer, batch = count.release(epsilon=0.01), session.batch([count] * 2, epsilon=0.1)
        files = [answer.save(folder / "one.json"), batch[0].save(folder / "all.json")]
        checkpoint = session.ledger.checkpoint()
        session.ledger.export(folder / "export.json")
        stored = [json.loads(Path(file).read_text("utf-8")) for file in files]
        exported = json.loads((folder / "export.json").read_text("utf-8"))
    fields = {name: type(value).__name__ for name, value in exported.items()}
    return timeless({"answer": stored[0], "of a batch": stored[1], "checkpoint": checkpoint,
                     "fields of an export": fields})  # fmt: skip


def timeless(value: Any) -> Any:
    """Without times and versions, and without the texts of entries that hold both."""
    if isinstance(value, dict):
        return {
            name: "<versions>" if name in ("versions", "letalone") else timeless(inner)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [timeless(inner) for inner in value]
    if isinstance(value, str) and value.startswith("{"):
        return timeless(json.loads(value))
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "<time>", value) if isinstance(value, str) else value


def test_receipts_and_a_checkpoint(tmp_path: Path) -> None:
    check_random("stored/receipts.json", lambda: receipts(tmp_path))


def test_tables_of_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    la.Ledger.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name"
        ).fetchall()
        numbers = [
            f"PRAGMA {name} = {connection.execute(f'PRAGMA {name}').fetchone()[0]}"
            for name in ("application_id", "user_version")
        ]
    check("stored/ledger.sql", ";\n\n".join([*numbers, *(sql for (sql,) in rows)]))


def without_values(value: Any) -> Any:
    """What a fit published, by names and types: its numbers are noisy."""
    if isinstance(value, dict):
        if "list" in value:
            return {"list": [without_values(value["list"][0])] if value["list"] else []}
        noisy = {name for name in ("data", "float", "int") if name in value}
        return {k: f"<{k}>" if k in noisy else without_values(v) for k, v in value.items()}
    return value


def fitted(name: str, make: Callable[..., Any], folder: Path) -> dict[str, Any]:
    """What the ledger keeps of a fit, and the file of its model."""
    account = la.learn.Account(la.Budget(10**8, 0.5))
    model = make() if name == "MinMaxScaler" else make(budget=account)
    model.fit(ROWS, LABELS)
    path = la.learn.save(getattr(model, "best_estimator_", model), folder / "model.json")
    file = timeless(json.loads(Path(path).read_text("utf-8")))
    file["attributes"] = {name: without_values(one) for name, one in file["attributes"].items()}
    file["receipt"] = sorted(file["receipt"]) if isinstance(file.get("receipt"), dict) else None
    plans = [one["plan"] for one in charged_in(account.ledger)]
    return {"plans": plans, "file": file}


def test_models(tmp_path: Path) -> None:
    check_random(
        "stored/models.json",
        lambda: {name: fitted(name, make, tmp_path) for name, make in sorted(MAKERS.items())},
    )
