"""All rules: LA0xx for every script, LA1xx for known faults of other libraries.

Here are the finders for budgets that are spent, or begin again, at every turn of a loop, and for
known faults of other libraries, which show in the way they are called. Noise and training have
files of their own.

  Tested:   tests/lint/test_rules.py
"""

import ast
from collections.abc import Iterator

from letalone.lint import learning_rules as learning
from letalone.lint import noise_rules as noise
from letalone.lint.finding import Found, Rule
from letalone.lint.names import Script, find_argument

SPENDERS = ("letalone.", "diffprivlib.", "opendp.", "pydp.", "pipeline_dp.", "snsql.")
DESCRIPTIONS = ("Budget", "PureDP", "ApproxDP", "BudgetAccountant")  # they spend nothing
BUDGETS = ("letalone.Budget", "letalone.Filter", "letalone.learn.Account", "BudgetAccountant")
REPEATED = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "cross_val_score", "cross_validate")
ENGINE = "opacus.PrivacyEngine"


def unit_bounds(script: Script) -> Iterator[Found]:
    """A regression on data in [0, 1]: its matrix gets no noise on the diagonal."""
    for node, name in script.calls():
        if not _is(name, "diffprivlib.models.LinearRegression"):
            continue
        bounds = find_argument(node, "bounds_X", place=1)
        if bounds is None:
            yield node, "Without bounds_X the bounds are read off the data, which leaks as well."
        elif _is_unit(script, bounds):
            yield node, f"Here: bounds_X={ast.unparse(bounds)}."


def copied_accountant(script: Script) -> Iterator[Found]:
    """A search over an estimator of diffprivlib: every clone has an accountant of its own."""
    for node, name in script.calls():
        is_search = name.startswith("sklearn.model_selection.") and name.endswith(SEARCHES)
        estimator = find_argument(node, "estimator", place=0)
        if is_search and estimator is not None and _has_rival(script, estimator):
            yield node, f"Here: {name.split('.')[-1]}."


def exact_clusters(script: Script) -> Iterator[Found]:
    """`labels_` and `inertia_` of a private k-means, which are exact."""
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Attribute) and node.attr in ("labels_", "inertia_"):
            name = script.full_name(node.value).replace("().fit()", "()")
            if _is(name.removesuffix("()"), "diffprivlib.models.KMeans"):
                yield node, f"Here: {node.attr}."


def weighted_sampler(script: Script) -> Iterator[Found]:
    """A weighted sampler in a script that trains with Opacus."""
    if not any(name.startswith("opacus.") for name in script.imported.values()):
        return
    for node, name in script.calls():
        if _is(name, "torch.utils.data.WeightedRandomSampler"):
            yield node, ""


def insecure_mode(script: Script) -> Iterator[Found]:
    """A privacy engine without secure_mode=True: noise is torch's float Gaussian."""
    for node, name in script.calls():
        if not _is(name, ENGINE):
            continue
        mode = find_argument(node, "secure_mode")
        if not (isinstance(mode, ast.Constant) and mode.value is True):
            yield node, ""


def central_limit(script: Script) -> Iterator[Found]:
    """A privacy engine that accounts by the central limit theorem."""
    for node, name in script.calls():
        accountant = find_argument(node, "accountant")
        is_gdp = isinstance(accountant, ast.Constant) and accountant.value == "gdp"
        if _is(name, ENGINE) and is_gdp:
            yield node, ""


def _is(name: str, wanted: str) -> bool:
    """Whether this is the class, imported from its package or from a module within it."""
    package, _, last = wanted.rpartition(".")
    return name.startswith(f"{package.split('.')[0]}.") and name.split(".")[-1] == last


def _is_unit(script: Script, bounds: ast.expr) -> bool:
    ends = script.value(bounds)
    is_listed = isinstance(ends, ast.Tuple | ast.List)
    return is_listed and [script.number(end) for end in ends.elts] == [0, 1]


def _has_rival(script: Script, estimator: ast.expr) -> bool:
    inside = (script.full_name(node) for node in ast.walk(script.value(estimator)))
    return any(name.startswith("diffprivlib.models.") for name in inside)


def spent_in_loops(script: Script) -> Iterator[Found]:
    """A call with an epsilon that a loop does not divide."""
    for node, name in script.calls():
        epsilon = find_argument(node, "epsilon")
        if (
            name.endswith(DESCRIPTIONS)
            or epsilon is None
            or not in_a_loop(script, node)
            or _is_shared(script, epsilon)
        ):
            continue
        is_release = isinstance(node.func, ast.Attribute) and node.func.attr == "release"
        if name.startswith(SPENDERS) or is_release:
            shown = name or "release"
            yield node, f"Here: {shown}(epsilon={ast.unparse(epsilon)})."


def begun_in_loops(script: Script) -> Iterator[Found]:
    """A budget or an accountant that is made anew at every turn."""
    for node, name in script.calls():
        if name.endswith(BUDGETS) and in_a_loop(script, node):
            yield node, f"Here: {name.split('.')[-1]}."


