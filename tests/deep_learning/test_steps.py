"""One step: who is in it, what one unit moves, and the noise on the sum."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.stats import kstest
from torch import nn
from torch.utils.data import TensorDataset

import letalone as la
from letalone.learn.torch import Automatic, Flat, PerLayer, PrivateTrainer, turns
from letalone.learn.torch.noise import step_noise as noise
from letalone.randomness.bits import SYSTEM
from networks import CASES, adapted, cross_entropy, make, token_loss
from seeded import SeededBits

pytestmark = pytest.mark.long

ROWS = 24


def trainer_of(model, loss=cross_entropy, *, rows=ROWS, batch_size=ROWS, **others):
    settings = {"epsilon": 2, "delta": 1e-5, "epochs": 10, **others}
    trainer = PrivateTrainer(model, loss, rows=rows, batch_size=batch_size, **settings)
    trainer._bits = SeededBits(5)
    return trainer


def sum_of(trainer, dataset, unit=None):
    """The clipped sum of one step, before the noise."""
    return trainer._prepared(dataset, unit)._clipped_sums().total


def data_of(name, examples=ROWS):
    model, loss, batch = make(name, examples=examples)
    return model, loss, (batch.inputs, batch.targets)


@pytest.mark.parametrize("name", ["linear", "conv2d", "norms", "attention", "tied", "tied by hand"])
@pytest.mark.parametrize("clip", [Automatic(), Flat(0.5), PerLayer(0.5)], ids=str)
def test_one_unit_moves_the_sum_by_at_most_the_clip(name, clip):
    """Everybody is drawn; each of the data set and its neighbours with one example less."""
    model, loss, (inputs, targets) = data_of(name, 8)
    if inputs.is_floating_point():
        inputs[3] *= 1e6
        inputs[5] = float("nan")
    trainer = trainer_of(model, loss, rows=8, batch_size=8, clip=clip, physical_batch_size=3)
    whole = sum_of(trainer, (inputs, targets))
    moved = []
    for i in range(8):
        keep = [j for j in range(8) if j != i]
        without = sum_of(trainer, (inputs[keep], targets[keep]))
        moved.append((whole - without).norm().item())
    assert max(moved) <= float(clip.longest)
    assert max(moved) > 0.2 * float(clip.longest), "clipped far more than need be"


def test_one_person_moves_the_sum_by_at_most_the_clip_however_many_examples_they_have():
    model, loss, (inputs, targets) = data_of("linear", 30)
    unit = np.array([0] * 20 + [1] * 6 + [2] * 4)
    trainer = trainer_of(model, loss, rows=3, batch_size=3, clip=Flat(0.01), per_unit=8)
    whole = sum_of(trainer, (inputs, targets), unit)
    for person in range(3):
        keep = unit != person
        without = sum_of(trainer, (inputs[keep], targets[keep]), unit[keep])
        # Which examples of person 0 take part is drawn anew: compare without them only.
        if person == 0:
            assert (whole - without).norm() <= 0.01
    assert whole.norm() <= 0.03


@pytest.mark.parametrize("name", CASES)
def test_pieces_add_up_to_one_large_batch(name):
    """Padded, with masked rows, or as they come: the same sum."""
    sums = []
    for size in (None, 1, 5, 32):
        model, loss, dataset = data_of(name)
        sums.append(sum_of(trainer_of(model, loss, physical_batch_size=size), dataset))
    for first, second in pairwise(sums):
        assert torch.allclose(first, second, rtol=1e-9, atol=1e-9)


def test_a_step_without_anybody_keeps_nothing_of_the_step_before(monkeypatch):
    model, loss, dataset = data_of("linear")
    steps = trainer_of(model, loss)._prepared(dataset, None)
    assert steps._clipped_sums().total.norm() > 0
    monkeypatch.setattr(turns, "draw_units", lambda *_: np.empty(0, np.int64))
    assert steps._clipped_sums().total.norm() == 0


def test_views_of_an_example_are_its_own_unit():
    model, loss, (inputs, targets) = data_of("linear")
    mirrored = lambda x: torch.cat([x[0::2], x[0::2]]) * 0 + x  # noqa: E731  (same shape)
    plain = sum_of(trainer_of(model, loss), (inputs, targets))
    twice = sum_of(trainer_of(model, loss, views=2, augment=mirrored), (inputs, targets))
    assert torch.allclose(plain, twice)


def test_noise_on_nobody_has_the_planned_law():
    """An empty data set. A correct sampler would fail for one seed in 10^6."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(200, 100))
    trainer = trainer_of(model, rows=1000, batch_size=50, clip=Flat(3))
    empty = TensorDataset(torch.zeros(0, 200), torch.zeros(0, dtype=torch.int64))
    with trainer.steps(empty) as steps:
        next(steps)
    draws = torch.cat([p.grad.flatten() for p in model.parameters()]).double().numpy()
    scale = float(trainer.plan.noise) * 3 / 50
    assert kstest(draws / scale, "norm").pvalue > 1e-6
    assert kstest(draws / (scale * 1.1), "norm").pvalue < 1e-6, "too few draws to see 10 %"
    assert trainer.plan.noise_variance == pytest.approx(scale**2)


