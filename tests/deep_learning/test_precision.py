"""In bfloat16: each unit stays within its share by proof, and what is assumed is said."""

import pytest
import torch

import letalone as la
from letalone.learn.torch import Automatic, Flat, PerLayer, PrivateTrainer
from letalone.learn.torch.gradients.clipping import MARGIN
from letalone.learn.torch.gradients.precision import ASSUMED, HALF, exact_products
from letalone.learn.torch.gradients.recording import by_book_keeping
from letalone.learn.torch.gradients.terms import Lookups, Products, Whole
from networks import CASES, make
from one_step import apart, sum_of, trainer_of

pytestmark = pytest.mark.long

SEVERAL = [(2, 700, 600), (64, 8, 9), (30, 1200, 40)]
KINDS_AND_SHAPES = [
    *((kind, shape) for kind in ("random", "one way") for shape in [(1, 50, 70), *SEVERAL]),
    *(("cancel", shape) for shape in SEVERAL),  # one position cancels nothing
]
CLIPS = [Automatic(), Flat(0.5), PerLayer(0.5)]


def fast(name, **others):
    return sum_of(name, dtype=torch.float32, precision="fast", **others)


@pytest.mark.filterwarnings("ignore:Mismatch dtype")  # PyTorch of RMSNorm with autocast
@pytest.mark.parametrize("name", CASES)
def test_the_sums_are_near_those_of_doubles(name):
    assert apart(sum_of(name, clip=Flat(0.3)), fast(name, clip=Flat(0.3))) < 0.02


@pytest.mark.filterwarnings("ignore:Mismatch dtype")
@pytest.mark.parametrize("name", ["linear", "conv2d", "norms", "attention", "embedding", "tied"])
@pytest.mark.parametrize("clip", CLIPS, ids=str)
def test_one_unit_moves_the_sum_by_at_most_the_clip(name, clip):
    """With an example that is huge and one that is odd among them."""
    model, loss, batch = make(name, examples=8, dtype=torch.float32)
    if batch.inputs.is_floating_point():
        batch.inputs[3] *= 1e6
        batch.inputs[5] = float("nan")
    settings = {"rows": 8, "clip": clip, "precision": "fast", "physical_batch_size": 8}
    trainer = trainer_of(model, loss, **settings)

    def total(keep):
        return trainer._prepared((batch.inputs[keep], batch.targets[keep]), None)._clipped_sums()

    everybody = total(list(range(8))).total.double()
    moved = [(everybody - total([j for j in range(8) if j != i]).total).norm() for i in range(8)]
    assert 0.2 * float(clip.longest) < max(moved) <= float(clip.longest)


