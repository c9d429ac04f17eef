"""Noise that is drawn as a float, that comes after a division by a number of rows, and Gaussian
noise by the formula for epsilon below 1."""

import ast
from collections.abc import Iterator, Sequence

from letalone.lint.finding import Found
from letalone.lint.names import Script, find_argument

# Laws that take where the noise lies, first or as loc, mu or mean.
LOCATED = {
    "laplace",
    "normal",
    "gumbel",
    "logistic",
    "multivariate_normal",
    "gauss",
    "normalvariate",
}
LAWS = LOCATED | {"standard_normal", "exponential", "standard_exponential", "randn", "expovariate"}
GENERATORS = (
    "numpy.random.",
    "numpy.random.default_rng().",
    "numpy.random.RandomState().",
    "random.",
    "random.Random().",
    "random.SystemRandom().",
    "secrets.SystemRandom().",
)
WITH_KEYS = "jax.random."  # whose first argument is a key
OF_TORCH = ("torch.randn", "torch.normal", "torch.randn_like")
SUMS = ("numpy.add", "numpy.subtract", "torch.add", "torch.sub")
SUMS_OF_LISTS = ("sum", "math.fsum", "numpy.sum")
CLASSIC = 1.25
NOISY_METHODS = ("release", "randomise")  # of mechanisms: letalone, diffprivlib
COUNTING_METHODS = ("sum", "count", "nunique", "count_nonzero", "__len__")


def float_noise(script: Script) -> Iterator[Found]:
    """Sums and differences of a value that is not written there and a draw of a float."""
    yield from _noise_around_a_value(script)
    for node in ast.walk(script.tree):
        parts = _parts(script, node)
        names = [_noise_in(script, part) for part in parts]
        others = [part for part, name in zip(parts, names, strict=True) if not name]
        if any(names) and any(script.number(other) is None for other in others):
            yield node, f"Here: {next(name for name in names if name)}."


def _noise_around_a_value(script: Script) -> Iterator[Found]:
    """A draw of a float whose location is a value that is not written there."""
    for node, name in script.calls():
        if not _draws_a_float(name) or name.startswith(WITH_KEYS) or _is_sample(script, node):
            continue
        location = _location(node, name)
        if location is not None and not _is_written(script, location):
            yield node, f"Here: {name}({ast.unparse(location)}, …)."


def classic_gaussian(script: Script) -> Iterator[Found]:
    """√(2 ln(1.25/δ)), unless it is divided by an epsilon that is seen to be below 1."""
    for node in ast.walk(script.tree):
        if not _is_root(script, node) or not _has_log_of_classic(script, node):
            continue
        epsilon = script.number(_divisor(script, node))
        if epsilon is None:
            yield node, "Nothing here keeps epsilon below 1."
        elif epsilon >= 1:
            yield node, f"Here epsilon is {epsilon:g}."


def noise_after_division(script: Script) -> Iterator[Found]:
    """Noise on a quotient whose divisor is how many rows there are."""
    for node in ast.walk(script.tree):
        parts = _parts(script, node)
        if any(_noise_in(script, part) for part in parts):
            shared = parts
        elif isinstance(node, ast.Call) and _releases(node):
            shared = node.args[:1]
        else:
            continue
        for part in shared:
            divisor = _divided_by(script, part)
            if divisor is not None:
                yield node, f"Here it is divided by {ast.unparse(divisor)}."


def _releases(call: ast.Call) -> bool:
    """A mechanism that adds noise to what it is given."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in NOISY_METHODS


def _divided_by(script: Script, part: ast.expr) -> ast.expr | None:
    """What an expression is divided by, if that is counted from rows."""
    quotient = script.value(part)
    if not isinstance(quotient, ast.BinOp) or not isinstance(quotient.op, ast.Div):
        return None
    named = map(script.value, ast.walk(quotient.right))
    values = [inner for value in named for inner in ast.walk(value)]
    return quotient.right if any(map(_counts_rows, values)) else None


def _counts_rows(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="len")):
            return True
        case ast.Call(func=ast.Attribute(attr=method)):
            return method in COUNTING_METHODS
        case ast.Attribute(attr=name):
            return name in ("size", "shape")
        case _:
            return False


def _parts(script: Script, node: ast.AST) -> Sequence[ast.expr]:
    """What is added together there; nothing where it is no sum."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return left, right
        case ast.AugAssign(target=target, op=ast.Add() | ast.Sub(), value=value):
            return target, value
        case ast.Call(args=[left, right, *_]) if script.full_name(node.func) in SUMS:
            return left, right
        case ast.Call(func=called, args=[ast.List(elts=inside) | ast.Tuple(elts=inside), *_]):
            name = script.full_name(called) or (called.id if isinstance(called, ast.Name) else "")
            return inside if name in SUMS_OF_LISTS else ()
        case _:
            return ()


def _location(call: ast.Call, name: str) -> ast.expr | None:
    """Where the noise lies, if that is said: the first argument, or one of these names."""
    if name.rpartition(".")[2] not in LOCATED | {"rvs"}:
        return None
    return find_argument(call, "loc", "mu", "mean", place=0)


def _is_written(script: Script, location: ast.expr) -> bool:
    """Whether it is a number, or numbers, or zeros: no value of the data."""
    match location:
        case ast.List(elts=inside) | ast.Tuple(elts=inside):
            return all(_is_written(script, element) for element in inside)
        case ast.Call(func=called):
            return script.full_name(called).rpartition(".")[2] in ("zeros", "zeros_like")
        case ast.Starred():
            return True
        case _:
            return script.number(location) is not None


def _is_sample(script: Script, call: ast.Call) -> bool:
    """Whether several are drawn around one place: made-up data, not a noisy answer."""
    number = script.number(find_argument(call, "size", place=2))
    return number is not None and number > 1


def _is_root(script: Script, node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=ast.Pow(), right=power):
            return _is_half(script, power)
        case ast.Call(func=called, args=[_, *rest]):
            last = script.full_name(called).rpartition(".")[2]
            is_half = bool(rest) and last in ("power", "pow") and _is_half(script, rest[0])
            return last == "sqrt" or is_half
        case _:
            return False


def _is_half(script: Script, power: ast.expr) -> bool:
    match power:
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return (script.number(left), script.number(right)) == (1, 2)
        case _:
            return script.number(power) == 1 / 2


def _noise_in(script: Script, part: ast.expr) -> str:
    """The draw that an expression is, up to a factor; empty where it is none."""
    match part:
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
            return _noise_in(script, left) or _noise_in(script, right)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return _noise_in(script, right) and _noise_in(script, left)
        case ast.UnaryOp(operand=inner):
            return _noise_in(script, inner)
        case _:
            name = script.full_name(part).removesuffix("()")
            return name if _draws_a_float(name) else ""


def _draws_a_float(name: str) -> bool:
    owner, _, law = name.rpartition(".")
    if f"{owner}." in (*GENERATORS, WITH_KEYS):
        return law in LAWS
    is_scipy = name.startswith("scipy.stats.") and law == "rvs"
    is_torch = name.startswith("torch.distributions.") and law in ("sample", "rsample")
    return is_scipy or is_torch or name in OF_TORCH


def _has_log_of_classic(script: Script, root: ast.AST) -> bool:
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