@pytest.mark.parametrize("size", [2, 24])
def test_noise_goes_on_the_sum_once_before_it_is_divided(size):
    """However many pieces. A correct sampler would fail for one seed in 10^6."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(300, 60)).double()
    dataset = torch.randn(ROWS, 300).double(), torch.randint(0, 60, (ROWS,))
    trainer = trainer_of(model, physical_batch_size=size, clip=Flat(1))
    clean = sum_of(trainer, dataset)
    with trainer.steps(dataset) as steps:
        next(steps)
    noisy = torch.cat([p.grad.flatten() for p in model.parameters()]) * ROWS
    noise = ((noisy - clean) / float(trainer.plan.noise)).numpy()
    assert kstest(noise, "norm").pvalue > 1e-6
    assert kstest(noise / 1.1, "norm").pvalue < 1e-6, "too few draws to see 10 %"


@pytest.mark.parametrize("bits", [SeededBits(2), SYSTEM], ids=["in order", "in threads"])
def test_each_number_has_noise_of_its_own_whichever_thread_draws_it(bits, monkeypatch):
    """More numbers than are drawn at once. A correct sampler would fail once in 10^6."""
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    monkeypatch.setattr(noise, "AT_ONCE", 7000)
    total, into = torch.arange(30_000, dtype=torch.float32), torch.zeros(30_000)
    noise.write_noisy(total, into, sigma=Fraction(3), divisor=2, bits=bits)
    drawn = (into.double() * 2 - total.double()).numpy()
    assert kstest(drawn / 3, "norm").pvalue > 1e-6
    assert kstest(drawn / 3.3, "norm").pvalue < 1e-6, "too few draws to see 10 %"
    assert abs(np.corrcoef(drawn[:7000], drawn[7000:14_000])[0, 1]) < 5 / 7000**0.5


@pytest.mark.parametrize("piece", [None, 7])
def test_noise_goes_to_the_sum_before_any_division(piece):
    """Examples whose gradients are 0: what is left is the noise, once, over the declared batch.

    However many are drawn and in however many pieces. A correct step fails for one seed in 10^6.
    """
    model = nn.Sequential(nn.Linear(100, 100, bias=False))
    trainer = trainer_of(model, rows=60, batch_size=30, clip=Flat(2), physical_batch_size=piece)
    with trainer.steps((torch.zeros(60, 100), torch.zeros(60).long())) as steps:
        next(steps)
    draws = model[0].weight.grad.flatten().double().numpy()
    wanted = float(trainer.plan.noise) * 2 / 30
    assert kstest(draws / wanted, "norm").pvalue > 1e-6
    assert kstest(draws / wanted / 1.1, "norm").pvalue < 1e-6, "too few draws to see 10 %"


def test_padding_has_no_gradient_and_a_masked_word_moves_no_step():
    """Row 0 of the table is padding; targets of -100 are masked, as ignore_index says."""
    torch.manual_seed(4)
    model = nn.Sequential(nn.Embedding(7, 8, padding_idx=0), nn.Linear(8, 7)).double()
    words, targets = torch.randint(1, 7, (ROWS, 5)), torch.randint(0, 7, (ROWS, 5))
    words[:, 3:], targets[:, 3:] = 0, -100
    padded = sum_of(trainer_of(model, token_loss), (words, targets))
    assert padded[:8].norm() == 0
    assert padded[8:].norm() > 0.01
    words[:, 4] = torch.randint(1, 7, (ROWS,))
    assert torch.equal(padded, sum_of(trainer_of(model, token_loss), (words, targets)))


def test_two_steps_have_noise_of_their_own():
    model = nn.Sequential(nn.Linear(3, 2))
    trainer = trainer_of(model)
    empty = TensorDataset(torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64))
    with trainer.steps(empty) as steps:
        seen = [(next(steps), model[0].weight.grad.clone())[1] for _ in range(2)]
    assert not torch.equal(*seen)


def test_every_step_is_counted_and_there_is_none_beyond_the_plan():
    model, loss, dataset = data_of("linear")
    trainer = trainer_of(model, loss, epochs=3)
    spent = []
    with trainer.steps(dataset) as steps:
        for step in steps:
            assert steps.taken == step
            spent.append(steps.epsilon)
        with pytest.raises(StopIteration):
            next(steps)
    assert len(spent) == trainer.plan.steps == 3
    assert spent == sorted(spent)
    one = la.privacy.GaussianDP(1 / trainer.plan.noise)
    assert spent[-1] == pytest.approx((one * 3).epsilon(1e-5), rel=1e-5)
    assert spent[-1] <= 2


def test_a_step_that_fails_was_counted():
    class Away(torch.utils.data.Dataset):
        reads = 0

        def __len__(self):
            return ROWS

        def __getitem__(self, index):
            self.reads += 1
            if self.reads > 1:  # the first is for its shape
                raise OSError
            return torch.zeros(6), torch.tensor(0)

    model, loss, _ = data_of("linear")
    with trainer_of(model.float(), loss).steps(Away()) as steps:
        with pytest.raises(OSError):  # noqa: PT011  (as it was raised)
            next(steps)
        assert steps.taken == 1


def test_no_step_outside_of_what_was_charged():
    model, loss, dataset = data_of("linear")
    with trainer_of(model, loss).steps(dataset) as steps:
        next(steps)
    with pytest.raises(la.ParameterError, match="This run is over"):
        next(steps)


def test_the_budget_is_charged_before_the_first_step_and_refuses_the_next_run():
    model, loss, dataset = data_of("linear")
    account = la.learn.Account(la.Budget(2, 1e-5))
    trainer = trainer_of(model, loss, budget=account)
    with trainer.steps(dataset):
        assert account.spent.epsilon == 2
        assert account.fits == 1
    with pytest.raises(la.BudgetExceeded), trainer.steps(dataset):
        raise AssertionError


def test_adapters_move_and_what_is_frozen_does_not():
    torch.manual_seed(3)
    model = adapted()
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    dataset = torch.randn(ROWS, 6), torch.randint(0, 3, (ROWS,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with trainer_of(model, optimizer=optimizer).steps(dataset) as steps:
        for _ in zip(range(10), steps, strict=False):
            optimizer.step()
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, before[name]) == ("base" in name), name


def test_a_loss_of_words_is_the_mean_over_an_examples_places():
    model, _, dataset = data_of("tied", 6)
    by_word = sum_of(trainer_of(model, token_loss, rows=6, batch_size=6), dataset)
    mean = lambda outputs, targets: token_loss(outputs, targets).mean(1)  # noqa: E731
    assert torch.allclose(by_word, sum_of(trainer_of(model, mean, rows=6, batch_size=6), dataset))
