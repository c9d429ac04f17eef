"""Noise drawn where the sum lies: here on the processor, which is asked to work as a card does."""

import sys
from fractions import Fraction
from itertools import pairwise
from types import ModuleType

import numpy as np
import pytest
import torch
from scipy.stats import kstest
from torch import nn
from torch.utils.data import TensorDataset

from letalone.learn.torch import Flat, PrivateTrainer
from letalone.learn.torch.noise import step_noise as noise
from letalone.randomness.keyed.gaussians import add_keyed_gaussians
from letalone.randomness.keyed.law import KeyedLaw
from letalone.randomness.keyed.run_keys import RunKeys
from networks import cross_entropy
from seeded import SeededBits

pytestmark = pytest.mark.long

EMPTY = TensorDataset(torch.zeros(0, 200), torch.zeros(0, dtype=torch.int64))
DATA = torch.randn(300, 200), torch.randint(0, 100, (300,))


@pytest.fixture(autouse=True)
def on_device(monkeypatch):
    monkeypatch.setattr(noise, "DEVICES", ("cpu", "cuda"))


def trainer_of(seed=5, **others):
    torch.manual_seed(0)
    settings = {"epsilon": 2, "delta": 1e-5, "rows": 300, "batch_size": 30, **others}
    trainer = PrivateTrainer(nn.Linear(200, 100), cross_entropy, epochs=1, clip=Flat(3), **settings)
    trainer._bits = SeededBits(seed)
    return trainer


def gradients(trainer, dataset, count=1):
    """The noisy gradients of so many steps, each in one row."""
    rows = []
    with trainer.steps(dataset) as steps:
        for _ in range(count):
            next(steps)
            parts = [p.grad.flatten() for p in trainer.model.parameters()]
            rows.append(torch.cat(parts).double().numpy())
    return np.array(rows)


def test_noise_on_nobody_has_the_planned_law():
    """A correct sampler would fail for one seed in 10^6."""
    trainer = trainer_of()
    draws = gradients(trainer, EMPTY)[0] / float(trainer.plan.noise * 3 / 30)
    assert kstest(draws, "norm").pvalue > 1e-6
    assert kstest(draws / 1.1, "norm").pvalue < 1e-6, "too few draws to see 10 %"


def test_steps_have_noise_of_their_own_and_so_have_runs():
    steps = [*gradients(trainer_of(), EMPTY, 3), *gradients(trainer_of(6), EMPTY, 2)]
    assert all((first != second).mean() > 0.999 for first, second in pairwise(steps))
    assert np.array_equal(steps[0], gradients(trainer_of(), EMPTY)[0]), "of the seed alone"
    products = np.corrcoef(steps) - np.eye(5)
    assert abs(products).max() < 6 / 20_100**0.5


def test_a_sum_is_noised_as_the_reference_says_and_then_divided():
    total, into = torch.arange(5000, dtype=torch.float32), torch.zeros(5000)
    wanted = {"sigma": Fraction(3), "divisor": 7, "bits": SeededBits(1)}
    noise.write_noisy(total, into, **wanted, keys=RunKeys(SeededBits(2)), step=4)
    key, law = RunKeys(SeededBits(2)).claim(4), KeyedLaw(Fraction(3))
    exact = add_keyed_gaussians(total.double().numpy(), law, key, 4) / 7
    assert torch.equal(into, torch.from_numpy(exact).float())


def test_a_step_cannot_be_noised_twice():
    total, into, keys = torch.zeros(9), torch.zeros(9), RunKeys(SeededBits(2))
    wanted = {"sigma": Fraction(3), "divisor": 7, "bits": SeededBits(1), "keys": keys}
    noise.write_noisy(total, into, **wanted, step=1)
    with pytest.raises(RuntimeError, match="steps must rise"):
        noise.write_noisy(total, into, **wanted, step=1)


@pytest.mark.parametrize("sigma", [Fraction(1, 1 << 61), Fraction(1 << 61)])
def test_a_sigma_of_another_world_takes_the_road_of_the_processor(sigma):
    keys, into = RunKeys(SeededBits(2)), torch.zeros(100, dtype=torch.float64)
    total = torch.zeros(100, dtype=torch.float64)
    noise.write_noisy(total, into, sigma=sigma, divisor=1, bits=SeededBits(1), keys=keys, step=1)
    assert 0.5 < into.std() / float(sigma) < 2
    assert keys.claim(1), "not used"


def test_a_file_of_a_run_holds_no_key_and_a_run_that_goes_on_has_another(tmp_path, monkeypatch):
    claimed = []
    claim = RunKeys.claim

    def noted(keys, step):
        key = claim(keys, step)
        claimed.append((key.words, step))
        return key

    monkeypatch.setattr(RunKeys, "claim", noted)
    path = tmp_path / "run.pt"
    trainer_of().fit(DATA, checkpoint=path, every=5)
    first = {words for words, _ in claimed}
    assert len(first) == 1
    assert [step for _, step in claimed] == list(range(1, 11))
    stored = path.read_bytes()
    assert not any(word.to_bytes(4, "little") in stored for word in next(iter(first)))
    saved = torch.load(path, weights_only=True)
    torch.save({**saved, "taken": 5}, path)
    claimed.clear()
    trainer_of(6).fit(DATA, resume=path)
    assert [step for _, step in claimed] == list(range(6, 11))
    assert {words for words, _ in claimed}.isdisjoint(first)
    with pytest.raises(TypeError, match="neither stored nor copied"):
        torch.save(trainer_of()._prepared(DATA, None)._keys.claim(1), tmp_path / "key.pt")


def test_the_record_says_where_the_noise_was_drawn(monkeypatch):
    fitted = trainer_of().fit(DATA)
    words = "noise was drawn where the model is (cpu), from a key that is not stored"
    assert words in str(fitted.release_)
    monkeypatch.setattr(noise, "DEVICES", ("cuda",))
    assert "noise was drawn" not in str(trainer_of().fit(DATA).release_)


@pytest.mark.parametrize("fault", ["no kernel", "other numbers"])
def test_a_card_whose_kernel_fails_or_errs_gets_its_noise_from_the_processor(fault, monkeypatch):
    """Before anything private is seen: on public sums."""
    fake = ModuleType("noise_kernel")
    if fault == "other numbers":
        fake.write_sums = lambda total, into, **_: into.copy_(total) is None
    monkeypatch.setitem(sys.modules, "letalone.learn.torch.noise.noise_kernel", fake)
    monkeypatch.setattr(noise, "DEVICES", ("meta",))
    monkeypatch.setattr(torch.Tensor, "to", lambda tensor, *_: tensor)
    noise.kernel_works.cache_clear()
    with pytest.warns(UserWarning, match="Noise is drawn on the processor, not on meta"):
        assert not noise.draws_on(torch.device("meta"))
    assert noise.noise_words(torch.device("meta")) == ()
    noise.kernel_works.cache_clear()
