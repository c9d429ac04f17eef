"""Private training whose surroundings are not private: steps in front of it, steps that are merged.

Tested:   tests/lint/test_rules.py
"""

import ast
from collections.abc import Iterator, Sequence

from letalone.lint.finding import Found
from letalone.lint.names import Script, find_argument

PRIVATE = ("letalone.learn.", "diffprivlib.models.")
# What scikit-learn fits on rows; those with an argument are harmless where that is given so.
LEARNERS = {
    "StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "QuantileTransformer",
    "PowerTransformer", "KBinsDiscretizer", "SplineTransformer", "TargetEncoder", "KNNImputer",
    "IterativeImputer", "PCA", "TruncatedSVD", "SelectKBest", "SelectPercentile", "TfidfVectorizer",
    "CountVectorizer", "OneHotEncoder", "OrdinalEncoder", "SimpleImputer",
}  # fmt: skip
DECLARED = {"OneHotEncoder": "categories", "OrdinalEncoder": "categories"}
ACCUMULATED = ("accumulate_grad_batches", "gradient_accumulation_steps")
SEEN = ("BatchMemoryManager", "wrap_data_loader")  # ways of Opacus to merge batches that it counts


def learners_in_front(script: Script) -> Iterator[Found]:
    """A transformer that learns from rows in a pipeline that ends in a private estimator, or whose
    output such an estimator is fitted on."""
    for node, name in script.calls():
        if name.startswith("sklearn.pipeline.") and name.endswith(("make_pipeline", "Pipeline")):
            *before, last = _steps(script, node) or [None]
            learner = last and _is_private(script, last) and _first_learner(script, before)
        else:
            learner = _fitted_on(script, node)
        if learner:
            yield node, f"Here: {learner}."


def _steps(script: Script, call: ast.Call) -> Sequence[ast.expr]:
    """The steps of make_pipeline(a, b) and of Pipeline([("a", a), ("b", b)])."""
    listed = script.value(call.args[0]) if call.args else find_argument(call, "steps")
    if not isinstance(listed, ast.List):
        return call.args
    return [pair.elts[-1] for pair in listed.elts if isinstance(pair, ast.Tuple) and pair.elts]


def _is_private(script: Script, step: ast.expr) -> bool:
    return script.full_name(step).startswith(PRIVATE)


def _first_learner(script: Script, steps: Sequence[ast.expr | None]) -> str:
    inside = (node for step in steps if step is not None for node in _walk(script, step))
    return next((name for node in inside if (name := _learner(script, node))), "")


def _walk(script: Script, node: ast.AST) -> Iterator[ast.AST]:
    """All nodes within, and within what the names there were assigned."""
    for inner in ast.walk(node):
        yield inner
        value = script.value(inner)
        if value is not inner:
            yield from ast.walk(value)


def _learner(script: Script, node: ast.AST) -> str:
    """The class that is made there, if it learns from rows."""
    if not isinstance(node, ast.Call):
        return ""
    name = script.full_name(node.func)
    kind = name.rpartition(".")[2]
    if not name.startswith("sklearn.") or kind not in LEARNERS:
        return ""
    is_declared = find_argument(node, DECLARED.get(kind, ""), place=None) is not None
    return "" if is_declared or _is_constant(node, kind) else kind


def _is_constant(call: ast.Call, kind: str) -> bool:
    strategy = find_argument(call, "strategy")
    is_constant = isinstance(strategy, ast.Constant) and strategy.value == "constant"
    return kind == "SimpleImputer" and is_constant


def _fitted_on(script: Script, call: ast.Call) -> str:
    """The learner whose output a private estimator is fitted on."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "fit" and call.args):
        return ""
    if not _is_private(script, call.func.value):
        return ""
    match script.value(call.args[0]):
        case ast.Call(func=ast.Attribute(value=owner, attr="fit_transform")):
            return _first_learner(script, [owner])
        case _:
            return ""


def merged_batches(script: Script) -> Iterator[Found]:
    """Batches of Opacus that are merged by hand: its accountant counts them as they were drawn."""
    names = [*script.imported.values(), *(name for _, name in script.calls())]
    if not any(name.startswith("opacus.") for name in names):
        return
    if any(name.endswith(SEEN) for name in names) or _skips_steps(script):
        return
    for node in ast.walk(script.tree):
        if isinstance(node, ast.If) and _is_every_nth(node.test) and _calls(node, "step"):
            loop = next((above for above in script.above(node) if isinstance(above, ast.For)), None)
            if loop is not None and _calls(loop, "backward") and not _calls(node, "backward"):
                yield node, f"Here: a step if {ast.unparse(node.test)}."
    for node, _ in script.calls():
        for word in node.keywords:
            number = script.number(word.value)
            if word.arg in ACCUMULATED and number is not None and number > 1:
                yield node, f"Here: {word.arg}={number:g}."


def _is_every_nth(test: ast.expr) -> bool:
    """Whether a condition has a remainder in it: (i + 1) % 4 == 0."""
    return any(
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in ast.walk(test)
    )


def _calls(within: ast.AST, method: str) -> bool:
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == method
        for node in ast.walk(within)
    )


def _skips_steps(script: Script) -> bool:
    """Whether Opacus is told which steps are parts of one."""
    return _calls(script.tree, "signal_skip_step")
