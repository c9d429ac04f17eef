"""Training before whoever guesses members from one run: canaries that nobody else looks like.

Whether each of 400 canaries takes part is decided by a coin; each has a column of its own, so that
what the model learned of it stands alone. They are guessed from the weights. At 95 % an honest
claim is accused by one seed in 20 at most. Power: the trainer planned for ε = 60 is accused of
more than 1, and gives away more than any run of ε = 1 may.
"""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
import torch
from torch import nn

from letalone.audit.bound import epsilon_of_guesses
from letalone.audit.one_run import _guess_members
from letalone.learn.torch import Flat, PrivateTrainer
from networks import cross_entropy
from seeded import SeededBits

pytestmark = pytest.mark.long

CANARIES, DELTA = 400, 1e-6


def guessed(epsilon):
    """The guesses about half of the canaries, after one run, and about all of them."""
    inside = np.random.default_rng(3).integers(0, 2, CANARIES).astype(bool)
    rows = torch.eye(CANARIES)[torch.as_tensor(inside)]
    model = nn.Linear(CANARIES, 2, bias=False)
    nn.init.zeros_(model.weight)
    trainer = PrivateTrainer(
        model,
        cross_entropy,
        epsilon=epsilon,
        delta=DELTA,
        rows=CANARIES,
        batch_size=CANARIES // 2,
        epochs=10,
        clip=Flat(0.5),
        optimizer=torch.optim.SGD(model.parameters(), lr=1.0),
    )
    trainer._bits = SeededBits(6)
    trainer.fit((rows, torch.ones(len(rows)).long()), confirm=True)
    scores = (model.weight[1] - model.weight[0]).detach().double().numpy()
    return [_guess_members(scores, inside, size) for size in (CANARIES // 2, CANARIES)]


def test_one_run_says_of_an_honest_claim_nothing_against_it():
    lowest = {}
    for epsilon in (1, 60):
        bounds = [
            epsilon_of_guesses(each, delta=Fraction(1, 10**6), miss=Fraction(1, 40))
            for each in guessed(epsilon)
        ]
        lowest[epsilon] = max(bounds)
    assert lowest[1] <= 1
    assert lowest[60] > 1, "no power"


def test_members_are_not_guessed_better_than_epsilon_allows():
    """Right guesses at ε = 1 are at most e/(1 + e) + δ of all; 5 deviations are left for luck."""
    most = exp(1) / (1 + exp(1)) + DELTA + 5 * 0.5 / CANARIES**0.5
    honest, telling = (guessed(epsilon)[1] for epsilon in (1, 60))
    assert honest.right / honest.made <= most
    assert telling.right / telling.made > most, "no power"
