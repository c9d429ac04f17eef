"""What torch draws within a step is secret, each time new, and leaves other draws alone."""

import numpy as np
import pytest
import torch
from torch import nn

from letalone.learn.torch import Flat
from letalone.learn.torch.luck import secret_luck
from networks import cross_entropy
from one_step import trainer_of
from seeded import SeededBits

CPU = torch.device("cpu")


def drawn(seed: int) -> list[float]:
    with secret_luck(CPU, SeededBits(seed)):
        return torch.rand(700).tolist()


def test_a_public_seed_decides_nothing_within_a_step() -> None:
    torch.manual_seed(1)
    first = drawn(3)
    torch.manual_seed(1)
    assert drawn(3) == first  # the bits alone decide
    assert drawn(4) != first


def test_all_of_the_state_is_secret_not_a_seed_of_32_bits() -> None:
    """Two states that differ in the last word alone, which a seed would never give."""

    class Counted:
        def __init__(self, last: int) -> None:
            self.last = last

        def fill(self, out: np.ndarray) -> None:
            out[:] = np.arange(len(out), dtype=np.uint64)
            out[-1] = self.last

    rows = []
    for last in (1, 2):
        with secret_luck(CPU, Counted(last)):
            rows.append(torch.rand(1300).tolist())
    assert rows[0] != rows[1]


def test_draws_afterwards_are_those_that_would_have_been() -> None:
    torch.manual_seed(5)
    wanted = torch.rand(4).tolist()
    torch.manual_seed(5)
    drawn(6)
    assert torch.rand(4).tolist() == wanted


def test_a_public_seed_tells_nobody_who_gets_which_dropout() -> None:
    """With the seed of torch known, the masks of a step would be."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Dropout(0.5), nn.Linear(5, 2))
    inputs, targets = torch.randn(24, 5), torch.randint(0, 2, (24,))
    sums = []
    for seed in (1, 2, 1):
        trainer = trainer_of(model, cross_entropy, clip=Flat(1.0))
        trainer._bits = SeededBits(seed)
        torch.manual_seed(0)
        sums.append(trainer._prepared((inputs, targets), None)._clipped_sums().total.clone())
    assert torch.equal(sums[0], sums[2])
    assert not torch.allclose(sums[0], sums[1])


@pytest.mark.parametrize("odd", [float("nan"), 1e10, float("inf")])
@pytest.mark.parametrize("memory", ["usual", "low"])
def test_an_odd_unit_silences_nobody_with_fewer_examples_than_it_may_have(odd, memory) -> None:
    """Masked places are copies of the unit's own example: 0 times NaN is NaN."""
    model = nn.Linear(5, 2)
    inputs, targets = torch.randn(21, 5), torch.randint(0, 2, (21,))
    inputs[0] = odd
    sums = []
    for keep in (np.arange(21), np.arange(1, 21)):
        trainer = trainer_of(
            model, cross_entropy, rows=21, clip=Flat(1.0), per_unit=2, memory=memory
        )
        steps = trainer._prepared((inputs[keep], targets[keep]), keep)
        sums.append(steps._clipped_sums().total.double().clone())
    assert (sums[0] - sums[1]).norm() <= 1
    assert sums[0].norm() > 1, "the others count"