def products_of(kind, positions, left, right):
    """Factors at random, all in one direction, and such as cancel but for a little."""
    luck = torch.Generator().manual_seed(3)
    one, two = torch.rand(6, positions, left, generator=luck), torch.rand(6, positions, right)
    if kind == "random":
        one, two = one - 0.5, two - 0.5
    if kind == "cancel":
        two = two[:, :1].expand(-1, positions, -1)
        sign = torch.tensor([1.0, -1.0]).repeat(positions // 2)[None, :, None]
        one = one[:, :1] * sign * (1 + 0.01 * one[:, :, :1])
    return Products(one.to(HALF), two.to(HALF).contiguous())


@pytest.mark.parametrize(("kind", "shape"), KINDS_AND_SHAPES, ids=str)
@pytest.mark.parametrize("clip", CLIPS, ids=str)
def test_what_is_added_for_one_unit_is_within_its_share_even_where_gradients_cancel(
    kind, shape, clip
):
    """Of the products as they were computed, weights rounded to bfloat16 and all."""
    products = products_of(kind, *shape)
    weights = clip.weights(products.squared_norms()[None])[0]
    for unit in range(6):
        alone = torch.where(torch.arange(6) == unit, weights, 0)
        moved = products.weighted(alone, doubles=False).double().norm().item()
        assert moved <= MARGIN * float(clip.longest) * 1.0001


def test_the_norm_is_rounded_up_by_no_more_than_it_must():
    for shape in ((1, 50, 70), (16, 600, 700), (64, 8, 9)):
        products = products_of("random", *shape)
        exact = Products(products.left.double(), products.right.double()).squared_norms()
        more = (products.squared_norms() / exact).sqrt()
        assert (more >= 1).all()
        assert (more <= 1 + 0.003 * shape[0] ** 0.5 + 0.01).all()


def test_rows_of_a_table_that_cancel_are_within_their_share():
    gradients = torch.ones(1, 2, 5)
    gradients[0, 1] = -1 - 2**-7
    lookups = Lookups(torch.tensor([[3, 3]]), gradients.to(HALF), 7)
    weights = Flat(0.01).weights(lookups.squared_norms()[None])[0]
    assert lookups.weighted(weights, doubles=False).double().norm() <= 0.01


@pytest.mark.parametrize("units", [64, 2048])
def test_sums_lose_far_less_than_is_assumed(units):
    """Measured, not proven: all gradients in one direction, where most is lost; 16 positions."""
    luck = torch.Generator().manual_seed(8)
    for positions in (1, 16):
        left = torch.rand(units, positions, 20, generator=luck) + 0.5
        products = Products(left.to(HALF), (left + 0.3).to(HALF))
        weights = Flat(1).weights(products.squared_norms()[None])[0]
        scaled = (products.left.float() * weights.float()[:, None, None]).to(HALF).double()
        wanted = scaled.flatten(0, 1).T @ products.right.double().flatten(0, 1)
        lost = (products.weighted(weights, doubles=False) - wanted.flatten()).norm().item()
        assert lost < 0.005


def test_a_sum_in_bfloat16_would_lose_more_than_is_assumed():
    """The power of the test above: what a product that rounds its result would do."""
    left = (torch.rand(512, 1, 20, generator=torch.Generator().manual_seed(8)) + 0.5).to(HALF)
    products = Products(left, left)
    weights = Flat(1).weights(products.squared_norms()[None])[0]
    found = products.weighted(weights, doubles=False)
    assert (found.to(HALF).double() - found).norm() > 0.005


@pytest.mark.filterwarnings("ignore:Mismatch dtype")
def test_factors_are_in_bfloat16_and_what_is_added_up_is_not():
    model, loss, batch = make("norms", dtype=torch.float32)
    terms = by_book_keeping(model, loss, batch, half=True)
    kinds = {t.left.dtype if isinstance(t, Products) else t.values.dtype for t in terms.values()}
    assert kinds == {HALF, torch.float32}
    weights = torch.ones(6, dtype=torch.float64)
    assert all(t.weighted(weights, doubles=False).dtype == torch.float32 for t in terms.values())
    assert any(isinstance(term, Whole) for term in terms.values())


def test_products_are_as_exact_as_they_are_said_to_be_whatever_was_set():
    matmul, intel = torch.backends.cuda.matmul, torch.backends.mkldnn.matmul
    torch.set_float32_matmul_precision("medium")
    try:
        with exact_products():
            assert (matmul.fp32_precision, intel.fp32_precision) == ("ieee", "ieee")
            assert not matmul.allow_bf16_reduced_precision_reduction
        assert torch.get_float32_matmul_precision() == "medium"
        assert matmul.allow_bf16_reduced_precision_reduction
    finally:
        torch.set_float32_matmul_precision("highest")


def test_what_is_assumed_stands_in_the_plan_in_the_release_and_in_what_is_charged():
    model, loss, batch = make("linear", dtype=torch.float32)
    account = la.learn.Account(la.Budget(2, 1e-5), name="people")
    settings = {"epsilon": 2, "delta": 1e-5, "rows": 6, "batch_size": 6, "epochs": 1}
    trainer = PrivateTrainer(model, loss, precision="fast", budget=account, **settings)
    assert f"assumed, not proven: {ASSUMED}" in str(trainer.plan)
    assert trainer.plan.described()["assumed"] == ASSUMED
    trainer.fit((batch.inputs, batch.targets))
    assert ASSUMED in repr(trainer.release_)
    assert ASSUMED in str(trainer.release_.receipt)
    plain = PrivateTrainer(model, loss, **settings)
    assert "assumed" not in f"{plain.plan} {plain.plan.described()}"


def test_a_precision_that_does_not_exist_is_refused_with_those_that_do():
    model, loss, _ = make("linear")
    with pytest.raises(la.ParameterError, match="precision is 'half', but must be 'proven'"):
        trainer_of(model, loss, precision="half")
    with pytest.raises(la.ParameterError, match="at most 8192"):
        trainer_of(model, loss, precision="fast", physical_batch_size=8193)
