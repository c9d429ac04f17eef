"""The kernel for graphics cards, run by Triton's interpreter: the numbers of the reference."""

import os
import re
import subprocess
import sys
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
import torch

from letalone.learn.torch.noise import step_noise as noise
from letalone.randomness.keyed.gaussians import add_keyed_gaussians
from letalone.randomness.keyed.law import TILE, KeyedLaw
from letalone.randomness.keyed.run_keys import NoiseKey

# Triton decides when it is loaded: here it needs no card, and no other test loads it.
with patch.dict(os.environ, TRITON_INTERPRET="1"):
    from letalone.learn.torch.noise import noise_kernel

pytestmark = pytest.mark.long

KEY = NoiseKey([0xA3B1BAC6, 1, 2, 3, 0xFFFFFFFF, 5, 6, 0x80000000])
COMPILE = """
from letalone.learn.torch.noise import noise_kernel as kernel
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile
pointers = {"total": "*fp32", "into": "*fp32", "count": "*i32", "key": "*i64"}
constants = {"side": 256, "rounds": kernel.DOUBLE_ROUNDS, "mask": kernel.PART_MASK}
types = {**pointers, "constants": "*fp64", "step": "i64", "size": "i64"}
source = ASTSource(kernel._write_tile, types | dict.fromkeys(constants, "constexpr"), constants)
options = {"num_warps": 8, "enable_fp_fusion": False}
done = compile(source, target=GPUTarget("cuda", 90, 32), options=options)
assert done.asm["cubin"]
print(done.asm["ptx"])
"""


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")


def written(values, law, *, step, divisor=3):
    into = torch.full_like(values, 7.0)
    count = noise_kernel.write_sums(values, into, law=law, divisor=divisor, key=KEY, step=step)
    return into, count


@pytest.mark.parametrize("kind", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("step", [1, (1 << 32) - 5])
def test_the_kernel_gives_the_numbers_of_the_reference(kind, step):
    """Two tiles and a part of one, each number bit for bit."""
    law = KeyedLaw(Fraction(29, 10))
    values = torch.from_numpy(np.random.default_rng(step).normal(0, 9, 2 * TILE + 77)).to(kind)
    into, count = written(values, law, step=step)
    exact = add_keyed_gaussians(values.double().numpy(), law, KEY, step) / 3
    assert count == 0
    assert torch.equal(into, torch.from_numpy(exact).to(kind))


def test_what_the_kernel_leaves_open_is_counted_and_decided(monkeypatch):
    """A margin of one hundredth of a step; an odd value is left open, too."""
    law = KeyedLaw(Fraction(31, 10))  # kept on the device: of no other test
    values = torch.from_numpy(np.random.default_rng(1).normal(0, 9, TILE + 5)).float()
    exact = add_keyed_gaussians(values.double().numpy(), law, KEY, 2) / 3
    wide = law.constants.copy()
    wide[-1] = 0.01
    monkeypatch.setitem(law.__dict__, "constants", wide)
    into, count = written(values, law, step=2)
    assert count == into.isnan().sum() > 20
    is_open = into.isnan()
    assert torch.equal(into[~is_open], torch.from_numpy(exact).float()[~is_open])
    noise.decide_open(values, into, law, 3, KEY, 2)
    assert torch.equal(into, torch.from_numpy(exact).float())
    values[TILE] = float("nan")
    assert written(values, law, step=2)[0][TILE].isnan()


def test_a_kernel_is_tried_on_public_sums_before_it_is_used(monkeypatch):
    monkeypatch.setattr(noise, "TRIAL", TILE + 9)
    noise.kernel_works.cache_clear()
    assert noise.kernel_works(torch.device("cpu"))
    noise.kernel_works.cache_clear()
    monkeypatch.setattr(noise_kernel, "DOUBLE_ROUNDS", 4)
    with pytest.warns(UserWarning, match="it gives other numbers than the reference"):
        assert not noise.kernel_works(torch.device("cpu"))
    noise.kernel_works.cache_clear()


def test_the_kernel_compiles_for_a_card_with_ieee_arithmetic():
    """To the last stage, without a card: 64-bit roots and quotients are correctly rounded."""
    names = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    command = [sys.executable, "-c", COMPILE]
    compiled = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=names)
    text = compiled.stdout.decode()
    assert {"sqrt.rn.f64", "div.rn.f64"} <= set(text.split())
    assert not {"sqrt.approx", "div.full", "div.approx"} & set(re.findall(r"\b\w+\.\w+", text))
