"""A run that was cut short goes on as one run, and is charged once."""

import pytest
import torch
from torch import nn

import letalone as la
from letalone.learn.torch import PrivateAdam, PrivateTrainer
from networks import cross_entropy
from seeded import SeededBits

pytestmark = pytest.mark.long

torch.manual_seed(12)
DATA = torch.randn(300, 5), torch.randint(0, 2, (300,))


class Cut(BaseException):
    """A process that is killed: no error that anybody catches."""


def trainer_of(account=None, *, steps=20, seed=None, **others):
    torch.manual_seed(5)
    model = nn.Linear(5, 2)
    optimizer = PrivateAdam(model.parameters(), lr=0.01)
    settings = {"epsilon": 2, "delta": 1e-5, "rows": 300, "batch_size": 30, **others}
    trainer = PrivateTrainer(
        model, cross_entropy, epochs=steps / 10, optimizer=optimizer, budget=account, **settings
    )
    if seed is not None:
        trainer._bits = SeededBits(seed)
    return trainer


def cut_short(account, path, *, at, every=5, **others):
    trainer = trainer_of(account, **others)
    step = trainer.optimizer.step

    def cutting():
        step()
        cutting.count += 1
        if cutting.count == at:
            raise Cut

    cutting.count = 0
    trainer.optimizer.step = cutting
    with pytest.raises(Cut):
        trainer.fit(DATA, checkpoint=path, every=every)
    return trainer


def test_a_resumed_run_takes_the_rest_of_the_steps_and_is_charged_once(tmp_path):
    account = la.learn.Account(la.Budget(2, 1e-5), ledger=tmp_path / "budget.db")
    cut_short(account, tmp_path / "run.pt", at=13)
    assert account.fits == 1
    told = []
    again = trainer_of(account)
    again.fit(DATA, resume=tmp_path / "run.pt", progress=told.append, every=5)
    assert [one.step for one in told] == [15, 20], "steps 1 to 10 were taken"
    assert account.fits == 1
    assert account.spent.epsilon == 2
    whole = trainer_of(steps=20).plan
    assert [one.epsilon for one in told] == [whole.epsilon_after(15), whole.epsilon_after(20)]
    assert again.privacy.epsilon(1e-5) == whole.privacy.epsilon(1e-5)


def test_a_run_that_was_finished_is_not_finished_again(tmp_path):
    account = la.learn.Account(la.Budget(9, 1e-4), ledger=tmp_path / "budget.db")
    cut_short(account, tmp_path / "run.pt", at=13)
    trainer_of(account).fit(DATA, resume=tmp_path / "run.pt")
    with pytest.raises(la.ParameterError, match="finished before"):
        trainer_of(account).fit(DATA, resume=tmp_path / "run.pt")
    assert account.fits == 1


def test_a_run_that_was_cut_short_leaves_what_was_last_written(tmp_path):
    """What is computed again was seen by nobody."""
    trainer = cut_short(None, tmp_path / "run.pt", at=13)
    kept = torch.load(tmp_path / "run.pt", weights_only=True)
    assert kept["taken"] == 10
    assert torch.equal(trainer.model.weight, kept["model"]["weight"])
    torch.manual_seed(5)
    start = nn.Linear(5, 2)
    trainer = cut_short(None, tmp_path / "other.pt", at=3)
    assert torch.equal(trainer.model.weight, start.weight)
    assert not (tmp_path / "other.pt").exists()


def test_a_file_holds_no_key(tmp_path):
    trainer_of().fit(DATA, checkpoint=tmp_path / "run.pt", every=20)
    kept = torch.load(tmp_path / "run.pt", weights_only=True)
    assert set(kept) == {"format", "plan", "model", "optimizer", "run", "taken", "averaged"}
    assert [p.name for p in tmp_path.iterdir()] == ["run.pt"], "no half-written file is left"


def test_the_same_coins_lead_to_the_same_end_whether_or_not_it_was_cut(tmp_path):
    """The optimizer's moments and the mean of the weights go on as they were."""
    whole = trainer_of(seed=1, steps=10, average=0.9).fit(DATA)
    cut_short(None, tmp_path / "run.pt", at=7, seed=1, steps=10, average=0.9)
    second = trainer_of(steps=10, average=0.9)
    second._bits = _after(5)  # the sixth and seventh step were drawn and lost
    second.fit(DATA, resume=tmp_path / "run.pt")
    assert torch.allclose(second.model.weight, whole.model.weight, atol=1e-7)


def _after(steps):
    """The seeded stream after so many steps."""
    trainer = trainer_of(seed=1, steps=10, average=0.9)
    with trainer.steps(DATA) as private:
        for _ in zip(range(steps), private, strict=False):
            trainer.optimizer.step()
    return trainer._bits


@pytest.mark.parametrize("keeps", [True, False])
def test_who_stops_a_run_is_told_that_it_goes_on_only_where_it_does(tmp_path, keeps):
    account = la.learn.Account(la.Budget(2, 1e-5), ledger=tmp_path / "budget.db")
    trainer = trainer_of(account)

    def stop(told):
        raise KeyboardInterrupt

    path = tmp_path / "run.pt" if keeps else None
    with pytest.raises(KeyboardInterrupt) as caught:
        trainer.fit(DATA, checkpoint=path, every=5, progress=stop)
    assert bool(getattr(caught.value, "__notes__", [])) == keeps
    if keeps:
        trainer_of(account).fit(DATA, resume=path)
    else:
        with pytest.raises(la.BudgetExceeded):
            trainer_of(account).fit(DATA)
    assert account.fits == 1


def test_another_plan_is_refused(tmp_path):
    cut_short(None, tmp_path / "run.pt", at=13)
    for others in ({"epsilon": 1}, {"clip": 0.5}, {"batch_size": 50}, {"steps": 30}):
        with pytest.raises(la.ParameterError, match="another plan"):
            trainer_of(**others).fit(DATA, resume=tmp_path / "run.pt")


def test_another_file_is_refused(tmp_path):
    torch.save({"format": 7}, tmp_path / "other.pt")
    with pytest.raises(la.ParameterError, match="was not written by"):
        trainer_of().fit(DATA, resume=tmp_path / "other.pt")
