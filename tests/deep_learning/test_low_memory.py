"""Two backward passes give the sums of one, and keep what the first one measured."""

import weakref

import pytest
import torch

import letalone as la
from letalone.learn.torch import Automatic, Flat, PerLayer, PrivateTrainer
from letalone.learn.torch.gradients import low_memory
from letalone.learn.torch.gradients.computing import AtOnce, PieceShare, Summing
from letalone.learn.torch.gradients.low_memory import TwoPasses
from letalone.learn.torch.gradients.recording import Records, by_book_keeping, trained
from letalone.learn.torch.gradients.sums import emptied
from networks import CASES, make
from one_step import apart, steps_of, sum_of, trainer_of

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", sorted(set(CASES) - {"tied by hand"}))
@pytest.mark.parametrize("clip", [Flat(0.3), PerLayer(0.3)], ids=lambda clip: type(clip).__name__)
def test_the_sums_are_those_of_one_pass(name, clip):
    wanted = sum_of(name, clip=clip, physical_batch_size=7)
    assert apart(wanted, sum_of(name, clip=clip, physical_batch_size=7, memory="low")) < 1e-14


@pytest.mark.parametrize("name", ["linear", "tied", "conv2d"])
def test_so_are_those_of_factors_in_bfloat16(name):
    wanted = sum_of(name, dtype=torch.float32, precision="fast")
    found = sum_of(name, dtype=torch.float32, precision="fast", memory="low")
    assert apart(wanted, found) < 1e-6


def test_several_examples_of_a_unit_are_one_gradient():
    unit = torch.arange(24).numpy() // 3
    settings = {"rows": 24, "batch_size": 24, "unit": unit, "per_unit": 3, "clip": Flat(0.01)}
    assert (
        apart(sum_of("sequence", **settings), sum_of("sequence", memory="low", **settings)) < 1e-14
    )


@pytest.mark.parametrize("clip", [Automatic(), Flat(1), PerLayer(1)], ids=str)
def test_slopes_that_grow_from_the_first_pass_to_the_second_move_no_more(clip, monkeypatch):
    """A device whose second pass gives a thousand times the first: each unit keeps its share."""
    model, loss, batch = make("linear", examples=1)
    honest, passes = Records.terms, []

    def changed(self, number, slope):
        passes.append(number)
        return honest(self, number, slope * (1 if len(passes) <= 2 else 1000))

    monkeypatch.setattr(Records, "terms", changed)
    sums = emptied(None, trained(model), single=False)
    adder = TwoPasses(Summing(model, loss, by_book_keeping, clip))
    adder.add(batch, sums, PieceShare(1, doubles=False))
    assert 0.1 < sums.finished().total.norm() <= 1
    assert len(passes) == 4


def test_a_second_pass_that_is_odd_adds_nothing():
    first = torch.tensor([4.0, 4.0, 4.0, 0.0])
    second = torch.tensor([float("nan"), float("inf"), 16.0, 0.0])
    assert low_memory._shorter(first, second).tolist() == [0, 0, 0.5, 1]


def test_no_slopes_of_a_layer_outlive_the_next_ones(monkeypatch):
    """The most layers whose slopes are alive at once: one, where one pass keeps all of them."""
    most = {}
    for adder in (AtOnce, TwoPasses):
        model, loss, batch = make("attention")
        alive, peak, honest = [], [0], Records.terms

        def watched(self, number, slope, alive=alive, peak=peak, honest=honest):
            terms = honest(self, number, slope)
            alive.extend(_watch(term) for term in terms.values())
            peak[0] = max(peak[0], sum(ref() is not None for ref in alive))
            return terms

        monkeypatch.setattr(Records, "terms", watched)
        sums = emptied(None, trained(model), single=False)
        adder(Summing(model, loss, by_book_keeping, Flat(1))).add(batch, sums, PieceShare(1, False))
        most[adder] = peak[0]
        monkeypatch.setattr(Records, "terms", honest)
    assert most[TwoPasses] <= 4
    assert most[AtOnce] >= 10


def _watch(term):
    tensor = term.left if hasattr(term, "left") else term.values
    return weakref.ref(tensor)


def test_what_cannot_go_together_is_refused_with_the_remedy():
    with pytest.raises(la.ParameterError, match="weights are used in layers only"):
        sum_of("tied by hand", memory="low")
    model, loss, _ = make("linear")
    with pytest.raises(la.ParameterError, match="do not go together"):
        trainer_of(model, loss, memory="low", compile=True)
    with pytest.raises(la.ParameterError, match="memory is 'tiny', but must be"):
        trainer_of(model, loss, memory="tiny")


def test_the_release_says_how_gradients_were_clipped():
    model, loss, batch = make("linear", dtype=torch.float32)
    trainer = PrivateTrainer(
        model, loss, epsilon=2, delta=1e-5, rows=6, batch_size=6, epochs=1, memory="low"
    )
    assert "in two backward passes" in repr(trainer.fit((batch.inputs, batch.targets)).release_)


def test_a_layer_that_is_not_met_on_the_way_back_is_refused(monkeypatch):
    monkeypatch.setattr(low_memory, "_beside_layers", lambda _: [])
    with pytest.raises(la.ParameterError, match="does not meet all layers"):
        steps_of("token", memory="low")
