"""Training before the auditor, and before whoever guesses members: on a pair of neighbours.

Each is trained without and with one example that pulls one weight as far as it may. An honest claim
is accused by one seed in 20 at most. Power: the same trainer planned for an epsilon of 60 is
accused of more than 1.
"""

import pytest
import torch
from torch import nn

from letalone.audit import Verdict, audit
from letalone.learn.torch import Flat, PrivateTrainer
from networks import cross_entropy
from seeded import SeededBits

pytestmark = pytest.mark.long

ROWS, LABELS = torch.tensor([[0.1, 0.2], [0.2, 0.1], [5.0, -5.0]]), torch.tensor([0, 1, 0])


def test_an_honest_trainer_is_not_accused_and_one_with_less_noise_is():
    assert [_verdict(planned) for planned in (1, 60)] == [Verdict.CONSISTENT, Verdict.ACCUSED]


def _verdict(epsilon):
    bits = SeededBits(9)
    model = nn.Linear(2, 2, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    trainer = PrivateTrainer(
        model,
        cross_entropy,
        epsilon=epsilon,
        delta=1e-6,
        rows=4,
        batch_size=2,
        epochs=2,
        clip=Flat(1),
        optimizer=optimizer,
    )
    trainer._bits = bits

    def mechanism(size):
        """How far the weights were pulled towards the last example."""
        nn.init.zeros_(model.weight)
        with trainer.steps((ROWS[:size], LABELS[:size])) as steps:
            for _ in steps:
                optimizer.step()
        return float(model.weight[0, 0] - model.weight[0, 1])

    return audit(mechanism, 2, 3, claimed_epsilon=1, claimed_delta=1e-6, samples=400).verdict
