"""A compiled step is the same step."""

import numpy as np
import pytest
import torch
from torch import nn

import letalone as la
from letalone.learn.torch import Flat, turns
from letalone.learn.torch import steps as module
from letalone.learn.torch.gradients import compiled
from networks import cross_entropy, make
from one_step import apart, steps_of, sum_of, trainer_of

pytestmark = pytest.mark.long


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("name", ["in place", "conv2d", "tied", "adapters", "token"])
def test_the_sums_are_those_of_the_step_that_is_not(name, backend):
    """In pieces, of which the last has masked rows."""
    wanted = sum_of(name, clip=Flat(0.3), physical_batch_size=7)
    found = sum_of(name, clip=Flat(0.3), physical_batch_size=7, compile=backend)
    assert apart(wanted, found) < 1e-12


def test_so_are_those_of_a_model_whose_gradients_are_made_one_by_one():
    assert apart(sum_of("tied by hand"), sum_of("tied by hand", compile="eager")) < 1e-12


def test_so_are_those_that_inductor_compiles():
    wanted = sum_of("linear", dtype=torch.float32)
    assert apart(wanted, sum_of("linear", dtype=torch.float32, compile=True)) < 1e-6


def test_bfloat16_is_rounded_to_in_a_graph_as_well():
    assert compiled._options("inductor", replayed=True) == {
        "emulate_precision_casts": True,
        "triton.cudagraphs": True,
    }
    wanted = sum_of("attention", dtype=torch.float32, precision="fast")
    found = sum_of("attention", dtype=torch.float32, precision="fast", compile="aot_eager")
    assert apart(wanted, found) < 1e-5


def test_weights_that_moved_and_weights_that_were_replaced_are_seen():
    model, loss, batch = make("linear", examples=24)
    steps = trainer_of(model, loss, compile="eager")._prepared((batch.inputs, batch.targets), None)
    other = trainer_of(model, loss)._prepared((batch.inputs, batch.targets), None)
    for change in (lambda p: p.mul_(0.5), lambda p: setattr(p, "data", p.data * 3)):
        with torch.no_grad():
            for parameter in model.parameters():
                change(parameter)
        assert apart(other._clipped_sums().total, steps._clipped_sums().total) < 1e-12


def test_a_step_without_anybody_and_one_of_a_few_work():
    steps = steps_of("linear", compile="eager", physical_batch_size=8)
    plain = steps_of("linear", physical_batch_size=8)
    for drawn in (np.empty(0, np.int64), np.arange(3), np.arange(20)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(turns, "draw_units", lambda *_, drawn=drawn: drawn)
            found, wanted = steps._clipped_sums().total, plain._clipped_sums().total
            assert torch.allclose(found, wanted, rtol=1e-12, atol=1e-12)
            assert (len(drawn) == 0) == (found.norm() == 0)


def test_all_is_compiled_before_the_first_step_once_for_each_precision_of_sums(monkeypatch):
    seen, honest = [], torch.compile
    monkeypatch.setattr(torch, "compile", lambda *a, **k: seen.append(1) or honest(*a, **k))
    steps = steps_of("linear", compile="eager", rows=40, batch_size=20, epochs=5)
    before = len(seen)
    for _ in range(5):
        steps._clipped_sums()
    assert len(seen) == before == 2


class Values(nn.Module):
    """Takes another way for inputs that nobody makes up."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 3)

    def forward(self, x):
        return 2 * self.layer(x) if x.abs().max() > 1e30 else self.layer(x)


@pytest.mark.parametrize(("model", "backend"), [(Values, "eager"), (lambda: nn.Linear(6, 3), "no")])
def test_what_cannot_be_compiled_is_refused_before_anything_is_charged(model, backend):
    account = la.learn.Account(la.Budget(2, 1e-5))
    trainer = trainer_of(model(), cross_entropy, compile=backend, budget=account)
    with pytest.raises(la.ParameterError, match="cannot be compiled as one graph") as caught:
        trainer.fit((torch.randn(24, 6), torch.randint(0, 3, (24,))))
    assert account.fits == 0
    assert caught.value.__cause__ is None


def test_the_plan_says_that_it_is_compiled_and_what_that_assumes():
    model, loss, _ = make("linear")
    plan = trainer_of(model, loss, compile=True).plan
    assert "assumed, not proven: what the compiler measures" in str(plan)
    assert plan.described()["compiled"] in plan.words
    assert "compiled" not in trainer_of(model, loss).plan.described()


@pytest.mark.parametrize("batch", [1, 20, 300, 512, 2048, 100_000])
def test_nearly_every_bin_fits_into_the_pieces_of_a_graph(batch):
    """Four deviations above the mean of what a bin holds, and no more bins than of full pieces."""
    model, loss, _ = make("linear")
    size = trainer_of(model, loss, rows=2 * batch, batch_size=batch, compile=True).pieces.size
    bins = module.bins_for(batch, size)
    assert bins == module.bins_for(batch, 344)
    assert size >= min(344, batch / bins + 3.7 * (batch / bins) ** 0.5)
    assert size <= min(344, batch / bins * 2 + 30)
