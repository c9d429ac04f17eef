"""Correlated noise: its law, what one unit moves in a whole run, and runs that go on."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.stats import kstest
from torch import nn
from torch.utils.data import TensorDataset

import letalone as la
from letalone.learn.torch import Flat, PrivateTrainer
from letalone.learn.torch.noise import correlated
from letalone.learn.torch.noise.bands import INDEPENDENT, Bands
from letalone.learn.torch.noise.correlated import Correlated
from letalone.learn.torch.turns import UnitTurns
from networks import cross_entropy
from seeded import SeededBits

pytestmark = pytest.mark.long

STEPS = 9
torch.manual_seed(8)
DATA = torch.randn(60, 5).double(), torch.randint(0, 2, (60,))


def trainer_of(*, bands=4, seed=5, model=None, steps=STEPS, **others):
    torch.manual_seed(2)
    model = model or nn.Linear(5, 2).double()
    settings = {"epsilon": 4, "delta": 1e-5, "rows": 60, "batch_size": 12, **others}
    trainer = PrivateTrainer(
        model,
        cross_entropy,
        epochs=Fraction(steps * settings["batch_size"], settings["rows"]),
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        noise_bands=bands,
        **settings,
    )
    trainer._bits = SeededBits(seed)
    return trainer


def published(trainer, dataset):
    """All gradients that a run publishes, step by step."""
    found = []
    with trainer.steps(dataset) as steps:
        for _ in steps:
            own = [p.grad.flatten() for p in trainer.model.parameters()]
            found.append(torch.cat(own).double().numpy().copy())
            trainer.optimizer.step()
    return np.stack(found)


def whitened(values, bands):
    """K times what was published: independent numbers, if the noise is that of K."""
    return sum(
        float(share) * np.concatenate([0 * values[:j], values[: len(values) - j]])
        for j, share in enumerate(bands.shares)
    )


def test_the_noise_of_a_run_has_the_planned_law():
    """On nobody, 30,100 numbers in 9 steps. A correct run would fail for one seed in 10^6."""
    trainer = trainer_of(model=nn.Linear(300, 100), clip=Flat(3))
    empty = TensorDataset(torch.zeros(0, 300), torch.zeros(0, dtype=torch.int64))
    noise, plan = published(trainer, empty), trainer.plan
    scale = float(plan.noise * plan.bands.length) * 3 / 12
    fresh = whitened(noise, plan.bands) / scale
    assert kstest(fresh.ravel(), "norm").pvalue > 1e-6
    assert kstest(fresh.ravel() / 1.1, "norm").pvalue < 1e-6, "too few draws to see 10 %"
    each = np.corrcoef(fresh)[np.triu_indices(STEPS, 1)] * fresh.shape[1] ** 0.5
    assert np.abs(each).max() < 6.5, "K does not make it independent"
    wrong = Bands((Fraction(1), *(share * Fraction(9, 10) for share in plan.bands.shares[1:])))
    for others in (INDEPENDENT, wrong):
        found = np.corrcoef(whitened(noise, others))[np.triu_indices(STEPS, 1)]
        assert np.abs(found * fresh.shape[1] ** 0.5).max() > 6.5, "no power"
    late = noise[-1].var() / (plan.noise_variance)
    assert late == pytest.approx(1, rel=0.05)


def test_running_sums_have_the_error_that_was_planned():
    trainer = trainer_of(model=nn.Linear(300, 100), clip=Flat(1), steps=40, rows=600)
    empty = TensorDataset(torch.zeros(0, 300), torch.zeros(0, dtype=torch.int64))
    sums, plan = published(trainer, empty).cumsum(0) * 12, trainer.plan
    error = np.sqrt(np.square(sums).mean()) / float(plan.noise)
    assert error == pytest.approx(plan.bands.error_of_sums(plan.steps), rel=0.03)
    assert error < 0.62 * INDEPENDENT.error_of_sums(plan.steps)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_without_noise_each_step_is_its_own_sum(monkeypatch, kind):
    """What the mixture brings in of other steps is taken out again."""

    def no_noise(total, into, *, sigma, divisor, **rest):
        into.copy_(total / divisor)

    monkeypatch.setattr(correlated, "write_noisy", no_noise)
    noise, luck = Correlated(trainer_of().plan.bands), torch.Generator().manual_seed(1)
    for _ in range(50):
        total, into = torch.randn(40, generator=luck, dtype=kind), torch.empty(40, dtype=kind)
        noise.write(total, into, sigma=Fraction(1), divisor=7, bits=SeededBits(1))
        assert torch.allclose(into, total / 7, atol=2e-6 if kind == torch.float32 else 1e-14)
        into.zero_()  # as an optimizer may


@pytest.mark.parametrize("bands", [1, 2, 4])
def test_one_unit_moves_a_round_by_at_most_the_length_of_the_bands(monkeypatch, bands):
    """What is noised in a whole run, with each unit and without; odd units included.

    Everybody of a part is drawn in its turn, and what was published is the same in both runs.
    """
    inputs, targets = torch.randn(12, 5).double(), torch.randint(0, 2, (12,))
    inputs[3] *= 1e6
    inputs[5] = float("nan")

    def mixtures(keep, parts):
        seen = []

        def look(total, into, *, sigma, **rest):
            seen.append((total.double().clone(), sigma))
            into.copy_(torch.linspace(-1, 1, len(into)) * len(seen))

        monkeypatch.setattr(correlated, "write_noisy", look)
        monkeypatch.setattr(UnitTurns, "_thrown", lambda _: parts[keep])
        trainer = trainer_of(bands=bands, rows=12, batch_size=12 // bands, clip=Flat(0.5))
        published(trainer, (inputs[keep], targets[keep]))
        return seen, trainer.plan

    parts = np.arange(12, dtype=np.uint64) % bands
    everybody, plan = mixtures(np.arange(12), parts)
    sigma, moved = float(plan.noise) / 2, []
    assert all(float(s) == pytest.approx(sigma * float(plan.bands.length)) for _, s in everybody)
    for unit in range(12):
        others, _ = mixtures(np.delete(np.arange(12), unit), parts)
        steps = [(a - b).numpy() for (a, _), (b, _) in zip(everybody, others, strict=True)]
        assert all(not step.any() for step in steps[: int(parts[unit])])
        rounds = [steps[start:][:bands] for start in range(int(parts[unit]), STEPS, bands)]
        moved += [np.sqrt(sum(np.square(step).sum() for step in own)) for own in rounds]
    assert max(moved) <= 0.5 * float(plan.bands.length)
    if bands > 1:
        assert max(moved) > 0.5, "no power: shares count"


def test_it_learns_and_says_so():
    account = la.learn.Account(la.Budget(4, 1e-5), name="people")
    trainer = trainer_of(budget=account).fit(DATA)
    assert "noise is correlated over 4 steps, and units take turns" in repr(trainer.release_)
    assert account.spent.epsilon == 4
    assert trainer.release_.plan["bands"] == "4"


def test_a_run_goes_on_after_whole_rounds_with_noise_of_its_own(tmp_path, monkeypatch):
    account = la.learn.Account(la.Budget(4, 1e-5), ledger=tmp_path / "budget.db")
    path = tmp_path / "run.pt"

    def stop(told):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainer_of(budget=account).fit(DATA, checkpoint=path, every=4, progress=stop)
    kept = torch.load(path, weights_only=True)
    assert set(kept) == {"format", "plan", "model", "optimizer", "run", "taken", "averaged"}
    assert kept["taken"] == 4, "no sum, no noise and no turns are in the file"
    told, drawn, draw = [], [], UnitTurns.draw
    monkeypatch.setattr(UnitTurns, "draw", lambda *a: drawn.append(draw(*a)) or drawn[-1])
    trainer_of(budget=account, seed=6).fit(DATA, resume=path, progress=told.append)
    assert [one.step for one in told] == [8, 9]
    assert len(drawn) == 5
    assert account.fits == 1


def test_files_are_written_after_whole_rounds(tmp_path):
    with pytest.raises(la.ParameterError, match="multiple of noise_bands = 4"):
        trainer_of().fit(DATA, checkpoint=tmp_path / "run.pt", every=6)
    trainer_of(steps=100).fit(DATA, checkpoint=tmp_path / "run.pt")
    told = []
    trainer_of().fit(DATA, every=3, progress=told.append)
    assert [one.step for one in told] == [3, 6, 9], "where nothing is written, it does not matter"
