"""The short form of bench/learn.py: the data that come with scikit-learn, one ε, one fit each."""

import runpy
from argparse import Namespace
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    return runpy.run_path(str(BENCH / "learn.py"))


@pytest.mark.long  # how good, not whether: each estimator's own file
def test_every_model_is_measured_and_shown(script, capsys):
    script["EPSILONS"][:] = [8]
    found = script["measure"](Namespace(adult=None, fits=1, rivals=None))
    assert all(0.3 < one["8"]["scores"][0] <= 1 for one in found["ours"].values())
    assert found["plain"]["LogisticRegression"]["scores"][0] > 0.9 > found["majority"]
    script["show"](found)
    printed = capsys.readouterr().out
    assert all(name in printed for name in script["models"](script["bundled"]()))
    assert "goals" not in printed


def outcome(auto, rival):
    one = {"scores": [auto], "seconds": 1.0}
    models = ("LogisticRegression, auto", "BoostedTreesClassifier")
    tried = [{"setting": [1], "scores": [x], "seconds": 1.0} for x in (0.1, rival)]
    return {
        "machine": "a machine",
        "data": "Adult",
        "large": True,
        "fits": 1,
        "majority": 0.76,
        "plain": {"LogisticRegression": {"scores": [0.853], "seconds": 1.0}},
        "ours": {name: {"1": one} for name in models},
        "rivals": {"rival": {"version": "1", "seeds": 1, "by_epsilon": {"1": tried}}},
    }


@pytest.mark.parametrize(
    ("auto", "rival", "missed"), [(0.852, 0.851, 0), (0.852, 0.853, 1), (0.83, 0.84, 3)]
)
def test_a_missed_goal_is_told(script, capsys, auto, rival, missed):
    script["show"](outcome(auto, rival))
    assert capsys.readouterr().out.count("NO ") == missed