def in_a_loop(script: Script, node: ast.AST) -> bool:
    """Whether it runs at every turn of a loop in the same function."""
    below = node
    for above in script.above(node):
        if isinstance(above, OWN_SCOPE):
            return False
        if isinstance(above, ast.For | ast.AsyncFor) and below not in (above.iter, above.target):
            return below not in above.orelse
        if isinstance(above, ast.While):
            return below not in above.orelse
        if isinstance(above, REPEATED) and below is not above.generators[0]:
            return True
        below = above
    return False


def _is_shared(script: Script, epsilon: ast.expr) -> bool:
    """Whether it is a part of something: 1 / len(columns), or a name that was assigned one."""
    return any(_makes_less(script, node) for node in ast.walk(script.value(epsilon)))


def _makes_less(script: Script, node: ast.AST) -> bool:
    """A division, or a product with a factor that is seen to be below 1."""
    if not isinstance(node, ast.BinOp):
        return False
    factors = (script.number(node.left), script.number(node.right))
    is_part = any(factor is not None and factor < 1 for factor in factors)
    return isinstance(node.op, ast.Div) or (isinstance(node.op, ast.Mult) and is_part)


RULES = (
    Rule(
        "LA001",
        "Floating-point noise is added to a value",
        "The low-order bits of the sum tell which value the noise was added to, so no epsilon"
        " holds (Mironov 2012).",
        "Use exact noise: la.Laplace(epsilon=…, sensitivity=…).release(value).",
        noise.float_noise,
    ),
    Rule(
        "LA002",
        "The classic Gaussian formula is used beyond its range",
        "σ = Δ·√(2 ln(1.25/δ))/ε is proven for ε < 1 only; above, the noise can be too small.",
        "Use la.Gaussian(epsilon=…, delta=…, sensitivity=…), which is exact for every ε.",
        noise.classic_gaussian,
    ),
    Rule(
        "LA003",
        "Privacy is spent at every turn of a loop",
        "The whole costs the sum over all turns, not the epsilon that is written here.",
        "Divide it (epsilon=total / turns), or ask all at once, in one batch or with group_by.",
        spent_in_loops,
    ),
    Rule(
        "LA004",
        "A new budget is made at every turn of a loop",
        "A budget that begins again limits nothing: the data is the same.",
        "Make it once, before the loop.",
        begun_in_loops,
    ),
    Rule(
        "LA005",
        "Noise is added after a division by a number of rows",
        "How many rows there are is private, too: a quotient can move by far more than the sum over"
        " that number, so noise of that size is too small.",
        "Release the sum and the number, each with noise, and divide those; or ask for la.mean,"
        " which does.",
        noise.noise_after_division,
    ),
    Rule(
        "LA006",
        "A transformer learns from rows in front of a private estimator",
        "What it learns (means, categories, components) leaves with the model, exactly: the epsilon"
        " of the estimator does not cover it.",
        "Declare it, la.learn.TableEncoder({…}), or pay for it, la.learn.StandardScaler(epsilon=…);"
        " la.learn.make_pipeline refuses the others.",
        learning.learners_in_front,
    ),
    Rule(
        "LA101",
        "diffprivlib's LinearRegression misses noise",
        "With bounds of [0, 1] the squares of its features are released without noise.",
        "Use letalone.learn.LinearRegression.",
        unit_bounds,
    ),
    Rule(
        "LA102",
        "A search copies diffprivlib's accountant",
        "Every clone debits a copy, so seven fits at ε = 1 are reported as 0, and the scores of"
        " folds are exact.",
        "Use letalone.learn.PrivateSearchCV.",
        copied_accountant,
    ),
    Rule(
        "LA103",
        "diffprivlib's KMeans gives exact results next to the private ones",
        "labels_ and inertia_ are computed from the data without noise.",
        "Publish cluster_centers_ only, or use letalone.learn.KMeans.",
        exact_clusters,
    ),
    Rule(
        "LA104",
        "A weighted sampler is used with Opacus",
        "Its accountant assumes that all rows are as likely: the epsilon it reports is wrong.",
        "Sample rows uniformly (Poisson sampling) and weigh the loss instead.",
        weighted_sampler,
    ),
    Rule(
        "LA105",
        "Opacus trains without secure noise",
        "secure_mode is off by default: noise is torch's floating-point Gaussian from a generator"
        " that can be predicted.",
        "Set secure_mode=True before anything is published.",
        insecure_mode,
    ),
    Rule(
        "LA106",
        'Opacus accounts with "gdp"',
        "The central limit theorem gives an estimate, not a bound: it reports 9.64 where 10.05 is"
        " true.",
        'Use accountant="prv", or letalone account.',
        central_limit,
    ),
    Rule(
        "LA107",
        "Batches are merged before the step, and Opacus's accountant does not see it",
        "It counts a step at the sampling rate of one batch, but the step uses several: the epsilon"
        " it reports is too small.",
        "Use opacus.utils.batch_memory_manager.BatchMemoryManager, or a loader with the whole"
        " batch.",
        learning.merged_batches,
    ),
)
