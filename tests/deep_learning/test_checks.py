"""Models that mix or remember examples are refused before anything is charged or read."""

import pytest
import torch
from torch import nn

import letalone as la
from letalone.learn.torch import PrivateTrainer
from letalone.learn.torch.gradients.checks import MADE_UP, checked_way
from letalone.learn.torch.gradients.recording import one_by_one
from networks import Mean, cross_entropy

pytestmark = pytest.mark.long

DATA = torch.randn(20, 6), torch.randint(0, 3, (20,))


def fitted(model, loss=cross_entropy, dataset=DATA, **others):
    account = la.learn.Account(la.Budget(1, 1e-5))
    settings = {"epsilon": 1, "delta": 1e-5, "epochs": 2, "batch_size": 10, **others}
    trainer = PrivateTrainer(model, loss, rows=20, budget=account, **settings)
    try:
        return trainer.fit(dataset)
    except la.ParameterError:
        assert account.fits == 0, "charged before it was refused"
        raise


def with_layer(layer):
    return nn.Sequential(nn.Linear(6, 6), layer, nn.Linear(6, 3))


class Leak(nn.Module):
    """Adds a little of the whole batch to each example."""

    def __init__(self, mix):
        super().__init__()
        self.mix = mix

    def forward(self, x):
        return x + self.mix(x)


LEAKS = {
    "mean": lambda x: 1e-3 * x.mean(0),
    "detached mean": lambda x: 1e-3 * x.mean(0).detach(),
    "neighbour": lambda x: 1e-3 * x.roll(1, 0),
    "largest": lambda x: 1e-3 * x.abs().max(),
    "attention over the batch": lambda x: torch.softmax(x @ x.T, 1) @ x,
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_planted_leak_is_found(name):
    with pytest.raises(la.ParameterError, match="mixes examples"):
        fitted(with_layer(Leak(LEAKS[name])))


def test_a_leak_in_the_loss_is_found():
    def loss(outputs, targets):
        return cross_entropy(outputs, targets) - cross_entropy(outputs, targets).mean()

    with pytest.raises(la.ParameterError, match="mixes examples"):
        fitted(with_layer(nn.Tanh()), loss)


def test_a_leak_in_an_augmentation_is_found():
    with pytest.raises(la.ParameterError, match="mixes examples"):
        fitted(with_layer(nn.Tanh()), augment=lambda x: 0.9 * x + 0.1 * x.flip(0))


class Ordered(nn.Module):
    """Layers between two changes of the order in which examples stand."""

    def __init__(self, there, back, width=6):
        super().__init__()
        self.there, self.back = there, back
        self.layer = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width))

    def forward(self, x):
        return self.back(self.layer(self.there(x)))


ORDERS = {
    "words first": (lambda x: x.transpose(0, 1), lambda x: x.transpose(0, 1)),
    "from the last": (lambda x: x.flip(0), lambda x: x.flip(0)),
    "words as examples": (lambda x: x.flatten(0, 1), lambda x: x.unflatten(0, (-1, MADE_UP))),
}


@pytest.mark.parametrize("name", ORDERS)
def test_a_model_that_changes_the_order_of_examples_is_read_one_by_one(name):
    """There are as many words as made-up examples, so that shapes alone do not tell."""
    torch.manual_seed(6)
    model = nn.Sequential(Ordered(*ORDERS[name]), Mean(), nn.Linear(6, 3)).double()
    words, targets = torch.randn(MADE_UP, MADE_UP, 6).double(), torch.randint(0, 3, (MADE_UP,))
    assert checked_way(model, cross_entropy, (words[0], targets[0])) is one_by_one
    trainer = PrivateTrainer(
        model, cross_entropy, epsilon=1, delta=1e-5, rows=4, batch_size=4, epochs=1, clip=0.1
    )
    whole = trainer._prepared((words, targets), None)._clipped_sums().total
    for i in range(MADE_UP):
        keep = [j for j in range(MADE_UP) if j != i]
        rest = trainer._prepared((words[keep], targets[keep]), None)._clipped_sums().total
        assert (whole - rest).norm() <= 0.1


def test_a_layer_that_keeps_what_it_saw_is_refused():
    class Keeps(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("last", torch.zeros(6))

        def forward(self, x):
            self.last.copy_(x.detach()[0])
            return x

    with pytest.raises(la.ParameterError, match=r"stores numbers .* \(1\.last\)"):
        fitted(with_layer(Keeps()))


@pytest.mark.parametrize(
    "layer", [nn.BatchNorm1d(6), nn.BatchNorm1d(6, track_running_stats=False), nn.SyncBatchNorm(6)]
)
def test_batch_norm_is_refused_with_the_remedy(layer):
    with pytest.raises(la.ParameterError, match="GroupNorm or LayerNorm"):
        fitted(with_layer(layer))


def test_tables_whose_rows_change_by_use_are_refused():
    table = nn.Sequential(nn.Embedding(5, 3, max_norm=1.0), nn.Flatten(), nn.Linear(6, 3))
    dataset = torch.zeros(20, 2, dtype=torch.int64), DATA[1]
    with pytest.raises(la.ParameterError, match="max_norm"):
        fitted(table, dataset=dataset)


def test_a_loss_that_is_one_number_is_refused():
    with pytest.raises(la.ParameterError, match="reduction='none'"):
        fitted(with_layer(nn.Tanh()), nn.CrossEntropyLoss())
    with pytest.raises(la.ParameterError, match="one number for each example"):
        fitted(with_layer(nn.Tanh()), lambda x, y: cross_entropy(x, y).mean())


def test_half_precision_is_refused():
    with pytest.raises(la.ParameterError, match=r"model\.float\(\)"):
        fitted(with_layer(nn.Tanh()).half())


def test_a_model_that_is_frozen_is_refused():
    with pytest.raises(la.ParameterError, match="no parameter"):
        PrivateTrainer(
            with_layer(nn.Tanh()).requires_grad_(False),
            cross_entropy,
            epsilon=1,
            delta=1e-5,
            rows=20,
            batch_size=10,
        )


def test_an_optimizer_of_another_model_is_refused():
    other = torch.optim.SGD(with_layer(nn.Tanh()).parameters(), lr=0.1)
    with pytest.raises(la.ParameterError, match="none of the model's"):
        fitted(with_layer(nn.Tanh()), optimizer=other)


def test_dropout_is_no_mixing():
    fitted(with_layer(nn.Dropout(0.5)))


def test_what_torch_would_draw_next_is_left_alone():
    model, dataset = with_layer(nn.Dropout(0.5)).eval(), DATA
    torch.manual_seed(9)
    wanted = torch.rand(1)
    torch.manual_seed(9)
    trainer = PrivateTrainer(model, cross_entropy, epsilon=1, delta=1e-5, rows=20, batch_size=10)
    trainer._prepared(dataset, None)
    assert torch.equal(torch.rand(1), wanted)


@pytest.mark.parametrize(
    ("dataset", "words"),
    [
        (iter([1]), "must have a length"),
        ((torch.zeros(20, 6), torch.zeros(19)), "as many examples each"),
        ([], "is empty"),
    ],
)
def test_odd_data_sets_are_refused(dataset, words):
    with pytest.raises(la.ParameterError, match=words):
        fitted(with_layer(nn.Tanh()), dataset=dataset)


def test_labels_and_their_bound_go_together():
    with pytest.raises(la.ParameterError, match="go together"):
        fitted(with_layer(nn.Tanh()), per_unit=3)
