"""Two processes take one run together: one sample, one noise, one charge, one model.

All of it is done once, by `two_processes.py`, and looked at here.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from scipy.stats import binomtest, kstest
from torch import nn

import letalone as la
from letalone.learn.torch import PrivateTrainer
from letalone.learn.torch.gradients.sums import single_will_do
from letalone.learn.torch.team import Team
from two_processes import COINS, DATA, trainer_of

pytestmark = pytest.mark.long

WORKER = Path(__file__).parents[1] / "two_processes.py"


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What both processes saw."""
    folder = tmp_path_factory.mktemp("team")
    paths = os.pathsep.join(filter(None, [str(WORKER.parent), os.environ.get("PYTHONPATH")]))
    places = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(WORKER), str(folder)]
    running = [subprocess.Popen([*command, rank], env=places) for rank in ("0", "1")]
    assert [process.wait(timeout=300) for process in running] == [0, 0]
    return [torch.load(folder / f"{rank}.pt", weights_only=False) for rank in (0, 1)]


@pytest.mark.parametrize(("name", "bands"), [("model", 1), ("banded", 3)])
def test_it_is_the_run_of_one_process_with_the_same_bits(told, name, bands):
    alone = trainer_of(None, noise_bands=bands).fit(DATA)
    for each in told:
        assert torch.allclose(each[name], alone.model.weight.detach(), atol=1e-9)
    assert torch.equal(told[0][name], told[1][name])


def test_what_each_process_adds_up_is_the_whole_sum(told):
    whole = trainer_of(None)._prepared(DATA, None)._clipped_sums().total
    assert torch.allclose(told[0]["sum"], whole, rtol=1e-12, atol=1e-12)
    assert torch.equal(told[0]["sum"], told[1]["sum"])


def test_noise_is_added_once(told):
    """Of the planned size, not twice. A correct run would fail for one seed in 10^6."""
    for each in told:
        noise = each["noise"].numpy()
        assert kstest(noise, "norm").pvalue > 1e-6
        for wrong in (2**0.5, 2**-0.5, 1.1):
            assert kstest(noise / wrong, "norm").pvalue < 1e-6, "too few draws to see this"
    assert torch.equal(told[0]["noise"], told[1]["noise"])


def test_a_unit_is_drawn_once_for_all_processes(told):
    """Nobody is worked on twice, and everybody with the planned rate: neither twice nor half."""
    first, second = (each["drawn"] for each in told)
    assert len(first) == len(second) == COINS
    for mine, theirs in zip(first, second, strict=True):
        assert not set(mine) & set(theirs)
    drawn = sum(len(own) for own in first) + sum(len(own) for own in second)
    assert binomtest(drawn, COINS * 300, 0.1).pvalue > 1e-6
    assert binomtest(drawn, COINS * 300, 0.2).pvalue < 1e-6
    assert binomtest(drawn, COINS * 300, 0.05).pvalue < 1e-6
    assert all(sum(map(len, own)) > 0.3 * drawn for own in (first, second)), "one has all the work"


def test_it_is_charged_once(told):
    assert [each["fits"] for each in told] == [1, 0]
    assert [each["receipt"] for each in told] == [True, False]


def test_only_the_first_process_writes_and_both_go_on(told):
    assert [each["written"] for each in told] == [True, False]
    assert torch.equal(told[0]["resumed"], told[1]["resumed"])
    assert not torch.equal(told[0]["resumed"], told[0]["model"])


@pytest.mark.parametrize("what", ["weights", "plans"])
def test_processes_with_something_else_are_refused(told, what):
    for each in told:
        assert f"given different {what}" in each[f"other {what}"]


def test_what_fails_in_one_process_fails_in_both_and_leaves_the_model(told):
    """In reading, in the optimizer, or where the budget is spent; one at a time."""
    for each in told:
        for what in ("reading", "optimizer"):
            error, kept = each[f"failed {what}"]
            assert "could not be finished" in error
            assert "private word" not in error
            assert kept
        assert each["refused"][1]
    assert "BudgetExceeded" in told[0]["refused"][0]
    assert "LetaloneError" in told[1]["refused"][0]


def test_an_own_loop_that_one_process_ends_ends_in_both(told):
    assert told[1]["own loop"] == "left"
    assert "Another process" in told[0]["own loop"]


def test_one_unit_changes_what_one_process_computes():
    """Whole bins: pieces of others stay where they were."""
    assert Team(size=4).bins(1) == 4
    assert Team(size=4).bins(5) == 8
    assert Team(size=1).bins(5) == 5


def test_sums_by_several_processes_need_more_room():
    assert single_will_do(512, 2, 344, in_order=False)
    sizes = [(b, k) for b in range(100, 6000, 100) for k in range(1, 20)]
    assert all(
        single_will_do(b, k, 344) for b, k in sizes if single_will_do(b, k, 344, in_order=False)
    )
    assert {single_will_do(b, 2, 344) for b, _ in sizes} == {True, False}


def test_without_a_group_it_is_refused():
    with pytest.raises(la.ParameterError, match="init_process_group"):
        PrivateTrainer(
            nn.Linear(2, 2),
            nn.CrossEntropyLoss(reduction="none"),
            epsilon=1,
            delta=1e-5,
            rows=10,
            batch_size=5,
            distributed=True,
        )


def test_a_group_without_a_word_is_refused(told):
    for each in told:
        assert "Say distributed=True" in each["unsaid"]
