"""A model file holds what was published, and any change to it is found."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import letalone as la
from learn.majority import Majority
from learn.test_sessions import opened, people
from letalone.learn import GaussianNB, LogisticRegression, PrivateSearchCV
from letalone.learn.model_files import MODEL_FILE

ROWS = np.random.default_rng(2).normal(size=(60, 2))
LABELS = np.where(ROWS[:, 0] > 0, "yes", "no")


def fitted(**options: Any) -> GaussianNB:
    made = GaussianNB(epsilon=1, bounds=(-3, 3), classes=["no", "yes"], **options)
    return made.fit(ROWS, LABELS)


def saved(model: Any, folder: Path) -> tuple[Path, dict[str, Any]]:
    path = Path(la.learn.save(model, folder / "model.json"))
    return path, json.loads(path.read_text("utf-8"))


def rewritten(path: Path, content: dict[str, Any]) -> Path:
    """The file with other content and a digest that fits it: what a forger would do."""
    rest = {k: v for k, v in content.items() if k not in ("digest", "format", "kind")}
    path.write_text(MODEL_FILE.text(rest), encoding="utf-8")
    return path


def test_a_model_of_a_table_predicts_from_tables_after_it_was_read(tmp_path: Path) -> None:
    table = opened()
    found = GaussianNB(0.5).fit(table, features=["age", "work"], target="income")
    read = la.learn.load(la.learn.save(found, tmp_path / "model.json"))
    frame = people(20)
    assert list(read.predict(frame)) == list(found.predict(frame))
    assert read.target_ == "income"
    assert "Receipt for 'people'" in repr(read.release_)
    assert la.learn.load(tmp_path / "model.json", public_key=table.ledger.fingerprint)
    with pytest.raises(la.LedgerDamaged, match="another key"):
        la.learn.load(tmp_path / "model.json", public_key="0" * 64)


def test_the_best_model_of_a_search_is_saved_with_the_search_s_receipt(tmp_path: Path) -> None:
    grid = {"bounds": [(-3, 3), (-2, 2)]}
    model = GaussianNB(classes=["no", "yes"], bounds=(-3, 3))
    search = PrivateSearchCV(model, grid, epsilon=1, budget=la.Budget(1)).fit(ROWS, LABELS)
    read = la.learn.load(la.learn.save(search.best_estimator_, tmp_path / "best.json"))
    assert (read.predict(ROWS) == search.predict(ROWS)).all()
    assert read.privacy_ == search.privacy_
    table = opened()
    wide = PrivateSearchCV(GaussianNB(), {"bounds": [(-1, 1), (-2, 2)]}, epsilon=1)
    wide.fit(table, features=["age", "work"], target="income")
    read = la.learn.load(la.learn.save(wide.best_estimator_, tmp_path / "table.json"))
    assert list(read.predict(people(9))) == list(wide.predict(people(9)))


def test_a_search_with_knots_is_saved_with_them_and_other_knots_are_found(tmp_path: Path) -> None:
    grid = {"regularization": [None, 0.5]}
    search = PrivateSearchCV(LogisticRegression(), grid, epsilon=1, delta=1e-7)
    search.fit(opened(), features=["age", "work"], target="income", knots=4)
    path, content = saved(search.best_estimator_, tmp_path)
    assert la.learn.load(path).encoder_.knots == 4
    content["encoding"]["knots"], content["receipt"] = 5, None
    with pytest.raises(la.FormatError, match="other features than it encodes"):
        la.learn.load(rewritten(path, content))


def test_a_model_without_a_budget_has_no_receipt(tmp_path: Path) -> None:
    path, content = saved(fitted(), tmp_path)
    assert content["receipt"] is None
    assert "No ledger was charged" in repr(la.learn.load(path).release_)
    with pytest.raises(la.LedgerDamaged, match="no receipt"):
        la.learn.load(path, public_key="0" * 64)


@pytest.mark.parametrize("with_receipt", [True, False])
def test_every_part_of_a_file_that_is_changed_is_found(tmp_path: Path, with_receipt: bool) -> None:
    path, content = saved(fitted(budget=la.Budget(1)) if with_receipt else fitted(), tmp_path)
    for name in content:
        for changed in ("x", 7, None, {}):
            if changed != content[name]:
                path.write_text(json.dumps({**content, name: changed}), encoding="utf-8")
                with pytest.raises((la.FormatError, la.LedgerDamaged)):
                    la.learn.load(path)
        path.write_text(json.dumps({k: v for k, v in content.items() if k != name}), "utf-8")
        with pytest.raises(la.FormatError):
            la.learn.load(path)
    path.write_text(json.dumps({**content, "more": 1}), encoding="utf-8")
    with pytest.raises(la.FormatError):
        la.learn.load(path)


def test_another_model_under_a_signed_receipt_is_found(tmp_path: Path) -> None:
    path, content = saved(fitted(budget=la.Budget(1)), tmp_path)
    _, other = saved(fitted(budget=la.Budget(1)), tmp_path)
    changed = {**content, "privacy": la.PureDP(0.01).to_json(), "epsilon": "1/100"}
    with pytest.raises(la.LedgerDamaged, match="not the one"):
        la.learn.load(rewritten(path, changed))
    for name in ("attributes", "receipt"):
        with pytest.raises(la.LedgerDamaged, match="not the one"):
            la.learn.load(rewritten(path, {**content, name: other[name]}))
    plan = {**content["plan"], "model": "another"}
    with pytest.raises(la.LedgerDamaged, match="not the one"):
        la.learn.load(rewritten(path, {**content, "plan": plan}))


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("model", "os"),
        ("model", "Account"),
        ("model", "load"),
        ("parameters", {"no_such": {"text": "x"}}),
        ("attributes", {"theta_": {"data": "!", "kind": "<f8", "shape": [2]}}),
        ("attributes", {"theta_": 3}),
        ("attributes", {"predict": {"text": "x"}}),
        ("attributes", {"__class__": {"text": "x"}}),
        ("epsilon", "1/100"),
        ("encoding", {"format": 1}),
        ("epsilon", "x"),
        ("words", 5),
        ("privacy", {"format": 1, "kind": "?"}),
    ],
)
def test_a_forged_file_runs_nothing_and_is_refused(
    tmp_path: Path, name: str, changed: object
) -> None:
    path, content = saved(fitted(), tmp_path)
    with pytest.raises(la.FormatError):
        la.learn.load(rewritten(path, {**content, name: changed}))


def test_newer_and_other_files_are_refused_in_words(tmp_path: Path) -> None:
    path, content = saved(fitted(), tmp_path)
    path.write_text(json.dumps({**content, "format": 2}), encoding="utf-8")
    with pytest.raises(la.FormatError, match=r"has format 2.*Update"):
        la.learn.load(path)
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(la.FormatError, match="not a model file"):
        la.learn.load(path)
    with pytest.raises(la.ParameterError, match="cannot be read"):
        la.learn.load(tmp_path / "none.json")


def test_what_cannot_be_saved_is_said(tmp_path: Path) -> None:
    with pytest.raises(la.ParameterError, match="not fitted"):
        la.learn.save(GaussianNB(), tmp_path / "x.json")
    with pytest.raises(la.ParameterError, match="This is Majority"):
        la.learn.save(Majority(classes=[1, 2]).fit(ROWS, [1] * 60), tmp_path / "x.json")
    with pytest.raises(la.ParameterError, match="cannot be written"):
        la.learn.save(fitted(), tmp_path / "no" / "x.json")


def test_a_file_is_canonical_and_has_no_row_in_it(tmp_path: Path) -> None:
    path, content = saved(fitted(), tmp_path)
    assert path.read_text("utf-8") == MODEL_FILE.text(
        {k: v for k, v in content.items() if k not in ("digest", "format", "kind")}
    )
    names = set(content["attributes"])
    assert not any("row" in name or "label" in name for name in names)
