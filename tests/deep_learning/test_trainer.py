"""Whole fits: they learn, say what they revealed, and are charged first."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import Dataset, TensorDataset

import letalone as la
from letalone.learn.torch import PrivateAdam, PrivateTrainer
from networks import cross_entropy

pytestmark = pytest.mark.long

torch.manual_seed(11)
INPUTS = torch.randn(1500, 10)
LABELS = (INPUTS @ torch.randn(10) > 0).long()


def network():
    torch.manual_seed(4)
    return nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2))


def trained(model, dataset=(INPUTS, LABELS), *, unit=None, lr=0.02, **others):
    settings = {"epsilon": 3, "delta": 1e-5, "rows": 1500, "epochs": 6, "batch_size": 150, **others}
    optimizer = PrivateAdam(model.parameters(), lr=lr)
    trainer = PrivateTrainer(model, cross_entropy, optimizer=optimizer, **settings)
    return trainer.fit(dataset, unit=unit)


def accuracy(model):
    with torch.no_grad():
        return (model(INPUTS).argmax(1) == LABELS).float().mean().item()


def test_it_learns():
    """Noise is drawn anew each time: half of the gap to 100 % is left for it."""
    model = network()
    trainer = trained(model)
    assert accuracy(model) > 0.85
    assert trainer.privacy.delta(3) <= 1e-5


def test_the_average_of_the_weights_learns_too():
    model = network()
    trained(model, average=0.9)
    assert accuracy(model) > 0.85


def test_it_learns_of_people_with_many_rows():
    model = network()
    people = np.repeat(np.arange(500), 3)
    trained(model, unit=people, per_unit=2, rows=500, batch_size=100, epochs=8, epsilon=8)
    assert accuracy(model) > 0.8


def test_a_dataset_of_pairs_is_as_good_as_tensors():
    class Pairs(Dataset):
        def __len__(self):
            return len(INPUTS)

        def __getitem__(self, index):
            return INPUTS[index], LABELS[index]

    model = network()
    trained(model, Pairs())
    assert accuracy(model) > 0.8
    trained(network(), TensorDataset(INPUTS, LABELS), epochs=1)


def test_inputs_may_be_several_tensors_or_named():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(10, 2), nn.Linear(10, 2)

        def forward(self, first, second):
            return self.a(first) + self.b(second)

    for inputs in ((INPUTS, INPUTS), {"first": INPUTS, "second": INPUTS}):
        trained(Two(), (inputs, LABELS), epochs=1)


def test_the_release_says_what_was_done():
    account = la.learn.Account(la.Budget(3, 1e-5), name="people")
    trainer = trained(network(), budget=account, epochs=1)
    said = repr(trainer.release_)
    assert said.startswith("PrivateTrainer(Sequential): (ε = 3, δ = 1e-5), add or remove one unit")
    assert "10 steps" in said
    assert "in one backward pass" in said
    assert "Left: about (ε = 0)" in said
    assert trainer.release_.receipt is not None
    assert account.spent.epsilon == 3


def test_a_budget_that_is_spent_refuses_and_nothing_is_trained():
    account = la.learn.Account(la.Budget(3, 1e-5))
    trained(network(), budget=account, epochs=1)
    model = network()
    before = model[0].weight.detach().clone()
    with pytest.raises(la.BudgetExceeded):
        trained(model, budget=account, epochs=1)
    assert torch.equal(model[0].weight, before)


@pytest.mark.guarded
def test_a_price_that_hardly_protects_needs_a_second_word():
    model = network()
    trainer = PrivateTrainer(
        model, cross_entropy, epsilon=30, delta=1e-5, rows=1500, batch_size=150, epochs=1
    )
    with pytest.raises(la.ParameterError, match="Above 10"):
        trainer.fit((INPUTS, LABELS))
    trainer.fit((INPUTS, LABELS), confirm=True)


def test_what_goes_wrong_tells_nothing_and_leaves_the_model_as_it_was():
    class Away(Dataset):
        reads = 0

        def __len__(self):
            return 1500

        def __getitem__(self, index):
            self.reads += 1
            if self.reads > 400:
                raise ValueError("a private word")
            return INPUTS[index], LABELS[index]

    for budget in (None, la.learn.Account(la.Budget(3, 1e-5), name="people")):
        model = network()
        before = model[0].weight.detach().clone()
        with pytest.raises(la.LetaloneError) as caught:
            trained(model, Away(), budget=budget)
        assert "private word" not in repr(caught.value)
        assert caught.value.__cause__ is caught.value.__context__ is None
        assert torch.equal(model[0].weight, before)


def test_progress_tells_the_epsilon_so_far():
    told = []
    trainer = PrivateTrainer(
        network(), cross_entropy, epsilon=3, delta=1e-5, rows=1500, batch_size=150, epochs=4
    )
    trainer.fit((INPUTS, LABELS), progress=told.append, every=10)
    assert [one.step for one in told] == [10, 20, 30, 40]
    assert [one.epsilon for one in told] == [trainer.plan.epsilon_after(one.step) for one in told]
    assert str(told[-1]) == "step 40 of 40: ε = 3 of 3"


def test_a_listener_that_fails_stops_no_run():
    def fails(told):
        raise ValueError

    trainer = PrivateTrainer(
        network(), cross_entropy, epsilon=3, delta=1e-5, rows=1500, batch_size=150, epochs=1
    )
    with pytest.warns(UserWarning, match="progress failed with ValueError"):
        trainer.fit((INPUTS, LABELS), progress=fails, every=10)
    assert trainer.release_ is not None


@pytest.mark.parametrize(
    "code",
    [
        "import letalone, sys; assert 'torch' not in sys.modules",
        "import letalone.learn, sys; dir(letalone.learn); assert 'torch' not in sys.modules",
        "import letalone as la, sys; la.learn.account_run; assert 'torch' not in sys.modules",
        "import letalone as la; la.learn.torch.PrivateTrainer",
    ],
)
def test_only_the_package_itself_imports_torch(code):
    subprocess.run([sys.executable, "-c", code], check=True)


def test_where_torch_is_missing_the_words_say_how_to_install_it():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import letalone as la\n"
        "try: la.learn.torch\n"
        "except la.ParameterError as error: print(error)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "needs PyTorch, which is not installed" in found.stdout
    assert "[torch]" in found.stdout


def test_a_step_that_fails_ends_the_run(monkeypatch) -> None:
    trainer = PrivateTrainer(
        network(), cross_entropy, epsilon=2, delta=1e-6, rows=len(LABELS), batch_size=20, epochs=1
    )
    with trainer.steps((INPUTS, LABELS)) as steps:
        next(steps)
        with monkeypatch.context() as patch:
            patch.setattr(type(steps), "_clipped_sums", lambda _: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                next(steps)
        with pytest.raises(la.ParameterError, match="over"):
            next(steps)
