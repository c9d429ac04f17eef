"""Noise that is drawn as a float, and Gaussian noise by the formula for epsilon below 1."""

import ast
from collections.abc import Iterator

from letalone.lint.finding import Found
from letalone.lint.names import Script

LAWS = {"laplace", "normal", "standard_normal", "exponential", "gumbel", "randn", "logistic"}
GENERATORS = ("numpy.random.", "numpy.random.default_rng().", "numpy.random.RandomState().")
OF_PYTHON = ("random.gauss", "random.normalvariate", "random.expovariate")
OF_TORCH = ("torch.randn", "torch.normal", "torch.randn_like")
CLASSIC = 1.25


def float_noise(script: Script) -> Iterator[Found]:
    """Sums and differences of a value that is not written there and a draw of a float."""
    for node in ast.walk(script.tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            parts = (node.left, node.right)
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
            parts = (node.target, node.value)
        else:
            continue
        names = [_noise_in(script, part) for part in parts]
        others = [part for part, name in zip(parts, names, strict=True) if not name]
        if any(names) and any(script.number(other) is None for other in others):
            yield node, f"Here: {next(name for name in names if name)}."


def classic_gaussian(script: Script) -> Iterator[Found]:
    """√(2 ln(1.25/δ)), unless it is divided by an epsilon that is seen to be below 1."""
    for node, name in script.calls():
        if name.split(".")[-1] != "sqrt" or not _has_log_of_classic(script, node):
            continue
        epsilon = script.number(_divisor(script, node))
        if epsilon is None:
            yield node, "Nothing here keeps epsilon below 1."
        elif epsilon >= 1:
            yield node, f"Here epsilon is {epsilon:g}."


def _noise_in(script: Script, part: ast.expr) -> str:
    """The draw that an expression is, up to a factor; empty where it is none."""
    match part:
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
            return _noise_in(script, left) or _noise_in(script, right)
        case ast.UnaryOp(operand=inner):
            return _noise_in(script, inner)
        case _:
            name = script.full_name(part).removesuffix("()")
            return name if _draws_a_float(name) else ""


def _draws_a_float(name: str) -> bool:
    owner, _, law = name.rpartition(".")
    if f"{owner}." in GENERATORS:
        return law in LAWS
    is_scipy = name.startswith("scipy.stats.") and law == "rvs"
    is_torch = name.startswith("torch.distributions.") and law in ("sample", "rsample")
    return is_scipy or is_torch or name in OF_PYTHON or name in OF_TORCH


def _has_log_of_classic(script: Script, root: ast.Call) -> bool:
    inside = [node for node in ast.walk(root) if isinstance(node, ast.Call)]
    logs = [node for node in inside if script.full_name(node.func).split(".")[-1] == "log"]
    return any(script.number(leaf) == CLASSIC for log in logs for leaf in ast.walk(log))


def _divisor(script: Script, node: ast.AST) -> ast.expr | None:
    for above in script.above(node):
        if not isinstance(above, ast.BinOp):
            return None
        if isinstance(above.op, ast.Div):
            return above.right
    return None
